# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples of images that torch-mlir lacks: interpolation with antialias, and grids in three dims."""

import itertools

import torch

aten = torch.ops.aten
DECOMPOSITIONS = {}


def _cubic(distance):
    """The cubic convolution kernel with a = -0.5, as Pillow has it."""
    a = -0.5
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return torch.where(distance < 1, near, torch.where(distance < 2, far, 0.0))


def _weights(size, output, scale, align_corners, radius, kernel, like):
    """(output, size): what each element has of each in a dim."""
    if align_corners:
        scale = (size - 1) / (output - 1) if output > 1 else 0.0
    else:
        scale = 1 / scale if scale else size / output
    wide = max(scale, 1.0)
    center = (torch.arange(output, dtype=like.dtype, device=like.device).unsqueeze(1) + 0.5) * scale
    element = torch.arange(size, dtype=like.dtype, device=like.device)
    first = torch.floor(center - radius * wide + 0.5).clamp(min=0)
    last = torch.floor(center + radius * wide + 0.5).clamp(max=size)
    weight = torch.where((element >= first) & (element < last), kernel((element + 0.5 - center).abs() / wide), 0.0)
    return weight / weight.sum(1, keepdim=True)


def _antialias(radius, kernel):
    def decomposed(x, output_size, align_corners, scales_h=None, scales_w=None):
        if not all(isinstance(size, int) for size in x.shape[-2:]) or not x.dtype.is_floating_point:
            return NotImplemented
        wide = x if x.dtype == torch.float64 else x.to(torch.float32)
        rows, columns = (_weights(size, output, scale, align_corners, radius, kernel, wide)
                         for size, output, scale in zip(x.shape[-2:], output_size, (scales_h, scales_w)))
        return (rows @ (wide @ columns.t())).to(x.dtype)
    return decomposed


DECOMPOSITIONS[aten._upsample_bilinear2d_aa.default] = _antialias(1, lambda distance: (1 - distance).clamp(min=0))
DECOMPOSITIONS[aten._upsample_bicubic2d_aa.default] = _antialias(2, _cubic)


def _reflected(x, low, high):
    """Into [low, high], by reflections at both."""
    span = high - low
    if span == 0:
        return torch.zeros_like(x)
    x = torch.remainder((x - low).abs(), 2 * span)
    return torch.where(x > span, 2 * span - x, x) + low


def grid_sampler_3d(x, grid, interpolation_mode, padding_mode, align_corners):
    """Modes 0, 1: linear, nearest; paddings 0, 1, 2: zeros, border, reflection."""
    sizes = x.shape[-3:]
    if not all(isinstance(size, int) for size in sizes):
        return NotImplemented
    places = []
    for size, place in zip(sizes, reversed(grid.unbind(-1))):
        place = (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2
        if padding_mode == 2:
            place = _reflected(place, 0, size - 1) if align_corners else _reflected(place, -0.5, size - 0.5)
        places.append(place if padding_mode == 0 else place.clamp(0, size - 1))
    flat, result = x.flatten(2), 0
    for corner in itertools.product(*[(0, 1) if interpolation_mode == 0 else (0,)] * 3):
        index, weight, inside = 0, 1, True
        for size, place, above in zip(sizes, places, corner):
            low = torch.floor(place) if interpolation_mode == 0 else torch.round(place)
            at = low + above
            if interpolation_mode == 0:
                weight = weight * (place - low if above else 1 - (place - low))
            inside = inside & (at >= 0) & (at < size)
            index = index * size + at.clamp(0, size - 1).to(torch.int64)
        taken = flat.gather(2, index.flatten(1).unsqueeze(1).expand(-1, x.shape[1], -1)).view(*x.shape[:2], *grid.shape[1:4])
        weight = weight.unsqueeze(1) if interpolation_mode == 0 else 1.0
        result = result + torch.where(inside.unsqueeze(1), taken * weight, 0.0)
    return result


DECOMPOSITIONS[aten.grid_sampler_3d.default] = grid_sampler_3d
