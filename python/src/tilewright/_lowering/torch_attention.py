# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aten.scaled_dot_product_attention in ops that become one kernel of the type of its operands.

PyTorch's own decomposition widens f16 and bf16 to f32 and computes all of it there, which no tensor core does. This one has the
arithmetic of FlashAttention: scores, mask and softmax in f32, and probabilities rounded to the operands' type for the second product.
"""

import torch


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """Shapes as PyTorch has them: query (..., heads, L, E), key (..., groups, S, E), value (..., groups, S, Ev)."""
    if dropout_p or query.dim() < 2 or not query.dtype.is_floating_point:
        return NotImplemented
    if enable_gqa:
        key, value = (_repeated(operand, query.shape[-3]) for operand in (key, value))
    wide = torch.float64 if query.dtype == torch.float64 else torch.float32
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.matmul(query.to(wide), key.to(wide).transpose(-2, -1)) * scale
    if is_causal:
        rows, columns = (torch.arange(size, device=query.device) for size in scores.shape[-2:])
        scores = scores.masked_fill(columns[None, :] > rows[:, None], float("-inf"))
    if attn_mask is None:
        weights = torch.softmax(scores, -1)
    else:
        masked = scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask.to(wide)
        weights = torch.ops.aten._safe_softmax(masked, -1)
    return torch.matmul(weights.to(query.dtype), value)


def _repeated(operand, heads):
    """Each of the groups for all heads that share it: (..., groups, S, E) as (..., heads, S, E)."""
    *batch, groups, length, depth = operand.shape
    if groups == heads:
        return operand
    repeated = operand.unsqueeze(-3).expand(*batch, groups, heads // groups, length, depth)
    return repeated.reshape(*batch, heads, length, depth)


DECOMPOSITIONS = {torch.ops.aten.scaled_dot_product_attention.default: scaled_dot_product_attention}
