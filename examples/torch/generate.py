#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates text by a language model of Transformers: one program, for a prompt of any length and for a token at a time.

    pip install tilewright[torch] transformers
    python examples/torch/generate.py                              # a small Llama with random weights, beside PyTorch
    python examples/torch/generate.py --model FOLDER --prompt 'Once upon a time'
    python examples/torch/generate.py --target=cuda:sm_80 --device=ptxsim --tokens=3

The caches of keys and values are arguments that the model writes in place: they stay on the device, a step writes the row of its
token into each and reads them, and only tokens and logits move.
"""

import argparse
import time

import numpy as np
import tilewright
import torch
import transformers
from transformers.cache_utils import Cache, StaticLayer


def static_cache(tensors, position):
    """Keys and values of each layer, in turns, as a cache that the model writes from `position` on."""
    layers = []
    for keys, values in zip(tensors[::2], tensors[1::2]):
        layer = StaticLayer(keys.shape[2])
        layer.keys, layer.values, layer.device, layer.is_initialized = keys, values, keys.device, True
        layer.cumulative_length = position.clone()
        layers.append(layer)
    return Cache(layers=layers)


class Decoder(torch.nn.Module):
    """(tokens, the position of the first, keys and values of each layer) -> logits of the next token"""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, position, *caches):
        return self.model(input_ids=tokens, cache=static_cache(caches, position), use_cache=True, logits_to_keep=1).logits[:, -1]


def small_llama():
    torch.manual_seed(0)
    config = transformers.LlamaConfig(vocab_size=101, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2)
    return transformers.LlamaForCausalLM(config).eval()


def compiled(model, target, length):
    """The program, and caches of `length` tokens for it."""
    cache = transformers.DynamicCache()
    with torch.no_grad():  # which shapes the caches have the model knows
        model(torch.zeros(1, 1, dtype=torch.long), cache=cache, use_cache=True)
    caches = [torch.zeros(1, each.shape[1], length, each.shape[3], dtype=each.dtype) for layer in cache.layers
              for each in (layer.keys, layer.values)]
    shapes = {"tokens": {1: torch.export.Dim("length", max=length - 1)}, "position": None, "caches": (None,) * len(caches)}
    with torch.no_grad():
        program = tilewright.from_torch(Decoder(model), (torch.zeros(1, 5, dtype=torch.long), torch.tensor(0), *caches),
                                        dynamic_shapes=shapes, target=target)
    return program, caches


def generate(program, caches, prompt, count, device):
    """`count` tokens behind `prompt`, the most probable each."""
    caches = [tilewright.asarray(cache, device=device) for cache in caches]
    tokens, position, generated = np.array([prompt]), 0, []
    while True:
        logits = program(tokens, np.array(position), *caches, device=device)
        generated.append(int(logits.numpy().argmax()))
        if len(generated) == count:
            return generated
        position += tokens.shape[1]
        tokens = np.array([[generated[-1]]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="what Transformers' from_pretrained takes; without it, a small one with random weights")
    parser.add_argument("--prompt", default="Once upon a time")
    parser.add_argument("--tokens", type=int, default=20, help="how many to generate (%(default)s)")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if options.model:
        tokenizer = transformers.AutoTokenizer.from_pretrained(options.model)
        model = transformers.AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32).eval()
        prompt = tokenizer(options.prompt)["input_ids"]
    else:
        model, prompt = small_llama(), list(range(7, 16))
    program, caches = compiled(model, options.target, len(prompt) + options.tokens)
    start = time.perf_counter()
    generated = generate(program, caches, prompt, options.tokens, options.device)
    print(f"{options.tokens} tokens in {time.perf_counter() - start:.2f} s on {options.device}")
    print(tokenizer.decode(generated) if options.model else generated)
    with torch.no_grad():
        expected = model.generate(torch.tensor([prompt]), max_new_tokens=options.tokens, min_new_tokens=options.tokens, do_sample=False)
    agree = generated == expected[0, len(prompt):].tolist()
    print("tokens agree with PyTorch's" if agree else f"PyTorch has {expected[0, len(prompt):].tolist()}")
    return 0 if agree else 1


if __name__ == "__main__":
    raise SystemExit(main())
