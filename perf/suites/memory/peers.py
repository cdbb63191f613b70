# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels bound by memory: what is right, and PyTorch's own."""

import math

import numpy

F32 = 2.0**-24  # unit roundoffs
F16 = 2.0**-11
TINY = 2.0**-25  # half of the smallest f16


def kind_of(function):
    return function.split("_")[0]


def erf(x):
    return numpy.vectorize(math.erf, otypes=[float])(x) if isinstance(x, numpy.ndarray) else x.erf()


def exp(x):
    return numpy.exp(x) if isinstance(x, numpy.ndarray) else x.exp()


def extreme(x, of):
    """Largest or smallest of each row, as a column."""
    best = getattr(x, of)(-1)
    return (best if isinstance(x, numpy.ndarray) else best.values)[..., None]


def softmax(x):
    """(n + 8 + range) ulp of each value: the sum of n terms, and exp of an argument rounded at the size of the range."""
    top = extreme(x, "max")
    power = exp(x - top)
    result = power / power.sum(-1)[..., None]
    return result, (x.shape[-1] + 8 + top - extreme(x, "min")) * 2 * F32 * result


def rmsnorm(x, gain):
    n = x.shape[-1]
    result = x * ((x * x).sum(-1)[..., None] / n + 1e-5) ** -0.5 * gain
    return result, ((n + 16) * F32 + F16) * abs(result) + TINY


def centred(x):
    """Of the last dim: x - mean, the variance, and how far off the former may be."""
    n = x.shape[-1]
    d = x - x.sum(-1)[..., None] / n
    return d, (d * d).sum(-1)[..., None] / n, (n + 2) * F32 * abs(x).sum(-1)[..., None] / n + F32 * abs(x)


def layernorm(x, gain, bias):
    n = x.shape[-1]
    d, variance, off = centred(x)
    scale = (variance + 1e-5) ** -0.5 * gain
    return d * scale + bias, ((n + 16) * F32 * abs(d * scale) + off * (abs(scale) + abs(d * scale) * (variance + 1e-5) ** -0.5) +
                              (2 * F32 + F16) * abs(d * scale + bias) + TINY)


def groupnorm(x, gain, bias):
    rows = x.reshape((x.shape[0], x.shape[1], -1))
    per = rows.shape[-1] // x.shape[2]
    spread = [(v[..., None] + 0 * x[0]).reshape((x.shape[1], x.shape[2] * per)) for v in (gain, bias)]
    return tuple(v.reshape(x.shape) for v in layernorm(rows, *spread))


def lse(x):
    top = extreme(x, "max")
    total = exp(x - top).sum(-1)
    logarithm = numpy.log(total) if isinstance(total, numpy.ndarray) else total.log()
    most = (top - extreme(x, "min"))[..., 0]
    result = logarithm + top[..., 0]
    return result, (x.shape[-1] + 12 + most) * 2 * F32 + 4 * F32 * (abs(logarithm) + abs(result))


def variance(x):
    n = x.shape[-1]
    d, result, off = centred(x)
    return result[..., 0], ((n + 8) * F32 * result + 2 * (off * (abs(d) + off)).sum(-1)[..., None] / n)[..., 0]


def argmax(x):
    """The first result, the largest elements."""
    top = extreme(x, "max")[..., 0]
    return top, 0.0 * abs(top)


def addnormquantize(x, y, gain):
    """The first result, the sums."""
    return x + y, F16 * 1.001 * abs(x + y) + TINY


def chain(x, y, column, row):
    e = x + column
    s = e / (1 + exp(-e))
    factor = row[..., None] * y
    r = s * factor - 0.5
    return (r + x + abs(r - x)) / 2, ((abs(e) + 16) * F32 * abs(s * factor) + 2 * F32 * abs(e * factor) + F32 * (1 + abs(x)))


def rowsum(x):
    return x.sum(-1), (x.shape[-1] + 8) * F32 * abs(x).sum(-1)


def columnsum(x):
    return x.sum(0), (x.shape[0] + 8) * F32 * abs(x).sum(0)


def scan(x):
    """Of sums of i terms, in whatever order."""
    return x.cumsum(-1), (x.shape[-1] + 8) * F32 * abs(x).cumsum(-1)


def transpose(x):
    return x.T, 0.0 * abs(x.T)


def add(x, y):
    return x + y, F32 * abs(x + y)


def gelu(x):
    result = 0.5 * x * (1 + erf(x * 0.5**0.5))
    return result, 16 * F32 * abs(x) + F16 * 1.001 * abs(result) + TINY


def reference(function, *inputs):
    return globals()[kind_of(function)](*inputs)


def torch(function, *inputs):
    import torch
    from torch.nn import functional

    x = inputs[0]
    return {"softmax": lambda: torch.softmax(x, -1), "rmsnorm": lambda: functional.rms_norm(x, x.shape[-1:], inputs[-1], 1e-5),
            "rowsum": lambda: x.sum(-1), "columnsum": lambda: x.sum(0), "transpose": lambda: x.T.contiguous(),
            "scan": lambda: x.cumsum(-1),
            "layernorm": lambda: functional.layer_norm(x, x.shape[-1:], inputs[1], inputs[2], 1e-5),
            "groupnorm": lambda: functional.group_norm(x.reshape(x.shape[0], -1, x.shape[3]), x.shape[1], inputs[1].reshape(-1),
                                                       inputs[2].reshape(-1), 1e-5).reshape(x.shape),
            "lse": lambda: torch.logsumexp(x, -1), "variance": lambda: torch.var(x, -1, correction=0),
            "argmax": lambda: torch.max(x, -1).values, "addnormquantize": lambda: x + inputs[1],
            "chain": lambda: torch.maximum(functional.silu(x + inputs[2]) * inputs[3][:, None] * inputs[1] - 0.5, x),
            "add": lambda: x + inputs[-1], "gelu": lambda: functional.gelu(x)}[kind_of(function)]


def compiled(function, *inputs):
    """The same by torch.compile."""
    import torch as pytorch

    return pytorch.compile(torch(function, *inputs))


PEERS = {"torch": torch, "compiled": compiled}
SLOW = {"compiled"}
