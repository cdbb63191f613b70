# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products by warpgroups (sm_90a) with pinned configs: every order of operands, sums of no whole step and shorter than
the ring, tiles that hang over the edge, batches, and what is fused behind them. Other targets take their defaults.
"""

import itertools

import numpy as np

from data import BF16, E4M3, E5M2, F16, F32, I32, I4, I8, choice, integers
from families import matrix_unit, producers
from families.contraction import exact_data, indexing, pair_name, sizes
from families.matrix_unit import FORMS
from functions import EXACT, Function

TYPES = {F32: ("k8.tf32", 32), F16: ("k16.f16", 64), BF16: ("k16.bf16", 64), I8: ("k32.s8", 128), E4M3: ("k32.e4m3", 128), E5M2: ("k32.e5m2", 128)}
TWO_LEVELS = ", two_level_sums = true"


def config(a, c, m, n, stages=4, groups=2, k=None, batch=False, techniques="", b=None):
    """`k`: elements of a step along the sum; by default 128 bytes. `techniques`: further fields. `b`: of another type."""
    instruction, longest = TYPES[a]
    sums = {F32: "f32", F16: "f16", I32: "s32"}[c]
    instruction += "." + TYPES[b][0].split(".")[1] if b and b is not a else ""
    registers = ", registers = [40, 232]" if groups == 2 else ", registers = [32, 160]" if groups == 3 else ""
    one = "1, " if batch else ""
    return ("{tilewright.lowering_config = {\"cuda:sm_90a\" = #tilewright.lowering_config<strategy = warp_specialized, "
            f"block = [{one}{m}, {n}, {k or longest}], warps = [{one}{4 * groups}, 1, 1], stages = {stages}, "
            f"promote = [0, 1], mma = \"wgmma.m64n{n}{instruction}.{sums}\"{registers}{techniques}>}}}}")


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
    """Sums of one step or none that is whole, fewer steps than stages, more than the ring twice; other tiles; short steps."""
    for k in (8, 64, 72, 128, 1000):
        for stages in (2, 4):
            yield matrix_unit.product(BF16, F32, "warpgroup", f"depth_{k}_{stages}", sizes(64, 128, k), "nn",
                                      config(BF16, F32, 64, 128, stages, 1))
    # Tiles between powers of two: columns of one and a half boxes, five, seven; three warpgroups.
    for number, (m, n) in enumerate(((128, 192), (64, 96), (128, 160), (64, 224), (192, 64))):
        for form, more in (("nn", text(True, [2, 1, 1], True)), ("tb", text(True, [1, 2, 1], False))):
            yield matrix_unit.product(BF16, F32, "warpgroup", f"tile_{m}x{n}_{form}", sizes(2 * m + 72, 3 * n + 8, 136), form,
                                      config(BF16, F32, m, n, 3, m // 64, techniques=more))
    for step in (16, 32):
        yield matrix_unit.product(F16, F32, "warpgroup", f"step_{step}", sizes(128, 64, 200), "tb",
                                  config(F16, F32, 128, 64, 4, 2, step))
    yield matrix_unit.product(I8, I32, "warpgroup", "bytes", sizes(200, 136, 272), "tb",
                              config(I8, I32, 128, 128))


def signs():
    """Bytes with and without a sign on either side, with every technique and without, of dynamic sizes, too."""
    every = text(True, [2, 1, 1], True)
    for kinds, tile, groups, more in (("uu", (128, 128), 2, every), ("us", (64, 96), 1, ""), ("su", (128, 64), 2, every),
                                      ("uu", (64, 256), 1, text(True, [], False)), ("su", (64, 32), 1, ""),
                                      ("us", (128, 192), 2, text(False, [1, 2, 1], True))):
        yield signed_product(kinds, f"tile_{tile[0]}x{tile[1]}", sizes(2 * tile[0] + 8, tile[1] + 40, 400),
                             signed_config(kinds, *tile, groups, more))
        if groups == 1:
            yield signed_product(kinds, f"any_{tile[0]}x{tile[1]}", sizes(1, 1, 1), signed_config(kinds, *tile, groups, more), True,
                                 [sizes(136, 144, 272), sizes(64, 16, 16), sizes(72, 40, 0), sizes(64, 33, 33)])


def signed_config(kinds, m, n, groups, techniques):
    """Of "us": the left operand without a sign, the right one with one."""
    pinned = config(I8, I32, m, n, 3, groups, techniques=techniques)
    left, right = (kind + "8" for kind in kinds)
    return pinned.replace("k32.s8.", f"k32.{left}." if left == right else f"k32.{left}.{right}.")


def signed_product(kinds, label, dims, pinned, dynamic=False, dims_list=({},)):
    f = Function("warpgroup", "-".join(kind + "8" for kind in kinds), label, dims, dynamic, targets=("cuda", "cpu-reference"))
    ins = [f.arg(I8, "mk"), f.arg(I8, "nk")]

    def body(lines, x, y, out):
        for number, value in enumerate((x, y)):
            lines.append(f"%w{number} = arith.{'extui' if kinds[number] == 'u' else 'extsi'} {value} : i8 to i32")
        lines.extend(("%p = arith.muli %w0, %w1 : i32", f"%t = arith.addi {out}, %p : i32"))
        return "%t"

    def reference(*arrays):
        x, y = (a & 255 if kind == "u" else a for kind, a in zip(kinds, (a.astype(np.int64) for a in arrays)))
        return x @ y.T

    f.ret(f.generic("mnk", ins, f.zeros(I32, "mn"), body, reduce="k", attributes=pinned[1:-1]))
    for sizes_ in dims_list:
        f.case(f"int/{'x'.join(map(str, {**f.sizes, **sizes_}.values()))}", sizes_, integers(-128, 127), EXACT, reference)
    return f


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
        pinned = config(a, c, *tile, stages=3)
        if out is F32:
            # Its residual leaves 240 registers 40 beside the sums.
            pinned = pinned.replace("[40, 232]", "[24, 240]")
        p = f.op("linalg.contract", [x, y], f.zeros(c, "mn"), indexing("mnk", "mk", "nk", "mn") + " " + pinned)

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


def text(persistent, cluster, tma_store):
    return ((", persistent = true" if persistent else "") + (f", cluster = {cluster}" if cluster else "") +
            (", tma_store = true" if tma_store else ""))


def techniques():
    """Persistent blocks, clusters and stores by copy engines, each without the others and all together: more tiles
    than a device of eight multiprocessors runs blocks, clusters that the tiles do not fill, no sum, a sum of one step.
    """
    clusters, forms = ([], [2, 1, 1], [1, 2, 1], [4, 1, 1]), sorted(FORMS)
    for number, (cluster, persistent, tma) in enumerate(itertools.product(clusters, (False, True), (False, True))):
        form = forms[number % len(forms)]
        more = text(persistent, cluster, tma)
        yield matrix_unit.product(F16 if number % 3 else BF16, F32, "warpgroup", f"technique_{number}_{form}",
                                  sizes(*((320, 192, 136) if number % 2 else (304, 200, 328))), form,
                                  config(F16 if number % 3 else BF16, F32, 64, 64, 2 + number % 3, 1, techniques=more))
    every = text(True, [2, 1, 1], True)
    for k in (8, 64, 384):
        yield matrix_unit.product(BF16, F32, "warpgroup", f"technique_depth_{k}", sizes(576, 128, k), "nn",
                                  config(BF16, F32, 64, 128, 3, 1, techniques=every))
    yield matrix_unit.product(F16, F32, "warpgroup", "technique_any", sizes(1, 1, 1), "tb",
                              config(F16, F32, 128, 128, techniques=every), True,
                              [sizes(136, 136, 72), sizes(600, 264, 72), sizes(64, 8, 8), sizes(136, 136, 0), sizes(0, 8, 8)])
    yield matrix_unit.product(I8, I32, "warpgroup", "technique_bytes", sizes(392, 144, 272), "tb",
                              config(I8, I32, 128, 128, techniques=every))
    f = Function("warpgroup", pair_name(BF16, F32), "technique_batch", {"b": 3, **sizes(264, 128, 136)},
                 targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "bmk"), f.arg(BF16, "bkn")
    f.ret(f.op("linalg.batch_matmul", [x, y], f.zeros(F32, "bmn"),
               config(BF16, F32, 128, 128, batch=True, techniques=text(True, [1, 2, 1, 1], True))))
    f.case("int", {}, exact_data(BF16, F32, 136), EXACT, lambda x, y: x @ y)
    yield f


def rasters():
    """Bands of rows of tiles (`raster`), the last of which has fewer: as large products have them by default, one with each
    block a tile, clusters along either side that the tiles do not fill, a band of all rows, dynamic sizes."""
    for number, (raster, persistent, cluster, tile, dims, form) in enumerate((
            (4, True, [], (64, 64), (328, 200, 136), "nn"), (2, False, [], (64, 32), (264, 72, 200), "ta"),
            (4, True, [2, 1, 1], (64, 64), (648, 136, 72), "tb"), (3, True, [1, 2, 1], (64, 64), (456, 264, 136), "tab"),
            (2, True, [4, 1, 1], (64, 64), (456, 200, 72), "nn"), (8, True, [2, 1, 1], (64, 128), (648, 264, 136), "nn"),
            (8, True, [2, 1, 1], (128, 64), (328, 200, 72), "tb"))):
        yield matrix_unit.product(BF16 if number % 2 else F16, F32, "warpgroup", f"raster_{number}_{form}", sizes(*dims), form,
                                  config(BF16 if number % 2 else F16, F32, *tile, 2 + number % 3, tile[0] // 64,
                                         techniques=f", raster = {raster}" + text(persistent, cluster, number != 3)))
    yield matrix_unit.product(F16, F32, "warpgroup", "raster_any", sizes(1, 1, 1), "nn",
                              config(F16, F32, 64, 64, 3, 1, techniques=", raster = 2" + text(True, [2, 1, 1], True)), True,
                              [sizes(328, 264, 136), sizes(200, 136, 136), sizes(64, 8, 136), sizes(136, 520, 8), sizes(136, 72, 0),
                               sizes(0, 8, 8)])


def floats32():
    """f32 where programs allow it to be rounded to tf32: sums along the rows of both operands, across those of one (out of
    registers), across both (by warps); tiles that hang over the edge, sums of no whole step; each technique without the
    others, and all; of dynamic sizes, rows of no whole 16 bytes, too."""
    left, right = (lambda text, n=n: text.replace("promote = [0, 1]", f"promote = [{n}]") for n in (1, 0))
    every = text(True, [2, 1, 1], True)

    def product(label, dims, form, pinned, *more):
        f = matrix_unit.product(F32, F32, "warpgroup", f"tf32_{label}", dims, form, pinned, *more)
        f.fp = ("tf32",)
        # wgmma cuts operands off, where the oracle's bound is that of rounded ones: sums of few terms are beyond it.
        f.cases = [case for case in f.cases if "/random/" not in case.name or int(case.name.split("x")[-1]) >= 32]
        return f
    for m, n, k, tile, more in ((256, 264, 160, (128, 256), every), (200, 136, 72, (128, 128), ""), (264, 72, 136, (256, 64), ""),
                                (130, 70, 68, (64, 96), "")):
        yield product(f"tb_{m}x{n}x{k}", sizes(m, n, k), "tb", config(F32, F32, *tile, stages=3, groups=min(2, tile[0] // 64), techniques=more))
    yield product("nn", sizes(72, 272, 168), "nn",
                  right(swapped(F32, F32, 64, 128, 3, groups=2, techniques=text(True, [1, 2, 1], False))))
    yield product("tab", sizes(144, 136, 136), "tab", left(config(F32, F32, 128, 64, 3)))
    yield product("ta", sizes(136, 72, 136), "ta", "")
    for k in (4, 32, 36, 500):
        yield product(f"depth_{k}", sizes(64, 128, k), "tb", config(F32, F32, 64, 128, 2 + k % 3, 1))
    for number, (cluster, persistent, tma) in enumerate((([], False, True), ([], True, False), ([2, 1, 1], False, False),
                                                         ([1, 2, 1], True, False), ([1, 2, 1], False, True), ([4, 1, 1], True, True))):
        yield product(f"technique_{number}", sizes(304, 200, 100), "tb",
                      config(F32, F32, 64, 64, 2 + number % 3, 1, techniques=text(persistent, cluster, tma)))
    for label, how in (("alone", ", producer = false"), ("threads", ", tma_copy = false"), ("raster", ", raster = 2" + every),
                       ("two_levels", TWO_LEVELS)):
        yield product(f"technique_{label}", sizes(328, 136, 100), "tb", config(F32, F32, 64, 64, 3, 1, techniques=how))
    yield product("any", sizes(1, 1, 1), "tb", config(F32, F32, 128, 128, 3, techniques=every), True,
                  [sizes(136, 136, 72), sizes(600, 264, 36), sizes(64, 8, 4), sizes(136, 136, 0), sizes(130, 70, 33), sizes(0, 8, 8)])


def quantised_results():
    """Sums times a scale for each column, or each row and column, rounded to the nearest even number, no less than -128 and no
    more than 127: bytes, by copy engines and by threads. Sums are at most a few hundred: some are clamped, many are halves."""
    for number, (a, c, tile, rows, techniques) in enumerate((
            (F16, F32, (128, 128), False, text(True, [2, 1, 1], True)), (BF16, F32, (64, 96), True, text(False, [], False)),
            (I8, I32, (128, 192), True, text(True, [1, 2, 1], True)), (I8, I32, (64, 64), False, text(False, [], True)),
            (E4M3, F32, (128, 128), True, text(True, [], True) + TWO_LEVELS))):
        dims = sizes(3 * tile[0] - 24, 2 * tile[1] + 16, 144)
        f = Function("warpgroup", f"{a.name}-{c.name}-i8", f"quantised_{tile[0]}x{tile[1]}", dims, targets=("cuda", "cpu-reference"))
        x, y, scale = f.arg(a, "mk"), f.arg(a, "nk"), f.arg(F32, "n")
        more = [f.arg(F32, "m")] if rows else []
        p = f.op("linalg.contract", [x, y], f.zeros(c, "mn"), indexing("mnk", "mk", "nk", "mn") + " " +
                 config(a, c, *tile, stages=3, groups=tile[0] // 64, techniques=techniques))

        def body(lines, value, scale, *rest, c=c):
            if c is I32:
                lines.append(f"%f = arith.sitofp {value} : i32 to f32")
                value = "%f"
            for i, each in enumerate((scale, *rest[:-1])):
                lines.append(f"%p{i} = arith.mulf {value}, {each} : f32")
                value = f"%p{i}"
            lines.extend(("%least = arith.constant -128.0 : f32", "%most = arith.constant 127.0 : f32",
                          f"%r = math.roundeven {value} : f32", "%l = arith.maximumf %r, %least : f32",
                          "%h = arith.minimumf %l, %most : f32", "%t = arith.fptosi %h : f32 to i8"))
            return "%t"
        f.ret(f.generic("mn", [p, scale, *more], f.empty(I8, "mn"), body))

        def reference(x, y, scale, *rows):
            scaled = (x @ y.T) * scale * (rows[0][:, None] if rows else 1)
            return np.rint(scaled).clip(-128, 127)
        scales = choice(0.25, 0.5, 1, 4)
        f.case("int", {}, [integers(-2, 3), integers(-2, 2), scales, scales][:3 + rows], EXACT, reference)
        yield f


def narrow_results():
    """Results of 16 and 8 bits through shared memory: one, two, three and four pieces a warpgroup, rows of 64 twice; beside
    them the sums themselves, or sums of rows."""
    for out, tile, groups in ((BF16, (128, 256), 2), (F16, (64, 64), 1), (BF16, (128, 192), 2), (F16, (64, 160), 1), (BF16, (256, 128), 2),
                              (I8, (128, 128), 2), (BF16, (64, 32), 1)):
        a, c = (I8, I32) if out is I8 else (out, F32)
        dims = sizes(3 * tile[0] - 24, 2 * tile[1] + 16, 144)
        f = Function("warpgroup", pair_name(a, c), f"store_{out.name}_{tile[0]}x{tile[1]}", dims,
                     targets=("cuda", "cpu-reference"))
        x, y = f.arg(a, "mk"), f.arg(a, "nk")
        p = f.op("linalg.contract", [x, y], f.zeros(c, "mn"), indexing("mnk", "mk", "nk", "mn") + " " +
                 config(a, c, *tile, stages=2, groups=groups, techniques=text(True, [2, 1, 1], True)))

        def narrower(lines, value, _, c=c, out=out):
            lines.append(f"%t = arith.trunc{'f' if out.is_float else 'i'} {value} : {c.name} to {out.name}")
            return "%t"
        narrow = f.generic("mn", [p], f.empty(out, "mn"), narrower)
        both = tile == (64, 64)
        f.ret(*([p, narrow] if both else [narrow]))

        def reference(x, y, out=out, both=both):
            whole = x @ y.T if x.dtype.kind == "f" else x.astype(np.int64) @ y.astype(np.int64).T
            rounded = out.round(whole) if out.is_float else whole.astype(np.int8)
            return [whole, rounded] if both else rounded
        f.case("int", {}, integers(-1, 1) if out is I8 else integers(-2, 2), EXACT, reference)
        yield f


def residual(family, label, kinds, out, dims, pinned):
    """x · y^T + 2 r + …, of f16, r of `kinds`."""
    f = Function(family, pair_name(F16, out), label, dims, targets=("cuda", "cpu-reference"))
    batch = "b" if "b" in dims else ""
    x, y = f.arg(F16, batch + "mk"), f.arg(F16, batch + "nk")
    more = [f.arg(kind, batch + "mn") for kind in kinds]
    p = f.op("linalg.contract", [x, y], f.zeros(F32, batch + "mn"), indexing(batch + "mnk", batch + "mk", batch + "nk", batch + "mn") + " " + pinned)

    def body(lines, value, *rest):
        lines.append("%two = arith.constant 2.0 : f32")
        for i, kind in enumerate(kinds):
            wide = rest[i]
            if kind is not F32:
                lines.append(f"%wide{i} = arith.extf {wide} : {kind.name} to f32")
                wide = f"%wide{i}"
            lines += [f"%scaled{i} = arith.mulf {wide}, %two : f32", f"%sum{i} = arith.addf {value}, %scaled{i} : f32"]
            value = f"%sum{i}"
        if out is F32:
            return value
        lines.append(f"%t = arith.truncf {value} : f32 to {out.name}")
        return "%t"
    f.ret(f.generic(batch + "mn", [p, *more], f.empty(out, batch + "mn"), body))

    def reference(x, y, *rest):
        return out.round(np.einsum(f"{batch}mk,{batch}nk->{batch}mn", x, y) + 2 * sum(rest))
    f.case("int", {}, integers(-2, 2), EXACT, reference)
    return f


def residuals():
    """Matrices of 16 and 32 bits beside the sums, by copy engines: one to four pieces a warpgroup, of 64 rows twice; results of their
    type, of another, of f32; two of one type, and of two; scaled; blocks with several tiles, blocks of a cluster without one."""
    every = text(True, [2, 1, 1], True)
    for number, (kinds, out, tile, groups, techniques) in enumerate((
            ((BF16,), BF16, (128, 256), 2, every), ((BF16,), BF16, (64, 192), 1, text(True, [], True)), ((F16,), F32, (64, 64), 1, text(False, [], True)),
            ((BF16, BF16), BF16, (64, 128), 1, every), ((F16, BF16), F16, (64, 96), 1, text(True, [1, 1, 2, 1], True)),
            ((BF16,), BF16, (256, 128), 2, text(True, [], True)), ((F16,), F16, (64, 32), 1, text(True, [4, 1, 1], True)),
            ((F16, F32), F32, (64, 160), 1, every), ((F32,), F32, (128, 256), 2, every), ((F32,), BF16, (64, 96), 1, text(True, [], True)),
            ((F32, F32), F32, (64, 32), 1, text(True, [1, 2, 1], True)))):
        dims = {**({"b": 2} if number == 4 else {}), **sizes(3 * tile[0] - 24, 2 * tile[1] + 16, 144)}
        yield residual("warpgroup", f"residual_{number}_{tile[0]}x{tile[1]}", kinds, out, dims,
                       config(F16, F32, *tile, stages=2, groups=groups, techniques=techniques, batch=number == 4))


def product_float8(a, b, label, dims, pinned, dynamic=False, dims_list=({},), out=F32):
    f = Function("warpgroup", f"{a.name}-{b.name}-{out.name}", label, dims, dynamic, targets=("cuda", "cpu-reference"))
    x, y = f.arg(a, "mk"), f.arg(b, "nk")
    p = f.op("linalg.contract", [x, y], f.zeros(F32, "mn"), indexing("mnk", "mk", "nk", "mn") + " " + pinned)

    def narrower(lines, value, _):
        lines.append(f"%t = arith.truncf {value} : f32 to {out.name}")
        return "%t"
    f.ret(p if out is F32 else f.generic("mn", [p], f.empty(out, "mn"), narrower))
    for sizes_ in dims_list:
        f.case(f"int/{'x'.join(map(str, {**f.sizes, **sizes_}.values()))}", sizes_, integers(-3, 3), EXACT,
               lambda x, y: out.round(x @ y.T))
    return f


def floats8():
    """8-bit floats in any mix, their sums in two levels; sums of one step, of none that is whole, of no terms; 16-bit
    floats in two levels as well."""
    every = text(True, [2, 1, 1], True) + TWO_LEVELS
    for number, (a, b) in enumerate(itertools.product((E4M3, E5M2), repeat=2)):
        yield product_float8(a, b, "tile_128x192", sizes(264, 208, 336),
                             config(a, F32, 128, 192, 3, b=b, techniques=every if number % 2 else TWO_LEVELS))
        yield product_float8(a, b, "tile_64x64", sizes(72, 136, 16 + 128 * number),
                             config(a, F32, 64, 64, 4, 1, b=b, techniques=TWO_LEVELS))
    yield product_float8(E4M3, E4M3, "narrow", sizes(264, 256, 640), config(E4M3, F32, 128, 128, techniques=every), out=BF16)
    yield product_float8(E4M3, E5M2, "any", sizes(1, 1, 1), config(E4M3, F32, 128, 128, b=E5M2, techniques=every), True,
                         [sizes(136, 144, 272), sizes(64, 16, 16), sizes(136, 136, 0), sizes(130, 70, 33)])
    yield product_float8(E5M2, E4M3, "default", sizes(256, 384, 512), "")
    yield matrix_unit.product(F16, F32, "warpgroup", "two_levels", sizes(136, 136, 200), "nn",
                              config(F16, F32, 128, 128, techniques=TWO_LEVELS))


def sums_f16():
    """Sums in f16: every order of operands, stages under way and waited for, stored by copy engines and by threads; what
    they begin with is in memory; of 8-bit floats."""
    every = text(True, [2, 1, 1], True)
    for form, m, n, k, tile, more in (("nn", 256, 264, 320, (128, 256), every), ("tb", 200, 136, 72, (128, 128), ""),
                                      ("ta", 264, 72, 136, (256, 64), every), ("tab", 72, 136, 264, (64, 96), "")):
        yield matrix_unit.product(F16, F16, "warpgroup", f"sums_{form}_{m}x{n}x{k}", sizes(m, n, k), form,
                                  config(F16, F16, *tile, stages=2 + (k < 100), groups=min(2, tile[0] // 64), techniques=more))
    yield matrix_unit.product(F16, F16, "warpgroup", "sums_any", sizes(1, 1, 1), "nn", config(F16, F16, 128, 128, techniques=every),
                              True, [sizes(136, 136, 72), sizes(136, 135, 72), sizes(64, 8, 8), sizes(64, 8, 0)])
    f = Function("warpgroup", "f16", "sums_onto", sizes(136, 136, 72), targets=("cuda", "cpu-reference"))
    x, y, c = f.arg(F16, "mk"), f.arg(F16, "kn"), f.arg(F16, "mn")
    f.ret(f.op("linalg.matmul", [x, y], c, config(F16, F16, 128, 128, stages=3)))
    f.case("int", {}, integers(-2, 2), EXACT, lambda x, y, c: c + x @ y)
    yield f
    f = Function("warpgroup", "f8E4M3FN-f8E5M2-f16", "sums", sizes(136, 144, 272), targets=("cuda", "cpu-reference"))
    x, y = f.arg(E4M3, "mk"), f.arg(E5M2, "nk")
    f.ret(f.op("linalg.contract", [x, y], f.zeros(F16, "mn"), indexing("mnk", "mk", "nk", "mn") + " " +
               config(E4M3, F16, 128, 128, b=E5M2, techniques=every)))
    f.case("int", {}, integers(-1, 1), EXACT, lambda x, y: x @ y.T)
    yield f


def swapped(a, c, m, n, stages=4, groups=1, techniques="", b=None, splits=1):
    """A config whose warpgroups lie along the columns: `n` of them are the instruction's rows, `m` rows its columns."""
    pinned = config(a, c, n, m, stages, groups, techniques=techniques, b=b)
    longest = TYPES[a][1]
    return (pinned.replace(f"block = [{n}, {m}, {longest}]", f"block = [{m}, {n}, {longest}]")
            .replace(f"warps = [{4 * groups}, 1, 1]", f"warps = [1, {4 * groups}, 1]")
            .replace(", registers", (f", splits = {splits}" if splits > 1 else "") + ", registers" if groups == 2 else ", registers"))


def swapped_operands():
    """Few rows: columns are the instruction's rows, in every order of operands; rows that are no whole tile; in parts;
    persistent, in clusters; types that differ; a bias and a narrower result."""
    for number, (form, m, n, k) in enumerate((("nn", 16, 200, 320), ("tb", 5, 136, 72), ("ta", 24, 264, 136), ("tab", 16, 200, 200))):
        more = text(True, [1, 2, 1], False) if number % 2 else ""
        rows = 16 if m <= 16 else 32
        yield matrix_unit.product(BF16, F32, "warpgroup", f"swapped_{form}_{m}x{n}x{k}", sizes(m, n, k), form,
                                  swapped(BF16, F32, rows, 64 * (1 + number % 2), groups=1 + number % 2, techniques=more))
    yield matrix_unit.product(F16, F32, "warpgroup", "swapped_8", sizes(8, 136, 200), "tb", swapped(F16, F32, 8, 128, groups=2))
    yield matrix_unit.product(F16, F16, "warpgroup", "swapped_sums", sizes(16, 136, 200), "nn", swapped(F16, F16, 16, 128, groups=2))
    yield matrix_unit.product(I8, I32, "warpgroup", "swapped_bytes", sizes(16, 136, 272), "tb", swapped(I8, I32, 16, 64))
    yield matrix_unit.product(BF16, F32, "warpgroup", "swapped_parts", sizes(16, 136, 1104), "nn",
                              swapped(BF16, F32, 16, 128, groups=2, splits=3))
    yield product_float8(E4M3, E5M2, "swapped", sizes(16, 208, 336),
                         swapped(E5M2, F32, 16, 64, b=E4M3, techniques=TWO_LEVELS), out=BF16)
    yield matrix_unit.product(F16, F32, "warpgroup", "swapped_any", sizes(1, 1, 1), "nn",
                              swapped(F16, F32, 16, 128, groups=2, techniques=text(True, [], False)), True,
                              [sizes(16, 136, 72), sizes(1, 64, 8), sizes(24, 200, 136), sizes(16, 8, 0), sizes(16, 9, 8)])
    # The transposed result in memory: its columns are outermost.
    f = Function("warpgroup", pair_name(BF16, F32), "columns_outermost", sizes(136, 200, 72), targets=("cuda", "cpu-reference"))
    x, y = f.arg(BF16, "mk"), f.arg(BF16, "kn")
    f.ret(f.op("linalg.contract", [x, y], f.zeros(F32, "nm"), indexing("mnk", "mk", "kn", "nm") + " " +
               config(BF16, F32, 128, 64)))
    f.case("int", {}, exact_data(BF16, F32, 72), EXACT, lambda x, y: (x @ y).T)
    yield f


def in_registers(label, form, left, right, dims, pinned, dynamic=False, dims_list=({},)):
    """(x + 2) or x times (w + 2) or w, of f16: what is of another type, or None's neighbour, is computed in registers."""
    f = Function("warpgroup", f"{(left or F16).name}-{(right or F16).name}-f32", f"registers_{label}", dims, dynamic,
                 targets=("cuda", "cpu-reference"))
    maps = matrix_unit.FORMS[form]
    x, w = (f.arg(element or F16, map_) for element, map_ in zip((left, right), maps))
    two = f.constant(F16, 2)
    if left:
        x = producers.affine(f, left, F16, maps[0], x, two)
    if right:
        w = producers.affine(f, right, F16, maps[1], w, two)
    f.ret(f.op("linalg.contract", [x, w], f.zeros(F32, "mn"), indexing("mnk", *maps, "mn") + " " + pinned))
    for sizes_ in dims_list:
        f.case(f"int/{'x'.join(map(str, {**f.sizes, **sizes_}.values()))}", sizes_, integers(-3, 3), EXACT,
               lambda x, w: np.einsum(",".join(maps) + "->mn", x + 2 * bool(left), w + 2 * bool(right)))
    return f


def operands_in_registers():
    """A out of registers: dequantised weights of either order as the right operand, swapped, or the left one; a cast from
    f32, an activation in place, and what is in memory as it is. f(0) is not zero, so what is filled in shows."""
    only = {True: lambda text: text.replace("promote = [0, 1]", "promote = [0]"),
            False: lambda text: text.replace("promote = [0, 1]", "promote = [1]")}
    every = text(True, [1, 2, 1], False)
    yield in_registers("weights_tb", "tb", None, I8, sizes(16, 200, 336), only[True](swapped(F16, F32, 16, 64)))
    yield in_registers("weights_tb_2", "tb", None, I8, sizes(24, 264, 336),
                       only[True](swapped(F16, F32, 32, 128, groups=2, techniques=every)))
    yield in_registers("weights_nn", "nn", None, I8, sizes(16, 208, 200), only[True](swapped(F16, F32, 16, 64)))
    yield in_registers("left", "nn", I8, None, sizes(136, 136, 208), only[False](config(F16, F32, 128, 128, 3)))
    for label, size in (("one_step", 64), ("one_short_step", 48)):
        yield in_registers(label, "tb", None, I8, sizes(16, 200, size), only[True](swapped(F16, F32, 16, 64)))
        yield in_registers(f"left_{label}", "nn", I8, None, sizes(136, 136, size), only[False](config(F16, F32, 128, 128, 3, techniques=text(True, [1, 1, 1], False))))
    yield in_registers("activation", "tb", F16, None, sizes(200, 136, 72), only[False](config(F16, F32, 128, 64, 3)))
    yield in_registers("cast", "nn", F32, None, sizes(72, 136, 104), only[False](config(F16, F32, 64, 128, 3, 1, k=32)))
    yield in_registers("plain", "nn", None, None, sizes(136, 136, 72),
                       only[False](config(F16, F32, 128, 128, 3, techniques=text(True, [2, 1, 1], True))))
    yield in_registers("any", "tb", None, I8, sizes(1, 1, 1), only[True](swapped(F16, F32, 16, 64)), True,
                       [sizes(16, 136, 80), sizes(5, 64, 16), sizes(16, 8, 0)])


def dequantised(label, weights, rows, groups, size, m, n, pinned, target=F16, zero=True, dynamic=False, cases=({},)):
    """x · ((w - zero) · scale), by `groups` of `size` along the sum, or by columns (`groups` None); `rows`: weights lie [n, k],
    else [k, n], two of i4 to a byte."""
    dims = {"m": m, "n": n, "k": size} if groups is None else {"m": m, "n": n, "g": groups, "k": size}
    if dynamic:
        dims["m"] = 1
    f = Function("warpgroup", f"{weights.name}-{target.name}-f32", f"dequantised_{label}", dims, dynamic,
                 targets=("cuda", "cpu-reference"))
    sums = "k" if groups is None else "gk"
    if dynamic:
        sums, free = sums.upper(), "N"
        f.sizes = {d if d == "m" else d.upper(): v for d, v in f.sizes.items()}
    else:
        free = "n"
    whole, few = (free + sums if rows else sums + free), (free if groups is None else free + sums[0] if rows else sums[0] + free)
    x, w, scale = f.arg(target, "m" + sums), f.arg(weights, whole), f.arg(target, few)
    operands = [w, scale] + ([f.arg(target, few)] if zero else [])

    def body(lines, w, scale, *rest):
        lines.append(f"%f = arith.sitofp {w} : {weights.name} to {target.name}")
        if zero:
            lines.append(f"%d = arith.subf %f, {rest[0]} : {target.name}")
        lines.append(f"%p = arith.mulf {'%d' if zero else '%f'}, {scale} : {target.name}")
        return "%p"
    d = f.generic(whole, operands, f.empty(target, whole), body)
    loops = f"m{free}{sums}"
    f.ret(f.op("linalg.contract", [x, d], f.zeros(F32, "m" + free), indexing(loops, "m" + sums, whole, "m" + free) + " " + pinned))

    def reference(x, w, scale, *rest):
        spread = [np.broadcast_to(v.reshape([v.shape[few.index(d)] if d in few else 1 for d in whole]), w.shape)
                  for v in (scale, *rest)]
        d = (w - (spread[1] if zero else 0)) * spread[0]
        return np.einsum(f"m{sums},{whole}->m{free}".lower(), x, d)
    for sizes_ in cases:
        f.case(f"int/{'x'.join(map(str, {**f.sizes, **sizes_}.values()))}", sizes_,
               [integers(-2, 2), integers(-8, 7), integers(-2, 2), integers(-2, 2)][:4 if zero else 3], EXACT, reference)
    return f


def dequantised_weights():
    """Packed int4 and int8 weights as the right operand: columns are the instruction's rows, two or four of them a thread's
    side by side; with a scale and a zero point for each column, or for groups along the sum, more of them than the ring
    has stages, fewer, none that fills a tile; in f16 and bf16; rows of the result that end anywhere."""
    def by_groups(m, n, step, stages=3, groups=1, techniques="", a=F16):
        three = swapped(a, F32, m, n, stages, groups, techniques).replace("promote = [0, 1]", "promote = [0]")
        return (three.replace(f"block = [{m}, {n}, 64]", f"block = [{m}, {n}, 1, {step}]")
                .replace(f"warps = [1, {4 * groups}, 1]", f"warps = [1, {4 * groups}, 1, 1]"))
    only = lambda text: text.replace("promote = [0, 1]", "promote = [0]")
    clustered = text(True, [1, 2, 1, 1], False)
    for weights in (I4, I8):
        yield dequantised("groups_32", weights, False, 5, 32, 16, 128, by_groups(16, 64, 32))
        yield dequantised("groups_64", weights, False, 7, 64, 24, 320, by_groups(32, 128, 64, 2, 2, clustered))
        yield dequantised("groups_128", weights, False, 3, 128, 40, 256, by_groups(64, 128, 64, 4, 1))
        yield dequantised("rows_32", weights, True, 6, 32, 16, 136, by_groups(16, 64, 32))
        yield dequantised("rows_64", weights, True, 4, 64, 16, 136, by_groups(16, 64, 64), zero=False)
        yield dequantised("rows_128", weights, True, 2, 128, 72, 200, by_groups(64, 128, 64, 3, 2))
        yield dequantised("columns", weights, False, None, 200, 16, 160, only(swapped(F16, F32, 16, 128, groups=2)))
        yield dequantised("columns_four", weights, False, None, 200, 16, 160, only(swapped(F16, F32, 16, 128)))
        yield dequantised("columns_rows", weights, True, None, 256, 24, 72, only(swapped(F16, F32, 32, 64)))
        yield dequantised("bf16", weights, False, 3, 64, 16, 128, by_groups(16, 64, 64, a=BF16), BF16)
    yield dequantised("any", I4, False, 3, 64, 16, 128, by_groups(16, 64, 64, techniques=text(True, [], False)), dynamic=True,
                      cases=[{"m": m} for m in (0, 1, 16, 40)])


def transposed_operands():
    """Bytes, 8-bit floats and tf32 whose sums lie across the rows of memory, out of registers: the right operand, swapped,
    or the left one; two, four or eight rows a thread's, in one box and in several; sums that end anywhere."""
    left, right = (lambda text, n=n: text.replace("promote = [0, 1]", f"promote = [{n}]") for n in (1, 0))
    every = text(True, [1, 2, 1], False)
    for number, (m, n, k, tile, groups) in enumerate(((72, 272, 336, (64, 128), 2), (136, 160, 128, (128, 128), 1),
                                                      (264, 528, 400, (128, 256), 2), (16, 256, 144, (16, 64), 1))):
        yield matrix_unit.product(I8, I32, "warpgroup", f"across_nn_{tile[0]}x{tile[1]}_{groups}", sizes(m, n, k), "nn",
                                  right(swapped(I8, I32, *tile, stages=2 + number % 3, groups=groups,
                                                techniques=every if number % 2 == 0 else "")))
    yield matrix_unit.product(I8, I32, "warpgroup", "across_tab", sizes(144, 136, 272), "tab", left(config(I8, I32, 128, 64, 3)))
    yield matrix_unit.product(I8, I32, "warpgroup", "across_any", sizes(1, 1, 1), "nn",
                              right(swapped(I8, I32, 64, 128, groups=2, techniques=text(True, [], False))), True,
                              [sizes(136, 144, 272), sizes(64, 16, 16), sizes(0, 16, 16), sizes(16, 16, 0), sizes(30, 70, 33)])
    yield matrix_unit.product(I8, I32, "warpgroup", "across_default", sizes(272, 256, 528), "tab", "")
    for a, b in ((E4M3, E4M3), (E5M2, E4M3)):
        f = Function("warpgroup", f"{a.name}-{b.name}-f32", "across_nn", sizes(72, 272, 336), targets=("cuda", "cpu-reference"))
        x, y = f.arg(a, "mk"), f.arg(b, "kn")
        f.ret(f.op("linalg.contract", [x, y], f.zeros(F32, "mn"), indexing("mnk", "mk", "kn", "mn") + " " +
                   right(swapped(b, F32, 64, 128, groups=2, b=a, techniques=TWO_LEVELS))))
        f.case("int", {}, integers(-3, 3), EXACT, lambda x, y: x @ y)
        yield f


def windows():
    """Windows of larger matrices, which a tensor map describes where they begin at multiples of 16 bytes; rows that end
    anywhere."""
    for offset in (8, 3):
        for form, second in (("tb", "np"), ("nn", "kq")):
            dims = {"p": 136, "q": 144, **sizes(136, 125, 99)}
            f = Function("warpgroup", pair_name(BF16, F32), f"window_{offset}_{form}", dims, targets=("cuda", "cpu-reference"))
            x, y = f.arg(BF16, "mp"), f.arg(BF16, second)
            left, right = (f.raw(f"tensor.extract_slice {v.name}[0, {offset}] [{dims[d[0]]}, {dims[d[1]]}] [1, 1] : "
                                 f"{f.type(BF16, of)} to {f.type(BF16, d)}", BF16, d)
                           for v, of, d in ((x, "mp", "mk"), (y, second, "nk" if form == "tb" else "kn")))
            f.ret(f.op("linalg.contract", [left, right], f.zeros(F32, "mn"),
                       indexing("mnk", *matrix_unit.FORMS[form], "mn") + " " + config(BF16, F32, 64, 128, 3, 1)))

            def reference(x, y, o=offset, form=form):
                return x[:, o:o + 99] @ (y[:, o:o + 99].T if form == "tb" else y[:, o:o + 125])
            f.case("int", {}, exact_data(BF16, F32, 99), EXACT, reference)
            yield f


def functions():
    for part in (dequantised_weights, transposed_operands, windows, floats8, sums_f16, swapped_operands, operands_in_registers,
                 orders, variants, depths, signs, batches, epilogues,
                 techniques, rasters, floats32, quantised_results, narrow_results, residuals):
        yield from part()
