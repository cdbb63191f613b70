# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes on beside the warps that asked for it: groups of wgmma, and stages that bulk copies fill.

A warpgroup's products are a queue: each begins when the one before is done and takes its operations at the whole rate of the
tensor cores, if no other warpgroup has them. A wait is for the end of a group.

Stages: of each allocation that bulk copies bring into shared memory the simulator counts how many of a block's stages are
filled in turn (places, mbarriers). A stage is filled, waited for, read, and given back; then it may be filled again. With S
stages and n fillings a block needs at least

    n / S * (latency of a copy + two mbarriers) + 1 / S * (what its warps take for all)

so that one stage is a chain of copies and work, and many leave the slower of them. Before all that the first stage fills.

Where copies fill stages, warps wait for mbarriers and not for each other: while one warpgroup waits another one has the
units. So a role takes for a loop (all that it runs as often) the longer of what it waits and issues in a turn, and of what
the loop's busiest resource takes for all warps; loops follow each other.
"""

#: Of a warpgroup: an instruction is issued by each of its four warps.
WARPS_OF_GROUP = 4
#: Instructions that multiply matrices of shared memory.
GROUP_PRODUCTS = {"HGMMA", "IGMMA", "QGMMA"}
#: Copies by an engine that the issuing thread does not wait for.
BULK = {"UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED"}


class Products:
    """The groups of wgmma of one warpgroup: times of the clock of whoever follows its instructions."""

    def __init__(self):
        self.free, self.ended = 0.0, []

    def take(self, item, now, cycles, depth):
        """A product that keeps the tensor cores busy for so long, and whose result is there `depth` later."""
        self.free = max(self.free, now) + cycles
        if "gsb0" in item.operands:
            self.commit(depth)

    def commit(self, depth):
        self.ended.append(self.free + depth)

    def wait(self, item, now):
        left = int(item.operands[1], 0) if len(item.operands) > 1 else 0
        return max([now] + self.ended[: len(self.ended) - left if left else None])


class Stages:
    """Of one allocation, per block: `fillings` of `stages` stages, bytes of a filling."""

    def __init__(self, row):
        self.stages = max(1, row["mbarriers"])
        self.copies = copies = row["copies"] / row["blocks"]
        # A stage may take several copies; each place of the stages is filled as often as the others.
        self.fillings = copies * self.stages / max(row["places"], self.stages)
        self.bytes = row["bytes"] / row["blocks"] / self.fillings


class Loop:
    """What a block's roles run equally often."""

    def __init__(self, ways):
        self.alone, self.demand = [0.0] * ways, {}

    def add(self, alone, demand, runs):
        self.alone = [sum(pair) for pair in zip(self.alone, alone)]
        for name, cycles in demand.items():
            self.demand[name] = self.demand.get(name, 0.0) + cycles * runs


def latencies(loops, ways):
    """Cycles that each role takes for all its loops, copies apart."""
    found = [0.0] * ways
    for loop in loops:
        for way in range(ways):
            if loop.alone[way] > 0:
                found[way] += max(loop.alone[way], max(loop.demand.values()))
    return found


def latency_with_stages(chip, found, latency, memory_cycles):
    """`latency`: of the block's warps, copies apart; `memory_cycles`: until the first byte of a copy is there."""
    most = first = 0.0
    together = sum(one.bytes for one in found if one.fillings > 1)
    for one in found:
        # Copies of one stage arrive one behind the other through the port.
        arrive = memory_cycles + max(one.bytes, together if one.fillings > 1 else 0) / chip.l2_port_bytes
        first = max(first, arrive)
        most = max(most, one.fillings / one.stages * (arrive + 2 * chip.cycles_shared) + latency / one.stages)
    return max(most, latency + first)
