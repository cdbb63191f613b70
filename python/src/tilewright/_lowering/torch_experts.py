# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixtures of experts: products of groups of rows, each with the matrix of its expert.

Transformers sorts the rows by expert and calls `_grouped_mm(rows, matrices, offsets)`, or an operator of its own with the same meaning,
where offsets[e] is the row behind the last of expert e. Rows behind the last offset are zeros here; PyTorch leaves them open.
"""

import torch

aten = torch.ops.aten

#: Up to so many rows an expert each row reads its own matrix, as in a step of decoding; more rows are one product.
ROWS_PER_EXPERT = 4


def _grouped_mm(rows, matrices, offs=None, bias=None, out_dtype=None):
    if rows.dim() != 2 or matrices.dim() != 3 or offs is None or bias is not None:
        return NotImplemented
    count, (experts, depth, width) = rows.shape[0], matrices.shape
    of = (torch.arange(count, device=rows.device).unsqueeze(1) >= offs.unsqueeze(0)).sum(-1)
    if isinstance(count, int) and count <= ROWS_PER_EXPERT * experts:
        chosen = aten.index_select.default(matrices, 0, of.clamp(max=experts - 1))
        products = aten.bmm.default(rows.unsqueeze(1), chosen).squeeze(1)
        result = torch.where((of < experts).unsqueeze(1), products, torch.zeros_like(products))
    else:
        # [rows of expert 0 or zeros, rows of expert 1 or zeros, …] times all matrices, one below the other.
        belongs = of.unsqueeze(1) == torch.arange(experts, device=rows.device)
        apart = rows.unsqueeze(1).expand(count, experts, depth)
        spread = torch.where(belongs.unsqueeze(2), apart, torch.zeros_like(apart))
        result = aten.mm.default(spread.reshape(count, experts * depth), matrices.reshape(experts * depth, width))
    return result if out_dtype is None else result.to(out_dtype)


def _define_fallback():
    """The operator that Transformers defines for what PyTorch's does not take; programs that have it are read without Transformers."""
    if not hasattr(torch.ops.transformers, "grouped_mm_fallback"):
        torch.library.define("transformers::grouped_mm_fallback", "(Tensor input, Tensor weight, Tensor offs) -> Tensor")
        torch.library.register_fake("transformers::grouped_mm_fallback",
                                    lambda input, weight, offs: input.new_empty(input.shape[0], weight.shape[2]))
    return torch.ops.transformers.grouped_mm_fallback.default


DECOMPOSITIONS = {aten._grouped_mm.default: _grouped_mm, _define_fallback(): _grouped_mm}
