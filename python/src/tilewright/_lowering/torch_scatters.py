# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scatters, pads and what is made of them: torch_operators.py says what torch-mlir takes for something else."""

import functools
import math

import torch
from torch._decomp import decomposition_table
from torch.nn import functional

from torch_operators import registering

aten = torch.ops.aten
DECOMPOSITIONS = {}
_decomposes = registering(DECOMPOSITIONS)


def _from_the_start(operator):
    """With a dim that is not counted from the end, of tensors that have one."""
    def decomposed(x, dim, *others, **options):
        if x.dim():
            return NotImplemented if dim >= 0 else operator(x, dim + x.dim(), *others, **options)
        others = [other.reshape(1) if isinstance(other, torch.Tensor) else other for other in others]
        return operator(x.reshape(1), 0, *others, **options).reshape(())
    DECOMPOSITIONS[operator] = decomposed
    return decomposed


for _operator in (aten.scatter.src, aten.scatter.value):
    _from_the_start(_operator)


def _of_bools(operator, otherwise=lambda *_, **__: NotImplemented):
    """Sums of bools, which torch-mlir takes modulo 2."""
    def decomposed(x, dim, index, values, **options):
        if x.dtype != torch.bool:
            return otherwise(x, dim, index, values, **options)
        return operator(x.to(torch.int32), dim, index, values.to(torch.int32), **options) > 0
    DECOMPOSITIONS[operator] = decomposed


_of_bools(aten.scatter_add.default, _from_the_start(aten.scatter_add.default))
_of_bools(aten.index_add.default, decomposition_table[aten.index_add.default])

_scatter_reduce = _from_the_start(aten.scatter_reduce.two)


@_decomposes(aten.scatter_reduce.two)
def scatter_reduce(x, dim, index, values, reduce, *, include_self=True):
    """torch-mlir compares bytes as numbers with a sign."""
    if x.dtype == torch.uint8 and reduce in ("amax", "amin"):
        wide = (x.to(torch.int16), dim, index, values.to(torch.int16), reduce)
        return aten.scatter_reduce.two(*wide, include_self=include_self).to(x.dtype)
    return _scatter_reduce(x, dim, index, values, reduce, include_self=include_self)


@_decomposes(aten.scatter.reduce)
def scatter_reduced(x, dim, index, values, *, reduce):
    return torch.scatter_reduce(x, dim, index, values, {"add": "sum", "multiply": "prod"}[reduce])


@_decomposes(aten.scatter.value_reduce)
def scatter_value_reduced(x, dim, index, value, *, reduce):
    return scatter_reduced(x, dim, index, torch.full_like(index, value, dtype=x.dtype), reduce=reduce)


@_decomposes(aten.index_put.default)
def put_where(x, indices, values, accumulate=False):
    """Of a mask of the first dims, and values that do not depend on how many elements it has: no scatter at all. torch-mlir's
    writes one slice, too, where the mask has none."""
    if accumulate and x.dtype == torch.bool:
        return aten.index_put.default(x.to(torch.int32), indices, values.to(torch.int32), True) > 0
    mask = indices[0]
    if mask is None or mask.dtype != torch.bool or any(index is not None for index in indices[1:]):
        return NotImplemented
    slices = x.dim() - mask.dim()
    if values.dim() == slices + 1 and isinstance(values.shape[0], int) and values.shape[0] == 1:
        values = values.squeeze(0)
    if values.dim() > slices:
        return NotImplemented
    return torch.where(mask[(...,) + (None,) * slices], x + values if accumulate else values, x)


@_decomposes(aten.put.default)
def put(x, index, source, accumulate=False):
    index = index.flatten()
    index = torch.where(index < 0, index + x.numel(), index)
    return x.flatten().index_put((index,), source.flatten(), accumulate).view(x.shape)


@_decomposes(aten.constant_pad_nd.default)
def constant_pad_nd(x, pad, value=0.0):
    """torch-mlir takes a pad that leaves the shape as it is for none, as a shift by one row."""
    if all(not isinstance(amount, int) or amount >= 0 for amount in pad):
        return NotImplemented
    for number, (before, behind) in enumerate(zip(pad[::2], pad[1::2])):
        dim = x.dim() - 1 - number
        if before < 0 or behind < 0:
            x = aten.slice.Tensor(x, dim, max(-before, 0), x.shape[dim] - max(-behind, 0))
    added = [max(amount, 0) for amount in pad]
    return aten.constant_pad_nd.default(x, added, value) if any(added) else x.clone()


@_decomposes(aten.topk.default)
def topk(x, k, dim=-1, largest=True, sorted=True):
    """In any order is in order, too."""
    return NotImplemented if sorted else aten.topk.default(x, k, dim, largest, True)


@_decomposes(aten.histc.default)
def histc(x, bins=100, min=0, max=0):
    """The range of the elements where none is given."""
    x, (low, high) = x.flatten(), (torch.full_like(x.flatten()[0], end) for end in (min, max))
    if min == max:
        low, high = x.min(), x.max()
        low, high = torch.where(low == high, low - 1, low), torch.where(low == high, high + 1, high)
    place = ((x - low) / (high - low) * bins).to(torch.int64).clamp(max=bins - 1)
    place = torch.where((x >= low) & (x <= high), place, -1)
    return (place == torch.arange(bins, device=x.device).unsqueeze(1)).sum(1).to(x.dtype)


@_decomposes(aten.index_reduce.default)
def index_reduce(x, dim, index, source, reduce, *, include_self=True):
    if not x.dim():
        return index_reduce(x.unsqueeze(0), 0, index, source.reshape(1), reduce, include_self=include_self).squeeze(0)
    shape = [-1 if d == dim % x.dim() else 1 for d in range(x.dim())]
    return torch.scatter_reduce(x, dim, index.view(shape).expand(source.shape), source, reduce, include_self=include_self)


@_decomposes(aten.index_copy.default)
def index_copy(x, dim, index, source):
    """Rows of a matrix that has a row for all dims up to `dim`: a scatter of whole rows, of which one number each is the place. Rows
    that are not there go behind the last, where they are ignored."""
    dim = dim % max(x.dim(), 1)
    if not dim:
        return decomposition_table[aten.index_copy.default](x, dim, index, source)
    *ahead, size = x.shape[:dim + 1]
    index, count = index.reshape(-1), math.prod(ahead)
    starts = torch.arange(count, device=x.device).unsqueeze(1) * size
    rows = torch.where((index >= 0) & (index < size), starts + index, count * size).flatten()
    return x.flatten(0, dim).index_put((rows,), source.flatten(0, dim)).unflatten(0, (*ahead, size))


@_decomposes(aten.diagonal_scatter.default)
def diagonal_scatter(x, source, offset=0, dim1=0, dim2=1):
    diagonal = torch.arange(source.shape[-1], device=x.device)
    places = (diagonal + max(0, -offset), diagonal + max(0, offset))
    return x.movedim((dim1, dim2), (0, 1)).index_put(places, source.movedim(-1, 0)).movedim((0, 1), (dim1, dim2))


@_decomposes(aten.block_diag.default)
def block_diag(tensors):
    tensors = [x if x.dim() == 2 else x.reshape(1, -1) for x in tensors]
    kind = functools.reduce(torch.promote_types, (x.dtype for x in tensors))
    before, columns, rows = 0, sum(x.shape[1] for x in tensors), []
    for x in tensors:
        rows.append(functional.pad(x.to(kind), (before, columns - before - x.shape[1])))
        before += x.shape[1]
    return torch.cat(rows)


@_decomposes(aten._embedding_bag.default, aten._embedding_bag_forward_only.default)
def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=-1):
    """Modes 0, 1, 2: sum, mean, max. The last result, which elements were the largest, is for a gradient, and zero here."""
    bags = offsets.shape[0] - include_last_offset
    starts = offsets[:bags]
    if isinstance(indices.shape[0], int) and indices.shape[0] == 0:
        sizes = torch.zeros(bags, dtype=torch.int64, device=indices.device)
        return weight.new_zeros(bags, weight.shape[1]), indices.to(torch.int64), sizes, torch.zeros_like(sizes)
    places = torch.arange(indices.shape[0], device=indices.device)
    bag = (places.unsqueeze(1) >= starts).sum(1) - 1
    taken = torch.ones_like(bag) if padding_idx < 0 else (indices != padding_idx).to(torch.int64)
    rows = weight.index_select(0, indices)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    sizes = torch.zeros(bags, dtype=torch.int64, device=indices.device).index_add(0, bag, taken)
    zeros = weight.new_zeros(bags, weight.shape[1])
    if mode == 2:
        rows = torch.where(taken.unsqueeze(1) > 0, rows, -math.inf)
        largest = index_reduce((zeros - math.inf), 0, bag, rows, "amax")
        result = torch.where(sizes.unsqueeze(1) > 0, largest, 0.0)
    else:
        if padding_idx >= 0:
            rows = torch.where(taken.unsqueeze(1) > 0, rows, 0.0)
        elif include_last_offset and weight.dtype != torch.float64:  # PyTorch's sums end there, its other results do not
            rows = torch.where((places < offsets[bags]).unsqueeze(1), rows, 0.0)
        result = zeros.index_add(0, bag, rows)
        if mode == 1:
            result = result / sizes.clamp(min=1).unsqueeze(1).to(weight.dtype)
    return result, bag, sizes, torch.zeros_like(sizes)


@_decomposes(aten.embedding_renorm.default)
def embedding_renorm(weight, indices, max_norm, norm_type):
    """Rows that are read and too long are as long as may be."""
    norm = torch.linalg.vector_norm(weight, norm_type, 1)
    read = torch.zeros_like(norm, dtype=torch.bool).index_fill(0, indices.flatten(), True)
    return weight * torch.where(read & (norm > max_norm), max_norm / (norm + 1e-7), 1.0).unsqueeze(1)


@_decomposes(aten.as_strided_scatter.default)
def as_strided_scatter(x, source, size, stride, storage_offset=None):
    """Elements lie in their order here."""
    places = torch.full((), storage_offset or 0, dtype=torch.int64, device=x.device)
    for length, step in zip(size, stride):
        places = places.unsqueeze(-1) + torch.arange(length, device=x.device) * step
    return x.flatten().index_put((places.flatten(),), source.flatten()).view(x.shape)


@_decomposes(aten.segment_reduce.default)
def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """Each segment asks all elements of the dim whether they are its own."""
    starts, ends = (offsets[..., :-1], offsets[..., 1:]) if lengths is None else (lengths.cumsum(-1) - lengths, lengths.cumsum(-1))
    place = torch.arange(data.shape[axis], device=data.device)
    member = (place >= starts.unsqueeze(-1)) & (place < ends.unsqueeze(-1))
    member = member[(...,) + (None,) * (data.dim() - axis - 1)]
    neutral = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}[reduce]
    values = torch.where(member, data.unsqueeze(axis), neutral)
    first = neutral if initial is None else initial
    if reduce == "prod":
        return values.prod(axis + 1) * first
    if reduce in ("max", "min"):
        return values.amax(axis + 1).clamp(min=first) if reduce == "max" else values.amin(axis + 1).clamp(max=first)
    total = values.sum(axis + 1) + first
    count = (ends - starts)[(...,) + (None,) * (data.dim() - axis - 1)]
    if reduce == "sum":
        return total
    return torch.where(count > 0, total / count.clamp(min=1).to(data.dtype), math.nan if initial is None else total)
