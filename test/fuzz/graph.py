# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program that grows op by op, as MLIR and as functions on NumPy arrays.

A `Graph` wraps a `functions.Function` of test/e2e: ops are written over named dims, whose sizes differ from case to case.
Beside its type, each value has two facts, which hold in every case:

* `exact`: it is a whole number that its type holds, by whatever order it was summed up. All integers are exact.
  Comparisons, casts to integers and the like take exact values alone, so that rounding never decides anything.
* `bound`: no element is larger than this, so that sums stay exact, or at least finite.
"""

import dataclasses
import math
import random
import typing

import numpy as np

from data import BF16, E4M3, E4M3UZ, E5M2, E5M2UZ, F16, F32, F64, I8, I16, I32, I64, ElementType, integers, uniform
from functions import BOUNDED, EXACT, Function

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class BitType(ElementType):
    """i1, whose numbers are 0 and 1."""

    def round(self, values):
        return np.asarray(values).astype(np.int64) & 1


BIT = BitType("i1", 1)
FLOATS, INTEGERS = (F32, F16, BF16, F64), (I32, I8, I16, I64)
NARROW = (E4M3, E5M2, E4M3UZ, E5M2UZ)
LARGEST = {"f64": 1e300, "f32": 1e37, "bf16": 1e37, "f16": 3e4, "f8E4M3FN": 400, "f8E5M2": 4e4,
           "f8E4M3FNUZ": 200, "f8E5M2FNUZ": 4e4}


def whole(element):
    """Whole numbers up to this are numbers of the type."""
    return 2.0 ** (element.mantissa + 1) if element.is_float else 2.0 ** (element.bits - 1) - (element.bits > 1)


@dataclasses.dataclass
class Fact:
    exact: bool
    bound: float

    def fits(self, element):
        """Whether values of a float type can be so large (and are exact, where this says so)."""
        return not element.is_float or self.bound <= (whole(element) if self.exact else LARGEST[element.name])


@dataclasses.dataclass
class Argument:
    value: typing.Any
    fill: dict


class Graph:
    """`pinned`: a case by number, whose sizes the text has in place of `?`: the static twin of a dynamic program."""

    def __init__(self, family, number, dynamic, pinned=None):
        self.random = random.Random(f"{family} {number}")
        self.function = Function(family, "mixed", str(number), {}, dynamic)
        self.dynamic, self.pinned = dynamic, pinned
        self.static = set()  # dims that are static in every text
        self.case_count = 3 if dynamic else 1
        self.size = {}       # letter: its size in each case
        self.values = []     # of tensors, in the order of their ops
        self.facts = {}      # name: Fact
        self.arguments = []
        self.steps = []      # (name, function of {name: array}), in order
        self.used = set()
        self.largest = 20_000  # points of an iteration

    # Dims

    def letter(self, sizes, known=False):
        """A new dim; `known` dims are static in dynamic programs, too."""
        if len(self.size) == len(LETTERS):
            raise Impossible
        name = LETTERS[len(self.size)]
        self.size[name] = list(sizes)
        self.function.sizes[name] = sizes[self.pinned or 0]
        if known or not self.dynamic:
            self.static.add(name)
        if known or self.pinned is not None:
            self.function.known += name
        return name

    def base_dim(self):
        """A dim of arguments: of one class of sizes in each case, or static."""
        known = not self.dynamic or self.random.random() < 0.25
        return self.letter([self.random_size()] * self.case_count if known else
                           [self.random_size() for _ in range(self.case_count)], known)

    def random_size(self):
        kind = self.random.random()
        if kind < 0.04:
            return 0
        if kind < 0.14:
            return 1
        if kind < 0.5:
            return self.random.randint(2, 9)
        if kind < 0.75:
            return self.random.choice([8, 16, 24, 32, 64, 128])
        return self.random.randint(10, 70)

    def is_static(self, letter):
        return letter in self.static

    def most(self, letters):
        """The largest product of these dims in any case."""
        return max(math.prod(self.size[d][c] for d in letters) for c in range(self.case_count))

    def least(self, letter):
        return min(self.size[letter])

    def size_of(self, letter):
        """The size as an SSA name of type index."""
        f = self.function
        if self.is_static(letter):
            return self.index(self.size[letter][0])
        if letter not in f.sized and not any(letter in (a.dims or "") for a in f.args):
            self.argument(self.random.choice(FLOATS), letter)
        return f.size_of(letter) if self.pinned is None else self.index(f.sizes[letter])

    def index(self, number):
        return self.function.raw(f"arith.constant {number} : index", I32, None).name

    def derived(self, sizes, how, known):
        """A dim whose size `how()` computes where it is dynamic."""
        letter = self.letter(sizes, known)
        if not self.is_static(letter):
            self.function.sized[letter] = how()
        return letter

    # Values

    def add(self, value, fact, compute=None):
        self.values.append(value)
        self.facts[value.name] = fact
        if compute:
            self.steps.append((value.name, compute))
        return value

    def fact(self, value):
        return self.facts[value.name]

    def argument(self, element, dims, exact=None, low=None, high=None):
        value = self.function.arg(element, dims)
        if exact is None:
            exact = self.random.random() < 0.7
        if element is BIT:
            fill, fact = integers(0, 1), Fact(True, 1)
        elif not element.is_float:
            bound = min(whole(element), 2 ** 40)
            if low is None:
                low, high = (-bound, bound) if self.random.random() < 0.3 else (-9, 9)
            fill, fact = integers(low, high), Fact(True, max(abs(low), abs(high)))
        elif exact:
            bound = self.random.choice([1, 3, 3]) if element.bits < 32 else self.random.choice([1, 3, 9])
            fill, fact = integers(-bound, bound), Fact(True, bound)
        else:
            fill, fact = uniform(-1, 1), Fact(False, 1)
        self.arguments.append(Argument(value, fill))
        return self.add(value, fact)

    def constant(self, element, value):
        return self.function.constant(element, value if element.is_float else int(value)) if element is not BIT else \
            self.function.raw(f"arith.constant {'true' if value else 'false'}", BIT, None)

    def with_dims(self, dims, wanted=lambda value: True, element=None):
        """A value of exactly these dims, in any order: one there is, or a new argument."""
        there = [v for v in self.values if v.dims is not None and sorted(v.dims) == sorted(dims) and wanted(v)
                 and (element is None or v.element is element)]
        if there and self.random.random() < 0.7:
            return self.take(self.random.choice(there[-6:]))
        order = "".join(self.random.sample(dims, len(dims)))
        return self.take(self.argument(element or self.random_element(), order))

    def take(self, value):
        self.used.add(value.name)
        return value

    def random_element(self):
        return self.random.choice(self.random.choices([FLOATS, INTEGERS, (BIT,), NARROW], [10, 7, 1, 1])[0])

    def old(self, wanted=lambda value: True):
        """A value with dims that is there, the newest most likely; None where there is none."""
        there = [v for v in self.values if v.dims is not None and wanted(v)]
        return self.take(there[max(len(there) - 1 - int(self.random.expovariate(0.6)), 0)]) if there else None

    def output(self, element, dims):
        """tensor.empty; its size's dims are known."""
        for d in dims:
            if not self.is_static(d):
                self.size_of(d)
        return self.function.empty(element, dims)

    def filled(self, element, dims, value):
        for d in dims:
            if not self.is_static(d):
                self.size_of(d)
        return self.function.fill(self.constant(element, value), self.output(element, dims))

    # The end

    def returned(self):
        """What nothing uses, and now and then a value that something uses."""
        ends = [v for v in self.values if v.name not in self.used and not v.name.startswith("%arg")]
        inner = [v for v in self.values if v.name in self.used and not v.name.startswith("%arg")]
        if inner and self.random.random() < 0.2:
            ends.append(self.random.choice(inner))
        return ends[-4:]

    def finish(self, results=None):
        """The function with its cases; None where nothing came of it."""
        results = results or self.returned()
        if not results:
            return None
        f = self.function
        f.ret(*results)
        exact = all(self.fact(v).exact or not v.element.is_float for v in results)
        for case in range(self.case_count):
            sizes = {d: sizes[case] for d, sizes in self.size.items()}
            f.case(str(case), sizes, [a.fill for a in self.arguments], EXACT if exact else BOUNDED, self.reference(case))
        return f

    def reference(self, case):
        def run(*arrays):
            env = {a.value.name: a.value.element.round(x) for a, x in zip(self.arguments, arrays)}
            env["case"] = case
            with np.errstate(all="ignore"):
                for name, compute in self.steps:
                    env[name] = compute(env)
            return [np.asarray(env[v.name]) for v in self.function.returned]
        return run

    def shape(self, env, dims):
        return [self.size[d][env["case"]] for d in dims]


class Impossible(Exception):
    """This op, on these values: a program ends here."""


def align(array, dims, iteration):
    """The array of `dims` as one that broadcasts over `iteration`."""
    order = sorted(range(len(dims)), key=lambda i: iteration.index(dims[i]))
    array = np.transpose(np.asarray(array), order)
    return array.reshape([array.shape[[dims[i] for i in order].index(d)] if d in dims else 1 for d in iteration])
