# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pools with ceil_mode, of tensors without a batch, and adaptive ones.

torch-mlir 20261001 takes ceil_mode for one more window in every dim. PyTorch has one more only where elements are left that no window
has, and where it begins inside of the input. Dims that have one more by both rules are left to torch-mlir, if all of them are like that.
"""

import math

import torch
from torch._decomp import decomposition_table
from torch.nn import functional

import diagnostics
from torch_reductions import by_f32

aten = torch.ops.aten


def _of_dims(values, count, default=None):
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    return list(default) if not values else values * count if len(values) == 1 else values


def _missing(sizes, kernel, stride, padding, dilation):
    """Of each dim how many elements the last window has beyond the padded input; 0 where ceil_mode adds no window."""
    found = []
    for size, width, step, pad, apart in zip(sizes, kernel, stride, padding, dilation):
        span = apart * (width - 1) + 1
        windows = (size + 2 * pad - span) // step + 1
        rest = (size + 2 * pad - span) % step
        found.append(windows * step + span - size - 2 * pad if rest and windows * step < size + pad else 0)
    return found


def _pad_ends(x, amounts, before=None, value=0.0):
    pairs = zip(before or [0] * len(amounts), amounts)
    return functional.pad(x, [amount for pair in reversed(list(pairs)) for amount in pair], value=value)


def _max_pool(operator, count):
    def decomposed(x, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        kernel, padding, dilation = (_of_dims(values, count) for values in (kernel_size, padding, dilation))
        stride, sizes = _of_dims(stride, count, kernel), x.shape[-count:]
        if not x.is_floating_point():
            if x.dtype == torch.int64:
                raise diagnostics.Refused("PyTorch's max_pool of i64: torch-mlir does not lower it")
            wide = x.to(torch.float64 if x.dtype == torch.int32 else torch.float32)
            values, places = operator(wide, kernel, stride, padding, dilation, ceil_mode)
            return values.to(x.dtype), places
        if x.dim() == count + 1:
            return tuple(result.squeeze(0) for result in operator(x.unsqueeze(0), kernel, stride, padding, dilation, ceil_mode))
        if not ceil_mode or not all(isinstance(size, int) for size in sizes):
            return NotImplemented
        missing = _missing(sizes, kernel, stride, padding, dilation)
        if all(missing):
            return NotImplemented
        lowest = -math.inf if x.is_floating_point() else torch.iinfo(x.dtype).min
        padded = _pad_ends(x, missing, value=lowest) if any(missing) else x
        values, places = operator(padded, kernel, stride, padding, dilation, False)
        rest, result = places, torch.zeros_like(places)
        for size, wide, weight in zip(reversed(sizes), reversed(padded.shape[-count:]), _weights(sizes)):
            result, rest = result + rest % wide * weight, rest // wide
        # torch-mlir has -1 where nothing in a window is above -inf.
        return values, torch.where(places < 0, places, result) if any(missing) else places
    return decomposed


def _weights(sizes):
    """What a step in each dim adds to an index of an element, from the last dim on."""
    return [math.prod(sizes[len(sizes) - number:]) for number in range(len(sizes))]


def _average_pool(operator, count):
    def decomposed(x, kernel_size, stride=(), padding=None, ceil_mode=False, count_include_pad=True, divisor_override=None):
        # Where there is none, PyTorch leaves it out, also of the call below.
        padding = [0] * count if padding is None else padding
        given = [kernel_size, stride, padding]
        kernel, padding = (_of_dims(values, count) for values in (kernel_size, padding))
        stride, sizes = _of_dims(stride, count, kernel), x.shape[-count:]
        if x.dim() == count + 1:
            whole = (kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)
            return operator(x.unsqueeze(0), *whole).squeeze(0)
        if not ceil_mode or not all(isinstance(size, int) for size in sizes):
            # torch-mlir takes lists of another length for something else.
            is_whole = all(isinstance(values, (list, tuple)) and len(values) == count for values in given)
            return NotImplemented if is_whole else operator(x, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)
        missing = _missing(sizes, kernel, stride, padding, [1] * count)
        if not any(missing):
            return operator(x, kernel, stride, padding, False, count_include_pad, divisor_override)
        padded = _pad_ends(x, [pad + more for pad, more in zip(padding, missing)], padding)
        sums = operator(padded, kernel, stride, [0] * count, False, True, 1)
        if divisor_override:
            return sums / divisor_override
        for dim, (size, width, step, pad) in enumerate(zip(sizes, kernel, stride, padding), -count):
            first = torch.arange(sums.shape[dim], device=x.device) * step - pad
            last = (first + width).clamp(max=size + (pad if count_include_pad else 0))
            elements = last - (first if count_include_pad else first.clamp(min=0))
            sums = sums / elements.to(x.dtype).view(-1, *[1] * (-1 - dim))
        return sums
    return decomposed


def average_pool_of_one_dim(x, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True):
    if x.dim() == 2:
        return aten.avg_pool1d.default(x.unsqueeze(0), kernel_size, stride, padding, ceil_mode, count_include_pad).squeeze(0)
    if not ceil_mode:
        return NotImplemented
    stride = _of_dims(stride, 1, _of_dims(kernel_size, 1))
    return aten.avg_pool2d.default(x.unsqueeze(-2), [1, *_of_dims(kernel_size, 1)], [1, *stride], [0, *_of_dims(padding, 1)], True,
                                   count_include_pad).squeeze(-2)


def _windows(x, outputs, widths):
    """(..., outputs * widths of each dim) as (..., outputs, elements of a window)"""
    ahead, count = x.dim() - len(outputs), len(outputs)
    x = x.reshape(*x.shape[:ahead], *(size for pair in zip(outputs, widths) for size in pair))
    order = [*range(ahead), *range(ahead, ahead + 2 * count, 2), *range(ahead + 1, ahead + 2 * count, 2)]
    return x.permute(order).flatten(ahead + count)


def _adaptive_max_pool(operator, count):
    def decomposed(x, output_size):
        """Where windows have one size it is a pool; else each is taken as large as the largest, its last element several times."""
        outputs, sizes = _of_dims(output_size, count), x.shape[-count:]
        if not all(isinstance(size, int) for size in sizes) or all(size % output == 0 for size, output in zip(sizes, outputs)):
            return decomposition_table[operator](x, output_size)
        elements, widths, place = x, [], torch.zeros((), dtype=torch.int64, device=x.device)
        for dim, (size, output) in enumerate(zip(sizes, outputs), -count):
            number = torch.arange(output, device=x.device).unsqueeze(1)
            widths.append(max(-(-(n + 1) * size // output) - n * size // output for n in range(output)))
            first, last = number * size // output, ((number + 1) * size + output - 1) // output - 1
            taken = torch.minimum(first + torch.arange(widths[-1], device=x.device), last).flatten()
            elements = elements.index_select(dim, taken)
            place = place.unsqueeze(-1) * size + taken
        values, which = torch.max(_windows(elements, outputs, widths), -1)
        places = _windows(place, outputs, widths)
        return values, places.expand(*which.shape, places.shape[-1]).gather(-1, which.unsqueeze(-1)).squeeze(-1)
    return decomposed


def _fractional_max_pool(count):
    def decomposed(x, kernel_size, output_size, random_samples):
        """Windows begin at the multiples of a step that is no integer, moved by a sample of each channel. Of two dims the first sample
        is that of the columns."""
        if x.dim() == count + 1:
            return tuple(result.squeeze(0) for result in decomposed(x.unsqueeze(0), kernel_size, output_size, random_samples))
        kernel, outputs, sizes = _of_dims(kernel_size, count), _of_dims(output_size, count), x.shape[-count:]
        if not all(isinstance(size, int) for size in x.shape) or x.dtype == torch.float64:
            return NotImplemented
        samples = random_samples.flip(-1) if count == 2 else random_samples
        place = torch.zeros((*x.shape[:2], *[1] * (2 * count)), dtype=torch.int64, device=x.device)
        for dim, (size, width, output) in enumerate(zip(sizes, kernel, outputs)):
            number = torch.arange(output, device=x.device)
            step, sample = (size - width) / (output - 1) if output > 1 else 0.0, samples[..., dim:dim + 1].to(torch.float32)
            first = ((number + sample) * step).to(torch.int64) - (sample * step).to(torch.int64)
            first = torch.where(number == output - 1, size - width, first)
            elements = first.unsqueeze(-1) + torch.arange(width, device=x.device)
            shape = [*x.shape[:2], *[1] * (2 * count)]
            shape[2 + dim], shape[2 + count + dim] = output, width
            place = place * size + elements.view(shape)
        place = place.flatten(2 + count)
        elements = x.flatten(2).gather(2, place.flatten(2)).view(place.shape)
        values, which = torch.max(elements, -1)
        return values, place.gather(-1, which.unsqueeze(-1)).squeeze(-1)
    return decomposed


DECOMPOSITIONS = {
    aten.fractional_max_pool2d.default: _fractional_max_pool(2),
    aten.fractional_max_pool3d.default: _fractional_max_pool(3),
    aten.max_pool2d_with_indices.default: _max_pool(aten.max_pool2d_with_indices.default, 2),
    aten.max_pool3d_with_indices.default: _max_pool(aten.max_pool3d_with_indices.default, 3),
    aten.avg_pool1d.default: by_f32(aten.avg_pool1d.default, average_pool_of_one_dim),
    aten.avg_pool2d.default: by_f32(aten.avg_pool2d.default, _average_pool(aten.avg_pool2d.default, 2)),
    aten.avg_pool3d.default: by_f32(aten.avg_pool3d.default, _average_pool(aten.avg_pool3d.default, 3)),
    aten.adaptive_max_pool2d.default: _adaptive_max_pool(aten.adaptive_max_pool2d.default, 2),
    aten.adaptive_max_pool3d.default: _adaptive_max_pool(aten.adaptive_max_pool3d.default, 3),
}
