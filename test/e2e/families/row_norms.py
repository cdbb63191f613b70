# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms that are kernels of their own: group norms, whose rows are channels and places of a group, with a gain and a bias of
each channel; a residual added, normalised by the root of the mean square, and quantised to bytes by the largest of each row; columns in floats of 8 bits.

Sums of k terms are within k · (a few eps); what is rounded to a byte may be its neighbour where it was next to a tie.
"""

import numpy as np

from data import BF16, E4M3, F16, F32, I8, choice, uniform
from functions import Function, relative

LEAST = 2.0**-10


def widen(lines, name, value, a):
    if a is F32:
        return value
    lines.append(f"{name} = arith.extf {value} : {a.name} to f32")
    return name


def narrow(lines, value, a):
    if a is F32:
        return value
    lines.append(f"%narrow = arith.truncf {value} : f32 to {a.name}")
    return "%narrow"


def add(lines, value, total):
    lines.append(f"%sum = arith.addf {value}, {total} : f32")
    return "%sum"


def group_norm(a, label, dims, dynamic="", cases=({},)):
    """`n` images of `g` groups of `c` channels of `s` places."""
    letters = {d: d.upper() if dynamic and d not in dynamic else d for d in dims}
    f = Function("row_norms", a.name, f"group_{label}", {letters[d]: size for d, size in dims.items()}, bool(dynamic))
    name = lambda text: "".join(letters[d] for d in text)
    whole, rows, along = name("ngcs"), name("ng"), name("cs")
    x, gain, bias = f.arg(a, whole), f.arg(a, name("gc")), f.arg(a, name("gc"))
    part = 1 / max(dims["c"] * dims["s"], 1)

    def share(lines, total, _):
        lines += [f"%part = arith.constant {part:.17e} : f32", f"%mean = arith.mulf {total}, %part : f32"]
        return "%mean"

    total = f.generic(whole, [x], f.zeros(F32, rows), lambda lines, v, t: add(lines, widen(lines, "%w", v, a), t), reduce=along)
    mean = f.generic(rows, [total], f.empty(F32, rows), share)

    def square(lines, value, mean, total):
        wide = widen(lines, "%w", value, a)
        lines += [f"%d = arith.subf {wide}, {mean} : f32", "%q = arith.mulf %d, %d : f32"]
        return add(lines, "%q", total)

    squares = f.generic(whole, [x, mean], f.zeros(F32, rows), square, reduce=along)

    def scale(lines, value, mean, squares, gain, bias, _):
        wide, g, b = (widen(lines, n, v, a) for n, v in (("%w", value), ("%g", gain), ("%b", bias)))
        lines += [f"%part = arith.constant {part:.17e} : f32", f"%least = arith.constant {LEAST:.17e} : f32",
                  f"%m = arith.mulf {squares}, %part : f32", "%v = arith.addf %m, %least : f32", "%r = math.rsqrt %v : f32",
                  f"%d = arith.subf {wide}, {mean} : f32", "%n = arith.mulf %d, %r : f32", f"%o = arith.mulf %n, {g} : f32",
                  f"%p = arith.addf %o, {b} : f32"]
        return narrow(lines, "%p", a)

    f.ret(f.generic(whole, [x, mean, squares, gain, bias], f.empty(a, whole), scale))

    def reference(x, gain, bias):
        d = x - x.sum((2, 3), keepdims=True) * part
        normal = d / np.sqrt((d * d).sum((2, 3), keepdims=True) * part + LEAST)
        return a.round(normal * gain[None, :, :, None] + bias[None, :, :, None])

    for given in cases:
        full = {**dims, **given}
        terms = max(full["c"] * full["s"], 1)
        # Means of about 2, so that a forgotten one shows.
        f.case("x".join(map(str, full.values())), {letters[d]: size for d, size in given.items()},
               [uniform(0.5, 3.5), uniform(0.5, 1.5), uniform(-1, 1)],
               relative(4 * a.eps, 16 * terms * F32.eps + 8 * a.eps), reference)
    return f


def residual(a, label, dims, quantised, dynamic=False, cases=({},)):
    """x + y; its rows over the root of their mean square, times a gain; as bytes, and what one byte is, if `quantised`."""
    known = {"m": dims["m"], "K" if dynamic else "k": dims["k"]}
    k = "K" if dynamic else "k"
    f = Function("row_norms", a.name, f"residual_{'quantised_' if quantised else ''}{label}", known, dynamic)
    x, y, gain = f.arg(a, "m" + k), f.arg(a, "m" + k), f.arg(a, k)
    part = 1 / dims["k"]

    def both(lines, left, right, _):
        lines.append(f"%h = arith.addf {left}, {right} : {a.name}")
        return "%h"

    def square(lines, value, total):
        wide = widen(lines, "%w", value, a)
        lines.append(f"%q = arith.mulf {wide}, {wide} : f32")
        return add(lines, "%q", total)

    def scale(lines, value, gain, squares, _):
        wide, g = widen(lines, "%w", value, a), widen(lines, "%g", gain, a)
        lines += [f"%part = arith.constant {part:.17e} : f32", f"%least = arith.constant {LEAST:.17e} : f32",
                  f"%m = arith.mulf {squares}, %part : f32", "%v = arith.addf %m, %least : f32", "%r = math.rsqrt %v : f32",
                  f"%n = arith.mulf {wide}, %r : f32", f"%o = arith.mulf %n, {g} : f32"]
        return "%o"

    h = f.generic("m" + k, [x, y], f.empty(a, "m" + k), both)
    squares = f.generic("m" + k, [h], f.zeros(F32, "m"), square, reduce=k)
    normal = f.generic("m" + k, [h, gain, squares], f.empty(F32, "m" + k), scale)
    if not quantised:
        f.ret(h, normal)
    else:
        def largest(lines, value, most):
            lines += [f"%a = math.absf {value} : f32", f"%l = arith.maximumf %a, {most} : f32"]
            return "%l"

        def byte(lines, value, most, _):
            lines += ["%top = arith.constant 127.0 : f32", f"%i = arith.divf %top, {most} : f32",
                      f"%s = arith.mulf {value}, %i : f32", "%e = math.roundeven %s : f32", "%b = arith.fptosi %e : f32 to i8"]
            return "%b"

        top = f.generic("m" + k, [normal], f.zeros(F32, "m"), largest, reduce=k)
        f.ret(f.generic("m" + k, [normal, top], f.empty(I8, "m" + k), byte))

    def reference(x, y, gain):
        h = a.round(x + y)
        normal = h / np.sqrt((h * h).sum(1, keepdims=True) * part + LEAST) * gain
        if not quantised:
            return [h, F32.round(normal)]
        return np.rint(normal * (127 / np.abs(normal).max(1, keepdims=True, initial=2.0**-60)))

    for given in cases:
        full = {**dims, **given}
        check = relative(0, 1) if quantised else relative(16 * F32.eps * full["k"], 16 * F32.eps)
        f.case("x".join(map(str, full.values())), given, [uniform(-2, 2), uniform(-2, 2), uniform(0.5, 1.5)], check, reference)
    return f


def mean_and_variance(label, m, k, least=False):
    """The means of rows, or their least elements, and the mean squares of distances to these; few rows have infinities."""
    f = Function("row_norms", "f32", f"{'least' if least else 'mean'}_and_squares_{label}", {"m": m, "k": k})
    x = f.arg(F32, "mk")
    rows = f.fill(f.constant(F32, np.inf if least else 0), f.empty(F32, "m"))

    def row(lines, value, total):
        if not least:
            return add(lines, value, total)
        lines.append(f"%least = arith.minimumf {value}, {total} : f32")
        return "%least"

    def share(lines, total, _):
        lines += [f"%k = arith.constant {k}.0 : f32", f"%part = arith.divf {total}, %k : f32"]
        return "%part"

    def square(lines, value, mean, total):
        lines += [f"%d = arith.subf {value}, {mean} : f32", "%q = arith.mulf %d, %d : f32"]
        return add(lines, "%q", total)

    mean = f.generic("mk", [x], rows, row, reduce="k")
    if not least:
        mean = f.generic("m", [mean], f.empty(F32, "m"), share)
    f.ret(mean, f.generic("mk", [x, mean], f.zeros(F32, "m"), square, reduce="k"))

    def reference(x):
        mean = x.min(1) if least else x.mean(1)
        with np.errstate(invalid="ignore"):
            return [mean, ((x - mean[:, None]) ** 2).sum(1)]

    numbers = choice("inf", *([] if least else ["-inf"]), *np.linspace(0.5, 3.5, 1200))
    f.case(f"{m}x{k}", {}, numbers, relative(4 * k * F32.eps, 0), reference)
    return f


def scaled_floats(a, label, dims, dynamic=False, cases=({},)):
    """Columns over a scale, which is a quotient itself: their largest number becomes 448, the largest of the narrow type."""
    k, n = "k", "N" if dynamic else "n"
    f = Function("row_norms", a.name, f"to_floats_of_8_bits_{label}", {k: dims["k"], n: dims["n"]}, dynamic)
    x = f.arg(a, k + n)

    def largest(lines, value, most):
        wide = widen(lines, "%w", value, a)
        lines += [f"%a = math.absf {wide} : f32", f"%t = arith.maximumf %a, {most} : f32"]
        return "%t"

    def share(lines, most, _):
        lines += ["%top = arith.constant 448.0 : f32", f"%s = arith.divf {most}, %top : f32"]
        return "%s"

    def divide(lines, value, scale, _):
        wide = widen(lines, "%w", value, a)
        lines += [f"%q = arith.divf {wide}, {scale} : f32", "%t = arith.truncf %q : f32 to f8E4M3FN"]
        return "%t"

    most = f.generic(k + n, [x], f.zeros(F32, n), largest, reduce=k)
    scale = f.generic(n, [most], f.empty(F32, n), share)
    f.ret(f.generic(k + n, [x, scale], f.empty(E4M3, k + n), divide), scale)

    def reference(x):
        scale = F32.round(np.abs(x).max(0, initial=0) / 448)
        return [E4M3.round(x / scale), scale]

    for given in cases:
        # What is close to the middle of two numbers may be either of them.
        f.case("x".join(map(str, {**dims, **given}.values())), given, [uniform(0.5, 2)], relative(2.0**-3, 2.0**-9), reference)
    return f


def cross_covariance(label, dims, dynamic=False):
    """The product of two matrices of as many rows, each divided by its length."""
    f = Function("row_norm", "f32", f"cross_covariance_{label}", {**dims, "e": dims["d"]}, dynamic)
    sides = [(f.arg(F32, "h" + rows + "n"), rows) for rows in "de"]
    least = f.constant(F32, 2.0**-20)
    normal = []
    for x, rows in sides:
        squares = f.generic(x.dims, [x], f.zeros(F32, "h" + rows),
                            lambda lines, a, out: lines.extend((f"%p = arith.mulf {a}, {a} : f32", f"%t = arith.addf %p, {out} : f32")) or "%t",
                            reduce="n")

        def scale(lines, a, total, out):
            lines.extend((f"%l = math.sqrt {total} : f32", f"%m = arith.maximumf %l, {least.name} : f32", f"%r = arith.divf {a}, %m : f32"))
            return "%r"

        normal.append(f.generic(x.dims, [x, squares], f.empty(F32, x.dims), scale))
    f.ret(f.generic("hden", normal, f.zeros(F32, "hde"),
                    lambda lines, a, b, out: lines.extend((f"%p = arith.mulf {a}, {b} : f32", f"%t = arith.addf {out}, %p : f32")) or "%t",
                    reduce="n"))

    def reference(q, k):
        q, k = (x / np.maximum(np.sqrt((x * x).sum(axis=-1, keepdims=True)), 2.0**-20) for x in (q, k))
        return q @ k.swapaxes(1, 2)

    # Of rows of length one, the products of elements add up to one at most.
    limits = relative(4 * dims["n"] * F32.eps, 4 * dims["n"] * F32.eps)
    for changed in ({}, {"d": 7, "e": 7}, {"n": 1}) if dynamic else ({},):
        f.case("x".join(map(str, {**f.sizes, **changed}.values())), changed, uniform(-1, 1), limits, reference)
    return f


def functions():
    yield cross_covariance("short", {"h": 4, "d": 22, "n": 16})
    yield cross_covariance("long", {"h": 2, "d": 48, "n": 64})
    yield cross_covariance("any", {"h": 2, "d": 22, "n": 16}, True)
    yield group_norm(F32, "f32", {"n": 2, "g": 4, "c": 3, "s": 50})
    yield group_norm(F16, "f16", {"n": 1, "g": 2, "c": 8, "s": 64})
    yield group_norm(BF16, "images", {"n": 1, "g": 3, "c": 4, "s": 36}, "n", ({}, {"n": 0}, {"n": 5}))
    for quantised in (False, True):
        yield residual(F16, "aligned", {"m": 24, "k": 256}, quantised)
        yield residual(BF16, "ragged", {"m": 17, "k": 333}, quantised)
        yield residual(F16, "rows_any", {"m": 1, "k": 96}, quantised, True, ({}, {"m": 0}, {"m": 70}))
    for least in (False, True):
        yield mean_and_variance("aligned", 12, 256, least)
        yield mean_and_variance("ragged", 5, 333, least)
    yield scaled_floats(BF16, "columns", {"k": 256, "n": 128})
    yield scaled_floats(F16, "columns_any", {"k": 40, "n": 24}, True, ({}, {"n": 0}, {"n": 1}))
