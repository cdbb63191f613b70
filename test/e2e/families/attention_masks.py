# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tilewright.attention whose mask an op computes of coordinates and smaller tensors, beside the scores: ALiBi's distances,
windows around a diagonal, padding and a triangle at once. Values and bounds are those of families/attention.py.
"""

import functools

import numpy as np

from data import BF16, F16, F32, I1, choice, uniform
from families.attention import Case, by_warpgroups, sizes
from families.attention_pages import Pages
from families.panels import TILES


class Mask:
    """`inputs`: (element, dims, fill). `lines` compute %r of %s0, %s1, … and of a coordinate along dim x, %at_x; `numpy` does of
    arrays and coordinates that broadcast to the mask."""

    def __init__(self, element, dims, inputs, lines, numpy):
        self.element, self.dims, self.inputs, self.lines, self.numpy = element, dims, inputs, lines, numpy

    def write(self, f):
        args = [f.arg(element, dims) for element, dims, _ in self.inputs]

        def body(lines, *scalars):
            text = "\n".join(self.lines)
            lines.extend(f"%at_{d} = linalg.index {n} : index" for n, d in enumerate(self.dims) if f"%at_{d}" in text)
            lines.extend(self.lines)
            return "%r"
        return f.generic(self.dims, args, f.empty(self.element, self.dims), body)

    def values(self, extents, arrays):
        def spread(x, dims):
            x = np.transpose(x, [dims.index(d) for d in self.dims if d in dims])
            return x.reshape([extents[d] if d in dims else 1 for d in self.dims])
        at = {d: np.arange(extents[d]).reshape([-1 if e == d else 1 for e in self.dims]) for d in self.dims}
        result = self.numpy(at, *[spread(x, dims) for x, (_, dims, _) in zip(arrays, self.inputs)])
        return np.broadcast_to(result, [extents[d] for d in self.dims])


DISTANCE = ["%d = arith.subi %at_j, %at_i : index", "%n = arith.index_cast %d : index to i32"]
ALIBI = Mask(F32, "hij", [(F32, "h", uniform(0, 0.05))],
             [*DISTANCE, "%f = arith.sitofp %n : i32 to f32", "%r = arith.mulf %s0, %f : f32"],
             lambda at, slope: slope * (at["j"] - at["i"]))
# Both sides, of 64 bits, in another order of dims.
BOTH_SIDES = Mask(F32, "jih", [(F32, "h", uniform(0, 0.05))],
                  ["%d = arith.subi %at_j, %at_i : index", "%n = arith.index_cast %d : index to i64", "%a = math.absi %n : i64",
                   "%f = arith.sitofp %a : i64 to f32", "%m = arith.mulf %s0, %f : f32", "%r = arith.negf %m : f32"],
                  lambda at, slope: -slope * abs(at["j"] - at["i"]))
NEAR = Mask(I1, "ij", [(I1, "j", choice(0, 1))],
            [*DISTANCE, "%a = math.absi %n : i32", "%c = arith.constant 20 : i32", "%y = arith.cmpi sle, %a, %c : i32",
             "%r = arith.andi %y, %s0 : i1"],
            lambda at, there: (abs(at["j"] - at["i"]) <= 20) & (there != 0))
# Rows and columns of 16 bits, each a tensor of its own.
SUM = Mask(F16, "hij", [(F16, "hi", uniform(-1, 1)), (F16, "j", uniform(-1, 1))], ["%r = arith.addf %s0, %s1 : f16"],
           lambda at, row, column: F16.round(row + column))
# A whole tensor, and a triangle of the lowest numbers.
FILLED = Mask(F32, "ij", [(F32, "ij", uniform(-1, 1))],
              ["%y = arith.cmpi ule, %at_j, %at_i : index", "%c = arith.constant -3.0e38 : f32",
               "%r = arith.select %y, %s0, %c : f32"],
              lambda at, x: np.where(at["j"] <= at["i"], x, -3.0e38))
THIRDS = Mask(I1, "hij", [], ["%a = arith.addi %at_i, %at_j : index", "%b = arith.addi %a, %at_h : index",
                              "%c = arith.constant 3 : index", "%m = arith.remui %b, %c : index", "%z = arith.constant 0 : index",
                              "%r = arith.cmpi ne, %m, %z : index"],
              lambda at: (at["i"] + at["j"] + at["h"]) % 3 != 0)
# Heads that share keys have their own slopes.
GROUPS = Mask(F32, "gij", [(F32, "g", uniform(0, 0.05))], ALIBI.lines, lambda at, slope: slope * (at["j"] - at["i"]))

# Sequences have theirs.
SEQUENCES = Mask(F32, "bij", [(F32, "b", uniform(0, 0.05))], ALIBI.lines, ALIBI.numpy)


def up_to_lengths():
    """Keys end at a length of each sequence."""
    def case(element, label, b, i, j, depth, lengths, mask, **named):
        return Pages(element, label, {"b": b, "h": 2, "g": 1, "i": i, "j": j, "D": depth}, lengths, page=0, mask=(mask.element, mask.dims),
                     computed=mask, family="attention_masks", targets=("cuda", "cpu", "cpu-reference"), **named)
    for element in (F16, F32):
        yield case(element, "lengths_alibi", 4, 20, 70, 32, [0, 1, 33, 70], SEQUENCES, lse=True)
        yield case(element, "lengths_near", 3, 40, 70, 32, [5, 64, 70], NEAR, causal="bottom_right")
    yield case(F16, "lengths_many_alibi", 4, 130, 300, 64, [0, 5, 130, 300], SEQUENCES, causal="bottom_right", lse=True)
    yield case(F16, "lengths_many_near", 3, 70, 300, 64, [1, 128, 200], NEAR)
    yield case(F16, "lengths_many_filled", 3, 130, 280, 128, [5, 128, 280], FILLED)


def cases():
    yield from up_to_lengths()
    lengths = ({"i": 1, "j": 1}, {"i": 70, "j": 130, "h": 1}, {"i": 3, "j": 0}, {"i": 0, "j": 5}, {"h": 0})

    def case(element, label, dims, mask, *more, **named):
        return Case(element, label, dims, *more, mask=(mask.element, mask.dims), computed=mask, family="attention_masks", **named)

    elsewhere = functools.partial(case, targets=("cuda", "cpu", "cpu-reference"))
    for element in (F16, F32):
        yield case(element, "alibi_causal", sizes(3, 40, 70, 32), ALIBI, causal="top_left", lse=True)
        yield case(element, "alibi_any", sizes(2, 37, 45, 32), ALIBI, True, more=lengths)
        yield case(element, "both_sides", sizes(2, 40, 70, 16), BOTH_SIDES)
        yield case(element, "near_any", sizes(2, 37, 45, 32), NEAR, True, more=lengths, lse=True)
        yield case(element, "thirds", sizes(2, 20, 40, 32), THIRDS, causal="bottom_right")
        yield elsewhere(element, "filled", sizes(2, 40, 70, 32), FILLED)
        # Rows of a block are queries of heads that share keys; keys in parts.
        yield elsewhere(element, "rows", {"g": 4, **sizes(2, 4, 70, 32)}, GROUPS, group="g", lse=True)
        yield elsewhere(element, "rows_one", {"g": 4, **sizes(2, 1, 1100, 32)}, GROUPS, group="g", causal="bottom_right")
        yield elsewhere(element, "rows_any", {"g": 4, **sizes(2, 2, 70, 32)}, GROUPS, True, group="g", known="gi",
                        more=({"j": 2300}, {"j": 5}, {"j": 0}))
    yield elsewhere(F16, "sum", sizes(2, 20, 40, 32), SUM, softcap=1.5)
    # By warpgroups, where a target has them: whole steps and others, tiles after each other.
    yield elsewhere(F16, "many_alibi", sizes(2, 200, 300, 64), ALIBI, causal="top_left", lse=True)
    yield elsewhere(F16, "many_alibi_any", sizes(2, 150, 170, 128), ALIBI, True,
                    more=({"i": 1, "j": 1}, {"i": 300, "j": 130, "h": 1}, {"i": 64, "j": 0}, {"i": 0, "j": 5}))
    yield elsewhere(F16, "many_near_any", sizes(2, 150, 170, 64), NEAR, True, more=({"i": 300, "j": 136, "h": 1},))
    yield elsewhere(F16, "many_filled", sizes(1, 150, 170, 64), FILLED)
    yield elsewhere(F16, "many_window", sizes(2, 300, 640, 64), ALIBI, window=(250, 0), causal="bottom_right")
    yield elsewhere(F16, "many_sum_depth_256", sizes(1, 140, 280, 256), SUM)
    yield case(F16, "persistent", sizes(9, 150, 170, 32), ALIBI, targets=("cuda:sm_90a", "cpu-reference"),
               pinned=by_warpgroups([64, 32], 1, F16, more=", persistent = true"))
    tiled = functools.partial(case, targets=(TILES, "cpu-reference"))
    yield tiled(BF16, "tiles_alibi", sizes(2, 200, 150, 64), ALIBI, causal="top_left")
    yield tiled(BF16, "tiles_near_any", sizes(2, 70, 140, 64), NEAR, True, more=({"i": 1, "j": 65},))


def functions():
    for case in cases():
        yield case.f
