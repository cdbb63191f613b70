# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of 8-bit floats with f32 sums, rounded to bf16: what is right, and what PyTorch takes for it."""

EPSILON = 2.0**-24  # unit roundoff of f32
HALF = 2.0**-8  # of bf16
STEP = 2.0**-13  # what the tensor cores of sm_90 keep of a sum over at most 128 terms


def reference(function, a, b):
    """In f64; sums in two levels are off by what at most 136 cuts of a step lose, and the roundings of f32 and bf16."""
    sums = a @ b.T
    return sums, ((a.shape[-1] + 8) * EPSILON + 136 * STEP) * (abs(a) @ abs(b).T) + HALF * abs(sums)


def cublas(function, a, b):
    """PyTorch's scaled product, which is cuBLASLt's, with scales of one."""
    import torch

    one = torch.ones((), device=a.device)
    return lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


PEERS = {"cublas": cublas}
