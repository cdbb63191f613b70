# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When a warp alone issues the instructions of PTX: what stands for ptxas's schedule where there is none.

Each basic block is put in an order by list scheduling, between barriers:

  1. An instruction depends on those before it whose results it reads, and on those that read or write what it writes. Loads
     and stores of shared memory stay in order with stores, of other memory likewise; asynchronous copies, mbarriers and
     groups stay in order with all of them and with each other; a branch is the last.
  2. In each cycle, of the instructions whose operands are there the one is issued that has the longest path of latencies
     behind it; of equals the first in the text.

Then blocks are run in that order, one instruction a cycle, each not before its operands are there. An operand may come
from the block before: a block begins with what the block that most often goes before it still waits for. Latencies are
those of chips.json; a predicate takes `cycles_predicate` to those that it guards, a branch `cycles_branch`.
"""

from tilewright_sweep.predict import roles

#: Asynchronous: in order with each other, and with loads and stores.
_ORDERED = {"LDGSTS", "LDGDEPBAR", "DEPBAR", "SYNCS", "WARPGROUP", "BAR", "EXIT", "RED", "ATOM", "ATOMG", "ATOMS", "VOTE"}
_ORDERED |= roles.BULK | roles.GROUP_PRODUCTS
_LOADS = {"LDS": "shared", "LDSM": "shared", "LDG": "other", "LD": "other", "LDL": "local"}
_STORES = {"STS": "shared", "STSM": "shared", "STG": "other", "ST": "other", "STL": "local"}
_PREDICATES = {"ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3"}
#: Rounds over all blocks until what they hand on is what it was; loops of loops need few.
ROUNDS = 4


def in_order(block, latency):
    """A list schedule of instructions without a barrier between them; `latency(item)`: until a result is there."""
    size = len(block)
    after, before = [[] for _ in block], [0] * size

    def follows(first, second, cycles):
        if first is not None and first != second:
            after[first].append((second, cycles))
            before[second] += 1

    written, read, stores, loads, ordered = {}, {}, {}, {}, None
    for index, item in enumerate(block):
        for name in item.reads:
            if name in written:
                follows(written[name], index, latency(block[written[name]]))
            read.setdefault(name, []).append(index)
        for name in item.writes:
            follows(written.get(name), index, 1)
            for reader in read.pop(name, ()):
                follows(reader, index, 0)
            written[name] = index
        root = item.root
        space = _LOADS.get(root) or _STORES.get(root)
        if root in _ORDERED:
            for places in (*stores.values(), *loads.values()):
                for place in places:
                    follows(place, index, 1)
            follows(ordered, index, 1)
            stores, loads, ordered = {}, {}, index
        elif space:
            follows(ordered, index, 1)
            for place in stores.get(space, ()):
                follows(place, index, 1)
            if root in _STORES:
                for place in loads.pop(space, ()):
                    follows(place, index, 0)
                stores[space] = [index]
            else:
                loads.setdefault(space, []).append(index)
    if size and block[-1].root in ("BRA", "EXIT", "BAR"):
        for index in range(size - 1):
            follows(index, size - 1, 0)
    # The longest path of latencies from each to the end; those after it stand behind it in the text.
    path = [0.0] * size
    for index in reversed(range(size)):
        path[index] = max((cycles + path[other] for other, cycles in after[index]), default=0.0)
    able, waiting, now, made = [i for i in range(size) if not before[i]], {}, 0.0, []
    ready = [0.0] * size
    while able or waiting:
        able += [i for i, at in waiting.items() if at <= now]
        waiting = {i: at for i, at in waiting.items() if at > now}
        if not able:
            now = min(waiting.values())
            continue
        best = max(able, key=lambda i: (path[i], -i))
        able.remove(best)
        made.append(block[best])
        for other, cycles in after[best]:
            ready[other] = max(ready[other], now + cycles)
            before[other] -= 1
            if not before[other]:
                waiting[other] = ready[other]
        now += 1
    return made


class Schedule:
    """Of a launch of a kernel from PTX: phases of each block, as bound.Launch.phases has them."""

    def __init__(self, launch):
        self.launch, self.chip = launch, launch.chip
        kernel = launch.kernel
        self.segments = []
        for block in kernel.code:
            cuts = [0] + [i + 1 for i, item in enumerate(block) if item.root == "BAR"] + [len(block)]
            self.segments.append([in_order(block[a:b], self._latency) for a, b in zip(cuts, cuts[1:])])
        exits = [{} for _ in kernel.code]
        self.spent = [[] for _ in kernel.code]
        before = [[i for i, of in enumerate(kernel.successors) if index in of] for index in range(len(kernel.code))]
        for _ in range(ROUNDS):
            for index in range(len(kernel.code)):
                ran = [other for other in before[index] if launch.runs[other] > 0]
                usual = max(ran, key=lambda other: launch.runs[other], default=None)
                self.spent[index], exits[index] = self._run(index, exits[usual] if usual is not None else {})

    def _latency(self, item):
        if item.root in _PREDICATES:
            return self.chip.cycles_predicate
        return self.launch.dependence_cycles(item)

    def phases(self, index):
        return list(zip(self.segments[index], self.spent[index]))

    def _run(self, index, entry):
        """(cycles of each segment, what is still waited for behind the last one)"""
        chip, launch = self.chip, self.launch
        now, ready = 0.0, dict(entry.get("ready", {}))
        groups, begun, products = list(entry.get("groups", [])), entry.get("begun", 0.0), roles.Products()
        products.free, products.ended = entry.get("free", 0.0), list(entry.get("ended", []))
        spent = []
        for segment in self.segments[index]:
            start = now
            for item in segment:
                now = max([now] + [ready.get(name, 0.0) for name in item.reads])
                if item.root == "LDGSTS":
                    begun = max(begun, now + launch.result_cycles(item))
                elif item.root == "LDGDEPBAR":
                    groups, begun = [*groups, begun][-8:], 0.0
                elif item.root == "DEPBAR":
                    left = int(item.operands[1]) if item.operands else 0
                    now = max([now] + groups[: len(groups) - left if left else None])
                elif item.root == "BAR":
                    now += chip.cycles_barrier
                elif item.root in roles.GROUP_PRODUCTS:
                    products.take(item, now, launch.product_cycles(item), chip.cycles_matrix)
                elif item.opcode == "WARPGROUP.COMMIT":
                    products.commit(chip.cycles_matrix)
                elif item.opcode.startswith("WARPGROUP.DEPBAR"):
                    now = products.wait(item, now)
                elif item.root == "SYNCS":
                    now += chip.cycles_shared
                for name in item.writes:
                    ready[name] = now + self._latency(item)
                now += chip.cycles_branch if item.root == "BRA" else 1
            spent.append(now - start)
        left = {"ready": {name: at - now for name, at in ready.items() if at > now}, "begun": max(0.0, begun - now),
                "groups": [at - now for at in groups], "free": products.free - now,
                "ended": [at - now for at in products.ended[-8:]]}  # fmt: skip
        return spent, left
