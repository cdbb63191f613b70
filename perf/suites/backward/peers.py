# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of attention: what is right, and the same steps in PyTorch.

Of a head with queries q_i, keys k_j, values v_j, the result o_i, its gradient g_i and log-sum-exps L_i, c = d^-1/2:

    P_ij = exp(c q_i k_j - L_i)     B_ij = g_i v_j - g_i o_i     S_ij = c P_ij B_ij
    dQ_i = sum_j S_ij k_j           dK_j = sum_i S_ij q_i        dV_j = sum_i P_ij g_i

Unit roundoffs: u of f32, h of f16, whose smallest numbers are 2 t apart. |x| |y| is the sum of the products' sizes.

P    The exponent is an f32 sum of d products, scaled, less L; its error, which is the relative one of P, is at most
     (d + 16) u (c |q| |k| + |L| + 1), the exponential's own with it. dV takes P in f16: h P + t more.
B    g v and g o cancel, their errors do not: (d + 16) u (|g| |v| + |g| |o|), however small the difference.
S    c P times the error of B, the relative error of P times |S|, and since it is kept in f16, h |S| + t.
d*   A sum over n tokens takes the errors of its terms along, each times the other operand's size, adds (n + 16) u of the
     terms' sizes, and rounds the result: h |d*| + t. As h is 2^13 u, what P and S are rounded by decides.

That is twice over, for what is of second order and for units that cut a sum off where they should round it. Roundings of n
terms rarely agree, so right answers stay well within; yet with n = 4096 one is n h = 2 terms of |S| |k| wide, and what is
missing where a tile of keys is left out is more than that somewhere.

o and L must be what attention gives for q, k and v: P are no probabilities where L is noise (some weights in 1e3, some
gradients beyond 65504, the largest f16), and the cancellation is another one where o is. So `inputs` computes them.
"""

import numpy

F32 = 2.0**-24  # unit roundoffs
F16 = 2.0**-11
TINY = 2.0**-25  # half of the smallest f16


def exp(x):
    return numpy.exp(x) if isinstance(x, numpy.ndarray) else x.exp()


def tril(x):
    return numpy.tril(x) if isinstance(x, numpy.ndarray) else x.tril()


def wide(x):
    return x.astype(numpy.float64) if isinstance(x, numpy.ndarray) else x.double()


def inputs(function, q, k, v, o, grad, lse):
    """The result of attention and its log-sum-exps in place of noise, head by head."""
    for head in range(q.shape[0]):
        scores = wide(q[head]) @ wide(k[head]).T * q.shape[-1]**-0.5
        top = scores.max()
        power = exp(scores - top)
        power = tril(power) if "causal" in function else power
        total = power.sum(-1)
        lse[head] = top + (numpy.log(total) if isinstance(total, numpy.ndarray) else total.log())
        o[head] = power @ wide(v[head]) / total[:, None]
    return q, k, v, o, grad, lse


def summed(rows, off, operand):
    """rows @ operand, rounded to f16, where the rows are off by `off` at most: the result, and how far that may be off."""
    result, terms = rows @ operand, abs(rows) @ abs(operand)
    return result, 2 * (off @ abs(operand) + (rows.shape[-1] + 16) * F32 * terms + F16 * abs(result) + TINY)


def of_head(q, k, v, o, grad, lse, causal):
    """(value, bound) of dQ, dK and dV."""
    scale, relative = q.shape[-1]**-0.5, (q.shape[-1] + 16) * F32
    scores = q @ k.T * scale
    power = exp(scores - lse[:, None])
    power = tril(power) if causal else power
    off = power * relative * (abs(q) @ abs(k).T * scale + abs(lse)[:, None] + 1)
    less = grad @ v.T - (grad * o).sum(-1)[:, None]
    terms = abs(grad) @ abs(v).T + abs(grad * o).sum(-1)[:, None]
    ds = scale * power * less
    ds_off = scale * (off * abs(less) + power * relative * terms) + F16 * abs(ds) + TINY
    return (summed(ds, ds_off, k), summed(ds.T, ds_off.T, q), summed(power.T, (off + F16 * power + TINY).T, grad))


def reference(function, q, k, v, o, grad, lse):
    """All three results."""
    found = [(0.0 * q, 0.0 * q) for _ in range(3)]
    for head in range(q.shape[0]):
        for (result, bound), known in zip(found, of_head(*(x[head] for x in (q, k, v, o, grad, lse)), "causal" in function)):
            result[head], bound[head] = known
    return found


def torch(function, q, k, v, o, grad, lse):
    """In separate steps, in memory between them what our kernels have there: f32 scores, the weights and their gradients in
    f16."""
    import torch

    def product(a, b):
        return torch.bmm(a, b, out_dtype=torch.float32) if a.is_cuda else a.float() @ b.float()

    def call():
        power = (product(q, k.mT) * q.shape[-1]**-0.5 - lse[..., None]).exp()
        power = power.tril() if "causal" in function else power
        rows = (grad.float() * o.float()).sum(-1, keepdim=True)
        ds = (power * (product(grad, v.mT) - rows) * q.shape[-1]**-0.5).to(q.dtype)
        return ds @ k, ds.mT @ q, power.to(q.dtype).mT @ grad
    return call


PEERS = {"torch": torch}
