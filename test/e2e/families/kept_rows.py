# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that a block keeps in its shared memory (`promote` of strategy reduction): the functions of clusters.py, pinned to tiles
so small that short rows have several; one that is as long as the rows that are kept by default, sums that are added up
from two arguments, and rows of any length, for which variants keep those that fit in registers or in shared memory. CPUs have the configs that they would have anyway.
"""

from data import BF16, F16, F32, I8, I32, integers
from families.clusters import argmax, layer_norm, log_sum_exp, rows, softmax, sum_into
from families.fused import line
from functions import EXACT, Function


def config(block, warps):
    """Of rows (all loops but the last) and a step along them, of which `warps` have parts."""
    spread = ", ".join("1" for _ in block[:-1])
    spread = f"{spread}, {warps}" if spread else str(warps)
    text = (f"#tilewright.lowering_config<strategy = reduction, block = [{', '.join(map(str, block))}], "
            f"warps = [{spread}], promote = [0]>")
    return f'tilewright.lowering_config = {{"cuda" = {text}, "vulkan" = {text}}}'


def differences(label, dims, pinned, dynamic=False, more=(), known="n"):
    """What two arguments add up to, summed, and each term's share: both arguments' rows stay."""
    f, x = rows("kept_differences", I32, label, dims, dynamic, known)
    y = f.arg(I32, "mn")
    terms = f.generic("mn", [x, y], f.empty(I32, "mn"), line("%t = arith.subi {0}, {1} : i32"))
    total = f.generic("mn", [terms], f.zeros(I32, "m"), line("%t = arith.addi {0}, {1} : i32"), reduce="n", attributes=pinned)
    f.ret(f.generic("mn", [terms, total], f.empty(I32, "mn"), line("%t = arith.subi {0}, {1} : i32")))

    def reference(x, y):
        return x - y - (x - y).sum(axis=1)[:, None]

    for sizes in ({}, *more):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-1000, 1000), EXACT, reference)
    return f


def beside(element, label, dims, dynamic=False, more=()):
    """Rows less their sums, and numbers of another width added: elements move between threads, beside rows that stay."""
    f = Function("kept_beside", element.name, label, dims, dynamic, known="")
    x = f.arg(F32, "mn")
    y = f.arg(element, "n")
    total = f.generic("mn", [x], f.zeros(F32, "m"), line("%t = arith.addf {0}, {1} : f32"), reduce="n")
    wide = {F16: "%w = arith.extf {2} : f16 to f32", I8: "%w = arith.sitofp {2} : i8 to f32"}[element]
    text = f"%d = arith.subf {{0}}, {{1}} : f32\n{wide}\n%t = arith.addf %d, %w : f32"
    f.ret(f.generic("mn", [x, total, y], f.empty(F32, "mn"), line(text)))
    for sizes in ({}, *more):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-8, 8), EXACT,
               lambda x, y: x - x.sum(axis=1)[:, None] + y)
    return f


def columns(label, dims, pinned, dynamic=False, more=()):
    """Sums along the first dim: steps are rows of memory, of which a block has some columns."""
    f, x = rows("kept_columns", I32, label, dims, dynamic)
    total = f.generic("nm", [x], f.zeros(I32, "m"), line("%t = arith.addi {0}, {1} : i32"), reduce="n", attributes=pinned)
    f.ret(f.generic("nm", [x, total], f.empty(I32, "nm"), line("%t = arith.subi {0}, {1} : i32")))
    for sizes in ({}, *more):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-1000, 1000), EXACT,
               lambda x: x - x.sum(axis=0)[None, :])
    return f


def columns_beside(label, dims, dynamic=False, more=()):
    """The same with a number added for each row of memory, which a block would read for several columns at once."""
    f = Function("kept_columns_beside", I8.name, label, dims, dynamic, known="n")
    x, y = f.arg(I8, "nm"), f.arg(I8, "n")
    wide = "%a = arith.extsi {0} : i8 to i32\n%b = arith.extsi {1} : i8 to i32\n%s = arith.addi %a, %b : i32\n"
    total = f.generic("nm", [x, y], f.zeros(I32, "m"), line(wide + "%t = arith.addi %s, {2} : i32"), reduce="n")
    f.ret(f.generic("nm", [x, y, total], f.empty(I32, "nm"), line(wide + "%t = arith.subi %s, {2} : i32")))
    for sizes in ({}, *more):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, integers(-100, 100), EXACT,
               lambda x, y: x + y[:, None] - (x + y[:, None]).sum(axis=0)[None, :])
    return f


def functions():
    empty = [{"m": 1}, {"m": 0}, {"m": 7}]
    how = {"how": "kept"}
    yield softmax(F32, "ragged", {"m": 3, "n": 1100}, config([1, 256], 2), **how)
    yield softmax(F32, "vector", {"n": 700}, config([256], 1), **how)
    yield softmax(F32, "vector_odd", {"n": 701}, config([256], 1), **how)
    yield softmax(F16, "vector_words", {"n": 702}, config([256], 1), **how)
    yield softmax(F16, "words", {"m": 3, "n": 1030}, config([1, 256], 2), **how)
    yield softmax(F16, "doublewords", {"m": 3, "n": 1036}, config([2, 256], 2), **how)
    yield softmax(F16, "rows", {"m": 3, "n": 2048}, config([1, 512], 2), True, empty, **how)
    yield softmax(BF16, "odd", {"m": 2, "n": 2041}, config([1, 256], 4), **how)
    yield softmax(F32, "rows_together", {"m": 6, "n": 517}, config([4, 256], 2), True, empty, **how)
    yield softmax(F32, "default", {"m": 2, "n": 40000}, "", **how)
    yield layer_norm(F32, "ragged", {"m": 3, "n": 777}, config([1, 256], 2), **how)
    yield layer_norm(F16, "rows", {"m": 3, "n": 1024}, config([1, 512], 1), True, empty, **how)
    yield layer_norm(BF16, "rows_together", {"m": 5, "n": 500}, config([2, 128], 4), True, empty, **how)
    yield log_sum_exp("ragged", {"m": 3, "n": 1000}, config([1, 128], 1), **how)
    yield argmax(F32, "ragged", {"m": 3, "n": 1500}, config([1, 512], 2), **how)
    yield argmax(F16, "rows", {"m": 2, "n": 1024}, config([1, 512], 1), True, empty, **how)
    yield sum_into("ragged", {"m": 3, "n": 1023}, config([1, 256], 2), **how)
    yield sum_into("rows_together", {"m": 6, "n": 640}, config([4, 128], 2), True, empty, **how)
    yield differences("ragged", {"m": 3, "n": 777}, config([1, 128], 2))
    yield differences("rows_together", {"m": 6, "n": 640}, config([2, 128], 2), True, empty)
    yield columns("ragged", {"n": 100, "m": 70}, config([64, 16], 2).replace("warps = [1, 2]", "warps = [2, 1]"))
    # Around the limits of the variants: 1024, 8192, and shared memory of sm_80 and sm_90; the last rows are on no chip.
    lengths = [{"m": m, "n": n} for m, n in ((1, 1), (5, 1024), (3, 1028), (2, 1037), (2, 8192), (1, 8200), (1, 20344), (1, 20352),
                                             (2, 28544), (1, 40704), (1, 57096))]
    free = {"dynamic": True, "known": ""}
    yield softmax(F32, "any", {"m": 3, "n": 100}, "", more=lengths, **how, **free)
    yield softmax(F16, "any", {"m": 3, "n": 96}, "", more=lengths[:6], **how, **free)
    yield argmax(F32, "any", {"m": 2, "n": 520}, "", more=lengths[:6], **how, **free)
    # Rows without elements.
    yield sum_into("any", {"m": 6, "n": 640}, "", more=[{"n": 0}, {"m": 0}, *lengths], **how, **free)
    yield differences("any", {"m": 6, "n": 640}, "", more=[{"n": 0}, *lengths], **free)
    yield beside(F16, "any", {"m": 2, "n": 640}, True, more=[{"n": 0}, {"m": 2, "n": 8200}, {"m": 1, "n": 30000}, {"m": 1, "n": 50000}])
    yield beside(I8, "any", {"m": 2, "n": 640}, True, more=[{"m": 1, "n": 30000}])
    yield beside(I8, "default", {"m": 2, "n": 20000})
    yield columns_beside("default", {"n": 40000, "m": 3}, True, more=[{"m": 1}])
