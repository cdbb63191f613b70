# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of operands that are computed element by element: casts, scales and zero points (for each row, or for groups of
rows), activations; or only widened. Most of f(0) is not zero, so that what is filled in at edges shows if it is filled in too early.
"""

import numpy as np

from data import BF16, E4M3, F16, F32, I32, I4, I8, integers
from families.contraction import indexing, sizes
from functions import EXACT, Function

FORMS = {"nn": ("mk", "kn"), "ta": ("km", "kn"), "tb": ("mk", "nk")}
RAGGED = (sizes(33, 41, 57), sizes(64, 48, 128), sizes(17, 130, 7), sizes(9, 9, 0))


def label_of(dims):
    return "x".join(str(v) for v in dims.values())


def affine(f, source, target, dims, x, shift):
    """x + shift in `target`."""

    def body(lines, value, out):
        if source is target:
            lines.append(f"%f = arith.addf {value}, {shift.name} : {target.name}")
            return "%f"
        op = "sitofp" if not source.is_float else "extf" if source.bits < target.bits else "truncf"
        lines.append(f"%f = arith.{op} {value} : {source.name} to {target.name}")
        lines.append(f"%g = arith.addf %f, {shift.name} : {target.name}")
        return "%g"

    return f.generic(dims, [x], f.empty(target, dims), body)


def product(form, a, b, target, dynamic, dims, dims_list=({},), relu=False):
    """(a - 3) · (b + 2), in `target`; of operands of that type nothing is computed."""
    left, right = FORMS[form]
    f = Function("producers", f"{a.name}-{b.name}-{target.name}", form + ("_relu" if relu else ""), dims, dynamic)
    x, w = f.arg(a, left), f.arg(b, right)
    low, high = f.constant(target, -3), f.constant(target, 2)
    if a is not target:
        x = affine(f, a, target, left, x, low)
    if b is not target:
        w = affine(f, b, target, right, w, high)
    total = f.op("linalg.contract", [x, w], f.zeros(F32, "mn"), indexing("mnk", left, right, "mn"))
    if relu:
        zero = f.constant(F32, 0)

        def body(lines, p, out):
            lines.append(f"%r = arith.maximumf {p}, {zero.name} : f32")
            lines.append(f"%t = arith.truncf %r : f32 to {target.name}")
            return "%t"

        total = f.generic("mn", [total], f.empty(target, "mn"), body)
    f.ret(total)

    def reference(x, w):
        x, w = (x - 3 if a is not target else x), (w + 2 if b is not target else w)
        result = np.einsum(f"{left},{right}->mn", x, w)
        return target.round(np.maximum(result, 0)) if relu else result

    for sizes_ in dims_list:
        f.case(f"int/{label_of({**f.sizes, **sizes_})}", sizes_, integers(-3, 3), EXACT, reference)
    return f


def widened(form, a, b, dynamic, dims, dims_list=({},)):
    """a · b of f32 or i32, to which both were widened in front."""
    wide = F32 if a.is_float else I32
    left, right = FORMS[form]
    f = Function("producers", f"{a.name}-{b.name}-wide", form, dims, dynamic)

    def widen(dims, x):
        def body(lines, value, out):
            lines.append(f"%w = arith.{'extf' if x.element.is_float else 'extsi'} {value} : {x.element.name} to {wide.name}")
            return "%w"
        return f.generic(dims, [x], f.empty(wide, dims), body)

    x, w = widen(left, f.arg(a, left)), widen(right, f.arg(b, right))
    f.ret(f.op("linalg.contract", [x, w], f.zeros(wide, "mn"), indexing("mnk", left, right, "mn")))
    for sizes_ in dims_list:
        f.case(f"int/{label_of({**f.sizes, **sizes_})}", sizes_, integers(-3, 3), EXACT,
               lambda x, w: np.einsum(f"{left},{right}->mn", x, w))
    return f


def grouped(weights, m, groups, size, n, dynamic=False, cases=({},), rows=False, columns="n"):
    """x · ((w - zero) · scale), with scales and zero points for each group of `size` along k, the groups joined by a
    reshape; `rows`: weights are [n, k], else [k, n]. A dim in capitals, as `columns` may be, is static."""
    f = Function("producers", f"{weights.name}-f16", f"{'rows_' if rows else ''}groups_{m}_{size}",
                 {"m": m, "g": groups, "H": size, columns: n, "k": groups * size}, dynamic)
    three, two, few = (dims.replace("n", columns) for dims in (("ngH", "nk", "ng") if rows else ("gHn", "kn", "gn")))
    x, w = f.arg(F16, "mk"), f.arg(weights, two)
    scale, zero = f.arg(F16, few), f.arg(F16, few)
    joined = "[[0], [1, 2]]" if rows else "[[0, 1], [2]]"
    shape = ", ".join(f.size_of(d) if dynamic and d.islower() else str(f.sizes[d]) for d in three)
    w = f.raw(f"tensor.expand_shape {w.name} {joined} output_shape [{shape}] : {f.value_type(w)} into "
              f"{f.type(weights, three)}", weights, three)

    def body(lines, w, scale, zero, out):
        lines.extend((f"%f = arith.sitofp {w} : {weights.name} to f16", f"%d = arith.subf %f, {zero} : f16",
                      f"%p = arith.mulf %d, {scale} : f16"))
        return "%p"

    d = f.generic(three, [w, scale, zero], f.empty(F16, three), body)
    d = f.raw(f"tensor.collapse_shape {d.name} {joined} : {f.value_type(d)} into {f.type(F16, two)}", F16, two)
    f.ret(f.op("linalg.contract", [x, d], f.zeros(F32, "m" + columns), indexing(f"m{columns}k", "mk", two, f"m{columns}")))

    def reference(x, w, scale, zero):
        axis = two.index("k")
        spread = [np.repeat(v, size, axis) for v in (scale, zero)]
        return np.einsum(f"mk,{two}->m{columns}", x, (w - spread[1]) * spread[0])

    for sizes_ in cases:
        full = {**f.sizes, **sizes_}
        full["k"] = full["g"] * size
        f.case(f"int/{label_of(full)}", full if dynamic else {},
               [integers(-2, 2), integers(-8, 7), integers(-2, 2), integers(-2, 2)], EXACT, reference)
    return f


def functions():
    yield product("nn", F16, I8, F16, True, sizes(1, 1, 1), RAGGED)
    yield product("tb", F16, I8, F16, True, sizes(1, 1, 1), RAGGED)
    yield product("nn", F32, I8, F16, True, sizes(1, 1, 1), RAGGED)
    yield product("ta", F32, F16, F16, False, sizes(40, 24, 33), relu=True)
    yield product("tb", F32, I8, BF16, False, sizes(24, 40, 50), relu=True)
    yield product("nn", F16, E4M3, F16, False, sizes(33, 40, 48))
    yield product("nn", F16, I8, F32, False, sizes(20, 36, 40))  # no matrix unit is for f32
    yield product("nn", F16, I8, F16, False, sizes(4, 64, 96))
    yield widened("nn", F16, F16, True, sizes(1, 1, 1), RAGGED)
    yield widened("tb", BF16, BF16, False, sizes(64, 72, 96))
    yield widened("ta", F16, E4M3, False, sizes(40, 24, 64))
    yield widened("tb", I8, I8, True, sizes(1, 1, 1), RAGGED)
    for weights in (I8, I4):
        yield grouped(weights, 17, 3, 32, 42)
        yield grouped(weights, 1, 4, 32, 64)
        yield grouped(weights, 16, 64, 32, 16, rows=True)  # in parts
        yield grouped(weights, 5, 2, 64, 20, dynamic=True, cases=({}, {"m": 33, "g": 1, "n": 70}, {"m": 0}, {"g": 0}))
        yield grouped(weights, 5, 2, 32, 42, dynamic=True, cases=({}, {"m": 33, "g": 1}, {"m": 0}, {"g": 0}), columns="N")
        yield grouped(weights, 18, 3, 32, 21, dynamic=True, cases=({}, {"m": 33, "g": 1, "n": 70}), rows=True)
