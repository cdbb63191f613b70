# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products whose blocks share the sums of all tiles evenly (stream_k): one tile and many, fewer and more than blocks, of
numbers that blocks do not divide; sums shorter than the ring; edges, batches, and what is fused behind the second kernel.
`splits` is how many blocks share a tile's sum at most, as the compiler asks for it.
"""

from data import BF16, E4M3, E5M2, F16, F32, I32, I8, integers
from families import matrix_unit, ringed, warpgroups
from families.contraction import exact_data, indexing, pair_name, sizes
from families.warpgroups import TWO_LEVELS
from functions import EXACT, Function


def stream(pinned, blocks, parts, more=""):
    """A config whose `blocks` share all sums, each of which has `parts` at most."""
    fields = f", splits = {parts}, persistent = true{more}, stream_k = {blocks}"
    return pinned.replace(">}", fields + ">}").replace(">, \"cuda", fields + ">, \"cuda")


def shares():
    """By tiles, steps of a sum, blocks: a tile of many blocks, blocks of a tile each, of several tiles, of odd parts of them,
    as many blocks as steps; no technique beside it, and stores by copy engines."""
    cases = (("nn", (64, 32, 776), 3, 4), ("tb", (200, 72, 328), 5, 2), ("ta", (128, 64, 200), 4, 1), ("nn", (264, 200, 136), 4, 2),
             ("tab", (328, 72, 264), 11, 2), ("nn", (72, 40, 200), 16, 4), ("tb", (64, 64, 1160), 7, 5), ("nn", (328, 136, 72), 1, 1),
             ("ta", (72, 32, 520), 13, 8))
    for number, (form, dims, blocks, parts) in enumerate(cases):
        pinned = warpgroups.config(BF16, F32, 64, 32, 2 + number % 3, 1)
        yield matrix_unit.product(BF16, F32, "stream", f"{form}_{blocks}_{'x'.join(map(str, dims))}", sizes(*dims), form,
                                  stream(pinned, blocks, max(parts, 2), ", tma_store = true" if number % 2 else ""))
    # Fewer steps than stages; one step.
    for k, blocks in ((72, 3), (8, 2)):
        yield matrix_unit.product(F16, F32, "stream", f"depth_{k}_{blocks}", sizes(72, 32, k), "nn",
                                  stream(warpgroups.config(F16, F32, 64, 32, 4, 1), blocks, 2))
    # Clusters, whose blocks have the same steps of neighbouring tiles; the last one may have a block without a tile.
    for number, (form, dims, blocks, parts, cluster) in enumerate((
            ("nn", (264, 72, 328), 6, 2, [2, 1, 1]), ("tb", (200, 96, 776), 10, 3, [1, 2, 1]), ("ta", (72, 64, 520), 8, 4, [2, 1, 1]),
            ("tab", (200, 200, 136), 4, 2, [4, 1, 1]))):
        yield matrix_unit.product(BF16, F32, "stream", f"cluster_{number}_{form}", sizes(*dims), form,
                                  stream(warpgroups.config(BF16, F32, 64, 32, 2 + number % 2, 1), blocks, parts,
                                         f", cluster = {cluster}" + (", tma_store = true" if number % 2 else "")))
    # Bands of rows.
    yield matrix_unit.product(F16, F32, "stream", "raster", sizes(328, 136, 200), "nn",
                              stream(warpgroups.config(F16, F32, 64, 32, 3, 1), 7, 2, ", raster = 2"))


def techniques():
    """Two warpgroups; columns by rows; sums in two levels; bytes; an operand in registers; instructions of warps."""
    yield matrix_unit.product(F16, F32, "stream", "warpgroups", sizes(264, 136, 520), "tb",
                              stream(warpgroups.config(F16, F32, 128, 64, 3, 2), 10, 3, ", tma_store = true"))
    yield matrix_unit.product(BF16, F32, "stream", "swapped", sizes(16, 264, 776), "nn",
                              stream(warpgroups.swapped(BF16, F32, 16, 64, 2), 6, 3))
    float8 = stream(warpgroups.config(E4M3, F32, 64, 32, 2, 1, b=E5M2, techniques=TWO_LEVELS), 4, 2)
    yield warpgroups.product_float8(E4M3, E5M2, "stream", sizes(136, 48, 656), float8, out=BF16)
    yield matrix_unit.product(I8, I32, "stream", "bytes", sizes(136, 72, 784), "tb",
                              stream(warpgroups.config(I8, I32, 64, 64, 3, 1), 5, 2))
    yield matrix_unit.product(F16, F32, "stream", "warps", sizes(136, 72, 520), "nn",
                              stream(ringed.config(F16, F32, (64, 64, 64), (2, 2), 3), 5, 2))


def fused():
    """A batch; a bias, a residual, a maximum and a narrower result; sums of rows behind the second kernel."""
    f = Function("stream", pair_name(BF16, F32), "batch", {"b": 3, **sizes(136, 64, 264)}, targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "bmk"), f.arg(BF16, "bkn")
    f.ret(f.op("linalg.batch_matmul", [x, y], f.zeros(F32, "bmn"),
               stream(warpgroups.config(BF16, F32, 64, 64, 2, 1, batch=True), 7, 2)))
    f.case("int", {}, exact_data(BF16, F32, 264), EXACT, lambda x, y: x @ y)
    yield f

    f = Function("stream", pair_name(F16, F32), "epilogue", sizes(136, 72, 328), targets=("cuda", "cpu-reference"))
    x, y, bias, residual = f.arg(F16, "mk"), f.arg(F16, "nk"), f.arg(F32, "n"), f.arg(F32, "mn")
    p = f.op("linalg.contract", [x, y], f.zeros(F32, "mn"),
             indexing("mnk", "mk", "nk", "mn") + " " + stream(warpgroups.config(F16, F32, 64, 64, 3, 1), 5, 2))

    def body(lines, value, b, r, _):
        lines += [f"%t0 = arith.addf {value}, {b} : f32", f"%t1 = arith.addf %t0, {r} : f32", "%t2 = arith.constant 0.0 : f32",
                  "%t3 = arith.maximumf %t1, %t2 : f32", "%t4 = arith.truncf %t3 : f32 to f16"]
        return "%t4"
    f.ret(f.generic("mn", [p, bias, residual], f.empty(F16, "mn"), body))
    f.case("int", {}, integers(-1, 1), EXACT, lambda x, y, bias, residual: F16.round((x @ y.T + bias + residual).clip(min=0)))
    yield f

    f = Function("stream", pair_name(BF16, F32), "row_sums", sizes(136, 64, 328), targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "mk"), f.arg(BF16, "kn")
    p = f.op("linalg.matmul", [x, y], f.zeros(F32, "mn"), stream(warpgroups.config(BF16, F32, 64, 64, 3, 1), 5, 3))

    def add(lines, value, total):
        lines.append(f"%t = arith.addf {value}, {total} : f32")
        return "%t"
    f.ret(p, f.generic("mn", [p], f.zeros(F32, "m"), add, reduce="n"))
    f.case("int", {}, integers(-2, 2), EXACT, lambda x, y: [x @ y, (x @ y).sum(axis=1)])
    yield f


def functions():
    for part in (shares, techniques, fused):
        yield from part()
