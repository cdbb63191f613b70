# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as frameworks spell it, in linalg: the programs of test/Compiler/Inputs/attention-spellings.mlir, held against
NumPy. Bounds are those of families/attention.py; where a text rounds scores, the oracle does, and each rounding of a score is
one of the weight's exponent."""

import pathlib
import re

import numpy as np

from data import BF16, F16, F32, I1, I64, choice, integers, uniform
from families.attention import numpy_attention, visible
from functions import Function, Value, relative

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "Compiler/Inputs/attention-spellings.mlir"
ELEMENTS = {x.name: x for x in (F16, BF16, F32, I64, I1)}
ROUNDINGS = 4  # of a score in a text of 16 bits, at most
# lavapipe compiles each for seconds: few go there.
ON_VULKAN = ("onnx_boolean", "torch_f16", "llama_half")


class Spelling(Function):
    """A function of the file: its text, with maps in place of their names."""

    def __init__(self, name, source, aliases):
        head = re.search(rf"^func\.func @{name}\((.*)\) -> (.*) {{$", source, re.M)
        body = source[head.end():source.index("\n}\n", head.end())]
        arguments = re.findall(r"(%\w+): tensor<([\dx]*)x(\w+)>", head[1])
        shapes = [[int(size) for size in shape.split("x")] for _, shape, _ in arguments]
        targets = () if name in ON_VULKAN else ("cuda", "cpu", "cpu-reference")
        super().__init__("attention_spellings", arguments[0][2], name, {}, targets=targets)
        self.args = [Value(name, ELEMENTS[element], shape) for (name, _, element), shape in zip(arguments, shapes)]
        expanded = re.sub(r"#[a-z]\w*", lambda alias: aliases[alias[0]], body)
        self.written = f"  func.func @{self.symbol}({head[1]}) -> {head[2]} {{{expanded}\n  }}"

    def text(self):
        return self.written

    def case(self, label, fills, check, reference):
        self.sizes = {size: size for arg in self.args for size in arg.dims}
        super().case(label, {}, fills, check, reference)


def repeated(x):
    return np.repeat(x, 2, axis=1)


def heads_first(x):
    return np.transpose(x, [0, 2, 1, 3])


def plain(q, k, v, mask=None, causal=None, window=None, softcap=0):
    return numpy_attention(q, k, v, mask, 0.25, causal, window, softcap)[0]


def up_to(lengths, i, j):
    """Keys that the last of i queries sees up to one of its image, which may be behind the last one, each other one less."""
    ends = np.asarray(lengths, np.int64)[:, None, None, None]
    own = np.arange(i)[:, None] + ends - i
    return (np.arange(j) <= own) & (np.arange(j) < ends)


def behind(past, left, i, j):
    """Keys up to that of a query behind a past, and `left` in front of it."""
    own = np.arange(i)[:, None] + past
    return (np.arange(j) <= own) & (np.arange(j) >= own - left)


def added_to_filled(q, k, v, mask, hidden):
    """Keys behind a query have a score that is finite, and all have the mask's numbers."""
    scores = np.where(visible("top_left", None, q.shape[-2], k.shape[-2]), np.einsum("...id,...jd->...ij", q, k) * 0.25, hidden) + mask
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("...ij,...je->...ie", p / p.sum(axis=-1, keepdims=True), v)


def filled(q, k, v, seen, hidden):
    """Hidden keys have a score that is finite."""
    scores = np.where(seen, np.einsum("...id,...jd->...ij", q, k) * 0.25, hidden)
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("...ij,...je->...ie", p / p.sum(axis=-1, keepdims=True), v)


REFERENCES = {
    "onnx_plain": plain, "onnx_half": plain, "torch_f16": plain, "torch_bf16": plain, "one_query_a_head": plain,
    "onnx_causal": lambda q, k, v: plain(q, k, v, causal="top_left"),
    "onnx_causal_half": lambda q, k, v: plain(q, k, v, causal="top_left"),
    "gpt2_causal": lambda q, k, v: plain(q, k, v, causal="top_left"),
    "gpt2_masked_bias": lambda q, k, v, m: added_to_filled(q, k, v, m[:, None, None], -1e4),
    "onnx_boolean": lambda q, k, v, m: plain(q, k, v, m != 0),
    "torch_safe": lambda q, k, v, m: plain(q, k, v, m != 0),
    "guarded_sums": lambda q, k, v, m: plain(q, k, v, m != 0),
    "onnx_window": lambda q, k, v: plain(q, k, v, causal="top_left", window=(5, 0)),
    "jax_window": lambda q, k, v: plain(q, k, v, causal="top_left", window=(5, 0)),
    "onnx_lengths": lambda q, k, v, n: plain(q, k, v, up_to(n, q.shape[-2], k.shape[-2])),
    "onnx_both_sides": lambda q, k, v: plain(q, k, v, window=(5, 3)),
    "onnx_past": lambda q, k, v, past_k, past_v: plain(q, np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2),
                                                       causal="bottom_right"),
    "onnx_past_window": lambda q, k, v, past_k, past_v: plain(q, np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2),
                                                              behind(16, 5, q.shape[-2], past_k.shape[-2] + k.shape[-2])),
    "onnx_scores": lambda q, k, v: (plain(q, k, v), np.einsum("...id,...jd->...ij", q, k) * 0.25),
    "onnx_softcap": lambda q, k, v, m: plain(q, k, v, m, softcap=2.0),
    "bert_padding": lambda q, k, v, m: plain(q, k, v, (1 - m)[:, None, None] * -10000),
    "torch_masked_fill": lambda q, k, v, m: filled(q, k, v, m[:, None, None] != 0, -1e9),
    "torch_masked_fill_bf16": lambda q, k, v, m: filled(q, k, v, m[:, None, None] != 0, -1e9),
    "alibi_causal": lambda q, k, v, m: plain(q, k, v, m[:, None, None] * (np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]),
                                             causal="top_left"),
    "llama_half": lambda q, k, v, m: heads_first(plain(q, repeated(k), repeated(v), m)),
    "llama_causal": lambda q, k, v: plain(q, repeated(k), repeated(v), causal="top_left"),
    "einsum_tokens_first": lambda q, k, v: heads_first(plain(heads_first(q), heads_first(k), heads_first(v))),
    "one_query": lambda q, k, v: plain(q, repeated(k), repeated(v)),
    "one_query_projected": lambda q, k, v, w: plain(q, k, v).reshape(2, 64) @ w,
    "log_sum_exp": lambda q, k, v: numpy_attention(q, k, v, None, 0.25, None, None, 0),
    "log_sum_exp_f16": lambda q, k, v: numpy_attention(q, k, v, None, 0.25, None, None, 0),
}


def functions():
    source = SOURCE.read_text()
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", source, re.M))
    for name, reference in REFERENCES.items():
        f = Spelling(name, source, aliases)
        q, k = f.args[0], f.args[1]
        score = q.dims[-1] * 0.25
        f32 = 2.0 ** -23 * (score * q.dims[-1] + 64)
        eps = q.element.eps if q.element.bits < 32 else 0
        check = relative(2 * eps + f32 + 2 * ROUNDINGS * score * eps, 4 * q.element.eps * 2.0 ** -14)
        fills = [uniform(-1, 1), uniform(-1, 1), uniform(0.25, 2)]
        if name == "onnx_scores":  # sums that do not cancel
            fills[:2] = [uniform(0.25, 1), uniform(0.25, 1)]
        if name.startswith("onnx_past"):
            fills += [uniform(-1, 1), uniform(0.25, 2)]
        masks = [None]
        if name == "one_query_projected":
            fills.append(uniform(0.25, 1))
        elif len(f.args) == 4:
            masks = [uniform(-2, 0)] if f.args[3].element.is_float else [choice(0, 1), integers(0, 0)]
            masks = [choice(0, 1)] if name == "bert_padding" else masks
            masks = [choice(0, 7, 24, 33, 40), choice(-3, 41, 64, 70)] if name == "onnx_lengths" else masks
        for number, mask in enumerate(masks):
            own = fills + ([mask] if mask else [])

            def rounded(*arrays, reference=reference, element=q.element):
                results = reference(*arrays)
                results = results if isinstance(results, tuple) else (results,)
                return [element.round(x) for x in results]
            label = "far" if number and name == "onnx_lengths" else ["plain", "all_hidden"][number]
            f.case(label, own, check, rounded)
        yield f
