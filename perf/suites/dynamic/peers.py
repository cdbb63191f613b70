# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products and convolutions of any number of rows or images, or images of any size, halves with f32 sums: what is right, and PyTorch's."""

EPSILON = 2.0**-24  # unit roundoff of f32
F16 = 2.0**-11
TINY = 2.0**-25  # half of the smallest f16


def reference(function, a, b):
    """In f64; an f32 sum of K exact products is off by at most (K + 8) u * sum |a b|; a convolution's is rounded to f16."""
    if a.ndim == 2:
        return a @ b, (a.shape[-1] + 8) * EPSILON * (abs(a) @ abs(b))
    taps, _, channels, _ = b.shape
    rows, columns = a.shape[1] - taps + 1, a.shape[2] - taps + 1
    result = size = 0
    for i in range(taps):
        for j in range(taps):
            part = a[:, i:i + rows, j:j + columns]
            result = result + part @ b[i, j]
            size = size + abs(part) @ abs(b[i, j])
    return result, (taps * taps * channels + 8) * EPSILON * size + 1.001 * F16 * abs(result) + TINY


def torch_halves(function, a, b):
    """cuBLAS's product with f32 results; cuDNN's convolution with halves."""
    import torch

    if a.dim() == 2:
        return lambda: torch.mm(a, b, out_dtype=torch.float32)
    image = a.permute(0, 3, 1, 2)
    filters = b.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return lambda: torch.nn.functional.conv2d(image, filters).permute(0, 2, 3, 1)


PEERS = {"torch_halves": torch_halves}
