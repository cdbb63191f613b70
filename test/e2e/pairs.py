# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-pairs selection: few of many rows, which still show every pair of values of two factors together.

A row is a tuple with one value per factor:

    rows = [("matmul", "f16", "sm_80"), ("matmul", "f16", "cpu"), ("matmul", "f32", "sm_80"), ("matmul", "f32", "cpu"),
            ("reduce", "f32", "sm_80")]
    choose(rows, seed=1) == [1, 2, 4]  # or [0, 3, 4]

leaves out rows whose pairs (matmul f16, matmul cpu, f16 cpu) are all shown by others. Unlike a generator of
covering arrays it takes the rows as given, because not every combination exists: no matmul is three-dimensional.
"""

import collections
import heapq
import itertools
import random


def pairs_of(row):
    """The pairs of values in a row, each value with the number of its factor."""
    return itertools.combinations(enumerate(row), 2)


def choose(rows, seed, always=(), work=None):
    """The numbers of rows that together show every pair that all rows show, ascending.

    Greedy: the row with the most pairs that are not shown yet is next. Of equal ones, that which repeats more work of
    the rows chosen before (`work[n]` names the steps that row n takes, for instance a compilation), then the first in an
    order drawn from `seed`. The rows `always` are chosen whatever they show.
    """
    place = list(range(len(rows)))
    random.Random(seed).shuffle(place)
    place = {n: i for i, n in enumerate(place)}
    rows_with, rows_of = collections.defaultdict(list), collections.defaultdict(list)
    for n, row in enumerate(rows):
        for pair in pairs_of(row):
            rows_with[pair].append(n)
        for step in work[n] if work else ():
            rows_of[step].append(n)
    missing = [len(list(pairs_of(row))) for row in rows]
    repeated = [0] * len(rows)
    chosen, done, shown = set(), set(), set()

    def rank(n):
        return -missing[n], -repeated[n], place[n], n

    def take(n):
        """Chooses a row. Returns those whose ranks it changed."""
        chosen.add(n)
        changed = set()
        for step in set(work[n] if work else ()) - done:
            done.add(step)
            for other in rows_of[step]:
                repeated[other] += 1
                changed.add(other)
        for pair in pairs_of(rows[n]):
            if pair not in shown:
                shown.add(pair)
                for other in rows_with[pair]:
                    missing[other] -= 1
                    changed.add(other)
        return changed

    for n in always:
        take(n)
    queue = [rank(n) for n in range(len(rows)) if missing[n]]
    heapq.heapify(queue)
    while queue:
        entry = heapq.heappop(queue)
        n = entry[-1]
        if entry == rank(n) and missing[n]:  # else one of its later ranks is queued, or it shows nothing new
            for other in take(n):
                if missing[other]:
                    heapq.heappush(queue, rank(other))
    return sorted(chosen)
