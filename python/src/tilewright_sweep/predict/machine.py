# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One multiprocessor as queues: blocks that are resident, their warps in order, and what each instruction waits for.

A scheduler issues in a cycle one instruction: of the warp that issued last, if it can, else of the youngest (arXiv:2503.20481;
from memory). A warp can when its stall count has passed, the barriers of SASS that the instruction waits for are released, its
unit and the read ports of the registers are free, and the queue to shared memory has a place. When an instruction is issued
it is known when everything that it needs will have served it, because all queues are first come, first served:

    units of a scheduler       fma, imad, alu, xu, fp16, fp64, tensor
    register banks             two of one port; reads may spread over the cycles in front of the units
    shared memory and L1       one request at a time from all schedulers
    port to L2, L2, memory     bytes, at the rate that the other multiprocessors leave

What is not known then are barriers and mbarriers: warps that reach them are taken up again by the last one that arrives.
"""

import collections
import heapq

from tilewright_sweep.predict.operations import (
    ARRIVE, COPY, END, GATHER, GATHERED, MEET, MISS, PASS, PRODUCT, PRODUCTS, PUT, REQUEST, UNIT, WAIT,
)  # fmt: skip
from tilewright_sweep.predict.rings import Ring, plan_of


class Stuck(RuntimeError):
    pass


class Warp:
    __slots__ = ("program", "at", "block", "number", "order", "free", "copied", "groups", "runs", "waits", "copies", "fresh",
                 "products", "product_groups", "running")  # fmt: skip

    def __init__(self, program, block, number, warps):
        self.program, self.at, self.block, self.number = program, 0, block, number
        self.order = block * warps + number
        self.free = [0.0] * 6  # when each barrier of SASS is released
        self.copied, self.groups = 0.0, []  # cp.async that is not in a group yet, ends of groups
        self.runs = {}  # of instructions that run only sometimes
        self.waits, self.copies, self.fresh = 0, 0, True  # mbarriers
        self.products, self.product_groups, self.running = 0.0, [], 0  # wgmma


class Rates:
    """Bytes a cycle of L2 and of memory that the other multiprocessors leave, which ask for `shares` of them on the average."""

    def __init__(self, launch, shares):
        chip = launch.chip
        sharing = min(chip.multiprocessors, launch.counts.grid_blocks)
        others = (sharing - 1) / sharing
        self.l2 = chip.l2_bytes_per_clock * (1 - others * min(1.0, shares["L2"]))
        self.memory = chip.bytes_per_cycle() * (1 - others * min(1.0, shares["memory"]))


class Machine:
    """Runs `total` blocks, `resident` at once; `programs`: by warp of a block its list of Op. `ends`: when blocks ended."""

    def __init__(self, launch, programs, resident, total, rates):
        self.chip, self.programs, self.total, self.rates = launch.chip, programs, total, rates
        schedulers = self.chip.schedulers
        self.slot = [0.0] * schedulers
        self.units = [collections.defaultdict(float) for _ in range(schedulers)]
        self.banks = [[0.0, 0.0] for _ in range(schedulers)]
        self.queues = [collections.deque() for _ in range(schedulers)]
        self.waiting = [[] for _ in range(schedulers)]  # heaps of (when, order, warp)
        self.able = [[] for _ in range(schedulers)]
        self.last = [None] * schedulers
        self.shared = self.port = self.l2 = self.memory = 0.0
        self.to_memory = launch.memory_bytes / launch.l2_bytes if launch.l2_bytes else 0.0
        self.owed = 0.0  # of the requests those that go on to memory
        self.started, self.ends, self.issued = 0, [], 0
        self.block = sum(map(len, programs))  # instructions of one
        self.alive, self.meeting, self.rings = {}, {}, {}
        count = lambda *kinds: [sum(op.kind in kinds for op in program) for program in programs]  # noqa: E731
        self.plan = plan_of(launch, count(COPY), count(WAIT), count(ARRIVE), count(PRODUCT, REQUEST))
        for _ in range(min(resident, total)):
            self._start(0.0)

    def _start(self, now):
        block, self.started = self.started, self.started + 1
        self.alive[block] = len(self.programs)
        if self.plan:
            self.rings[block] = Ring(self.plan)
        for number, program in enumerate(self.programs):
            self._push(Warp(program, block, number, len(self.programs)), now + 1)

    def _push(self, warp, ready):
        """A warp that may issue from `ready` on, as far as it itself is concerned."""
        op = warp.program[warp.at]
        for barrier in op.waits:
            ready = max(ready, warp.free[barrier])
        if op.kind == GATHERED:
            ready = max([ready] + warp.groups[: len(warp.groups) - op.left])
            warp.groups = warp.groups[len(warp.groups) - op.left :] if op.left else []
        elif op.kind == PRODUCTS:
            ready = max([ready] + warp.product_groups[: len(warp.product_groups) - op.left])
            warp.product_groups = warp.product_groups[len(warp.product_groups) - op.left :] if op.left else []
        heapq.heappush(self.waiting[warp.order % self.chip.schedulers], (ready, -warp.order, warp))

    def run(self, marks=()):
        """Until all blocks have ended, or so many instructions as the last one of `marks` says have been issued. Returns when
        each of them was."""
        times, marks = [], list(marks)
        until = marks[0] if marks else float("inf")
        slot, waiting, able = self.slot, self.waiting, self.able
        schedulers = range(self.chip.schedulers)
        while True:
            which, when = None, float("inf")
            for s in schedulers:
                if able[s]:
                    at = slot[s]
                elif waiting[s]:
                    at = max(slot[s], waiting[s][0][0])
                else:
                    continue
                if at < when:
                    which, when = s, at
            if which is None:
                break
            self._step(which, when)
            if self.issued >= until:
                times.append(when)
                if len(times) == len(marks):
                    return times
                until = marks[len(times)]
        if len(self.ends) < self.total:
            raise Stuck(f"{self.total - len(self.ends)} of {self.total} blocks wait for what never comes")
        return times + [self.ends[-1]] * (len(marks) - len(times))

    def _step(self, s, now):
        heap, able, last = self.waiting[s], self.able[s], self.last[s]
        while heap and heap[0][0] <= now:
            able.append(heapq.heappop(heap)[2])
        if len(able) > 1:
            able.sort(key=lambda warp: (warp is not last, -warp.order))
        for index, warp in enumerate(able):
            if self._free_at(s, now, warp) <= now:
                del able[index]
                self._issue(s, now, warp)
                return
        for warp in able:
            heapq.heappush(heap, (max(now + 1, self._free_at(s, now, warp)), -warp.order, warp))
        able.clear()

    def _free_at(self, s, now, warp):
        """When what the next instruction of a warp needs has room for it."""
        op = warp.program[warp.at]
        if op.kind == UNIT:
            if self.units[s][op.unit] > now:
                return self.units[s][op.unit]
        elif op.kind == REQUEST or op.kind == MISS:
            queue = self.queues[s]
            while queue and queue[0] <= now:
                queue.popleft()
            if len(queue) >= self.chip.queued_requests:
                return queue[-self.chip.queued_requests]
        if self.chip.register_ports:
            read = 0.0
            for until, reads in zip(self.banks[s], op.ports if self.last[s] is warp else op.cold):
                if reads:
                    read = max(read, max(until, now) + reads / self.chip.register_ports)
            if read > now + self.chip.reading_cycles:
                return read - self.chip.reading_cycles
        return now

    def _issue(self, s, now, warp):
        op, chip = warp.program[warp.at], self.chip
        kind = op.kind
        self.issued += 1
        if chip.register_ports:
            banks = self.banks[s]
            for bank, reads in enumerate(op.ports if self.last[s] is warp else op.cold):
                if reads:
                    banks[bank] = max(banks[bank], now) + reads / chip.register_ports
        self.last[s], self.slot[s] = warp, now + 1
        done = read = now + op.latency
        if kind == UNIT:
            self.units[s][op.unit] = max(self.units[s][op.unit], now) + op.busy
            done, read = now + op.latency + op.busy - 1, now + op.busy
        elif kind == REQUEST or kind == MISS:
            done, read = self._request(s, now, warp, op)
        elif kind == COPY:
            self._copy(now, warp)
        elif kind == PUT:
            self.shared = max(self.shared, now) + op.busy
            self.l2 = max(self.l2, now) + op.bytes / self.rates.l2
        elif kind == PRODUCT:
            self._product(s, now, warp, op)
        elif kind == PRODUCTS:
            warp.running = op.left
        elif kind == ARRIVE and self.plan:
            ring = self.rings[warp.block]
            if ring.give_back(warp, now + chip.cycles_shared):
                self._resume(ring, now)
        elif kind == GATHER:
            warp.groups.append(warp.copied)
            warp.copied = 0.0
        if op.released >= 0:
            warp.free[op.released] = max(warp.free[op.released], done)
        if op.read >= 0:
            warp.free[op.read] = max(warp.free[op.read], read)
        warp.at += 1
        if kind == END or warp.at >= len(warp.program):
            self._end(warp, now)
        elif kind == WAIT and self.plan:
            self._wait(self.rings[warp.block], warp, op, now, now)
        elif kind == MEET:
            self._meet(warp, warp, op, now)
        else:
            if kind == PASS:
                self._meet(warp, None, op, now)
            self._push(warp, now + op.stall)

    def _request(self, s, now, warp, op):
        """(when the result is there, when the operands are read)"""
        if op.active < 1.0:
            runs = warp.runs[op.index] = warp.runs.get(op.index, 0.0) + op.active
            if runs < 0.999:
                return (now + self.chip.cycles_arithmetic,) * 2
            warp.runs[op.index] -= 1.0
        start = max(now + 1, self.shared)
        self.shared = start + op.busy
        self.queues[s].append(start)
        done = self._beyond(start, op.bytes, op.bytes) + op.busy if op.kind == MISS else start + op.latency
        if op.grouped:
            warp.copied = max(warp.copied, done)
        return done, start + self.chip.lsu_cycles + self.chip.cycles_arithmetic

    def _beyond(self, now, asked, arrive):
        """When bytes are there that L2 is asked for; of all requests some go on to memory."""
        self.port = max(self.port, now) + arrive / self.chip.l2_port_bytes
        self.l2 = max(self.l2, now) + asked / self.rates.l2
        end = max(self.port, self.l2)
        self.owed += self.to_memory
        if self.owed < 0.999:
            return end + self.chip.cycles_l2
        self.owed -= 1.0
        self.memory = max(self.memory, now) + asked / self.rates.memory
        return max(end, self.memory) + self.chip.cycles_memory

    def _copy(self, now, warp):
        ring = self.rings.get(warp.block)
        if ring and ring.begins(warp):
            ring.filled.append(self._beyond(now, self.plan.asked, self.plan.bytes))
            self.shared = max(self.shared, now) + self.plan.bytes / self.chip.bank_bytes_per_clock
            self._resume(ring, now)

    def _product(self, s, now, warp, op):
        """Each warp of a warpgroup has the tensor core of its scheduler."""
        units = self.units[s]
        units["tensor"] = max(units["tensor"], now) + op.busy
        self.shared = max(self.shared, now) + op.bytes
        warp.products = max(warp.products, units["tensor"], self.shared)
        if op.grouped:
            warp.product_groups.append(warp.products + self.chip.cycles_matrix)

    def _wait(self, ring, warp, op, since, now):
        at = ring.ready_at(warp)
        if at is None:
            ring.parked.append((warp, op, since))
            return
        done = max(since, at) + op.latency
        if op.released >= 0:
            warp.free[op.released] = max(warp.free[op.released], done)
        warp.waits, warp.fresh = warp.waits + 1, True
        self._push(warp, max(now, since + op.stall))

    def _resume(self, ring, now):
        parked, ring.parked = ring.parked, []
        for warp, op, since in parked:
            self._wait(ring, warp, op, since, now)

    def _meet(self, arrives, waits, op, now):
        """A warp that arrives at a barrier, and the same one, or None, that waits there."""
        barrier = op.barrier if op.barrier >= 0 else -1 - arrives.number // max(1, op.warps)
        key = arrives.block, barrier
        arrived, warps = self.meeting.get(key, (0, []))
        arrived, warps = arrived + 1, warps + [waits] * (waits is not None)
        if arrived < (op.warps or self.alive[arrives.block]):
            self.meeting[key] = (arrived, warps)
            return
        self.meeting.pop(key, None)
        for one in warps:
            self._push(one, now + self.chip.cycles_barrier)

    def _end(self, warp, now):
        block = warp.block
        self.alive[block] -= 1
        if self.plan:
            self.rings[block].ended.add(warp.number)
            self._resume(self.rings[block], now)
        if not self.alive[block]:
            self.ends.append(now)
            if self.started < self.total:
                self._start(now)
            return
        for (other, barrier), (arrived, warps) in list(self.meeting.items()):
            if other == block and arrived >= self.alive[block]:
                del self.meeting[other, barrier]
                for one in warps:
                    self._push(one, now + self.chip.cycles_barrier)
