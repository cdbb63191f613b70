# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of bytes with i32 sums: what is right, and what PyTorch takes for it."""

STEP = 2.0**-13  # of the scaled product, as in bytes.mlir
EPSILON = 2.0**-24  # unit roundoff of f32


def reference(function, a, b, s=None):
    """In f64, where sums of bytes are exact. A scaled sum is off by a few roundoffs of f32, which takes it to the next
    byte where it is as near as that to the half of a step."""
    sums = a @ b
    if s is None:
        return sums, 0.0
    scaled = sums * s * STEP
    return scaled.round().clip(-128, 127), (abs(scaled % 1 - 0.5) <= 4 * EPSILON * abs(scaled)) * 1.0


def cublas(function, a, b, s=None):
    """PyTorch's product of bytes, which is cuBLAS's; the scaling is what PyTorch's compiler makes one kernel of."""
    import torch

    if s is None:
        return lambda: torch._int_mm(a, b)
    scale = torch.compile(lambda sums: (sums.float() * (s * STEP)).round().clamp(-128, 127).to(torch.int8))
    return lambda: scale(torch._int_mm(a, b))


PEERS = {"cublas": cublas}
