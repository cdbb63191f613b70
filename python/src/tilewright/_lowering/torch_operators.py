# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's operators that torch-mlir 20261001 lacks, or takes for something else, in ones that it has.

    wrong there     gelu by tanh, embedding_bag, index_put of a mask without elements, logcumsumexp, variances of no elements;
                    fmod of large quotients; isclose and logaddexp of infinities; a NaN beside itself; constants beside numbers of
                    another type; norms of f16
    ends there      scatters along a dim that is counted from the end
    refused there   the others

These are here, and in torch_reductions.py, torch_scatters.py and others beside it. A decomposition that gives NotImplemented leaves the
operator as it is.
"""

import math

import numpy
import torch
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.nn import functional

aten = torch.ops.aten
DECOMPOSITIONS = {}


def registering(table):
    """A decorator, with operators, that has a function stand in the table for them."""
    def decomposes(*operators):
        def register(function):
            table.update(dict.fromkeys(operators, function))
            return function
        return register
    return decomposes


_decomposes = registering(DECOMPOSITIONS)


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
                  aten.adaptive_max_pool1d.default, *(getattr(aten, f"fft_{name}").default for name in (
                      "irfft", "irfft2", "irfftn", "hfft", "hfft2", "hfftn"))):
    DECOMPOSITIONS[_operator] = torch.export.default_decompositions()[_operator]


def _copies(operator, view):
    DECOMPOSITIONS[operator] = lambda *arguments, **options: view(*arguments, **options).clone()


for _name in ("alias", "as_strided", "diagonal", "expand", "narrow", "permute", "squeeze", "t", "transpose", "unfold", "unsqueeze", "view"):
    for _overload in getattr(aten, f"{_name}_copy").overloads():
        if not _overload.endswith("out"):
            _copies(getattr(getattr(aten, f"{_name}_copy"), _overload), getattr(getattr(aten, _name), _overload))


@_decomposes(aten.unbind_copy.int)
def unbind_copy(x, dim=0):
    return [part.clone() for part in x.unbind(dim)]


@_decomposes(aten.empty_permuted.default)
def empty_permuted(size, physical_layout, **options):
    """Elements lie in their order here, whatever order PyTorch has them in."""
    return torch.empty(size, dtype=options.get("dtype"), device=options.get("device"))


@_decomposes(aten.empty_strided.default)
def empty_strided(size, stride, **options):
    return empty_permuted(size, (), **options)


@_decomposes(aten.new_empty_strided.default)
def new_empty_strided(x, size, stride, **options):
    return torch.empty(size, dtype=options.get("dtype") or x.dtype, device=x.device)


@_decomposes(aten.fft_rfftfreq.default)
def rfftfreq(n, d=1.0, *, dtype=None, device=None, **_):
    return torch.arange(n // 2 + 1, dtype=dtype or torch.get_default_dtype(), device=device) / (n * d)


@_decomposes(aten.fft_fftfreq.default)
def fftfreq(n, d=1.0, *, dtype=None, device=None, **_):
    steps = [torch.arange(*ends, dtype=dtype or torch.get_default_dtype(), device=device) for ends in ((0, (n + 1) // 2), (-(n // 2), 0))]
    return torch.cat(steps) / (n * d)


@_decomposes(aten.pow.Tensor_Tensor)
def power_of_integers(x, y):
    """By squares, as many as an exponent has bits."""
    kind = torch.result_type(x, y)
    if kind.is_floating_point or kind.is_complex or kind == torch.bool:
        return NotImplemented
    x, y = torch.broadcast_tensors(x.to(kind), y.to(kind))
    result, square, rest, one = torch.ones_like(x), x, y, torch.ones_like(y)
    for _ in range(8 * kind.itemsize - kind.is_signed):
        result = torch.where((rest & one) == 1, result * square, result)
        square, rest = square * square, torch.bitwise_right_shift(rest, one)
    of_one = torch.where((x == 1) | ((x == -1) & ((y & one) == 0)), 1, torch.where(x == -1, -1, 0)).to(kind)
    return torch.where(y < 0, of_one, result)


@_decomposes(aten.gcd.default)
def gcd(x, y):
    """Euclid's algorithm, in as many steps as the largest numbers of a type take."""
    kind = torch.result_type(x, y)
    x, y = torch.broadcast_tensors(x.to(kind).abs(), y.to(kind).abs())
    for _ in range({1: 12, 2: 23, 4: 46, 8: 91}[kind.itemsize]):
        ends = y == 0
        x, y = torch.where(ends, x, y), torch.where(ends, y, torch.remainder(x, torch.where(ends, 1, y)))
    return x


@_decomposes(aten.lcm.default)
def lcm(x, y):
    divisor = gcd(x, y)
    return (torch.div(x, torch.where(divisor == 0, 1, divisor), rounding_mode="trunc") * y).abs()


@_decomposes(aten.frexp.Tensor)
def frexp(x):
    """The power of two is found by a logarithm, and corrected where that was rounded to the next."""
    wide = x if x.dtype == torch.float64 else x.to(torch.float32)
    least, more = (1e-290, 128.0) if x.dtype == torch.float64 else (1e-30, 64.0)
    number = (wide != 0) & (wide.abs() < math.inf)
    scaled = torch.where(wide.abs() < least, wide * 2.0 ** more, wide)
    power = torch.where(number, torch.floor(torch.log2(torch.where(number, scaled, 1.0).abs())) + 1, 0.0)
    half = torch.floor(power / 2)
    part = scaled * torch.exp2(-half) * torch.exp2(half - power)
    above, below = number & (part.abs() >= 1), number & (part.abs() < 0.5)
    part = torch.where(above, part / 2, torch.where(below, part * 2, part))
    power = power + above.to(wide.dtype) - below.to(wide.dtype) - torch.where(number & (wide.abs() < least), more, 0.0)
    return part.to(x.dtype), power.to(torch.int32)


# Products, distances, convolutions


@_decomposes(aten.addbmm.default)
def addbmm(x, left, right, *, beta=1, alpha=1):
    product = left.transpose(0, 1).flatten(1) @ right.flatten(0, 1)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (x if beta == 1 else x * beta)


def _of_2_15(name):
    """An operator that older PyTorch lacks."""
    found = getattr(torch.ops.torch_nn, name, None)
    return [found.default] if found else []


@_decomposes(*_of_2_15("_linear_cross_entropy_batch_chunked_no_reduction"))
def linear_cross_entropies(x, matrix, target, bias, weight, ignore_index, *_):
    return functional.cross_entropy(functional.linear(x, matrix, bias), target, weight, ignore_index=ignore_index, reduction="none")


@_decomposes(*_of_2_15("_linear_cross_entropy_batch_chunked"))
def linear_cross_entropy(x, matrix, target, bias, weight, reduction, ignore_index, label_smoothing, _size, _policy, _kind, _retain, *gradients):
    """Without the gradients that it computes on the way."""
    if any(gradients):
        return NotImplemented
    loss = functional.cross_entropy(functional.linear(x, matrix, bias), target, weight, ignore_index=ignore_index, reduction=reduction,
                                    label_smoothing=label_smoothing)
    return loss, x.new_empty(0, 0), x.new_empty(0, 0), x.new_empty(0)


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
