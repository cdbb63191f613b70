# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products by warpgroups (sm_90a) with pinned configs: every order of operands, sums of no whole step and shorter than
the ring, tiles that hang over the edge, batches, and what is fused behind them. Other targets take their defaults.
"""

import numpy as np

from data import BF16, F16, F32, I32, I8, integers
from families import matrix_unit
from families.contraction import exact_data, indexing, pair_name, sizes
from families.matrix_unit import FORMS
from functions import EXACT, Function

TYPES = {F16: ("k16.f16", 64), BF16: ("k16.bf16", 64), I8: ("k32.s8", 128)}


def config(a, c, m, n, stages=4, groups=2, k=None, batch=False):
    """`k`: elements of a step along the sum; by default 128 bytes."""
    instruction, longest = TYPES[a]
    registers = ", registers = [40, 232]" if groups == 2 else ""
    one = "1, " if batch else ""
    return ("{tilewright.lowering_config = {\"cuda:sm_90a\" = #tilewright.lowering_config<strategy = warp_specialized, "
            f"block = [{one}{m}, {n}, {k or longest}], warps = [{one}{4 * groups}, 1, 1], stages = {stages}, "
            f"promote = [0, 1], mma = \"wgmma.m64n{n}{instruction}.{'s32' if c is I32 else 'f32'}\"{registers}>}}}}")


def variants():
    """Sizes known at the launch: rows of whole 16 bytes are the warpgroups', others another variant's; no sum at all."""
    for form in ("nn", "tab"):
        yield matrix_unit.product(F16, F32, "warpgroup", f"{form}_any", sizes(1, 1, 1), form,
                                  config(F16, F32, 128, 128), True,
                                  [sizes(136, 136, 72), sizes(136, 135, 72), sizes(64, 8, 9), sizes(8, 200, 0),
                                   sizes(0, 8, 8)])
    dims = {"m": 1, "N": 136, "K": 72}
    f = Function("warpgroup", pair_name(BF16, F32), "rows_any", dims, True, targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "mK"), f.arg(BF16, "KN")
    f.ret(f.op("linalg.matmul", [x, y], f.zeros(F32, "mN"), config(BF16, F32, 64, 128, groups=1)))
    for m in (0, 1, 200):
        f.case(f"int/{m}", {"m": m}, exact_data(BF16, F32, 72), EXACT, lambda x, y: x @ y)
    yield f


def orders():
    for form in FORMS:
        for a, m, n, k, tile in ((BF16, 256, 256, 320, (128, 256)), (F16, 200, 136, 72, (128, 128)),
                                 (F16, 264, 72, 136, (256, 64))):
            yield matrix_unit.product(a, F32, "warpgroup", f"{form}_{m}x{n}x{k}", sizes(m, n, k), form,
                                      config(a, F32, *tile))


def depths():
    """Sums of one step or none that is whole, fewer steps than stages, more than the ring twice; short steps."""
    for k in (8, 64, 72, 128, 1000):
        for stages in (2, 4):
            yield matrix_unit.product(BF16, F32, "warpgroup", f"depth_{k}_{stages}", sizes(64, 128, k), "nn",
                                      config(BF16, F32, 64, 128, stages, 1))
    for step in (16, 32):
        yield matrix_unit.product(F16, F32, "warpgroup", f"step_{step}", sizes(128, 64, 200), "tb",
                                  config(F16, F32, 128, 64, 4, 2, step))
    yield matrix_unit.product(I8, I32, "warpgroup", "bytes", sizes(200, 136, 272), "tb",
                              config(I8, I32, 128, 128))


def batches():
    f = Function("warpgroup", pair_name(BF16, F32), "batch", {"b": 3, **sizes(136, 128, 136)},
                 targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "bmk"), f.arg(BF16, "bkn")
    f.ret(f.op("linalg.batch_matmul", [x, y], f.zeros(F32, "bmn"), config(BF16, F32, 128, 128, batch=True)))
    f.case("int", {}, exact_data(BF16, F32, 136), EXACT, lambda x, y: x @ y)
    yield f


def epilogues():
    """A bias, a residual, a narrower result; sums of the tile's rows."""
    for a, c, out, tile in ((BF16, F32, F32, (128, 256)), (BF16, F32, BF16, (128, 128)), (F16, F32, F16, (256, 128)),
                            (I8, I32, I32, (128, 128))):
        dims = sizes(200, 136 if tile[1] == 128 else 264, 208)
        f = Function("warpgroup", pair_name(a, c), f"epilogue_{out.name}", dims, targets=("cuda", "cpu-reference"))
        x, y, bias, residual = f.arg(a, "mk"), f.arg(a, "nk"), f.arg(c, "n"), f.arg(c, "mn")
        p = f.op("linalg.contract", [x, y], f.zeros(c, "mn"),
                 indexing("mnk", "mk", "nk", "mn") + " " + config(a, c, *tile, stages=3))

        def body(lines, value, b, r, _, c=c, out=out):
            add = "arith.addf" if c.is_float else "arith.addi"
            lines += [f"%t0 = {add} {value}, {b} : {c.name}", f"%t1 = {add} %t0, {r} : {c.name}"]
            if out is c:
                return "%t1"
            lines.append(f"%t2 = arith.truncf %t1 : {c.name} to {out.name}")
            return "%t2"
        f.ret(f.generic("mn", [p, bias, residual], f.empty(out, "mn"), body))

        def reference(x, y, bias, residual, out=out):
            whole = x @ y.T if x.dtype.kind == "f" else x.astype(np.int64) @ y.astype(np.int64).T
            return out.round(whole + bias + residual)
        f.case("int", {}, integers(-1, 1), EXACT, reference)
        yield f
    f = Function("warpgroup", pair_name(BF16, F32), "row_sums", sizes(200, 256, 128), targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "mk"), f.arg(BF16, "kn")
    p = f.op("linalg.matmul", [x, y], f.zeros(F32, "mn"), config(BF16, F32, 128, 256))

    def add(lines, value, total):
        lines.append(f"%t = arith.addf {value}, {total} : f32")
        return "%t"
    f.ret(p, f.generic("mn", [p], f.zeros(F32, "m"), add, reduce="n"))
    f.case("int", {}, integers(-2, 2), EXACT, lambda x, y: [x @ y, np.sum(x @ y, axis=1)])
    yield f


def functions():
    for part in (orders, variants, depths, batches, epilogues):
        yield from part()
