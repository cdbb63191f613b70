# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax along a dim, named and written out.

Terms are positive, so the sum of n is within (n + 1) · eps of its value, relatively;
an exponential is within a few ulps plus its argument's rounding, |x - max| · eps.
"""

import numpy as np

from data import BF16, F16, F32, F64, uniform
from functions import Function, relative

RANGE = 4  # inputs are within -RANGE and RANGE


def check(element, n):
    return relative((n + 8 + 2 * 2 * RANGE) * element.eps, 4 * element.tiny)


def reference_for(element, axis):
    def reference(x):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return element.round(e / e.sum(axis=axis, keepdims=True))
    return reference


def named(element, label, dims, axis, dynamic, more=()):
    iteration = "".join(dims)
    f = Function("softmax", element.name, label, dims, dynamic)
    x = f.arg(element, iteration)
    out = f.empty(element, iteration)
    f.ret(f.raw(f"linalg.softmax dimension({axis}) ins({x.name} : {f.value_type(x)}) "
                f"outs({out.name} : {f.value_type(out)}) -> {f.value_type(out)}", element, iteration))
    for sizes in ({}, *more):
        full = {**dims, **sizes}
        n = full[iteration[axis]]
        f.case("x".join(map(str, full.values())), sizes, uniform(-RANGE, RANGE), check(element, n),
               reference_for(element, axis))
    return f


def written_out(dynamic, label="written_out", dims={"m": 13, "n": 200}, hidden=0, sums=False):
    """The four ops that a front end writes: max, subtract-exp, sum, divide. The first `hidden` elements of a row are -inf;
    `sums`: log-sum-exps instead, of two ops and a logarithm."""
    f = Function("softmax", "f32", label, dims, dynamic)
    x = f.arg(F32, "mn")

    def hide(lines, x, out):
        lines += ["%j = linalg.index 1 : index", f"%h = arith.constant {hidden} : index", "%c = arith.cmpi ult, %j, %h : index",
                  "%l = arith.constant 0xFF800000 : f32", f"%t = arith.select %c, %l, {x} : f32"]
        return "%t"

    if hidden:
        x = f.generic("mn", [x], f.empty(F32, "mn"), hide)

    def most(lines, x, acc):
        lines.append(f"%t = arith.maximumf {x}, {acc} : f32")
        return "%t"

    def exponential(lines, x, m, out):
        lines += [f"%t = arith.subf {x}, {m} : f32", "%u = math.exp %t : f32"]
        return "%u"

    def add(lines, x, acc):
        lines.append(f"%t = arith.addf {x}, {acc} : f32")
        return "%t"

    def divide(lines, x, total, out):
        lines.append(f"%t = arith.divf {x}, {total} : f32")
        return "%t"

    top = f.generic("mn", [x], f.filled(F32, "m", float("-inf")), most, reduce="n")
    e = f.generic("mn", [x, top], f.empty(F32, "mn"), exponential)
    total = f.generic("mn", [e], f.zeros(F32, "m"), add, reduce="n")

    def logarithm(lines, m, total, out):
        lines += [f"%u = math.log {total} : f32", f"%t = arith.addf {m}, %u : f32"]
        return "%t"

    def reference(x):
        x = np.where(np.arange(x.shape[1]) < hidden, -np.inf, x)
        if not sums:
            return reference_for(F32, 1)(x)
        return np.log(np.exp(x).sum(axis=1))

    f.ret(f.generic("m", [top, total], f.empty(F32, "m"), logarithm) if sums
          else f.generic("mn", [e, total], f.empty(F32, "mn"), divide))
    for sizes in [{}] + ([{"m": 1, "n": 1}, {"m": 65, "n": 1000}, {"m": 0, "n": 4}] if dynamic else []):
        n = {**dims, **sizes}["n"]
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, uniform(-RANGE, RANGE), check(F32, n),
               reference)
    return f


def functions():
    more = ({"m": 1, "n": 1}, {"m": 5, "n": 1025}, {"m": 70, "n": 64}, {"m": 0, "n": 3})
    for element in (F32, F16, BF16, F64):
        narrow = element.mantissa < 20
        yield named(element, "rows", {"m": 17, "n": 45}, 1, True, more[:1] + more[2:] if narrow else more)
    yield named(F32, "rows", {"m": 64, "n": 128}, 1, False)
    yield named(F32, "single_row", {"m": 1, "n": 509}, 1, False)
    yield named(F16, "rows", {"m": 9, "n": 33}, 1, False)
    yield named(F32, "columns", {"m": 33, "n": 20}, 0, True)
    yield named(F32, "middle", {"a": 3, "m": 33, "n": 20}, 1, True)
    yield named(F32, "vector", {"n": 100}, 0, True)
    # Few long rows in parts, of which some are -inf.
    yield named(F32, "few_long_rows", {"m": 2, "n": 66000}, 1, False)
    yield written_out(False, "few_long_rows_hidden", {"m": 2, "n": 66560}, hidden=30000)
    yield written_out(False, "few_long_sums", {"m": 1, "n": 270000}, hidden=70001, sums=True)
    yield written_out(True)
    yield written_out(False)
