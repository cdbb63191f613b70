# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of attention as plain linalg: scores again from Q, K and the log-sum-exps, five contractions and what
is between them. The result, its gradient and the log-sum-exps are inputs, any numbers of the right size."""

import numpy as np

from data import F16, F32, uniform
from functions import BOUNDED, Function

SCALE = 0.25


def gradients(element, label, dims, dynamic=False, causal=False, more=(), targets=()):
    """dQ, dK, dV of heads h, queries i, keys j, depths D and E. `targets`: of a Function."""
    f = Function("attention_backward", element.name, label, dims, dynamic, targets)
    q, k, v = f.arg(element, "hiD"), f.arg(element, "hjD"), f.arg(element, "hjE")
    o, grad, lse = f.arg(element, "hiE"), f.arg(element, "hiE"), f.arg(F32, "hi")
    narrow = element is not F32

    def widened(lines, x, name):
        if narrow:
            lines.append(f"{name} = arith.extf {x} : {element.name} to f32")
        return name if narrow else x

    def stored(lines, x):
        if narrow:
            lines.append(f"%stored = arith.truncf {x} : f32 to {element.name}")
        return "%stored" if narrow else x

    def contraction(iteration, left, right, dims, summed):
        def body(lines, x, y, sum):
            x, y = widened(lines, x, "%x"), widened(lines, y, "%y")
            lines += [f"%p = arith.mulf {x}, {y} : f32", f"%s = arith.addf {sum}, %p : f32"]
            return "%s"
        return f.generic(iteration, [left, right], f.zeros(F32, dims), body, reduce=summed)

    def weight(lines, score, sum, out):
        lines += [f"%scale = arith.constant {SCALE} : f32", f"%t = arith.mulf {score}, %scale : f32",
                  f"%u = arith.subf %t, {sum} : f32", "%w = math.exp %u : f32"]
        if causal:
            lines += ["%zero = arith.constant 0.0 : f32", "%i = linalg.index 1 : index", "%j = linalg.index 2 : index",
                      "%seen = arith.cmpi ule, %j, %i : index", "%m = arith.select %seen, %w, %zero : f32"]
        return "%m" if causal else "%w"

    def rounded(lines, x, out):
        return stored(lines, x)

    def score_gradient(lines, p, dp, row, out):
        lines += [f"%scale = arith.constant {SCALE} : f32", f"%t = arith.subf {dp}, {row} : f32",
                  f"%u = arith.mulf {p}, %t : f32", "%g = arith.mulf %u, %scale : f32"]
        return stored(lines, "%g")

    def as_element(value):
        return f.generic(value.dims, [value], f.empty(element, value.dims), rounded) if narrow else value

    scores = contraction("hijD", q, k, "hij", "D")
    weights = f.generic("hij", [scores, lse], f.empty(F32, "hij"), weight)
    rows = contraction("hiE", grad, o, "hi", "E")
    dp = contraction("hijE", grad, v, "hij", "E")
    ds = f.generic("hij", [weights, dp, rows], f.empty(element, "hij"), score_gradient)
    f.ret(as_element(contraction("hiDj", ds, k, "hiD", "j")), as_element(contraction("hjDi", ds, q, "hjD", "i")),
          as_element(contraction("hjEi", as_element(weights), grad, "hjE", "i")))

    def reference(q, k, v, o, grad, lse):
        p = np.exp(np.einsum("hid,hjd->hij", q, k) * SCALE - lse[..., None])
        p = np.tril(p) if causal else p
        ds = p * (np.einsum("hie,hje->hij", grad, v) - (grad * o).sum(axis=-1)[..., None]) * SCALE
        results = (np.einsum("hij,hjd->hid", ds, k), np.einsum("hij,hid->hjd", ds, q), np.einsum("hij,hie->hje", p, grad))
        return [element.round(x) for x in results]

    for sizes in ({}, *more):
        f.case("x".join(map(str, {**dims, **sizes}.values())), sizes, [uniform(-1, 1)] * 5 + [uniform(2, 4)], BOUNDED, reference)
    return f


def functions():
    dims = {"h": 2, "i": 48, "j": 48, "D": 32, "E": 32}
    yield gradients(F16, "plain", dims)
    yield gradients(F16, "causal", dims, causal=True)
    yield gradients(F32, "any_length", {**dims, "i": 37, "j": 45}, True, causal=True,
                    more=({"i": 1, "j": 1}, {"i": 70, "j": 30}, {"i": 0, "j": 3}, {"h": 0}),
                    targets=("cuda:sm_80", "cpu", "cpu-reference"))  # of unknown sizes there are many variants
