# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What follows a product in its kernel on matrix units: sums and maxima of rows and columns,
a softmax of whole rows, a second product. Elsewhere the same programs are several kernels.

Integers are small enough for the narrow type of what goes into a second product, too.
"""

import numpy as np

from data import BF16, F16, F32, I32, I8, integers
from families.contraction import pair_name, sizes
from functions import EXACT, Function, relative


def line(text):
    def body(lines, *scalars):
        lines.append(text.format(*scalars))
        return "%t"
    return body


def combiner(kind, element):
    ops = {"sum": ("addf", "addi"), "max": ("maximumf", "maxsi")}[kind]
    return line(f"%t = arith.{ops[not element.is_float]} {{0}}, {{1}} : {element.name}")


def start(kind, element):
    return 0 if kind == "sum" else float("-inf") if element.is_float else -(2 ** 31)


def product(f, a, c):
    x, w = f.arg(a, "mk"), f.arg(a, "kn")
    return f.op("linalg.matmul", [x, w], f.zeros(c, "mn"))


def exact_product(x, w):
    return x @ w if x.dtype.kind == "f" else x.astype(np.int64) @ w.astype(np.int64)


def reduced(a, c, kind, along, dims, dynamic=False, more=(), with_product=True):
    """The product, and what its rows (along n) or columns (along m) come to."""
    label = "any" if dynamic else "x".join(map(str, dims.values()))
    letters = {d: d.upper() if dynamic and d != "m" else d for d in "mkn"}  # dynamic is how many rows there are
    m, k, n = letters.values()
    f = Function("fused", pair_name(a, c), f"{kind}_{along}_{label}{'' if with_product else '_alone'}",
                 {letters[d]: size for d, size in dims.items()}, dynamic)
    x, w = f.arg(a, m + k), f.arg(a, k + n)
    p = f.op("linalg.matmul", [x, w], f.zeros(c, m + n))
    kept = m if along == "n" else n
    r = f.generic(m + n, [p], f.filled(c, kept, start(kind, c)), combiner(kind, c), reduce=letters[along])
    f.ret(*([p, r] if with_product else [r]))

    def reference(x, w):
        whole = exact_product(x, w)
        total = (np.sum if kind == "sum" else np.max)(whole, axis=1 if along == "n" else 0)
        return ([whole] if with_product else []) + [c.round(total)]

    data = integers(-2, 2) if a.is_float else integers(-100, 100)
    for given in ({}, *more):
        f.case("x".join(map(str, {**f.sizes, **given}.values())), given, data, EXACT, reference)
    return f


def above_rows(a, c, dims):
    """Each row less its maximum: what is reduced is used again."""
    f = Function("fused", pair_name(a, c), f"less_max_{'x'.join(map(str, dims.values()))}", dims)
    p = product(f, a, c)
    most = f.generic("mn", [p], f.filled(c, "m", start("max", c)), combiner("max", c), reduce="n")
    f.ret(f.generic("mn", [p, most], f.empty(c, "mn"), line(f"%t = arith.subf {{0}}, {{1}} : {c.name}")))

    def reference(x, w):
        whole = x @ w
        return whole - whole.max(axis=1, keepdims=True)
    f.case("int", {}, integers(-2, 2), EXACT, reference)
    return f


def softmax(a, dims):
    """Of whole rows, with a bias in front of it."""
    f = Function("fused", pair_name(a, F32), f"softmax_{'x'.join(map(str, dims.values()))}", dims)
    p = product(f, a, F32)
    bias = f.arg(F32, "n")
    b = f.generic("mn", [p, bias], f.empty(F32, "mn"), line("%t = arith.addf {0}, {1} : f32"))
    out = f.empty(F32, "mn")
    f.ret(f.raw(f"linalg.softmax dimension(1) ins({b.name} : {f.value_type(b)}) "
                f"outs({out.name} : {f.value_type(out)}) -> {f.value_type(out)}", F32, "mn"))

    def reference(x, w, bias):
        logits = x @ w + bias
        e = np.exp(logits - logits.max(axis=1, keepdims=True))
        return F32.round(e / e.sum(axis=1, keepdims=True))
    span = 2 * (dims["k"] + 1)
    f.case("int", {}, [integers(-1, 1)] * 3, relative((dims["n"] + 8 + 2 * span) * F32.eps, 4 * F32.tiny), reference)
    return f


def chain(a, c, dims, between="relu", dynamic=False, more=(), residual=False):
    """between(x · w) · v, with what lies between in the narrow type."""
    label = f"{between}_{'any' if dynamic else 'x'.join(map(str, dims.values()))}{'_residual' if residual else ''}"
    letters = {d: d.upper() if dynamic and d in "kn" else d for d in "mknhb"}
    f = Function("fused.chain", pair_name(a, c), label, {letters[d]: s for d, s in dims.items()}, dynamic)
    m, k, h, n, b = (letters[d] for d in "mkhnb")
    batch = b if "b" in dims else ""
    x, w, v = f.arg(a, batch + m + k), f.arg(a, batch + k + h), f.arg(a, batch + h + n)
    op = "linalg.batch_matmul" if batch else "linalg.matmul"
    p = f.op(op, [x, w], f.zeros(c, batch + m + h))

    def body(lines, value, out):
        if between == "relu":
            lines.append(f"%z = arith.constant 0.0 : {c.name}")
            lines.append(f"%r = arith.maximumf {value}, %z : {c.name}")
            value = "%r"
        if between == "plus":  # not zero where there is nothing
            lines.append(f"%o = arith.constant 3.0 : {c.name}")
            lines.append(f"%r = arith.addf {value}, %o : {c.name}")
            value = "%r"
        lines.append(f"%t = arith.trunc{'f' if c.is_float else 'i'} {value} : {c.name} to {a.name}")
        return "%t"
    narrow = f.generic(batch + m + h, [p], f.empty(a, batch + m + h), body)
    r = f.op(op, [narrow, v], f.zeros(c, batch + m + n))
    if residual:
        more_of = f.arg(c, batch + m + n)
        r = f.generic(batch + m + n, [r, more_of], f.empty(c, batch + m + n),
                      line(f"%t = arith.addf {{0}}, {{1}} : {c.name}"))
    f.ret(r)

    def reference(x, w, v, *rest):
        first = exact_product(x, w)
        first = np.maximum(first, 0) if between == "relu" else first + 3 if between == "plus" else first
        result = exact_product(a.round(first), v)
        return c.round(result + rest[0] if rest else result)
    data = integers(-1, 1) if a.is_float else integers(-50, 50)
    for given in ({}, *more):
        f.case("x".join(map(str, {**f.sizes, **given}.values())), given, data, EXACT, reference)
    return f


def transposed(a, c, dims, order, bias=False, dynamic=False, more=()):
    """The product's dims in another order, what is added to it on the way; the product is of no other use."""
    label = f"{order}{'_bias' if bias else ''}_{'any' if dynamic else 'x'.join(map(str, dims.values()))}"
    f = Function("fused.transposed", pair_name(a, c), label, dims, dynamic)
    batch = "b" if "b" in dims else ""
    x, w = f.arg(a, batch + "mk"), f.arg(a, batch + "kn")
    r = f.op("linalg.batch_matmul" if batch else "linalg.matmul", [x, w], f.zeros(c, batch + "mn"))
    if bias:
        r = f.generic(batch + "mn", [r, f.arg(c, "n")], f.empty(c, batch + "mn"),
                      line(f"%t = arith.add{'f' if c.is_float else 'i'} {{0}}, {{1}} : {c.name}"))
    f.ret(f.generic(order, [r], f.empty(c, order), lambda lines, value, out: value))

    def reference(x, w, *rest):
        whole = exact_product(x, w)
        whole = whole + rest[0] if rest else whole
        return c.round(whole.transpose([(batch + "mn").index(d) for d in order]))
    data = integers(-2, 2) if a.is_float else integers(-100, 100)
    for given in ({}, *more):
        f.case("x".join(map(str, {**f.sizes, **given}.values())), given, data, EXACT, reference)
    return f


def broadcast_rows(a, c, dims, more):
    """Rows less their maximum, a product, a bias and a residual, as front ends write them where nobody knows the batch: what is
    broadcast along a dim of unknown size is read at 0 where that size is 1."""
    f = Function("fused.broadcast", pair_name(a, c), "any", {**dims, "O": 1}, True)
    x, w = f.arg(a, "bMK"), f.arg(a, "KN")
    bias, more_of = f.arg(c, "N"), f.arg(c, "bMN")
    most = f.generic("bMOK", [x], f.filled(a, "bMO", float("-inf") if a.is_float else -128),
                     line(f"%t = arith.max{'imumf' if a.is_float else 'si'} {{0}}, {{1}} : {a.name}"), reduce="K")
    size, zero, one = f.size_of("b"), *(f.raw(f"arith.constant {value} : index", I32, None).name for value in (0, 1))

    def body(lines, value, out):
        lines += ["%i = linalg.index 0 : index", "%j = linalg.index 1 : index", f"%e = arith.cmpi eq, {size}, {one} : index",
                  f"%p = arith.select %e, {zero}, %i : index", f"%v = tensor.extract {most.name}[%p, %j, {zero}] : {f.value_type(most)}",
                  f"%t = arith.sub{'f' if a.is_float else 'i'} {value}, %v : {a.name}"]
        return "%t"
    less = f.generic("bMK", [x], f.empty(a, "bMK"), body)
    wide = f.generic("bKN", [w], f.empty(a, "bKN"), lambda lines, value, out: value)
    r = f.op("linalg.batch_matmul", [less, wide], f.zeros(c, "bMN"))
    add = line(f"%t = arith.add{'f' if c.is_float else 'i'} {{0}}, {{1}} : {c.name}")
    r = f.generic("bMN", [r, bias], f.empty(c, "bMN"), add)
    f.ret(f.generic("bMN", [r, more_of], f.empty(c, "bMN"), add))

    def reference(x, w, bias, more_of):
        return c.round(exact_product(a.round(x - x.max(axis=2, keepdims=True)), w) + bias + more_of)
    data = integers(-2, 2) if a.is_float else integers(-30, 30)
    for given in ({}, *more):
        f.case("x".join(map(str, {**f.sizes, **given}.values())), given, data, EXACT, reference)
    return f


def functions():
    for a, c in ((F16, F32), (F32, F32), (I8, I32)):
        yield broadcast_rows(a, c, {"b": 3, "M": 20, "K": 48, "N": 40}, [{"b": 1}, {"b": 0}, {"b": 9}])
    for a, c, dims in ((F16, F32, sizes(77, 100, 40)), (F32, F32, sizes(64, 32, 16)), (I8, I32, sizes(50, 72, 64)), (BF16, F32, sizes(128, 64, 96))):
        yield transposed(a, c, dims, "nm")
    yield transposed(F16, F32, sizes(100, 60, 48), "nm", bias=True)
    yield transposed(F16, F16, sizes(7, 64, 64), "nm", bias=True)
    yield transposed(F16, F32, {"b": 3, **sizes(40, 48, 32)}, "nbm")
    yield transposed(F32, F32, {"b": 3, **sizes(20, 24, 16)}, "mbn", bias=True)
    yield transposed(F16, F32, sizes(77, 100, 40), "nm", True, True, [{"m": 1}, {"m": 0}, {"n": 300, "k": 0}])
    yield transposed(F32, F32, {"b": 2, **sizes(33, 40, 16)}, "nmb", dynamic=True)
    for kind, along, dims in (("sum", "n", sizes(77, 100, 40)), ("max", "n", sizes(130, 256, 72)),
                              ("sum", "m", sizes(100, 77, 40)), ("sum", "n", sizes(40, 300, 24))):
        yield reduced(F16, F32, kind, along, dims)
    yield reduced(F16, F32, "sum", "n", sizes(64, 64, 64), with_product=False)
    yield reduced(BF16, F32, "max", "m", sizes(64, 200, 48))
    yield reduced(I8, I32, "max", "n", sizes(50, 72, 64))
    yield reduced(F32, F32, "sum", "n", sizes(33, 40, 20))
    yield reduced(F16, F32, "sum", "n", sizes(77, 100, 40), True, [{"m": 1}, {"m": 0}, {"m": 300}])
    yield above_rows(F16, F32, sizes(60, 120, 48))
    yield softmax(F16, sizes(70, 100, 24))
    yield softmax(BF16, sizes(33, 256, 16))
    for a, dims in ((F16, {**sizes(77, 72, 40), "h": 100}), (BF16, {**sizes(64, 32, 24), "h": 33}),
                    (F16, {**sizes(130, 256, 64), "h": 256}), (F16, {**sizes(40, 64, 32), "h": 16})):
        yield chain(a, F32, dims)
    yield chain(F16, F32, {**sizes(50, 40, 32), "h": 70}, "plus")
    yield chain(F16, F32, {**sizes(50, 40, 40), "h": 70}, "relu", residual=True)
    yield chain(F16, F32, {"b": 3, **sizes(40, 64, 64), "h": 90}, "cast")
    yield chain(F16, F32, {**sizes(77, 72, 40), "h": 100}, "relu", True, [{"m": 1, "h": 1}, {"m": 200, "h": 300}, {"h": 0}])
    # More columns than a tile has: two kernels.
    yield chain(F16, F32, {**sizes(40, 300, 32), "h": 48})
