# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of attention: what is right of the queries' (the first result), and the same steps in PyTorch."""

import numpy

F32 = 2.0**-24  # unit roundoffs
F16 = 2.0**-11
TINY = 2.0**-25  # half of the smallest f16


def reference(function, q, k, v, o, grad, lse):
    """Head by head. A score is a sum of d products, its exponential is off by as much, relatively; the scores' gradients are
    rounded to f16, sums of n of them and the result are as far off as these are."""
    depth = q.shape[-1]
    result, bound = 0.0 * q, 0.0 * q
    for head in range(q.shape[0]):
        scores, sizes = q[head] @ k[head].T * depth**-0.5, abs(q[head]) @ abs(k[head]).T * depth**-0.5
        below = scores - lse[head][:, None]
        power = numpy.exp(below) if isinstance(q, numpy.ndarray) else below.exp()
        if "causal" in function:
            power = numpy.tril(power) if isinstance(q, numpy.ndarray) else power.tril()
        rows = (grad[head] * o[head]).sum(-1)[:, None]
        less = grad[head] @ v[head].T - rows
        terms = abs(grad[head]) @ abs(v[head]).T + abs(grad[head] * o[head]).sum(-1)[:, None]
        ds = power * less * depth**-0.5
        relative = 2 * (sizes + abs(lse[head])[:, None]) * abs(less) + terms
        off = power * depth**-0.5 * (depth + 16) * F32 * relative + F16 * abs(ds) + TINY
        result[head] = ds @ k[head]
        bound[head] = 2 * (off + (k.shape[1] + 16) * F32 * abs(ds)) @ abs(k[head]) + F16 * abs(result[head]) + TINY
    return result, bound


def torch(function, q, k, v, o, grad, lse):
    """In separate steps, f16 in memory between them."""
    def call():
        power = ((q @ k.mT).float() * q.shape[-1]**-0.5 - lse[..., None]).exp()
        power = power.tril() if "causal" in function else power
        rows = (grad.float() * o.float()).sum(-1, keepdim=True)
        ds = (power * ((grad @ v.mT).float() - rows) * q.shape[-1]**-0.5).to(q.dtype)
        return ds @ k, ds.mT @ q, power.to(q.dtype).mT @ grad
    return lambda: call()[0]


PEERS = {"torch": torch}
