# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products whose sums the blocks of a cluster have parts of (splits and cluster along the sum): rows and columns as the
instruction's rows, two to eight parts, blocks that share an operand beside them, parts that are no longer than a step or
end inside of one, tiles that hang over the edge, every kind of sums, and what is fused behind them.
"""

from data import BF16, E4M3, E5M2, F16, F32, I32, I4, I8, integers
from families import matrix_unit, warpgroups
from families.contraction import exact_data, indexing, pair_name, sizes
from families.warpgroups import TWO_LEVELS, swapped
from functions import EXACT, Function


def parts(pinned, count, pair=(1, 1), batch=False, more=""):
    """A config whose clusters have `count` blocks along the sum, and `pair` along rows and columns."""
    cluster = [1] * batch + [*pair, count]
    return pinned.replace(">}", f", splits = {count}, cluster = {cluster}{more}>}}")


def tiles():
    """By order of operands: tiles that are whole and that are not, of one and two warpgroups."""
    cases = (("nn", (64, 256, 512), (64, 256), 1, 4, (1, 1)), ("tb", (200, 72, 328), (64, 64), 1, 2, (1, 1)),
             ("ta", (128, 64, 520), (64, 32), 1, 8, (1, 1)), ("tab", (264, 200, 264), (128, 64), 2, 4, (1, 1)),
             ("nn", (40, 136, 776), (64, 128), 1, 4, (1, 1)), ("tb", (16, 104, 1160), (64, 96), 1, 8, (1, 1)),
             ("nn", (128, 256, 320), (64, 128), 1, 2, (2, 1)), ("tb", (256, 64, 584), (64, 64), 1, 2, (4, 1)),
             ("tab", (120, 128, 520), (64, 64), 1, 4, (1, 2)), ("nn", (300, 136, 272), (128, 128), 2, 2, (1, 2)))
    for number, (form, dims, tile, groups, count, pair) in enumerate(cases):
        pinned = warpgroups.config(BF16, F32, *tile, 2 + number % 3, groups)
        yield matrix_unit.product(BF16, F32, "cluster_sum", f"{number}_{form}_{'x'.join(map(str, dims))}", sizes(*dims), form,
                                  parts(pinned, count, pair, more="" if number % 4 else ", producer = false"))
    # Parts of a step each, the last of a few elements.
    for k, count in ((72, 2), (456, 8), (200, 4)):
        yield matrix_unit.product(F16, F32, "cluster_sum", f"depth_{k}_{count}", sizes(72, 32, k), "nn",
                                  parts(warpgroups.config(F16, F32, 64, 32, 4, 1), count))


def few_rows():
    """Columns are the instruction's rows: slices are rows of the tile all the same."""
    for number, (form, dims, tile, groups, count, pair) in enumerate((
            ("nn", (16, 200, 520), (16, 128), 2, 8, (1, 1)), ("tb", (24, 136, 264), (32, 64), 1, 4, (1, 1)),
            ("ta", (32, 256, 328), (32, 64), 1, 2, (1, 4)), ("tb", (5, 72, 264), (8, 64), 1, 4, (1, 1)),
            ("nn", (64, 256, 520), (64, 128), 2, 4, (1, 2)))):
        yield matrix_unit.product(BF16, F32, "cluster_sum", f"swapped_{number}_{form}_{'x'.join(map(str, dims))}", sizes(*dims), form,
                                  parts(swapped(BF16, F32, *tile, 3, groups), count, pair))


def kinds():
    """Sums of f16 and integers; 8-bit floats, in two levels; operands in registers; any number of rows."""
    yield matrix_unit.product(F16, F16, "cluster_sum", "halves", sizes(72, 136, 328), "nn",
                              parts(warpgroups.config(F16, F16, 64, 128, 3, 1), 4))
    yield matrix_unit.product(I8, I32, "cluster_sum", "bytes", sizes(72, 64, 656), "tb",
                              parts(warpgroups.config(I8, I32, 64, 64, 3, 1), 4))
    yield warpgroups.product_float8(E4M3, E5M2, "cluster_sum", sizes(136, 48, 656),
                                    parts(warpgroups.config(E4M3, F32, 64, 32, 2, 1, b=E5M2, techniques=TWO_LEVELS), 4), out=BF16)
    yield warpgroups.in_registers("cluster_sum", "nn", None, I8, sizes(16, 144, 328),
                                  parts(swapped(F16, F32, 16, 64, 3).replace("promote = [0, 1]", "promote = [0]"), 4))
    f = Function("cluster_sum", pair_name(BF16, F32), "rows_any", {"m": 1, "N": 136, "K": 328}, True, targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "mK"), f.arg(BF16, "KN")
    f.ret(f.op("linalg.matmul", [x, y], f.zeros(F32, "mN"), parts(warpgroups.config(BF16, F32, 64, 128, 3, 1), 4)))
    for m in (0, 1, 40, 130):
        f.case(f"int/{m}", {"m": m}, exact_data(BF16, F32, 328), EXACT, lambda x, y: x @ y)
    yield f


def fused():
    """A batch; a bias, residuals, a maximum and a narrower result; two results."""
    f = Function("cluster_sum", pair_name(BF16, F32), "batch", {"b": 3, **sizes(136, 64, 264)}, targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "bmk"), f.arg(BF16, "bkn")
    f.ret(f.op("linalg.batch_matmul", [x, y], f.zeros(F32, "bmn"),
               parts(warpgroups.config(BF16, F32, 64, 64, 2, 1, batch=True), 4, batch=True)))
    f.case("int", {}, exact_data(BF16, F32, 264), EXACT, lambda x, y: x @ y)
    yield f

    for label, pinned in (("rows", parts(warpgroups.config(F16, F32, 64, 64, 3, 1), 4)),
                          ("columns", parts(swapped(F16, F32, 64, 64, 3), 4))):
        f = Function("cluster_sum", pair_name(F16, F32), f"epilogue_{label}", sizes(136, 72, 328), targets=("cuda", "cpu-reference"))
        x, y, bias, rows, residual = f.arg(F16, "mk"), f.arg(F16, "nk"), f.arg(F32, "n"), f.arg(F32, "m"), f.arg(F32, "mn")
        p = f.op("linalg.contract", [x, y], f.zeros(F32, "mn"), indexing("mnk", "mk", "nk", "mn") + " " + pinned)

        def body(lines, value, b, c, r, _):
            lines += [f"%t0 = arith.addf {value}, {b} : f32", f"%t1 = arith.addf %t0, {r} : f32", f"%t2 = arith.addf %t1, {c} : f32",
                      "%t3 = arith.constant 0.0 : f32", "%t4 = arith.maximumf %t2, %t3 : f32", "%t5 = arith.truncf %t4 : f32 to f16"]
            return "%t5"
        f.ret(p, f.generic("mn", [p, bias, rows, residual], f.empty(F16, "mn"), body))
        f.case("int", {}, integers(-1, 1), EXACT, lambda x, y, bias, rows, residual: [
            x @ y.T, F16.round((x @ y.T + bias + rows[:, None] + residual).clip(min=0))])
        yield f
    yield warpgroups.residual("cluster_sum", "residual", (BF16,), BF16, sizes(72, 136, 264),
                              parts(warpgroups.config(F16, F32, 64, 128, 3, 1), 4))
    # The other order: what is stored has the tile's columns in rows.
    f = Function("cluster_sum", pair_name(BF16, F32), "transposed", sizes(136, 72, 328), targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "mk"), f.arg(BF16, "kn")
    p = f.op("linalg.contract", [x, y], f.zeros(F32, "nm"),
             indexing("mnk", "mk", "kn", "nm") + " " + parts(warpgroups.config(BF16, F32, 64, 64, 3, 1), 4))
    f.ret(p)
    f.case("int", {}, exact_data(BF16, F32, 328), EXACT, lambda x, y: (x @ y).T)
    yield f


def defaults():
    """Of no config: few results of long sums, which are such."""
    for form, dims in (("nn", (64, 256, 4096)), ("tb", (16, 264, 2048)), ("ta", (200, 128, 2304))):
        yield matrix_unit.product(BF16, F32, "cluster_sum", f"default_{form}_{'x'.join(map(str, dims))}", sizes(*dims), form, "")
    # Any number of rows: the variants of few have their sums so.
    f = Function("cluster_sum", pair_name(BF16, F32), "default_rows", {"m": 1, "N": 264, "K": 2048}, dynamic=True,
                 targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "mK"), f.arg(BF16, "KN")
    f.ret(f.op("linalg.matmul", [x, y], f.zeros(F32, "mN")))
    for m in (0, 1, 5, 16, 50, 120, 200, 300, 520):
        f.case(f"int/{m}", {"m": m}, exact_data(BF16, F32, 2048), EXACT, lambda x, y: x @ y)
    yield f


def functions():
    for part in (tiles, few_rows, kinds, fused, defaults):
        yield from part()
