# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products by warps' instructions out of rings that another warp fills through tensor maps (sm_90, sm_120), with pinned
configs: every order of operands, warps along both sides, sums of no whole step and shorter than the ring, tiles that hang
over the edge, batches, epilogues, persistent blocks and clusters. Targets without copy engines take their defaults.
"""

from data import BF16, F16, F32, I32, I8, integers
from families import convolution, matrix_unit
from families.contraction import exact_data, indexing, pair_name, sizes
from families.matrix_unit import FORMS, INSTRUCTIONS
from families.warpgroups import text
from functions import EXACT, Function


def config(a, c, block, warps, stages=3, techniques="", batch=False, splits=1):
    sums = {F32: "f32", F16: "f16", I32: "s32"}[c]
    one = "1, " if batch else ""
    more = (f", splits = {splits}" if splits > 1 else "") + techniques
    pinned = ("#tilewright.lowering_config<strategy = warp_specialized, "
              f"block = [{one}{', '.join(map(str, block))}], warps = [{one}{warps[0]}, {warps[1]}, 1], stages = {stages}, "
              f"promote = [0, 1], mma = \"mma.{INSTRUCTIONS[a]}.{sums}\"{more}>")
    return f"{{tilewright.lowering_config = {{\"cuda:sm_90\" = {pinned}, \"cuda:sm_90a\" = {pinned}}}}}"


def orders():
    for number, form in enumerate(FORMS):
        for a, m, n, k, block, warps in ((BF16, 256, 256, 320, (128, 128, 64), (2, 2)), (F16, 200, 136, 72, (64, 128, 64), (1, 4)),
                                         (F16, 264, 72, 136, (128, 64, 64), (4, 1)), (BF16, 72, 136, 200, (64, 256, 32), (2, 4))):
            yield matrix_unit.product(a, F32, "ringed", f"{form}_{m}x{n}x{k}", sizes(m, n, k), form,
                                      config(a, F32, block, warps, 2 + number % 3))


def depths():
    """Sums of one step or none that is whole, fewer steps than stages, more than the ring twice; short steps; a warp's part
    that is several boxes, one, or half of one."""
    for k in (8, 64, 72, 1000):
        yield matrix_unit.product(BF16, F32, "ringed", f"depth_{k}", sizes(64, 128, k), "nn", config(BF16, F32, (64, 64, 64), (2, 2), 4))
    for step in (16, 32):
        yield matrix_unit.product(F16, F32, "ringed", f"step_{step}", sizes(136, 64, 200), "nn", config(F16, F32, (64, 64, step), (2, 1), 4))
    for number, (block, warps) in enumerate((((128, 192, 64), (8, 1)), ((64, 96, 64), (4, 1)), ((32, 32, 64), (1, 1)), ((16, 64, 64), (1, 4)))):
        yield matrix_unit.product(F16, F32, "ringed", f"tile_{number}", sizes(2 * block[0] + 8, 2 * block[1] - 8, 136), "nn",
                                  config(F16, F32, block, warps, 2))
    yield matrix_unit.product(I8, I32, "ringed", "bytes", sizes(200, 136, 272), "tb", config(I8, I32, (64, 128, 128), (2, 2)))
    yield matrix_unit.product(F16, F16, "ringed", "sums", sizes(136, 136, 200), "ta", config(F16, F16, (128, 128, 64), (2, 2)))
    yield matrix_unit.product(F16, F32, "ringed", "parts", sizes(64, 72, 1104), "nn", config(F16, F32, (64, 64, 64), (2, 2), splits=3))


def techniques():
    every = text(True, [2, 1, 1], False)
    for number, more in enumerate((text(True, [], False), every, text(False, [1, 2, 1], False), text(True, [4, 1, 1], False))):
        form = tuple(FORMS)[number]
        yield matrix_unit.product(BF16, F32, "ringed", f"technique_{number}_{form}", sizes(712, 200, 264), form,
                                  config(BF16, F32, (64, 64, 64), (2, 2), 2 + number, more))
    for form in ("nn", "tab"):
        yield matrix_unit.product(F16, F32, "ringed", f"any_{form}", sizes(1, 1, 1), form,
                                  config(F16, F32, (128, 128, 64), (2, 2), 3, every if form == "nn" else text(True, [], False)), True,
                                  [sizes(136, 136, 72), sizes(600, 264, 136), sizes(136, 135, 72), sizes(64, 8, 9), sizes(8, 200, 0),
                                   sizes(0, 8, 8)])


def epilogues():
    """A batch; a bias, a residual and a narrower result; sums of rows."""
    f = Function("ringed", pair_name(BF16, F32), "batch", {"b": 3, **sizes(136, 128, 136)}, targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "bmk"), f.arg(BF16, "bkn")
    f.ret(f.op("linalg.batch_matmul", [x, y], f.zeros(F32, "bmn"), config(BF16, F32, (64, 128, 64), (2, 2), batch=True)))
    f.case("int", {}, exact_data(BF16, F32, 136), EXACT, lambda x, y: x @ y)
    yield f
    for out in (F32, BF16):
        f = Function("ringed", pair_name(BF16, F32), f"epilogue_{out.name}", sizes(200, 264, 208), targets=("cuda", "cpu-reference"))
        x, y, bias, residual = f.arg(BF16, "mk"), f.arg(BF16, "nk"), f.arg(F32, "n"), f.arg(F32, "mn")
        p = f.op("linalg.contract", [x, y], f.zeros(F32, "mn"),
                 indexing("mnk", "mk", "nk", "mn") + " " + config(BF16, F32, (128, 128, 64), (4, 2), techniques=text(True, [], False)))

        def body(lines, value, b, r, _, out=out):
            lines += [f"%t0 = arith.addf {value}, {b} : f32", f"%t1 = arith.addf %t0, {r} : f32"]
            if out is F32:
                return "%t1"
            lines.append("%t2 = arith.truncf %t1 : f32 to bf16")
            return "%t2"
        f.ret(f.generic("mn", [p, bias, residual], f.empty(out, "mn"), body))
        f.case("int", {}, integers(-1, 1), EXACT, lambda x, y, bias, residual, out=out: out.round(x @ y.T + bias + residual))
        yield f
    f = Function("ringed", pair_name(F16, F32), "onto", sizes(136, 136, 72), targets=("cuda", "cpu-reference"))
    x, y, c = f.arg(F16, "mk"), f.arg(F16, "kn"), f.arg(F32, "mn")
    f.ret(f.op("linalg.matmul", [x, y], c, config(F16, F32, (128, 128, 64), (2, 2))))
    f.case("int", {}, integers(-2, 2), EXACT, lambda x, y, c: c + x @ y)
    yield f


def convolutions():
    """Windows of an image, of which the view of all has up to five dims; strides and dilations are convolution's."""
    spec = next(spec for spec in convolution.CONVOLUTIONS if spec[0] == "conv_1d_nwc_wcf")
    pinned = ("#tilewright.lowering_config<strategy = warp_specialized, block = [1, 64, 64, 1, 64], warps = [1, 2, 2, 1, 1], "
              f"stages = 3, promote = [0, 1], mma = \"mma.{INSTRUCTIONS[F16]}.f32\">")
    yield convolution.convolution(*spec, F16, F32, [{"n": 3, "x": 70, "c": 136, "f": 72, "i": 3}], family="ringed",
                                  pinned=f"tilewright.lowering_config = {{\"cuda:sm_90\" = {pinned}, \"cuda:sm_90a\" = {pinned}}}")


def functions():
    for part in (orders, depths, techniques, epilogues, convolutions):
        yield from part()
