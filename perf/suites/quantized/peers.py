# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products by weights of four bits with scales: what is right, and what PyTorch takes for it."""

import numpy

EPSILON = 2.0**-24  # unit roundoff of f32
GROUP = 32


def weights(w, s):
    """The weights in f16, as f64: each times the scale of its group."""
    if isinstance(w, numpy.ndarray):
        return (w * numpy.repeat(s, GROUP, 0)).astype(numpy.float16).astype(numpy.float64)
    return (w * s.repeat_interleave(GROUP, 0)).half().double()


def reference(function, x, w, s):
    """In f64; an f32 sum of K exact products is off by at most (K + 8) u * sum |x w|."""
    b = weights(w, s)
    return x @ b, (x.shape[-1] + 8) * EPSILON * (abs(x) @ abs(b))


def as_halves(function, x, w, s):
    """cuBLAS by weights that are kept as halves: four times the bytes. `w` are the bytes of the weights, two to a byte, the
    first in its low half."""
    import torch

    values = torch.stack(((w << 4) >> 4, w >> 4), -1).reshape(x.shape[-1], -1)
    b = weights(values.double(), s.double()).half()
    return lambda: x @ b


PEERS = {"as_halves": as_halves}
