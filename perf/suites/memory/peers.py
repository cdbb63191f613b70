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


def rowsum(x):
    return x.sum(-1), (x.shape[-1] + 8) * F32 * abs(x).sum(-1)


def columnsum(x):
    return x.sum(0), (x.shape[0] + 8) * F32 * abs(x).sum(0)


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
            "add": lambda: x + inputs[-1], "gelu": lambda: functional.gelu(x)}[kind_of(function)]


PEERS = {"torch": torch}
