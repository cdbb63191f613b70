# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, scans and sorts: torch_operators.py says what torch-mlir takes for something else."""

import math

import torch
from torch._decomp import decomposition_table

from torch_operators import registering

aten = torch.ops.aten
DECOMPOSITIONS = {}
_decomposes = registering(DECOMPOSITIONS)


@_decomposes(aten.var.correction)
def var(x, dim=None, *, correction=1, keepdim=False):
    if not _is_empty(x, dim):
        return NotImplemented
    return torch.full_like(torch.sum(x, dim, keepdim=keepdim), math.nan)


@_decomposes(aten.var_mean.correction)
def var_mean(x, dim=None, *, correction=1, keepdim=False):
    if not _is_empty(x, dim):
        return NotImplemented
    result = torch.full_like(torch.sum(x, dim, keepdim=keepdim), math.nan)
    return result, result.clone()


def _is_empty(x, dim):
    return any(isinstance(x.shape[d], int) and x.shape[d] == 0 for d in (dim or range(x.dim())))


DECOMPOSITIONS[aten._batch_norm_with_update_functional.default] = decomposition_table[aten._batch_norm_with_update_functional.default]


def _of_no_dims(operator, has_places):
    """What reduces a dim, of a tensor without dims: the element, and its place."""
    def decomposed(x, dim=None, *_, **__):
        if x.dim():
            return NotImplemented
        place = torch.zeros_like(x, dtype=torch.int64)
        return (x.clone(), place) if has_places else x.clone()
    DECOMPOSITIONS[operator] = decomposed


for _operator in (aten.max.dim, aten.min.dim, aten.kthvalue.default):
    _of_no_dims(_operator, True)
for _operator in (aten.amax.default, aten.amin.default):
    _of_no_dims(_operator, False)


@_decomposes(aten.softmax.int, aten._softmax.default)
def softmax_of_one(x, dim, kind=None, *, dtype=None):
    """torch-mlir does not end with a tensor without dims."""
    return NotImplemented if x.dim() else (x - x + 1).to(dtype or (kind if isinstance(kind, torch.dtype) else x.dtype))


@_decomposes(aten.argmax.default, aten.argmin.default)
def place_of_one(x, dim=None, keepdim=False):
    return NotImplemented if x.dim() else torch.zeros_like(x, dtype=torch.int64)


def by_f32(operator, otherwise=lambda *_, **__: NotImplemented):
    """A decomposition of an operator that sums, of f16 and bf16: torch-mlir would round in between, or find the sum too large."""
    def decomposed(x, *arguments, **options):
        if x.dtype not in (torch.float16, torch.bfloat16) or options.get("dtype") not in (None, x.dtype):
            return otherwise(x, *arguments, **options)
        options.pop("dtype", None)
        wide = [a.to(torch.float32) if isinstance(a, torch.Tensor) and a.dtype == x.dtype else a for a in arguments]
        return operator(x.to(torch.float32), *wide, **options).to(x.dtype)
    return decomposed


def _scan_of_one(x, dim, *, dtype=None):
    """cumsum and cumprod of a tensor without dims are the element."""
    if x.dim():
        return NotImplemented
    return x.to(dtype or (x.dtype if x.dtype.is_floating_point else torch.int64)).clone()


for _operator in (aten.mean.default, aten.mean.dim, aten.linalg_vector_norm.default):
    DECOMPOSITIONS[_operator] = by_f32(_operator)
DECOMPOSITIONS[aten.cumsum.default] = by_f32(aten.cumsum.default, _scan_of_one)


@_decomposes(aten.cumprod.default)
def cumprod(x, dim, *, dtype=None):
    """torch-mlir has none that converts."""
    if dtype is not None:
        return aten.cumprod.default(x.to(dtype), dim)
    return by_f32(aten.cumprod.default, _scan_of_one)(x, dim)


@_decomposes(aten.rms_norm.default)
def rms_norm(x, normalized_shape, weight=None, eps=None):
    if x.dtype not in (torch.float16, torch.bfloat16):
        return NotImplemented
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    weight = None if weight is None else weight.to(torch.float32)
    return aten.rms_norm.default(x.to(torch.float32), normalized_shape, weight, eps).to(x.dtype)


def _scan(combine, dim, *tensors):
    """Results of combine(all before, this one), a tuple of as many, along a dim: in log n steps of all elements each."""
    size, step = tensors[0].shape[dim], 1
    while step < size:
        before = [x.narrow(dim, 0, size - step) for x in tensors]
        combined = combine(before, [x.narrow(dim, step, size - step) for x in tensors])
        tensors = [torch.cat([x.narrow(dim, 0, step), new], dim) for x, new in zip(tensors, combined)]
        step *= 2
    return tensors


@_decomposes(aten.logcumsumexp.default)
def logcumsumexp(x, dim):
    if not x.dim():
        return x.clone()
    if not isinstance(x.shape[dim], int):
        return NotImplemented
    return _scan(lambda before, new: [torch.logaddexp(before[0], new[0])], dim, x)[0]


def _running(better):
    def decomposed(x, dim):
        if not x.dim():
            return x.clone(), torch.zeros_like(x, dtype=torch.int64)
        if not isinstance(x.shape[dim], int):
            return NotImplemented
        if x.shape[dim] == 0:
            return x.clone(), torch.zeros_like(x, dtype=torch.int64)
        shape = [-1 if d == dim % x.dim() else 1 for d in range(x.dim())]
        places = torch.arange(x.shape[dim], device=x.device).view(shape).expand(x.shape)

        def combine(before, new):
            taken = better(new[0], before[0])
            if x.is_floating_point():
                taken = taken | torch.isnan(new[0])
            return [torch.where(taken, n, b) for n, b in zip(new, before)]
        return tuple(_scan(combine, dim, x, places))
    return decomposed


DECOMPOSITIONS[aten.cummax.default] = _running(torch.ge)
DECOMPOSITIONS[aten.cummin.default] = _running(torch.le)


@_decomposes(aten.sort.stable)
def sort(x, *, stable, dim=-1, descending=False):
    """All sorts of ours are stable."""
    return sort_of_bytes(x, dim, descending) if x.dtype in (torch.uint8, torch.bool) else aten.sort.default(x, dim, descending)


@_decomposes(aten.sort.default)
def sort_of_bytes(x, dim=-1, descending=False):
    """Of bools, too. torch-mlir compares them as numbers with a sign."""
    if x.dtype not in (torch.uint8, torch.bool):
        return NotImplemented
    values, places = aten.sort.default(x.to(torch.int16), dim, descending)
    return values.to(x.dtype), places


def _median(ignores_nan):
    def of_dim(x, dim, keepdim=False):
        if not x.dim():
            return x.clone(), torch.zeros_like(x, dtype=torch.int64)
        values, places = torch.sort(x, dim=dim, stable=True)
        size = x.shape[dim]
        count = torch.isnan(x).sum(dim, keepdim=True) if x.is_floating_point() else torch.zeros_like(places.narrow(dim, 0, 1))
        last = torch.zeros_like(count) + (size - 1)
        # NaN is behind all.
        half = (last - count).clamp(min=0) // 2 if ignores_nan else torch.where(count > 0, last - count + 1, last // 2)
        value, place = (torch.gather(y, dim, half) for y in (values, places))
        return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))

    def of_all(x):
        return of_dim(x.reshape(-1), 0)[0]
    return of_dim, of_all


DECOMPOSITIONS[aten.median.dim], DECOMPOSITIONS[aten.median.default] = _median(False)
DECOMPOSITIONS[aten.nanmedian.dim], DECOMPOSITIONS[aten.nanmedian.default] = _median(True)


@_decomposes(aten.mode.default)
def mode(x, dim=-1, keepdim=False):
    """The least of those that are most often there, and its last place. Each is compared with each."""
    if not x.dim():
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    values, places = torch.sort(x.movedim(dim, -1), stable=True)
    counts = (values.unsqueeze(-1) == values.unsqueeze(-2)).sum(-1)
    first = counts.argmax(-1, keepdim=True)
    last = first + counts.gather(-1, first) - 1
    found = [y.gather(-1, last).movedim(-1, dim) for y in (values, places)]
    return tuple(found if keepdim else [y.squeeze(dim) for y in found])


@_decomposes(aten.searchsorted.Tensor)
def searchsorted(sequence, values, *, out_int32=False, right=False, side=None, sorter=None):
    if sorter is not None:
        sequence = torch.gather(sequence, -1, sorter)
    right = right if side is None else side == "right"
    # NaN is behind all.
    kind = torch.result_type(sequence, values)
    sequence, value = sequence.to(kind), values.to(kind).unsqueeze(-1)
    sequence = sequence.unsqueeze(-2) if values.dim() else sequence
    ahead = torch.logical_not(sequence > value if right else sequence >= value)
    return ahead.sum(-1).to(torch.int32 if out_int32 else torch.int64)


@_decomposes(aten.searchsorted.Scalar)
def searchsorted_of_one(sequence, value, **options):
    return searchsorted(sequence, torch.full((1,), value, dtype=sequence.dtype, device=sequence.device), **options).squeeze(0)
