# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In which order a warp runs the basic blocks, from how often it runs each.

What comes into a block leaves it, so the counts of blocks say how often most edges are taken. Of the order that is left:

    a loop is left after its last turn, each time that it is entered after as many turns;
    a branch inside of a turn first goes on to the next block, as often as that was counted, then it jumps (what guards a
    loop's work drops warps out, as in a tree of sums; it hardly ever takes them in)

`walk` may stop loops early: of long ones a few turns say what the others take.
"""

import collections

from tilewright_sweep.predict import blocks


class UnknownOrder(RuntimeError):
    pass


#: Longer walks are of counts that make no sense together.
_LONGEST = 300_000


class Order:
    """Of one way through a kernel: `runs` of each basic block, `loops` {header: blocks}, `turns` of each a time."""

    def __init__(self, kernel, runs):
        self.kernel = kernel
        without = blocks.untaken_edges(kernel)
        self.following = [[j for j in sorted(of) if (i, j) not in without] for i, of in enumerate(kernel.successors)]
        self.loops = blocks.loops_of(kernel)
        self.runs = self._reachable(runs)
        self.flows = self._flows(without)
        self.turns = {}
        for header, body in self.loops.items():
            entered = sum(of.get(header, 0.0) for i, of in enumerate(self.flows) if i not in body) + (header == 0)
            self.turns[header] = self.runs[header] / max(1.0, round(entered))

    def _reachable(self, runs):
        """Blocks on the ways to others that run count as run once, too: no line of theirs may have been counted."""
        runs = [count if count > 1e-3 else 0.0 for count in runs]
        while True:
            reached = self._search([0], lambda j: runs[j] > 0)
            lost = {j for j, count in enumerate(runs) if count > 0 and j not in reached}
            came = self._search(reached, lambda j: True)
            goal = next((j for j in came if j in lost), None)
            if goal is None:
                return [0.0 if j in lost else count for j, count in enumerate(runs)]
            at = came[goal]
            while at is not None and runs[at] == 0.0:
                runs[at], at = 1.0, came[at]

    def _search(self, start, allowed):
        """{block: the one before it on the shortest way}"""
        came, todo = dict.fromkeys(start), collections.deque(start)
        while todo:
            i = todo.popleft()
            for j in self.following[i]:
                if j not in came and allowed(j):
                    came[j] = i
                    todo.append(j)
        return came

    def _flows(self, without):
        """For each block {the next one: times}; what blocks leave open is divided by their counts."""
        flow = blocks.Flow(self.kernel, dict(enumerate(self.runs)), without)
        flow.spread()
        found = []
        for i, following in enumerate(self.following):
            known = {j: flow.edges.get((i, j)) for j in following}
            missing = [j for j, times in known.items() if times is None]
            left = max(0.0, self.runs[i] - sum(times for times in known.values() if times is not None))
            weight = sum(self.runs[j] for j in missing)
            known.update({j: left * self.runs[j] / weight if weight else 0.0 for j in missing})
            found.append({j: times if times > 1e-6 else 0.0 for j, times in known.items()})
        return found

    def longest_loop(self, sizes, least=4):
        """The header of the loop that most instructions run in, the inner one of nested loops, of those with more than
        `least` turns; None without any."""
        weight = {
            header: sum(self.runs[i] * sizes[i] for i in body)
            for header, body in self.loops.items() if self.turns[header] > least
        }  # fmt: skip
        inner = [
            header for header in weight
            if not any(self.loops[other] < self.loops[header] and weight[other] > weight[header] / 2 for other in weight)
        ]  # fmt: skip
        return max(inner, key=weight.get, default=None)

    def walk(self, limits):
        """Blocks in order; a loop in `limits` is left after so many turns."""
        order, turn, i = [], {}, 0
        while len(order) < _LONGEST:
            order.append(i)
            if i in self.loops:
                turn[i] = turn.get(i, 0) + 1
            options = self.flows[i]
            if not options or self.kernel.code[i][-1].root == "EXIT" and (
                not any(options.values()) or self._exits(turn, limits)
            ):
                return order
            i = self._next(i, turn, limits)
            for header in [header for header in turn if i not in self.loops[header]]:
                del turn[header]
        raise UnknownOrder(f"{self.kernel.name}: no end is found from the counts of its blocks")

    def _last(self, header, limits):
        return min(self.turns[header], limits.get(header, float("inf")))

    def _exits(self, turn, limits):
        """Whether warps end in the last turn of a loop that nothing else leaves."""
        for header in turn:
            body = self.loops[header]
            left = any(times for i in body for j, times in self.flows[i].items() if j not in body)
            if not left and turn[header] > self._last(header, limits) - 0.5:
                return True
        return False

    def _next(self, i, turn, limits):
        out = self.flows[i]
        options = list(out)
        often = lambda some: max(some, key=out.get)  # noqa: E731
        around = sorted((header for header in turn if i in self.loops[header]), key=lambda header: len(self.loops[header]))
        for header in around:
            if len(options) == 1:
                return options[0]
            body = self.loops[header]
            back = [j for j in options if j == header]
            stay = [j for j in options if j in body and j != header]
            leave = [j for j in options if j not in body]
            last = self._last(header, limits)
            more = turn[header] < last - 0.5
            if back and leave and not stay:
                return header if more else often(leave)
            if back and stay:
                return often(back + stay) if more else often(stay)
            if leave and stay:
                # An edge that was never taken is one only where no other leaves the loop.
                leaves = any(out[j] for j in leave) or turn[header] > last + 1
                if not any(out[j] for j in stay) or not more and leaves:
                    return often(leave)
                options = stay
                break
            if stay:
                break
        if len(options) == 1 or not around:
            return often(options)
        header, at = around[0], 0.0
        entered = max(1.0, self.runs[header] / self.turns[header]) if self.turns[header] else 1.0
        for j in sorted(options, key=lambda j: (j != i + 1, j)):
            at += out[j] / entered
            if turn[header] <= at + 0.5:
                return j
        return often(options)
