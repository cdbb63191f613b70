# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixtures of experts: products of groups of rows, each with the matrix of its expert.

Transformers sorts the rows by expert and calls `_grouped_mm(rows, matrices, offsets)`, or an operator of its own with the same meaning,
where offsets[e] is the row behind the last of expert e. Rows behind the last offset are zeros here; PyTorch leaves them open.
"""

import torch

aten = torch.ops.aten

#: Rows of an expert that are multiplied by its matrix at once, at least and at most: those of another expert begin a new block.
LEAST_ROWS, MOST_ROWS = 16, 128


def _grouped_mm(rows, matrices, offs=None, bias=None, out_dtype=None):
    if rows.dim() != 2 or matrices.dim() != 3 or offs is None or bias is not None:
        return NotImplemented
    count, experts = rows.shape[0], matrices.shape[0]
    of = (torch.arange(count, device=rows.device).unsqueeze(1) >= offs.to(torch.int64).unsqueeze(0)).sum(-1)
    expert = of.clamp(max=experts - 1)
    if isinstance(count, int) and count <= experts:
        # Each row reads its own matrix, as in a step of decoding.
        chosen = aten.index_select.default(matrices, 0, expert)
        products = aten.bmm.default(rows.unsqueeze(1), chosen).squeeze(1)
    else:
        products = _by_blocks(rows, matrices, offs, expert)
    result = torch.where((of < experts).unsqueeze(1), products, torch.zeros_like(products))
    return result if out_dtype is None else result.to(out_dtype)


def _rows_of_a_block(count, experts):
    """About as many as an expert has."""
    if not isinstance(count, int):
        return MOST_ROWS
    rows = LEAST_ROWS
    while rows < MOST_ROWS and rows * experts < count:
        rows *= 2
    return rows


def _by_blocks(rows, matrices, offs, expert):
    """Blocks of rows of one expert, the last of each filled up with others, times the matrices of their experts."""
    count, (experts, _, width) = rows.shape[0], matrices.shape
    size = _rows_of_a_block(count, experts)
    blocks = (count + size - 1) // size + experts  # at most
    ends = offs.to(torch.int64)
    number = torch.arange(experts, device=rows.device)
    begins = torch.where(number > 0, offs.index_select(0, (number - 1).clamp(min=0)).to(torch.int64), torch.zeros_like(ends))
    per_expert = aten.__rshift__.Scalar(ends - begins + size - 1, size.bit_length() - 1)
    # The block behind the last of an expert; a sum over pairs is one kernel with what is in it.
    behind = torch.where(number.unsqueeze(0) <= number.unsqueeze(1), per_expert.unsqueeze(0), torch.zeros_like(ends).unsqueeze(0)).sum(-1)
    first = behind - per_expert
    block = torch.arange(blocks, device=rows.device)
    owner = (block.unsqueeze(1) >= behind.unsqueeze(0)).sum(-1).clamp(max=experts - 1)
    start = begins.index_select(0, owner) + (block - first.index_select(0, owner)) * size
    row = (start.unsqueeze(1) + torch.arange(size, device=rows.device)).clamp(max=count - 1)
    apart = aten.index.Tensor(rows, [row])
    chosen = aten.index_select.default(matrices, 0, owner)
    products = aten.bmm.default(apart, chosen).reshape(blocks * size, width)
    place = first.index_select(0, expert) * size + torch.arange(count, device=rows.device) - begins.index_select(0, expert)
    # Of rows behind the last expert's there may be no block.
    return aten.index_select.default(products, 0, place.clamp(max=blocks * size - 1))


def _define_fallback():
    """The operator that Transformers defines for what PyTorch's does not take; programs that have it are read without Transformers."""
    if not hasattr(torch.ops.transformers, "grouped_mm_fallback"):
        torch.library.define("transformers::grouped_mm_fallback", "(Tensor input, Tensor weight, Tensor offs) -> Tensor")
        torch.library.register_fake("transformers::grouped_mm_fallback",
                                    lambda input, weight, offs: input.new_empty(input.shape[0], weight.shape[2]))
    return torch.ops.transformers.grouped_mm_fallback.default


DECOMPOSITIONS = {aten._grouped_mm.default: _grouped_mm, _define_fallback(): _grouped_mm}
