# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention: what is right, and PyTorch's, cuDNN's and FlashAttention's."""

import re

import numpy

F32 = 2.0**-24  # unit roundoffs
TINY = 2.0**-25  # half of the smallest f16
ROWS = 1024  # of scores, at a time


def exp(x):
    return numpy.exp(x) if isinstance(x, numpy.ndarray) else x.exp()


def largest(x):
    best = x.max(-1)
    return (best if isinstance(x, numpy.ndarray) else best.values)[..., None]


def window_of(function):
    """How many keys a query sees at most; None: all."""
    found = re.search(r"_window_(\d+)", function)
    return int(found[1]) if found else None


def rows(q, k, v, first, causal, roundoff, window=None):
    """Of the queries from `first` on: results, and how far off they may be.

    A score is a sum of d products in f32, so that a weight is off by twice that of its own and the largest score; weights
    and the result are rounded to the type of the values, their sums of n terms are f32.
    """
    depth, keys = q.shape[-1], k.shape[0]
    scores, sizes = q @ k.T * depth**-0.5, abs(q) @ abs(k).T * depth**-0.5
    if causal:
        for row in range(q.shape[0]):
            scores[row, first + row + 1:] = -numpy.inf
            if window:
                scores[row, :max(0, first + row + 1 - window)] = -numpy.inf
    power = exp(scores - largest(scores))
    weights = power / power.sum(-1)[..., None]
    result = weights @ v
    off = 4 * (depth + 8) * F32 * largest(sizes) + 2 * roundoff + (keys + 64) * F32
    return result, off * (weights @ abs(v)) + 2 * roundoff * abs(result) + TINY


def gathered(pool, table):
    """Heads x keys x depth, of one sequence's pages."""
    pages = table.reshape(-1).astype(int) if isinstance(table, numpy.ndarray) else table.reshape(-1).long()
    return pool[pages].reshape((-1,) + tuple(pool.shape[2:])).swapaxes(0, 1)


def numbers_of(function, numbers):
    """The table of pages and the lengths among the operands behind the values, None for what there is not."""
    numbers = list(numbers)
    table = numbers.pop(0) if "pages" in function else None
    return table, numbers.pop(0) if "lengths" in function else None


def reference(function, q, k, v, *numbers):
    table, lengths = numbers_of(function, numbers)
    if len(q.shape) > 3 and (table is not None or lengths is not None):  # sequence by sequence
        result, bound = 0.0 * q, 0.0 * q
        for number in range(q.shape[0]):
            keys, values = (x[number] if table is None else gathered(x, table[number]) for x in (k, v))
            if lengths is not None:
                keys, values = (x[:, :int(lengths[number])] for x in (keys, values))
            result[number], bound[number] = reference(function.split("_lengths")[0].split("_pages")[0] + "_causal" * ("causal" in function),
                                                      q[number], keys, values)
        return result, bound
    result, bound = 0.0 * q, 0.0 * q
    group = q.shape[1] if len(q.shape) == 4 else 1
    heads = [x.reshape((-1, x.shape[-2], x.shape[-1])) for x in (q, result, bound)]
    roundoff = 2.0**-8 if function.startswith("bf16") else 2.0**-11
    for head in range(heads[0].shape[0]):
        for first in range(0, q.shape[-2], ROWS):
            part = slice(first, first + ROWS)
            heads[1][head, part], heads[2][head, part] = rows(heads[0][head, part], k[head // group], v[head // group], first,
                                                              "causal" in function, roundoff, window_of(function))
    return heads[1].reshape(q.shape), heads[2].reshape(q.shape)


def as_torch(function, q, k, v, *numbers):
    """(batch, heads, tokens, depth), and the options of scaled_dot_product_attention."""
    if numbers:
        raise ValueError("takes no pages and no lengths")
    grouped = q.dim() == 4
    if grouped:
        q = q.flatten(0, 1)
    return [x.unsqueeze(0) for x in (q, k, v)], dict(is_causal="causal" in function, enable_gqa=grouped)


def sdpa(function, q, k, v, *numbers, backend=None):
    """PyTorch's, by the back end that it chooses, or by one of them."""
    if window_of(function):
        raise ValueError("takes no window")
    import contextlib

    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    operands, options = as_torch(function, q, k, v, *numbers)

    def call():
        with sdpa_kernel(getattr(SDPBackend, backend)) if backend else contextlib.nullcontext():
            return scaled_dot_product_attention(*operands, **options).reshape(q.shape)
    return call


def cudnn(function, *operands):
    return sdpa(function, *operands, backend="CUDNN_ATTENTION")


def flash(function, *operands):
    """FlashAttention 2, as PyTorch has it."""
    return sdpa(function, *operands, backend="FLASH_ATTENTION")


def flash3(function, q, k, v, *numbers):
    """FlashAttention 3, where its package is installed; it takes tokens in front of heads."""
    from flash_attn_interface import flash_attn_func

    operands, options = as_torch(function, q, k, v, *numbers)
    operands = [x.transpose(1, 2).contiguous() for x in operands]
    window = window_of(function)
    before = window - 1 if window else -1

    def call():
        out = flash_attn_func(*operands, causal=options["is_causal"], window_size=(before, -1))
        return (out[0] if isinstance(out, tuple) else out).transpose(1, 2).reshape(q.shape)
    return call


PEERS = {"sdpa": sdpa, "cudnn": cudnn, "flash": flash, "flash3": flash3}
