# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two products in one kernel by warpgroups (sm_90a), act(x · w + bias) · v, with pinned configs: what lies between them stays
in registers. Every order of operands, sums of no whole step and shorter than the ring, columns between that fill no tile,
batches, sizes known at the launch; results of 16 and 32 bits, a residual. Other targets take their defaults.
"""

import itertools

import numpy as np

from data import BF16, F16, F32, integers, uniform
from families.contraction import indexing, pair_name
from functions import BOUNDED, EXACT, Function

EVERY = ", persistent = true, tma_store = true"


def config(a, m, n, between, stages=3, groups=1, techniques="", batch=False):
    """Of the second product: `between` is all that the first has of columns, in whole tiles."""
    registers = ", registers = [40, 232]" if groups == 2 else ""
    one = "1, " if batch else ""
    return ("{tilewright.lowering_config = {\"cuda:sm_90a\" = #tilewright.lowering_config<strategy = warp_specialized, "
            f"block = [{one}{m}, {n}, {between}], warps = [{one}{4 * groups}, 1, 1], stages = {stages}, promote = [1], "
            f"mma = \"wgmma.m64n{n}k16.{a.name}.f32\"{registers}{techniques}>}}}}")


def sizes(m, k, h, n):
    return {"m": m, "k": k, "h": h, "n": n}


def chained(a, label, dims, pinned, forms=("mk", "kh", "hn"), activation="relu", bias=True, out=F32, residual=None, dynamic="",
            dims_list=({},), random=True):
    """`dynamic`: letters of what is known at the launch only. `residual`: the type of a matrix that is added at last."""
    letters = {d: d.upper() if dynamic and d not in dynamic else d for d in dims}
    f = Function("chained", pair_name(a, out), label, {letters[d]: size for d, size in dims.items()}, bool(dynamic),
                 targets=("cuda", "cpu-reference"))
    batch = letters["b"] if "b" in dims else ""
    m, h, n, k = (letters[d] for d in "mhnk")
    x, w, v = (batch + "".join(letters[d] for d in form) for form in forms)
    args = [f.arg(a, maps) for maps in (x, w, v)] + ([f.arg(F32, h)] if bias else [])

    def product(left, left_map, right, right_map, columns, along, attributes=""):
        return f.op("linalg.contract", [left, right], f.zeros(F32, batch + m + columns),
                    indexing(batch + m + columns + along, left_map, right_map, batch + m + columns) + " " + attributes)
    p = product(args[0], x, args[1], w, h, k)

    def between(lines, value, *rest):
        if bias:
            lines.append(f"%a = arith.addf {value}, {rest[0]} : f32")
            value = "%a"
        if activation == "relu":
            lines += ["%z = arith.constant 0.0 : f32", f"%r = arith.maximumf {value}, %z : f32"]
        elif activation == "inverse":  # infinite where there is nothing
            lines += ["%o = arith.constant 1.0 : f32", f"%r = arith.divf %o, {value} : f32"]
        lines.append(f"%t = arith.truncf {'%r' if activation else value} : f32 to {a.name}")
        return "%t"
    narrow = f.generic(batch + m + h, [p] + args[3:], f.empty(a, batch + m + h), between)
    r = product(narrow, batch + m + h, args[2], v, n, h, pinned)
    if residual or out is not F32:
        more = [f.arg(residual, batch + m + n)] if residual else []

        def last(lines, value, *rest):
            if residual:
                wide = rest[0]
                if residual is not F32:
                    lines.append(f"%w = arith.extf {rest[0]} : {residual.name} to f32")
                    wide = "%w"
                lines.append(f"%s = arith.addf {value}, {wide} : f32")
                value = "%s"
            if out is F32:
                return value
            lines.append(f"%t = arith.truncf {value} : f32 to {out.name}")
            return "%t"
        r = f.generic(batch + m + n, [r] + more, f.empty(out, batch + m + n), last)
    f.ret(r)

    def reference(x, w, v, *rest):
        b = "b" if "b" in dims else ""
        first = np.einsum(f"{b}{forms[0]},{b}{forms[1]}->{b}mh", x, w) + (rest[0] if bias else 0)
        first = np.maximum(first, 0) if activation == "relu" else 1 / first if activation == "inverse" else first
        whole = np.einsum(f"{b}mh,{b}{forms[2]}->{b}mn", a.round(first), v)
        return out.round(whole + rest[-1] if residual else whole)
    for given in dims_list:
        given = {letters[d]: size for d, size in given.items()}
        name = "x".join(map(str, {**f.sizes, **given}.values()))
        if activation == "inverse":
            f.case(f"int/{name}", given, [integers(0, 0), integers(0, 0), integers(-1, 1), integers(1, 1)][:3 + bias], EXACT, reference)
            continue
        f.case(f"int/{name}", given, integers(-1, 1), EXACT, reference)
        if random:
            f.case(f"random/{name}", given, uniform(-1, 1), BOUNDED)
    return f


def functions():
    orders = list(itertools.product(("mk", "km"), ("kh", "hk"), ("hn", "nh")))
    for number, forms in enumerate(orders):
        a = BF16 if number % 2 else F16
        yield chained(a, "_".join(forms), sizes(136, 200, 72, 136), config(a, 64, 192 if number % 3 else 256, 128, techniques=EVERY if number % 3 == 1 else ""),
                      forms, random=number % 4 == 0)
    # Steps of one sum, fewer than the ring has stages, more than twice as many.
    for k in (8, 24, 64, 136, 456):
        yield chained(F16, f"depth_{k}", sizes(72, k, 64, 64), config(F16, 64, 64, 64, 2 + k % 3), random=k == 456)
    # Columns between the products, and tiles of two warpgroups.
    for between, n, groups, stages in ((16, 32, 1, 4), (32, 256, 2, 3), (64, 96, 2, 4), (128, 128, 2, 4), (128, 256, 2, 2), (256, 64, 1, 3), (256, 256, 1, 2)):
        for techniques in ("", EVERY if (between, n) != (256, 256) else ", persistent = true"):
            yield chained(BF16 if groups == 2 else F16, f"tile_{between}x{n}{'_every' if techniques else ''}", sizes(264, 136, between - 8, n - 8),
                          config(BF16 if groups == 2 else F16, 64 * groups, n, between, stages, groups, techniques), out=BF16 if between == 128 else F32,
                          random=bool(techniques) and between < 256)
    # What lies between is infinite where there is nothing.
    yield chained(F16, "inverse", sizes(72, 64, 40, 48), config(F16, 64, 64, 64), activation="inverse")
    yield chained(F16, "cast", sizes(72, 64, 40, 48), config(F16, 64, 64, 64), activation="", bias=False)
    # Residuals, results of 16 bits; one tensor that both products read.
    yield chained(F16, "residual", sizes(136, 72, 64, 72), config(F16, 64, 96, 64), residual=F32)
    yield chained(BF16, "residual_narrow", sizes(136, 72, 64, 72), config(BF16, 64, 96, 64, techniques=EVERY), residual=BF16, out=BF16)
    # v is another one for each batch: a stage that comes again and again.
    for techniques in ("", EVERY):
        yield chained(F16, f"batch{'_every' if techniques else ''}", {"b": 3, **sizes(136, 136, 64, 64)},
                      config(F16, 64, 64, 64, techniques=techniques, batch=True))
    # Blocks of a cluster share the first product's right operand; the last one may be without a tile.
    for number, (forms, cluster, techniques) in enumerate(((("mk", "kh", "hn"), 2, ""), (("mk", "hk", "nh"), 2, ", persistent = true"),
                                                           (("km", "kh", "hn"), 4, EVERY))):
        yield chained(F16, f"cluster_{number}", sizes(200 + 64 * number, 136, 64, 72),
                      config(F16, 64, 96, 64, 2 + number, techniques=techniques.replace(" tma", f" cluster = [{cluster}, 1, 1], tma") if "tma" in techniques
                             else techniques + f", cluster = [{cluster}, 1, 1]"), forms)
    yield chained(F16, "cluster_batch", {"b": 3, **sizes(200, 136, 64, 64)},
                  config(F16, 64, 64, 64, techniques=", persistent = true, cluster = [1, 2, 1, 1], tma_store = true", batch=True))
    yield chained(F16, "cluster_rows_any", sizes(1, 136, 64, 64), config(F16, 64, 64, 64, techniques=", cluster = [2, 1, 1]"), dynamic="m",
                  dims_list=[{"m": m} for m in (0, 1, 200)])
    # Nothing pinned: rows for half of the multiprocessors.
    yield chained(BF16, "default", sizes(4232, 264, 72, 64), "", out=BF16)
    yield chained(F16, "rows_any", sizes(1, 136, 64, 64), config(F16, 64, 64, 64, techniques=EVERY), dynamic="m",
                  dims_list=[{"m": m} for m in (0, 1, 64, 200, 1000)])
    yield chained(BF16, "sums_any", sizes(1, 1, 72, 64), config(BF16, 128, 64, 128, 3, 2), dynamic="mk",
                  dims_list=[{"m": m, "k": k} for m, k in ((1, 8), (136, 0), (136, 264), (72, 33))])
