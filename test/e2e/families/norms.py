# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms in front of products: rows over the root of their mean square, or without their mean over their deviation, times a
gain, then a product. A GPU's kernel of the product reduces the rows of its tiles itself. Rows of no whole step, of one
element and of none; as many as are known at the launch, none of them; batches; either operand; the rows read once more
behind the product.

A normalised row of k elements has a sum of squares of k at most, so that a product of it with numbers up to 1 is within
k · (a few eps) of its value.
"""

import numpy as np

from data import BF16, F16, F32, uniform
from families.contraction import indexing
from functions import BOUNDED, Function, relative

LEAST = 2.0**-10


def norm(f, kind, a, dims, rows, along, x, gain):
    """`x` of `dims`, whose rows are `rows` long `along`, normalised, in the type `a`."""
    part = 1 / max(f.sizes[along], 1)

    def add(lines, value, total):
        lines.append(f"%s = arith.addf {value}, {total} : f32")
        return "%s"

    def wide(lines, value, name="%w"):
        if a is F32:
            return value
        lines.append(f"{name} = arith.extf {value} : {a.name} to f32")
        return name

    def square(lines, value, *rest):
        value = wide(lines, value)
        if kind == "layer":
            lines.append(f"%d = arith.subf {value}, {rest[0]} : f32")
            value = "%d"
        lines.append(f"%q = arith.mulf {value}, {value} : f32")
        return add(lines, "%q", rest[-1])

    def whole(lines, value, total):
        return add(lines, wide(lines, value), total)

    def share(lines, total, out):
        lines += [f"%p = arith.constant {part:.17e} : f32", f"%m = arith.mulf {total}, %p : f32"]
        return "%m"

    means = []
    if kind == "layer":
        total = f.generic(dims, [x], f.zeros(F32, rows), whole, reduce=along)
        means = [f.generic(rows, [total], f.empty(F32, rows), share)]
    squares = f.generic(dims, [x] + means, f.zeros(F32, rows), square, reduce=along)

    def scale(lines, value, squares, *rest):
        value = wide(lines, value)
        if means:
            lines.append(f"%d = arith.subf {value}, {rest[0]} : f32")
            value = "%d"
        factor = wide(lines, rest[-2], "%g")
        lines += [f"%p = arith.constant {part:.17e} : f32", f"%l = arith.constant {LEAST:.17e} : f32",
                  f"%m = arith.mulf {squares}, %p : f32", "%v = arith.addf %m, %l : f32", "%r = math.rsqrt %v : f32",
                  f"%n = arith.mulf {value}, %r : f32", f"%o = arith.mulf %n, {factor} : f32"]
        if a is F32:
            return "%o"
        lines.append(f"%t = arith.truncf %o : f32 to {a.name}")
        return "%t"

    return f.generic(dims, [x, squares] + means + [gain], f.empty(a, dims), scale)


def normalised(kind, a, x, gain, axis):
    """The same by NumPy."""
    part = 1 / max(x.shape[axis], 1)
    d = x - x.sum(axis, keepdims=True) * part if kind == "layer" else x
    shape = [1] * x.ndim
    shape[axis] = -1
    return a.round(d / np.sqrt((d * d).sum(axis, keepdims=True) * part + LEAST) * gain.reshape(shape))


def product(kind, a, label, sizes, forms=("mk", "kn"), right=False, dynamic="", relu=False, out=F32, residual=False,
            cases=({},)):
    """`right`: the right operand is normalised. `dynamic`: letters of what is known at the launch only. `residual`: what
    is normalised is added to the product."""
    letters = {d: d.upper() if dynamic and d not in dynamic else d for d in sizes}
    f = Function("norms", a.name, f"{kind}_{label}", {letters[d]: size for d, size in sizes.items()}, bool(dynamic))
    name = lambda dims: "".join(letters[d] for d in dims)
    batch = "b" if "b" in sizes else ""
    left, other = (batch + form for form in forms)
    result = batch + "mn"
    args = [f.arg(a, name(left)), f.arg(a, name(other)), f.arg(a, name("k"))]
    side = 1 if right else 0
    dims = (left, other)[side]
    operands = list(args[:2])
    operands[side] = norm(f, kind, a, name(dims), name(dims.replace("k", "")), name("k"), args[side], args[2])
    total = f.op("linalg.contract", operands, f.zeros(F32, name(result)),
                 indexing(name(batch + "mnk"), name(left), name(other), name(result)))
    if relu or residual or out is not F32:
        def last(lines, value, *rest):
            if residual:
                lines += [f"%w = arith.extf {rest[0]} : {a.name} to f32", f"%s = arith.addf {value}, %w : f32"]
                value = "%s"
            if relu:
                lines += ["%z = arith.constant 0.0 : f32", f"%r = arith.maximumf {value}, %z : f32"]
                value = "%r"
            if out is F32:
                return value
            lines.append(f"%t = arith.truncf {value} : f32 to {out.name}")
            return "%t"
        if residual:  # n is as long as k
            more = [f.raw(f"tensor.cast {args[0].name} : {f.value_type(args[0])} to {f.type(a, name(result))}", a, name(result))]
        total = f.generic(name(result), [total] + (more if residual else []), f.empty(out, name(result)), last)
    f.ret(total)

    def reference(x, w, gain):
        operands = [x, w]
        operands[side] = normalised(kind, a, operands[side], gain, dims.index("k"))
        whole = np.einsum(f"{left},{other}->{result}", *operands) + (x if residual else 0)
        return out.round(np.maximum(whole, 0) if relu else whole)

    for given in cases:
        full = {**sizes, **given}
        check = relative(4 * out.eps, 4 * max(full["k"], 1) * a.eps)
        text = "x".join(map(str, full.values()))
        given = {letters[d]: size for d, size in given.items()}
        # Means of about 2, so that a forgotten one shows.
        fills = [uniform(0.5, 3.5), uniform(-1, 1), uniform(0.5, 1.5)]
        f.case(f"random/{text}", given, fills[1::-1] + fills[2:] if right else fills, check, reference)
        f.case(f"bounds/{text}", given, [uniform(-1, 1), uniform(-0.125, 0.125), uniform(0.5, 1)], BOUNDED)
    return f


def read_twice(a):
    """Both products read what is normalised: a kernel of its own."""
    f = Function("norms", a.name, "rms_twice", {"m": 24, "k": 48, "n": 32})
    x, w, v, gain = f.arg(a, "mk"), f.arg(a, "kn"), f.arg(a, "kn"), f.arg(a, "k")
    r = norm(f, "rms", a, "mk", "m", "k", x, gain)
    products = [f.op("linalg.contract", [r, p], f.zeros(F32, "mn"), indexing("mnk", "mk", "kn", "mn")) for p in (w, v)]
    f.ret(*products)

    def reference(x, w, v, gain):
        n = normalised("rms", a, x, gain, 1)
        return [n @ w, n @ v]
    f.case("random/24x48x32", {}, uniform(-1, 1), relative(4 * F32.eps, 4 * 48 * a.eps), reference)
    return f


def functions():
    rows = [{"m": m} for m in (0, 1, 17, 200)]
    sizes = lambda m, k, n: {"m": m, "k": k, "n": n}
    yield product("rms", F16, "aligned", sizes(64, 128, 96))
    yield product("rms", F16, "relu", sizes(72, 200, 136), relu=True, out=F16)
    yield product("layer", F16, "aligned", sizes(128, 64, 64), out=F16)
    yield product("layer", BF16, "relu", sizes(40, 136, 72), relu=True, out=BF16)
    yield product("rms", BF16, "rows_any", sizes(1, 96, 64), dynamic="m", cases=rows)
    yield product("layer", F16, "rows_any", sizes(1, 72, 104), dynamic="m", cases=rows)
    yield product("rms", F32, "ragged", sizes(33, 57, 41))
    yield product("layer", F32, "rows_any", sizes(1, 40, 24), dynamic="m", cases=rows)
    yield product("rms", F16, "batch", {"b": 3, **sizes(40, 72, 48)})
    yield product("layer", BF16, "batch_any", {"b": 2, **sizes(24, 64, 40)}, dynamic="bm", cases=({}, {"b": 0}, {"b": 5, "m": 33}))
    yield product("rms", F16, "columns", sizes(48, 80, 64), forms=("km", "kn"))
    yield product("layer", F16, "other_rows", sizes(40, 64, 56), forms=("mk", "nk"))
    yield product("layer", F16, "right", sizes(64, 72, 48), forms=("mk", "nk"), right=True)
    yield product("rms", BF16, "short", sizes(32, 8, 40))
    yield product("layer", F16, "odd", sizes(19, 7, 33))
    yield product("rms", F16, "one", sizes(24, 1, 24))
    yield product("rms", F32, "none", sizes(24, 0, 24))
    yield product("rms", F16, "residual", sizes(72, 64, 64), residual=True, out=F16)
    yield read_twice(F16)
