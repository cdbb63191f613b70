# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results as long as the data say: elements that a mask has, unique ones. All are made of aten.nonzero, which torch-mlir has.

torch-mlir 20261001 does not end with a mask among indices.
"""

import torch

from torch_operators import registering

aten = torch.ops.aten
DECOMPOSITIONS = {}
_decomposes = registering(DECOMPOSITIONS)


@_decomposes(aten.masked_select.default)
def masked_select(x, mask):
    x, mask = torch.broadcast_tensors(x, mask)
    return x.flatten().index_select(0, torch.nonzero(mask.flatten()).squeeze(1))


@_decomposes(aten.index.Tensor)
def index_of_masks(x, indices):
    masks = [index for index in indices if index is not None and index.dtype in (torch.bool, torch.uint8)]
    if not masks:
        return NotImplemented
    if indices[0] is masks[0] and all(index is None for index in indices[1:]):
        rows = torch.nonzero(masks[0].flatten()).squeeze(1)
        return x.flatten(0, masks[0].dim() - 1).index_select(0, rows) if masks[0].dim() else NotImplemented
    found = []
    for index in indices:
        found += torch.nonzero(index).unbind(1) if index is not None and index.dtype in (torch.bool, torch.uint8) else [index]
    return aten.index.Tensor(x, found)


def _runs(x, starts, places, return_inverse, return_counts):
    """Of a vector in which equal elements stand together: the first of each run, which run the element is of that was at each place
    before, and how long the runs are. starts: where a run begins; places: None where nothing was moved."""
    first, nothing = torch.nonzero(starts).squeeze(1), x.new_empty(0, dtype=torch.int64)
    number = starts.to(torch.int64).cumsum(0) - 1
    inverse = number if places is None else torch.zeros_like(number).scatter(0, places, number)
    counts = torch.zeros_like(first).index_add(0, number, torch.ones_like(number)) if return_counts else nothing
    return x.index_select(0, first), inverse if return_inverse else nothing, counts


def _starts(x):
    return torch.cat([torch.ones_like(x[:1], dtype=torch.bool), x[1:] != x[:-1]])


@_decomposes(aten._unique2.default)
def unique(x, sorted=True, return_inverse=False, return_counts=False):
    values, places = torch.sort(x.flatten(), stable=True)
    values, inverse, counts = _runs(values, _starts(values), places, return_inverse, return_counts)
    return values, inverse.view(x.shape) if return_inverse else inverse, counts


@_decomposes(aten.unique_consecutive.default)
def unique_consecutive(x, return_inverse=False, return_counts=False, dim=None):
    if dim is not None and x.dim() != 1:
        return NotImplemented
    values, inverse, counts = _runs(x.flatten(), _starts(x.flatten()), None, return_inverse, return_counts)
    return values, inverse.view(x.shape) if return_inverse else inverse, counts


@_decomposes(aten.repeat_interleave.Tensor)
def repeat_interleave(repeats, *, output_size=None):
    size = repeats.sum().item() if output_size is None else output_size
    return torch.searchsorted(repeats.cumsum(0), torch.arange(size, device=repeats.device), right=True)


@_decomposes(aten.bincount.default)
def bincount(x, weights=None, minlength=0):
    if isinstance(x.shape[0], int) and not x.shape[0]:
        return torch.zeros(minlength, dtype=torch.int64 if weights is None else torch.float64, device=x.device)
    size = (x.max() + 1).clamp(min=minlength).item()
    values = torch.ones_like(x, dtype=torch.int64) if weights is None else weights if weights.dtype == torch.float32 else weights.to(torch.float64)
    return values.new_zeros(size).index_add(0, x.to(torch.int64), values)
