# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs by number: the same number is the same program, whatever was made before.

    pattern       the same with what front ends write (patterns.py)
    dag           ops that take each other's results
    metamorphic   one computation in two ways (metamorphic.py)
    memref        the family memref_program of test/e2e: copies, swaps, updates of overlapping views
    irregular     sorts, scans and scatters among the ops of a dag (irregular.py): each eighth program
"""

import random

from families import memref_programs

import irregular
import metamorphic
import ops
import patterns
from graph import Graph, Impossible

KINDS = {"pattern": 5, "dag": 9, "metamorphic": 4, "memref": 2}
#: How often each op is taken: in half of the ops of a pattern, one of patterns.py.
WEIGHTS = {"dag": ops.WEIGHTS,
           "pattern": {**ops.WEIGHTS, **{op: 2.5 * weight for op, weight in patterns.WEIGHTS.items()}},
           "irregular": {**ops.WEIGHTS, **{op: 5 * weight for op, weight in irregular.WEIGHTS.items()}}}


def dag(number, dynamic, pinned, kind="dag"):
    graph = Graph(kind, number, dynamic, pinned)
    wanted = graph.random.choice([1, 2, 2, 3, 3, 4, 5, 6, 8])
    graph.base_dim()
    made = 0
    for _ in range(4 * wanted):
        # A first op needs something to work on.
        op = graph.random.choices([*WEIGHTS[kind]], [*WEIGHTS[kind].values()])[0]
        if not graph.values:
            dims = ops.pick_dims(graph, 1, 4)
            if not dims:
                continue
            graph.argument(graph.random_element(), dims)
        try:
            made += bool(op(graph))
        except Impossible:
            break
        if made == wanted:
            break
    return graph.finish()


def program(number, pinned=None):
    """(kind, functions.Function with its cases); the function is None where nothing came of this number. With the number of
    a case its text has that case's sizes instead of `?`."""
    choice = random.Random(f"program {number}")
    kind = choice.choices([*KINDS], [*KINDS.values()])[0]
    if number % 8 == 5:
        kind = "irregular"
    dynamic = choice.random() < 0.5
    if kind == "memref":
        return kind, memref_programs.Writer(100_000 + number, dynamic).finish()
    try:
        if kind == "metamorphic":
            return kind, metamorphic.program(number, dynamic, pinned)
        return kind, dag(number, dynamic, pinned, kind)
    except Impossible:
        return kind, None
