# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's operators that torch-mlir 20261001 lacks, or takes for something else, in ones that it has.

    wrong there     gelu by tanh, embedding_bag, index_put of a mask without elements, logcumsumexp, variances of no elements;
                    fmod of large quotients; isclose and logaddexp of infinities; a NaN beside itself; constants beside numbers of
                    another type; norms of f16
    ends there      scatters along a dim that is counted from the end
    refused there   the others

A decomposition that gives NotImplemented leaves the operator as it is.
"""

import functools
import math

import numpy
import torch
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.nn import functional

aten = torch.ops.aten
DECOMPOSITIONS = {}


def _decomposes(*operators):
    def register(function):
        DECOMPOSITIONS.update(dict.fromkeys(operators, function))
        return function
    return register


@_decomposes(aten.gelu.default)
def gelu(x, approximate="none"):
    """torch-mlir's factor is 0.797724, and sqrt(2 / pi) 0.797885."""
    return decomposition_table[aten.gelu.default](x, approximate=approximate) if approximate == "tanh" else NotImplemented


# torch-mlir has its own instead of PyTorch's, for the sake of other targets.
for _operator in (aten.isclose.default, aten.logaddexp.default, aten.logaddexp2.default):
    DECOMPOSITIONS[_operator] = core_aten_decompositions()[_operator]


@_decomposes(aten.isfinite.default)
def isfinite(x):
    return x.abs() < math.inf if x.is_floating_point() else torch.ones_like(x, dtype=torch.bool)


@_decomposes(aten.eq.Tensor)
def equal(x, y):
    """torch-mlir takes a tensor for equal to itself, NaN and all."""
    return torch.logical_not(torch.isnan(x)) if x is y and x.is_floating_point() else NotImplemented


_NUMPY = {torch.float32: numpy.float32, torch.float16: numpy.float16}


def _compares(operator):
    def decomposed(x, y):
        """torch-mlir folds a constant and a number of another type wrongly, or crashes."""
        if not isinstance(y, (int, float)):
            return NotImplemented
        if isinstance(y, float) and not x.is_floating_point():
            return operator(x.to(torch.get_default_dtype()), y)
        # What the number is as one of the tensor's type.
        number = float(_NUMPY.get(x.dtype, float)(y)) if x.is_floating_point() else y
        return operator(x, number) if type(number) is not type(y) or number != y and number == number else NotImplemented
    DECOMPOSITIONS[operator] = decomposed


for _operator in (aten.lt.Scalar, aten.le.Scalar, aten.gt.Scalar, aten.ge.Scalar, aten.eq.Scalar, aten.ne.Scalar):
    _compares(_operator)


@_decomposes(aten.fmod.Tensor, aten.fmod.Scalar)
def fmod(x, y):
    """torch-mlir has it by a rounded quotient, and aten.remainder as the remainder."""
    kind = torch.result_type(x, y)
    if not kind.is_floating_point:
        return NotImplemented
    x = x.to(kind)
    rest = torch.remainder(x.abs(), y.to(kind).abs() if isinstance(y, torch.Tensor) else abs(y))
    return torch.where((x == 0) & (rest == 0), x, torch.where(x < 0, -rest, rest))


@_decomposes(aten.hypot.default)
def hypot(x, y):
    x, y = x.abs(), y.abs()
    larger, smaller = torch.maximum(x, y), torch.minimum(x, y)
    ratio = torch.where(larger == smaller, 1.0, smaller / larger)
    result = torch.where(larger == 0, larger, larger * torch.sqrt(1 + ratio * ratio))
    return torch.where((x == math.inf) | (y == math.inf), math.inf, result)


@_decomposes(aten.dist.default)
def dist(x, y, p=2):
    return torch.linalg.vector_norm(x - y, p)


@_decomposes(aten.angle.default)
def angle(x):
    if x.is_complex():
        return NotImplemented
    kind = x.dtype if x.is_floating_point() else torch.get_default_dtype()
    zero = torch.zeros_like(x, dtype=kind)
    return torch.where(x < 0, math.pi, torch.where(torch.isnan(x), x.to(kind), zero) if x.is_floating_point() else zero)


@_decomposes(aten.signbit.default)
def signbit(x):
    """By the reciprocal, -inf of -0.0. A NaN is taken for positive."""
    return (x < 0) | (x.reciprocal() < 0) if x.is_floating_point() else x < 0


@_decomposes(aten.copysign.Tensor, aten.copysign.Scalar)
def copysign(x, other):
    kind = torch.result_type(x, other)
    kind = kind if kind.is_floating_point else torch.get_default_dtype()
    size = x.to(kind).abs()
    if not isinstance(other, torch.Tensor):
        return -size if math.copysign(1, other) < 0 else size
    return torch.where(signbit(other.to(kind)), -size, size)


def _ignoring_nan(choose):
    def decomposed(x, y):
        kind = torch.result_type(x, y)
        x, y = x.to(kind), y.to(kind)
        if not kind.is_floating_point:
            return choose(x, y)
        return torch.where(torch.isnan(x), y, torch.where(torch.isnan(y), x, choose(x, y)))
    return decomposed


DECOMPOSITIONS[aten.fmax.default] = _ignoring_nan(torch.maximum)
DECOMPOSITIONS[aten.fmin.default] = _ignoring_nan(torch.minimum)


# Operators that PyTorch defines by others.

for _operator in (aten.linalg_norm.default, aten.linalg_norm.ord_str, aten.fft_fftshift.default, aten.fft_ifftshift.default,
                  aten.adaptive_max_pool1d.default):
    DECOMPOSITIONS[_operator] = torch.export.default_decompositions()[_operator]


def _copies(operator, view):
    DECOMPOSITIONS[operator] = lambda *arguments, **options: view(*arguments, **options).clone()


for _name in ("alias", "as_strided", "diagonal", "expand", "narrow", "permute", "squeeze", "t", "transpose", "unfold", "unsqueeze", "view"):
    for _overload in getattr(aten, f"{_name}_copy").overloads():
        if not _overload.endswith("out"):
            _copies(getattr(getattr(aten, f"{_name}_copy"), _overload), getattr(getattr(aten, _name), _overload))


@_decomposes(aten.fft_rfftfreq.default)
def rfftfreq(n, d=1.0, *, dtype=None, device=None, **_):
    return torch.arange(n // 2 + 1, dtype=dtype or torch.get_default_dtype(), device=device) / (n * d)


@_decomposes(aten.fft_fftfreq.default)
def fftfreq(n, d=1.0, *, dtype=None, device=None, **_):
    steps = [torch.arange(*ends, dtype=dtype or torch.get_default_dtype(), device=device) for ends in ((0, (n + 1) // 2), (-(n // 2), 0))]
    return torch.cat(steps) / (n * d)


# Products, distances, convolutions


@_decomposes(aten.addmv.default)
def addmv(x, matrix, vector, *, beta=1, alpha=1):
    product = torch.mv(matrix, vector)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (x if beta == 1 else x * beta)


@_decomposes(aten._cdist_forward.default)
def cdist(x, y, p, _mode):
    return torch.linalg.vector_norm(x.unsqueeze(-2) - y.unsqueeze(-3), p, -1)


@_decomposes(aten._pdist_forward.default)
def pdist(x, p=2.0):
    count = x.shape[0]
    if not isinstance(count, int):
        return NotImplemented
    places = torch.arange(count * count, device=x.device).view(count, count)
    rest = [places[row, row + 1:] for row in range(count - 1)]
    if not rest:
        return x.new_zeros(0)
    return cdist(x, x, p, None).flatten().index_select(0, torch.cat(rest))


@_decomposes(aten.convolution.default)
def transposed_convolution_in_groups(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """A convolution of the input with zeros between its elements."""
    if not transposed or groups == 1:
        return NotImplemented
    for dim, step in enumerate(stride, 2):
        if step > 1:
            apart = functional.pad(x.unsqueeze(dim + 1), (0,) * (2 * (x.dim() - dim - 1)) + (0, step - 1)).flatten(dim, dim + 1)
            x = apart.narrow(dim, 0, apart.shape[dim] - step + 1)
    sizes = weight.shape[2:]
    ends = [(step * (size - 1) - pad, step * (size - 1) - pad + more)
            for size, step, pad, more in zip(sizes, dilation, padding, output_padding)]
    x = functional.pad(x, [amount for pair in reversed(ends) for amount in pair])
    weight = weight.unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1).flip(list(range(2, weight.dim())))
    return aten.convolution.default(x, weight, bias, [1] * len(sizes), [0] * len(sizes), dilation, False, [0] * len(sizes), groups)


# Reductions, scans, sorts


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


# Scatters


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


# Random numbers


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
