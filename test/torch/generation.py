# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is done with language models beside one call of one size: {"llama@dynamic": function that gives a Case}.

    @dynamic        a program of any number of sequences and tokens, called with several
    @decode         a prompt, then greedy steps of a token each: caches go in and out of the step, a token longer each time
                    of those with an encoder (t5, bart, whisper) the prompt has its input, too, and the step keys and values of all
                    that it gave
    @chunks         sequences that are padded in front, in parts of any length: one program, whose caches are of any length, also empty
    @static-cache   a prompt and steps with caches of 32 tokens that both programs write in place, at a position that is an argument

Each is driven twice, by PyTorch's modules and by compiled programs, and all results are compared.
"""

import dataclasses
import functools
import inspect
import pathlib
import sys
from typing import Callable

import torch

from model_list import MODELS, VOCABULARY

sys.path.append(str(pathlib.Path(__file__).parents[2] / "examples/torch"))

BATCH, LENGTH, OTHER_LENGTH, PAST, ENCODED = (torch.export.Dim(name, max=most) for name, most in
                                              (("batch", 1024), ("length", 63), ("other_length", 63), ("past", 60), ("encoded", 63)))
SIZES = ((2, 24), (1, 1), (2, 7), (3, 63), (1, 33))  # 64 tokens are all that some models know, and another program for them
STEPS = 20
MOST = 32  # tokens of a static cache


@dataclasses.dataclass
class Case:
    """programs: {name: (module, tensors, dynamic_shapes)}; drive(call) gives tensors, call(name, *tensors) results of a program."""

    programs: dict
    drive: Callable


def once(name):
    module, tensors = MODELS[name]()
    return Case({"main": (module, tensors, None)}, lambda call: call("main", *tensors))


def random_tokens(batch, length):
    return torch.randint(0, VOCABULARY, (batch, length), generator=torch.Generator().manual_seed(100 * batch + length))


def dynamic(name):
    module, tensors = MODELS[name]()
    lengths = [LENGTH if tensor.shape[1] == tensors[0].shape[1] else OTHER_LENGTH for tensor in tensors]

    def made(what, dim, batch, length):
        length = length if dim is LENGTH else length // 2 + 1
        if what == "attention_mask":
            return (torch.arange(length) <= torch.arange(batch).unsqueeze(1)).long().flip(1)
        return random_tokens(batch, length)

    def drive(call):
        return [result for size in SIZES for result in call("main", *(made(what, dim, *size) for what, dim in zip(module.names, lengths)))]

    return Case({"main": (module, tensors, {"tensors": tuple({0: BATCH, 1: dim} for dim in lengths)})}, drive)


def growing_cache(tensors):
    """Keys and values of each layer, in turns, as a cache that the model adds to."""
    from transformers import DynamicCache
    return DynamicCache(list(zip(tensors[::2], tensors[1::2]))) if tensors else DynamicCache()


def held_by(cache):
    return (tensor for layer in cache.layers for tensor in (layer.keys, layer.values))


class Step(torch.nn.Module):
    """(tokens, keys and values of each layer) -> (logits, keys and values that have the new tokens, too)"""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, *past):
        cache = growing_cache(past)
        logits = self.model(input_ids=tokens, cache=cache, use_cache=True).logits
        return logits, *held_by(cache)


def greedy(logits):
    return logits[:, -1:].argmax(-1)


def decode(name):
    module = Step(MODELS[name]()[0].model)
    prompt = random_tokens(2, 5)
    with torch.no_grad():
        past = module(prompt)[1:]

    def drive(call):
        results = []
        for size in ((2, 5), (1, 1), (3, 17)):
            logits, *caches = call("prompt", random_tokens(*size))
            results.append(logits)
            for _ in range(STEPS):
                logits, *caches = call("step", greedy(logits), *caches)
                results.append(logits)
            results += caches
        return results

    return Case({"prompt": (module, (prompt,), {"tokens": {0: BATCH, 1: LENGTH}}),
                 "step": (module, (prompt[:, :1], *past), {"tokens": {0: BATCH}, "past": tuple({0: BATCH, 2: PAST} for _ in past)})}, drive)


class Decoder(torch.nn.Module):
    """(input of the encoder, tokens) -> (logits, keys and values of each layer's tokens, and of what the encoder gave);
    (tokens, those) -> (logits, keys and values of each layer that have the new tokens, too)"""

    def __init__(self, model, name):
        super().__init__()
        self.model, self.name = model, name

    def forward(self, *tensors):
        from transformers import DynamicCache, EncoderDecoderCache
        from transformers.modeling_outputs import BaseModelOutput
        if len(tensors) == 2:
            given = {self.name: tensors[0], "decoder_input_ids": tensors[1]}
            cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        else:
            pairs = list(zip(tensors[1::2], tensors[2::2]))
            own, other = pairs[:len(pairs) // 2], pairs[len(pairs) // 2:]
            keys = other[0][0]
            # Nothing of what the encoder gave is read but its shape.
            hidden = keys.new_zeros(keys.shape[0], keys.shape[2], self.model.config.hidden_size)
            given = {"encoder_outputs": BaseModelOutput(last_hidden_state=hidden), "decoder_input_ids": tensors[0]}
            cache = EncoderDecoderCache(DynamicCache(own), DynamicCache(other))
        found = self.model(**given, cache=cache, use_cache=True)
        logits = found.logits if hasattr(found, "logits") else found.last_hidden_state @ self.model.get_input_embeddings().weight.t()
        caches = (cache.self_attention_cache, cache.cross_attention_cache)[:2 if len(tensors) == 2 else 1]
        return logits, *(tensor for each in caches for layer in each.layers for tensor in (layer.keys, layer.values))


def decode_of_encoded(name):
    module, (source, _) = MODELS[name]()
    module = Decoder(module.model, module.names[0])
    prompt = random_tokens(2, 3)
    with torch.no_grad():
        caches = module(source, prompt)[1:]
    half = len(caches) // 2
    is_text = source.dtype == torch.int64

    def drive(call):
        results = []
        for batch, length, count in ((2, 24, 3), (1, 9, 1), (3, 17, 5)):
            given = random_tokens(batch, length) if is_text else torch.randn(batch, *source.shape[1:], generator=torch.Generator().manual_seed(batch))
            logits, *caches = call("prompt", given, random_tokens(batch, count))
            results.append(logits)
            own, other = caches[:half], caches[half:]
            for _ in range(STEPS):
                logits, *own = call("step", greedy(logits), *own, *other)
                results.append(logits)
            results += own
        return results

    encoded = {0: BATCH, 2: ENCODED} if is_text else {0: BATCH}
    shapes = tuple({0: BATCH, 2: PAST} for _ in range(half)) + (encoded,) * half
    return Case({"prompt": (module, (source, prompt), {"tensors": ({0: BATCH, 1: LENGTH} if is_text else {0: BATCH}, {0: BATCH, 1: OTHER_LENGTH})}),
                 "step": (module, (prompt[:, :1], *caches), {"tensors": ({0: BATCH}, *shapes)})}, drive)


class Chunk(torch.nn.Module):
    """(tokens, which tokens count, keys and values of each layer) -> (logits, keys and values that have the new tokens, too)"""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, mask, *past):
        cache = growing_cache(past)
        positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, -tokens.shape[1]:]
        logits = self.model(input_ids=tokens, attention_mask=mask, position_ids=positions, cache=cache, use_cache=True).logits
        return logits, *held_by(cache)


def chunks(name):
    model = MODELS[name]()[0].model
    module = Chunk(model)
    with torch.no_grad():
        past = Step(model)(random_tokens(2, 5))[1:]

    def drive(call):
        results = []
        for batch, lengths in ((3, (9, 1, 1, 4, 1)), (1, (1, 7, 1, 1))):
            caches = [tensor.new_empty(batch, tensor.shape[1], 0, tensor.shape[3]) for tensor in past]
            mask = (torch.arange(sum(lengths)) >= torch.arange(batch).unsqueeze(1)).long()  # padded in front
            done = 0
            for length in lengths:
                done += length
                logits, *caches = call("main", random_tokens(batch, length), mask[:, :done].contiguous(), *caches)
                results.append(logits[-1])  # the others may have rows that see no token
            results += caches
        return results

    shapes = {"tokens": {0: BATCH, 1: LENGTH}, "mask": {0: BATCH, 1: torch.export.Dim.AUTO}, "past": tuple({0: BATCH, 2: PAST} for _ in past)}
    return Case({"main": (module, (random_tokens(2, 3), torch.ones(2, 8, dtype=torch.long), *past), shapes)}, drive)


class StaticStep(torch.nn.Module):
    """(tokens, the position of the first, keys and values of each layer, which it writes) -> logits"""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, position, *caches):
        from generate import static_cache
        options = {}
        if "position_ids" in inspect.signature(self.model.forward).parameters:  # some find them by numbers of the host, which nobody exports
            options["position_ids"] = (position + torch.arange(tokens.shape[1])).unsqueeze(0)
        return self.model(input_ids=tokens, cache=static_cache(caches, position), use_cache=True, **options).logits


def static_cache(name):
    model = MODELS[name]()[0].model
    module, start = StaticStep(model), torch.tensor(0)
    with torch.no_grad():
        shapes = [(*tensor.shape[1:2], MOST, *tensor.shape[3:]) for tensor in Step(model)(random_tokens(2, 5))[1:]]

    def caches(batch):
        return [torch.zeros(batch, *shape) for shape in shapes]

    def drive(call):
        results = []
        for batch, length in ((2, 5), (2, 1), (2, 12)):
            held = caches(batch)
            results += (logits := call("prompt", random_tokens(batch, length), start, *held))
            for step in range(STEPS):
                results += (logits := call("step", greedy(logits[0]), torch.tensor(length + step), *held))
            results += held
        return results

    none = (None,) * len(shapes)
    return Case({"prompt": (module, (random_tokens(2, 5), start, *caches(2)), {"tokens": {1: torch.export.Dim("prompt", max=MOST)}, "position": None, "caches": none}),
                 "step": (module, (random_tokens(2, 1), start, *caches(2)), None)}, drive)


CAUSAL = ("bloom", "cohere", "deepseek-v3", "falcon", "gemma", "gemma2", "glm", "gpt-j", "gpt-neo", "gpt-neox", "gpt-oss", "gpt2", "granite", "llama",
          "mistral", "mixtral", "mpt", "olmoe", "opt", "phi", "phi3", "qwen2", "qwen2-moe", "qwen3")
OTHERS = ("albert", "bart", "bert", "bert, padded", "distilbert", "electra", "modernbert", "mpnet", "roberta", "t5", "xlnet")
CASES = {
    **{name: functools.partial(once, name) for name in MODELS},
    **{f"{name}@dynamic": functools.partial(dynamic, name) for name in CAUSAL + OTHERS},
    **{f"{name}@decode": functools.partial(decode, name) for name in CAUSAL},
    **{f"{name}@decode": functools.partial(decode_of_encoded, name) for name in ("bart", "t5", "whisper")},
    **{f"{name}@chunks": functools.partial(chunks, name) for name in ("gpt2", "llama", "mistral", "qwen3")},
    **{f"{name}@static-cache": functools.partial(static_cache, name) for name in CAUSAL},
}
