# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products by weights of four bits with scales: what is right, and what PyTorch takes for it."""

import numpy

EPSILON = 2.0**-24  # unit roundoff of f32
GROUP = 32


def weights(w, s):
    """The weights in f16, as f64: of each byte the low half, then the high one, signed; times the scale of its group."""
    high = w // 16
    low = w - 16 * high
    low = low - 16 * (low > 7)
    if isinstance(w, numpy.ndarray):
        q = numpy.stack([low, high], -1).reshape(w.shape[0], -1)
        return (q * numpy.repeat(s, GROUP, 0)).astype(numpy.float16).astype(numpy.float64)
    import torch

    q = torch.stack([low, high], -1).reshape(w.shape[0], -1)
    return (q * s.repeat_interleave(GROUP, 0)).half().double()


def reference(function, x, w, s):
    """In f64; an f32 sum of K exact products is off by at most (K + 8) u * sum |x w|."""
    b = weights(w, s)
    return x @ b, (x.shape[-1] + 8) * EPSILON * (abs(x) @ abs(b))


def as_halves(function, x, w, s):
    """cuBLAS by weights that are kept as halves: four times the bytes."""
    b = weights(w.double(), s.double()).half()
    return lambda: x @ b


PEERS = {"as_halves": as_halves}
