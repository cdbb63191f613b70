# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers that torch-mlir lacks, by uniform and normal ones."""

import math

import torch

from torch_operators import registering

aten = torch.ops.aten
DECOMPOSITIONS = {}
_decomposes = registering(DECOMPOSITIONS)


@_decomposes(aten.normal.Tensor_Tensor, aten.normal.Tensor_float, aten.normal.float_Tensor)
def normal(mean, std=1.0, *, generator=None):
    like = mean if isinstance(mean, torch.Tensor) else std
    shape = torch.broadcast_shapes(*(given.shape for given in (mean, std) if isinstance(given, torch.Tensor)))
    return torch.randn(shape, dtype=like.dtype, device=like.device) * std + mean


@_decomposes(aten.randint_like.default)
def randint_like(x, high, *, dtype=None, **_):
    return torch.randint(0, high, x.shape, device=x.device).to(dtype or x.dtype)


@_decomposes(aten.randint_like.low_dtype)
def randint_between(x, low, high, *, dtype=None, **_):
    return torch.randint(low, high, x.shape, device=x.device).to(dtype or x.dtype)


@_decomposes(aten.normal.float_float)
def normal_of_size(mean, std, size, *, dtype=None, device=None, **_):
    return torch.randn(size, dtype=dtype, device=device) * std + mean


@_decomposes(aten.log_normal.default)
def log_normal(x, mean=1.0, std=2.0, *, generator=None):
    return torch.exp(torch.randn_like(x) * std + mean)


@_decomposes(aten.multinomial.default)
def multinomial(weights, num_samples, replacement=False, *, generator=None):
    """Without replacement those that an exponential clock of each weight lets go first."""
    wide = weights.to(torch.float32)
    if not replacement or num_samples == 1:
        drawn = -torch.log(torch.rand_like(wide).clamp(min=1e-30))
        return torch.topk(torch.where(wide > 0, wide / drawn.clamp(min=1e-30), -1.0), num_samples, -1)[1]
    ends = wide.cumsum(-1)
    drawn = torch.rand((*wide.shape[:-1], num_samples), device=wide.device) * ends[..., -1:]
    return torch.searchsorted(ends, drawn, right=True).clamp(max=wide.shape[-1] - 1)


@_decomposes(aten.cauchy.default)
def cauchy(x, median=0.0, sigma=1.0, *, generator=None):
    return median + sigma * torch.tan(math.pi * (torch.rand_like(x) - 0.5))


@_decomposes(aten.geometric.default)
def geometric(x, p, *, generator=None):
    drawn = torch.rand(x.shape, dtype=x.dtype if x.is_floating_point() else torch.float32, device=x.device)
    return torch.ceil(torch.log1p(-drawn) / math.log1p(-p)).clamp(min=1).to(x.dtype)
