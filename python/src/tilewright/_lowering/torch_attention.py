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
    scores = _scores(query, key, attn_mask, is_causal, scale)
    weights = torch.softmax(scores, -1) if attn_mask is None else torch.ops.aten._safe_softmax(scores, -1)
    return torch.matmul(weights.to(query.dtype), value)


def _scores(query, key, attn_mask, is_causal, scale):
    wide = torch.float64 if query.dtype == torch.float64 else torch.float32
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.matmul(query.to(wide), key.to(wide).transpose(-2, -1)) * scale
    if is_causal:
        rows, columns = (torch.arange(size, device=query.device) for size in scores.shape[-2:])
        scores = scores.masked_fill(columns[None, :] > rows[:, None], float("-inf"))
    if attn_mask is None:
        return scores
    return scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask.to(wide)


def flash_attention_for_cpu(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    """Also the logarithms of the sums of a softmax, for which PyTorch's decomposition has its weights. Results lie with heads inside
    of rows, as views behind it expect."""
    is_grouped = query.shape[1] != key.shape[1]
    result = scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=is_grouped)
    if result is NotImplemented:
        return NotImplemented
    key = _repeated(key, query.shape[1]) if is_grouped else key
    sums = torch.logsumexp(_scores(query, key, attn_mask, is_causal, scale), -1)
    return result.permute(2, 0, 1, 3).contiguous().permute(1, 2, 0, 3), sums


def _repeated(operand, heads):
    """Each of the groups for all heads that share it: (..., groups, S, E) as (..., heads, S, E)."""
    *batch, groups, length, depth = operand.shape
    if groups == heads:
        return operand
    repeated = operand.unsqueeze(-3).expand(*batch, groups, heads // groups, length, depth)
    return repeated.reshape(*batch, heads, length, depth)


DECOMPOSITIONS = {torch.ops.aten.scaled_dot_product_attention.default: scaled_dot_product_attention,
                  torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default: flash_attention_for_cpu}
