# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of halves with f32 sums that are rounded to halves, NHWC: what is right, and PyTorch's."""

import numpy

EPSILON = 2.0**-24  # unit roundoff of f32
F16 = 2.0**-11
TINY = 2.0**-25  # half of the smallest f16


def geometry(function, side, taps):
    """Stride, and the padding in front and behind, that give a result of the side over the stride."""
    stride = 2 if function.endswith("_s2") or function.endswith("stem") else 1
    low = (taps - 1) // 2
    return stride, low, max(0, (side // stride - 1) * stride + taps - low - side)


def pad(x, low, high):
    if isinstance(x, numpy.ndarray):
        return numpy.pad(x, ((0, 0), (low, high), (low, high), (0, 0)))
    import torch

    return torch.nn.functional.pad(x, (0, 0, low, high, low, high))


def reference(function, x, w):
    """In f64; an f32 sum of K exact products is off by at most (K + 8) u * sum |x w|, and is rounded to f16."""
    taps, _, channels, _ = w.shape
    stride, low, high = geometry(function, x.shape[1], taps)
    padded = pad(x, low, high)
    side = x.shape[1] // stride
    result = size = 0
    for i in range(taps):
        for j in range(taps):
            part = padded[:, i:i + (side - 1) * stride + 1:stride, j:j + (side - 1) * stride + 1:stride]
            result = result + part @ w[i, j]
            size = size + abs(part) @ abs(w[i, j])
    return result, (taps * taps * channels + 8) * EPSILON * size + 1.001 * F16 * abs(result) + TINY


def cudnn_halves(function, x, w):
    """PyTorch's convolution of channels-last halves, which is cuDNN's, and pads where it reads, too: as much in front as
    behind, where nothing is read beyond what ours has there."""
    import torch

    stride, low, _ = geometry(function, x.shape[1], w.shape[0])
    image = x.permute(0, 3, 1, 2)
    filters = w.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return lambda: torch.nn.functional.conv2d(image, filters, stride=stride, padding=low).permute(0, 2, 3, 1)


PEERS = {"cudnn_halves": cudnn_halves}
