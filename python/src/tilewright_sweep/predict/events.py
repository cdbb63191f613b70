# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The event-driven form: how long a launch takes by a simulation of one multiprocessor.

Warps run the basic blocks of the SASS in an order that their counts allow (order.py), and wait for each other in queues and at
barriers (machine.py, rings.py). Nothing but that is new: counts, rates and latencies are those of the closed form, which says also
what the other multiprocessors take of L2 and memory meanwhile, and below which time no launch gets (their bandwidth).

Short blocks run whole, some behind each other. Of long ones some turns of their longest loop are run.
"""

import collections

from tilewright_sweep.predict import blocks as execution
from tilewright_sweep.predict import bound, machine, operations
from tilewright_sweep.predict.order import Order, UnknownOrder

#: Instructions that three waves of blocks may have to be run whole, a wave of the first turns otherwise, and a wave without
#: a loop that can be cut.
_MOST, _FIRST, _BEYOND = 400_000, 60_000, 2_000_000
#: So many first turns of the longest loop.
_FEWEST, _ENOUGH = 3, 12


class TooLong(RuntimeError):
    pass


class Way:
    """Warps of a block that run the same: `runs` of each basic block, times that they `executed` each line of the PTX."""

    def __init__(self, launch, warps, runs, executed):
        self.warps, self.executed = warps, executed
        self.order = Order(launch.kernel, runs)
        sizes = [len(block) for block in launch.kernel.code]
        self.loop = self.order.longest_loop(sizes, 2 * _ENOUGH)
        if self.loop is None:
            self.loop = self.order.longest_loop(sizes)
        self.turns = self.order.turns.get(self.loop, 0.0)
        self.instructions = sum(count * size for count, size in zip(self.order.runs, sizes))
        self.operations = operations.Decoder(launch).blocks(self.order.runs, executed)

    def program(self, share):
        """The instructions in order, with so much of the loop's turns."""
        limits = {} if share is None or self.loop is None else {self.loop: max(1, round(self.turns * share))}
        return [op for block in self.order.walk(limits) for op in self.operations.get(block, ())]


def ways_of(launch):
    """Different ways of a block's warps, by what the simulator counted for each."""
    counts, rows = launch.counts, list(launch.counts.issue.values())
    alike = collections.OrderedDict()
    for warp in range(counts.warps):
        alike.setdefault(tuple(row["by_warp"][warp] for row in rows if "by_warp" in row), []).append(warp)
    found = []
    for warps in alike.values():
        of = {
            row["line"]: {**row, "executed": row["by_warp"][warps[0]] if "by_warp" in row else row["executed"] / counts.warps}
            for row in rows
        }
        runs = execution.execution_counts(launch.kernel, of, counts.blocks)
        executed = {line: row["executed"] / counts.blocks for line, row in of.items()}
        found.append(Way(launch, warps, [count / counts.blocks for count in runs], executed))
    return found


class Simulation:
    """`cycles` of a launch: of the multiprocessor that gets the most blocks."""

    def __init__(self, launch, demand, latency):
        chip, counts = launch.chip, launch.counts
        self.launch, self.ways = launch, ways_of(launch)
        self.most = -(-counts.grid_blocks // chip.multiprocessors)
        self.resident = min(launch.resident, self.most)
        bounded = max(max(demand.values()), latency / self.resident)
        self.rates = machine.Rates(launch, {name: demand[name] / bounded for name in ("L2", "memory")})
        block = sum(len(way.warps) * way.instructions for way in self.ways)
        loops = [way for way in self.ways if way.loop is not None]
        longest = max(loops, key=lambda way: way.instructions * len(way.warps), default=None)
        if longest is None or longest.turns <= 2 * _ENOUGH or 3 * block * self.resident <= _MOST:
            if block * self.resident > _BEYOND:
                raise TooLong(f"{block * self.resident:.0f} instructions of a wave, without a long loop, are too many to simulate")
            cycles = self._whole(3 if 3 * block * self.resident <= _BEYOND else 1)
        else:
            cycles = self._extrapolated(block, longest)
        # Whatever one multiprocessor may do while the others pause: over the whole launch all share.
        self.cycles = max(cycles, self.most * max(demand[name] for name in ("L2", "memory", "L2 port")))

    def _machine(self, share, resident, total):
        programs = [None] * self.launch.counts.warps
        for way in self.ways:
            program = way.program(share)
            for warp in way.warps:
                programs[warp] = program
        return machine.Machine(self.launch, programs, resident, total, self.rates)

    def _whole(self, waves):
        """Three waves, blocks behind each other. The launch's other blocks take as long as those of the second wave, when
        the multiprocessor is full: by instructions, for blocks that began later may end earlier. Or one wave for all."""
        total = min(self.most, waves * self.resident)
        made = self._machine(None, self.resident, total)
        if total == self.most:
            made.run()
            return made.ends[-1]
        if waves == 1:
            made.run()
            return -(-self.most // self.resident) * made.ends[-1]
        first, second = made.run([made.block * self.resident, 2 * made.block * self.resident])
        made.run()
        return made.ends[-1] + (self.most - total) * (second - first) / self.resident

    def _extrapolated(self, block, longest):
        """Waves follow each other. Of one, a few turns from the beginning to the end of all blocks, and for each other turn
        what it takes once all of them are at it."""
        turns = longest.turns
        few = max(_FEWEST, min(_ENOUGH, int(_FIRST / (block / turns * self.resident))))
        few, more = self._whole_turns(few, turns), self._whole_turns(2 * few + 1, turns)

        def wave(blocks):
            short = self._machine(few / turns, blocks, blocks)
            short.run()
            # Some blocks are ahead of the others; none may end in between.
            far = min(2 * more, turns)
            long = self._machine(far / turns, blocks, blocks)
            turn = blocks * (long.block - short.block) / (far - few)
            first, second = long.run([few * turn, more * turn])
            return short.ends[-1] + (turns - few) * (second - first) / (more - few)

        full, rest = divmod(self.most, self.resident)
        return full * wave(self.resident) + (wave(rest) if rest else 0.0)

    def _whole_turns(self, least, turns):
        """So many turns, or somewhat more, that the loops of all ways take whole turns: one may be unrolled more."""
        for count in range(least, least + 17):
            parts = [count * way.turns / turns for way in self.ways if way.loop is not None]
            if all(round(part) and abs(part - round(part)) < 0.02 for part in parts):
                return count
        return least


class Prediction(bound.Prediction):
    """As bound.Prediction; `instead`: why the closed form stands for the simulation, where it does."""

    def __init__(self, launch):
        self.instead = None
        super().__init__(launch)

    def _total(self, launch):
        try:
            return Simulation(launch, self.demand, self.latency).cycles
        except (UnknownOrder, TooLong, machine.Stuck) as error:
            self.instead = str(error)
            return super()._total(launch)

    def _decides(self, resource):
        return super()._decides(resource) if self.instead else self.demand[resource] >= bound.DECIDES * self._of_a_block()

    def _of_a_block(self):
        return super()._of_a_block() if self.instead else self.cycles / self.most

    def lines(self):
        yield from super().lines()
        if self.instead:
            yield f"by the closed form: {self.instead}"
