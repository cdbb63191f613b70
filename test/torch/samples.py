# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs that PyTorch tests its own operators and modules with, as modules to compile.

PyTorch's lists, `op_db` and `module_db`, are part of what it tests itself with; torch.testing._internal has them.
"""

import dataclasses
import functools
import random

import torch
from torch.utils import _pytree

TYPES = {"f32": torch.float32, "f16": torch.float16, "i64": torch.int64, "i1": torch.bool}
LARGEST = 200_000  # elements of a tensor
#: Their elements are whatever was in memory.
UNSET = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_", "resize_as_")

#: Not stable: equal elements may be in any order, and so their indices.
UNORDERED = ("argsort", "kthvalue", "sort", "topk")


class Sample(torch.nn.Module):
    """A call of an operator: its tensors are arguments, all else is constant. Complex results are returned as their parts."""

    def __init__(self, function, args, kwargs):
        super().__init__()
        self.function = function
        leaves, self.structure = _pytree.tree_flatten((args, kwargs))
        self.places = [number for number, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.tensors = [leaves[place].detach() for place in self.places]
        self.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.copies = False  # whether it may write to what it is given

    def forward(self, *tensors):
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors):
            leaves[place] = tensor.clone() if self.copies else tensor
        args, kwargs = _pytree.tree_unflatten(leaves, self.structure)
        results = _pytree.tree_leaves(self.function(*args, **kwargs))
        return tuple(_real(result) for result in results if isinstance(result, torch.Tensor))

    def __str__(self):
        """Its inputs, in short."""
        tensors = iter(self.tensors)
        leaves = [_short(next(tensors)) if place in self.places else leaf for place, leaf in enumerate(self.leaves)]
        args, kwargs = _pytree.tree_unflatten(leaves, self.structure)
        words = [*map(_words, args), *(f"{name}={_words(value)}" for name, value in kwargs.items())]
        return ", ".join(words)[:160]


class Together(torch.nn.Module):
    """Several samples as one program."""

    def __init__(self, samples):
        super().__init__()
        self.samples = samples
        self.tensors = [tensor for sample in samples for tensor in sample.tensors]

    def forward(self, *tensors):
        tensors = iter(tensors)
        return tuple(result for sample in self.samples for result in sample(*(next(tensors) for _ in sample.tensors)))


def _real(result):
    return torch.view_as_real(result.resolve_conj()) if result.is_complex() else result


def _short(tensor):
    kind = {torch.bool: "i1"}.get(tensor.dtype) or str(tensor.dtype)[6:].replace("bfloat", "bf").replace("float", "f").replace("int", "i")
    return f"{kind}{list(tensor.shape)}".replace(" ", "") + ("" if tensor.is_contiguous() else " strided")


def _words(value):
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(_words, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return value if isinstance(value, str) and "[" in value else repr(value)


@dataclasses.dataclass(frozen=True)
class Operator:
    """An entry of PyTorch's lists."""

    name: str
    is_module: bool
    entry: object

    def samples(self, counts):
        """{name: Sample}, of each type as many as `counts` says, if it has them; of one type at least the first number."""
        known = self._types()
        counts = {kind: count for kind, count in counts.items() if kind in known}
        if counts and "f32" not in counts:
            counts[next(iter(counts))] = 3
        found = {}
        for kind, count in counts.items():
            for seeded in (torch.manual_seed, random.seed):
                seeded(7)
            for number, sample in enumerate(_spread(self._all(TYPES[kind]), count)):
                found[f"{kind}.{number}"] = sample
        return found

    def _types(self):
        supported = {torch.float32} if self.is_module else self.entry.supported_dtypes("cpu")
        return [kind for kind, dtype in TYPES.items() if dtype in supported]

    def _all(self, dtype):
        if self.is_module:
            for given in self.entry.module_inputs_func(self.entry, device="cpu", dtype=dtype, requires_grad=False, training=False):
                made, call = given.constructor_input, given.forward_input
                module = self.entry.module_cls(*made.args, **made.kwargs).eval()
                if call is not None:
                    yield Sample(module, call.args, call.kwargs)
        else:
            for given in self.entry.sample_inputs("cpu", dtype, requires_grad=False):
                yield Sample(self.entry.op, (given.input, *given.args), given.kwargs)


def _spread(samples, count):
    """As many of the samples, which differ in shapes and constants, from all over their list."""
    kept = {}
    for number, sample in enumerate(samples):
        if number > 400:
            break
        if all(tensor.numel() <= LARGEST for tensor in sample.tensors):
            kept.setdefault(str(sample), sample)
    kept = list(kept.values())
    return kept if len(kept) <= count else [kept[number * len(kept) // count] for number in range(count)]


@functools.cache
def operators():
    """{name: Operator}; modules have the names of their classes."""
    from torch.testing._internal import common_methods_invocations
    from torch.testing._internal.common_modules import module_db
    # Random operators have one seed there, and would look as if they were none.
    common_methods_invocations.wrapper_set_seed = lambda operator, *args, **kwargs: operator(*args, **kwargs)
    found = [Operator(entry.full_name, False, entry) for entry in common_methods_invocations.op_db]
    found += [Operator(entry.name, True, entry) for entry in module_db]
    return {operator.name: operator for operator in sorted(found, key=lambda operator: operator.name)}
