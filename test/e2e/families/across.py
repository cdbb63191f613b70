# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products by warpgroups (sm_90a) of bytes, 8-bit floats and tf32 with K across the rows of both operands, of which a kernel
in front transposes one or both, and of 16-bit floats in rows of no whole 16 bytes; what computes such an operand writes it so. Other
targets take their defaults.
"""

import numpy as np

from data import BF16, E4M3, E5M2, F16, F32, I32, I8, integers
from families import matrix_unit
from families.contraction import indexing, sizes
from families.warpgroups import TWO_LEVELS, config, swapped, text
from functions import EXACT, Function

OF = {"left": "[1]", "right": "[0]"}  # which operand registers transpose


def in_registers(pinned, side):
    return pinned.replace("promote = [0, 1]", f"promote = {OF[side]}")


def pinned_orders():
    """Both operands transposed in memory, the left one, the right one; other ones by registers; rows of no whole 16 bytes."""
    every = text(True, [2, 1, 1], True)
    for label, dims, form, pinned in (
            ("both", sizes(200, 136, 272), "ta", config(I8, I32, 128, 128, techniques=every)),
            ("right", sizes(144, 136, 272), "ta", in_registers(config(I8, I32, 128, 64, 3), "left")),
            ("left", sizes(136, 272, 336), "ta", in_registers(swapped(I8, I32, 64, 128, groups=2), "right")),
            ("only_left", sizes(141, 136, 272), "tab", config(I8, I32, 64, 64, 3, 1)),
            ("only_right", sizes(72, 139, 144), "nn", config(I8, I32, 64, 64, 4, 1)),
            ("odd", sizes(141, 139, 160), "ta", config(I8, I32, 64, 128, 2, 1))):
        yield matrix_unit.product(I8, I32, "across", label, dims, form, pinned)
    f = matrix_unit.product(F32, F32, "across", "tf32_both", sizes(136, 72, 168), "ta", config(F32, F32, 64, 64, 3, 1, techniques=every))
    f.fp = ("tf32",)
    yield f
    for a, b in ((E4M3, E4M3), (E4M3, E5M2)):
        f = Function("across", f"{a.name}-{b.name}-f32", "right", sizes(144, 136, 272), targets=("cuda", "cpu-reference"))
        x, y = f.arg(a, "km"), f.arg(b, "kn")
        f.ret(f.op("linalg.contract", [x, y], f.zeros(F32, "mn"), indexing("mnk", "km", "kn", "mn") + " " +
                   in_registers(config(a, F32, 128, 64, 3, b=b, techniques=TWO_LEVELS), "left")))
        f.case("int", {}, integers(-3, 3), EXACT, lambda x, y: x.T @ y)
        yield f


def unaligned():
    """16-bit operands with rows of no whole 16 bytes: either one, both, in every order; as whole columns allow."""
    every = text(True, [2, 1, 1], True)
    for a, label, dims, form, more in ((F16, "rows_right", sizes(136, 139, 144), "nn", text(True, [2, 1, 1], False)), (BF16, "rows_left", sizes(136, 144, 75), "nn", ""),
                                       (F16, "rows_both", sizes(136, 144, 75), "tb", every), (BF16, "rows_turned", sizes(141, 144, 136), "tab", ""),
                                       (F16, "rows_turned_both", sizes(141, 139, 136), "ta", "")):
        yield matrix_unit.product(a, F32, "across", label, dims, form, config(a, F32, 128, 64, 3, techniques=more))


def dynamic():
    """A pinned config for any sizes; the host's choice, on both sides of what it asks for: long extents, rows of whole 16 bytes."""
    yield matrix_unit.product(I8, I32, "across", "any", sizes(1, 1, 1), "ta", in_registers(config(I8, I32, 128, 64, 3), "left"), True,
                              [sizes(144, 136, 272), sizes(64, 16, 16), sizes(0, 16, 16), sizes(16, 16, 0), sizes(30, 70, 33)])
    yield matrix_unit.product(I8, I32, "across", "host", sizes(1, 1, 1), "ta", "", True,
                              [sizes(512, 528, 512), sizes(512, 515, 512), sizes(64, 512, 512), sizes(48, 32, 64), sizes(5, 7, 0)])


def batches():
    f = Function("across", "i8-i32", "batch", {"b": 3, **sizes(144, 80, 144)}, targets=("cuda", "cpu-reference"))
    x, y = f.arg(I8, "bkm"), f.arg(I8, "bkn")
    f.ret(f.op("linalg.contract", [x, y], f.zeros(I32, "bmn"), indexing("bmnk", "bkm", "bkn", "bmn") + " " +
               in_registers(config(I8, I32, 128, 64, batch=True, techniques=text(True, [1, 2, 1, 1], False)), "left")))
    f.case("int", {}, integers(-128, 127), EXACT,
           lambda x, y: np.einsum("bkm,bkn->bmn", x.astype(np.int64), y.astype(np.int64)))
    yield f


def neighbours():
    """Both operands computed in front, and the result read behind: by pinned configs, and by default."""
    for label, dims, pinned in (("pinned", sizes(136, 144, 272), config(I8, I32, 128, 128)), ("default", sizes(384, 400, 416), "")):
        f = Function("across", "i8-i32", f"computed_{label}", dims, targets=("cuda", "cpu-reference"))
        ins = [f.arg(I8, "km"), f.arg(I8, "kn")]

        def halve(lines, value, _):
            lines += ["%one = arith.constant 1 : i8", f"%h = arith.shrsi {value}, %one : i8"]
            return "%h"
        x, y = (f.generic(dims_of, [value], f.empty(I8, dims_of), halve) for value, dims_of in zip(ins, ("km", "kn")))
        p = f.op("linalg.contract", [x, y], f.zeros(I32, "mn"), indexing("mnk", "km", "kn", "mn") + " " + pinned)

        def negate(lines, value, _):
            lines += ["%zero = arith.constant 0 : i32", f"%n = arith.subi %zero, {value} : i32"]
            return "%n"
        f.ret(f.generic("mn", [p], f.empty(I32, "mn"), negate))
        f.case("int", {}, integers(-128, 127), EXACT, lambda x, y: -((x.astype(np.int64) >> 1).T @ (y.astype(np.int64) >> 1)))
        yield f


def functions():
    for part in (pinned_orders, unaligned, dynamic, batches, neighbours):
        yield from part()
