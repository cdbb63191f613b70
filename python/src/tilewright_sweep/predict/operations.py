# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the event-driven form has to know of each instruction of the SASS: Op, made once for each way through a kernel."""

from tilewright_sweep.predict import blocks as execution
from tilewright_sweep.predict import bound, roles

#: What happens beside the slot of the scheduler. UNIT: a unit of the scheduler's; REQUEST: shared memory and L1, MISS: what
#: goes on to L2; GATHER, GATHERED: groups of cp.async; WAIT, ARRIVE: mbarriers of stages; COPY: what fills them; PUT: bulk
#: stores; PRODUCT, PRODUCTS: wgmma and its wait.
SLOT, UNIT, REQUEST, MISS, MEET, PASS, GATHER, GATHERED, END, WAIT, ARRIVE, COPY, PUT, PRODUCT, PRODUCTS = range(15)


class Op:
    """`busy`: cycles of what it needs, `latency`: from there until its result; barriers of SASS that it waits for, releases
    with its result and when its operands are read (-1: none); `ports`: reads of both banks of registers, `cold` if nothing
    is in the reuse caches; `left`: of a wait, what may be running; `active`: share of the runs that its predicate lets."""

    __slots__ = ("kind", "stall", "waits", "released", "read", "unit", "busy", "latency", "ports", "cold", "bytes", "left",
                 "active", "grouped", "barrier", "warps", "index")  # fmt: skip

    def __init__(self, item, chip):
        self.kind, self.unit, self.busy, self.latency, self.bytes = SLOT, None, 0.0, chip.cycles_other, 0.0
        self.stall, self.waits = max(1, item.stall), tuple(i for i in range(6) if item.waits >> i & 1)
        self.released = item.write_barrier if item.write_barrier < 6 else -1
        self.read = item.read_barrier if item.read_barrier < 6 else -1
        self.left, self.active, self.grouped, self.barrier, self.warps = 0, 1.0, False, 0, 0


def _number(item):
    """The count that a wait has as an operand."""
    return int(item.operands[1], 0) if len(item.operands) > 1 else 0


def _unit(launch, item):
    """(name, cycles of one warp on the unit of one scheduler)"""
    chip, root = launch.chip, item.root
    for name, roots, lanes in (
        ("fma", bound.FMA, "fp32"), ("imad", {"IMAD"}, "imad"), ("alu", bound.ALU, "alu"), ("xu", bound.XU, "xu"),
        ("fp16", bound.FP16, "fp16"), ("fp64", bound.FP64, "fp64"),
    ):  # fmt: skip
        if root in roots:
            return name, chip.warp * chip.schedulers / chip.lanes[lanes]
    cycles = launch.product_cycles(item)
    return ("tensor", cycles * chip.schedulers) if cycles else (None, 0.0)


class Decoder:
    """Makes Op of a launch's instructions."""

    def __init__(self, launch):
        self.launch, self.chip, self.counts = launch, launch.chip, launch.counts

    def blocks(self, runs, executed):
        """{basic block: its Op} of one way; `executed`: how often its warps ran each line of the PTX."""
        copies = {}
        for block, times in zip(self.launch.kernel.code, runs):
            for item in block:
                if item.line in self.counts.issue and self._made(item, self.counts.issue):
                    copies[item.line] = copies.get(item.line, 0.0) + times * self.launch.share_of(item)
        found, number = {}, 0
        for index, block in enumerate(self.launch.kernel.code):
            if runs[index] <= 0:
                continue
            found[index], cache = [], {}
            for item in block:
                op = self._op(item)
                op.index, number = number, number + 1
                if op.kind in (REQUEST, MISS) and item.predicated and copies.get(item.line):
                    op.active = min(1.0, executed.get(item.line, 0.0) / copies[item.line])
                ports, cold, kept = [0, 0], [0, 0], {}
                for slot, register, reuse in item.registers():
                    cold[register % 2] += 1
                    ports[register % 2] += cache.get(slot) != register
                    if reuse:
                        kept[slot] = register
                cache = kept
                op.ports, op.cold = tuple(ports), tuple(cold)
                found[index].append(op)
        return found

    @staticmethod
    def _made(item, rows):
        return execution.is_made_of(rows[item.line]["instruction"], item.root)

    def _op(self, item):
        op, root = Op(item, self.chip), item.root
        op.unit, op.busy = _unit(self.launch, item)
        if op.unit and root not in roles.GROUP_PRODUCTS:
            op.kind = UNIT
        elif root in bound.MEETING:
            self._request(op, item)
        elif root == "BAR":
            op.kind = PASS if "ARV" in item.opcode.split(".") else MEET
            name, threads = ([*item.operands, "", ""])[:2]
            # A barrier whose number is in a register is taken for one of as many neighbouring warps.
            op.barrier = int(name, 0) if name[:1].isdigit() else -1
            op.warps = int(threads, 0) // self.chip.warp if threads[:1].isdigit() else 0
        elif root == "LDGDEPBAR":
            op.kind = GATHER
        elif root == "DEPBAR":
            op.kind, op.left = GATHERED, _number(item)
        elif root == "EXIT":
            op.kind = SLOT if item.predicated else END
        elif root == "SYNCS":
            op.latency = self.chip.cycles_shared
            if self.counts.stages:
                op.kind = WAIT if "PHASECHK" in item.opcode else ARRIVE if "ARRIVE" in item.opcode else SLOT
        elif root in roles.BULK:
            self._bulk(op, item)
        elif root in roles.GROUP_PRODUCTS:
            op.kind, op.unit = PRODUCT, "tensor"
            op.busy, op.bytes = self.launch.product_cycles(item), self.launch.moved_beside(item)
            op.grouped = "gsb0" in item.operands
        elif item.opcode.startswith("WARPGROUP.DEPBAR"):
            op.kind, op.left = PRODUCTS, _number(item)
        return op

    def _request(self, op, item):
        op.kind = REQUEST
        op.busy, op.latency = self.launch.memory_cost(item)
        op.grouped = item.root == "LDGSTS"
        rows = self.counts.global_rows.get(item.line, []) if item.root in bound.GLOBAL else []
        requests, sectors = (sum(row[member] for row in rows) for member in ("requests", "sectors"))
        missed = sum(row["sectors" if row["way"] == "write" else "missed"] for row in rows)
        if requests and missed > 0.001 * sectors:
            op.kind, op.bytes = MISS, 32.0 * missed / requests * self.launch.share_of(item)

    def _bulk(self, op, item):
        op.kind = COPY if item.root in ("UTMALDG", "UBLKCP") and self.counts.stages else PUT
        op.busy, op.latency = self.launch.moved_beside(item), self.chip.cycles_shared
        rows = self.counts.global_rows.get(item.line, [])
        requests = sum(row["requests"] for row in rows)
        op.bytes = 32.0 * sum(row["sectors"] for row in rows) / requests if requests else 0.0
