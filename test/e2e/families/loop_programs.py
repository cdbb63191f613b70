# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random nests of loops over memrefs: which stores may be carried out one after the other.

Stores and loads at places that are sums of loops, in perfect nests and others, of elements that other iterations load and
store, with sums that loops carry, loops that begin or end where others are, and conditions on loops and on elements, which
may be what keeps a place inside of its array. NumPy's arrays are changed in the order of the text, element by element. What becomes
kernels and what stays on the host is the compiler's business: the results are the same. A program is determined by its
number; `run.py --loop-programs FROM:COUNT` tries others than those of every run.
"""

import operator
import random

import numpy as np

from data import I32, integers
from functions import EXACT, Function

FIRST, COUNT = 1, 24
COMPARISONS = {"slt": operator.lt, "sle": operator.le, "sgt": operator.gt, "sge": operator.ge, "eq": operator.eq,
               "ne": operator.ne}
LENGTH, ROWS, COLUMNS = 64, 14, 40
OPS = {"addi": np.add, "subi": np.subtract, "xori": np.bitwise_xor, "maxsi": np.maximum, "muli": np.multiply}


def wrapped(value):
    return (int(value) + 2**31) % 2**32 - 2**31


class Writer:
    def __init__(self, number):
        self.random = random.Random(f"loops {number}")
        self.f = Function("loop_program", "i32", str(number), {"a": LENGTH, "b": ROWS, "c": COLUMNS}, False)
        self.arrays = [(self.f.arg(I32, dims, True), dims) for dims in ("a", "a", "a", "bc", "bc")]
        self.loops, self.indent, self.left = [], 0, 12  # and how many blocks may still begin
        self.constants = {}
        for value in range(14):
            self.f.emit(f"%c{value} = arith.constant {value} : index")

    def emit(self, text):
        self.f.emit("  " * self.indent + text)

    def index(self, most):
        """A place in a dim of `most` elements: a sum of loops and an offset, and what it is by the loops' values."""
        terms = []
        left = most - 1
        first = 0
        for name, low, high in self.random.sample(self.loops, k=len(self.loops)):
            scale = self.random.choice((1, 1, 1, 2))
            if self.random.random() < 0.7 and (high - 1) * scale <= left:
                terms.append((name, scale))
                left -= (high - 1) * scale
                first += low * scale
        offset = self.random.randint(0, min(2, left))
        if first > 0 and self.random.random() < 0.4:
            offset = -self.random.randint(1, min(first, 3))
        value = None
        for name, scale in terms:
            part = name
            if scale == 2:
                part = self.f.fresh()
                self.emit(f"{part} = arith.addi {name}, {name} : index")
            if value:
                total = self.f.fresh()
                self.emit(f"{total} = arith.addi {value}, {part} : index")
                part = total
            value = part
        if offset or not value:
            if value:
                total = self.f.fresh()
                op = "addi" if offset > 0 else "subi"
                self.emit(f"{total} = arith.{op} {value}, %c{abs(offset)} : index")
                value = total
            else:
                value = f"%c{offset}"
        return value, lambda state: sum(state[name] * scale for name, scale in terms) + offset

    def place(self):
        number = self.random.randrange(len(self.arrays))
        value, dims = self.arrays[number]
        parts = [self.index(self.f.sizes[d]) for d in dims]
        text = f"{value.name}[{', '.join(p[0] for p in parts)}] : {self.f.value_type(value)}"
        return number, text, [p[1] for p in parts]

    def load(self, place):
        number, text, parts = place
        name = self.f.fresh()
        self.emit(f"{name} = memref.load {text}")

        def step(state):
            state[name] = int(state[number][tuple(p(state) for p in parts)])

        return name, step

    def combine(self, names):
        """One value of several, by random ops."""
        steps = []
        while len(names) > 1:
            op = self.random.choice(list(OPS))
            left, right, name = names.pop(), names.pop(), self.f.fresh()
            self.emit(f"{name} = arith.{op} {left}, {right} : i32")

            def step(state, op=op, left=left, right=right, name=name):
                state[name] = wrapped(OPS[op](state[left], state[right]))

            steps.append(step)
            names.append(name)
        return names[0], steps

    def store(self):
        """An element of loads; of itself, too, where it is an update."""
        target = self.place()
        places = [self.place() for _ in range(self.random.randint(1, 2))]
        if self.random.random() < 0.5:
            places.append(target)
        loads = [self.load(place) for place in places]
        if self.random.random() < 0.15:
            loads.append(self.choice())
        steps = [step for _, step in loads]
        value, more = self.combine([name for name, _ in loads])
        number, text, parts = target
        self.emit(f"memref.store {value}, {text}")

        def step(state):
            state[number][tuple(p(state) for p in parts)] = state[value]

        return steps + more + [step]

    def bounds(self):
        low = self.random.choice((0, 0, 0, 1, 2))
        return low, self.random.randint(low, 7) if self.random.random() < 0.1 else self.random.randint(low + 1, 9)

    def bound_at(self, number):
        """A bound: a number, or a loop around with an offset."""
        if not self.loops or self.random.random() < 0.6:
            return f"%c{number}", number, number, lambda state: number
        name, low, high = self.random.choice(self.loops)
        offset = self.random.randint(0, 2)
        value = self.f.fresh()
        self.emit(f"{value} = arith.addi {name}, %c{offset} : index")
        return value, low + offset, high - 1 + offset, lambda state: state[name] + offset

    def loop(self):
        low, high = self.bounds()
        begin, least, _, first = self.bound_at(low)
        end, _, most, last = self.bound_at(high)
        name = f"%i{self.f.counter}"
        self.f.counter += 1
        self.emit(f"scf.for {name} = {begin} to {end} step %c1 {{")
        self.loops.append((name, least, max(most, least)))
        self.indent += 1
        body = self.block()
        self.indent -= 1
        self.loops.pop()
        self.emit("}")
        return [self.repeat(name, first, last, body)]

    def repeat(self, name, first, last, body):
        def step(state):
            for state[name] in range(first(state), last(state)):
                for inner in body:
                    inner(state)

        return step

    def condition(self):
        """A condition, steps that compute it, and what loops are where it holds."""
        name, loops = self.f.fresh(), list(self.loops)
        if self.random.random() < 0.3:
            op = self.random.choice(list(COMPARISONS))
            value, step = self.load(self.place())
            zero = self.f.fresh()
            self.emit(f"{zero} = arith.constant 0 : i32")
            self.emit(f"{name} = arith.cmpi {op}, {value}, {zero} : i32")

            def compare(state):
                state[name] = COMPARISONS[op](state[value], 0)

            return name, [step, compare], loops
        number = self.random.randrange(len(loops))
        left, low, high = loops[number]
        if len(loops) > 1 and self.random.random() < 0.6:
            op, (right, *_) = self.random.choice(list(COMPARISONS)), self.random.choice(loops)
            self.emit(f"{name} = arith.cmpi {op}, {left}, {right} : index")

            def compare(state):
                state[name] = COMPARISONS[op](state[left], state[right])

            return name, [compare], loops
        op, bound = self.random.choice(("slt", "sge")), self.random.randint(0, 6)
        self.emit(f"{name} = arith.cmpi {op}, {left}, %c{bound} : index")
        loops[number] = (left, low, min(high, max(bound, low))) if op == "slt" else (left, max(low, bound), max(high, bound))

        def compare(state):
            state[name] = COMPARISONS[op](state[left], bound)

        return name, [compare], loops

    def branches(self):
        """What is done only where a condition holds, or does not."""
        name, steps, inside = self.condition()
        outside = self.loops
        self.emit(f"scf.if {name} {{")
        self.loops = inside
        self.indent += 1
        yes, no = self.block(), []
        self.loops = outside
        self.indent -= 1
        if self.random.random() < 0.4:
            self.emit("} else {")
            self.indent += 1
            no = self.block()
            self.indent -= 1
        self.emit("}")

        def choose(state):
            for step in yes if state[name] else no:
                step(state)

        return steps + [choose]

    def choice(self):
        """An element of a place, or of another where a condition does not hold."""
        if not self.loops:
            return self.load(self.place())
        condition, steps, _ = self.condition()
        name = self.f.fresh()
        self.emit(f"{name} = scf.if {condition} -> (i32) {{")
        yes, first = self.load(self.place())
        self.emit(f"scf.yield {yes} : i32")
        self.emit("} else {")
        no, second = self.load(self.place())
        self.emit(f"scf.yield {no} : i32")
        self.emit("}")

        def step(state):
            for inner in steps:
                inner(state)
            (first if state[condition] else second)(state)
            state[name] = state[yes] if state[condition] else state[no]

        return name, step

    def carried(self):
        """A sum that a loop carries, stored behind it."""
        low, high = self.bounds()
        name, total, acc, zero = f"%i{self.f.counter}", *(self.f.fresh() for _ in range(3))
        op = self.random.choice(("addi", "maxsi", "xori"))
        self.emit(f"{zero} = arith.constant 0 : i32")
        self.emit(f"{total} = scf.for {name} = %c{low} to %c{high} step %c1 iter_args({acc} = {zero}) -> i32 {{")
        self.loops.append((name, low, high))
        self.indent += 1
        value, step = self.load(self.place())
        following = self.f.fresh()
        self.emit(f"{following} = arith.{op} {acc}, {value} : i32")
        self.emit(f"scf.yield {following} : i32")
        self.indent -= 1
        self.loops.pop()
        self.emit("}")
        number, text, parts = self.place()
        self.emit(f"memref.store {total}, {text}")

        def run(state):
            state[total] = 0
            for state[name] in range(low, high):
                step(state)
                state[total] = wrapped(OPS[op](state[total], state[value]))
            state[number][tuple(p(state) for p in parts)] = state[total]

        return [run]

    def block(self):
        steps = []
        self.left -= 1
        for _ in range(self.random.choice((1, 1, 2, 3))):
            chance = self.random.random()
            if self.left > 0 and len(self.loops) < 3 and chance < 0.45:
                steps += self.loop()
            elif len(self.loops) < 3 and chance < 0.55:
                steps += self.carried()
            elif self.left > 0 and self.loops and self.indent < 5 and chance < 0.75:
                steps += self.branches()
            else:
                steps += self.store()
        return steps

    def finish(self):
        steps = []
        for _ in range(self.random.randint(1, 3)):
            steps += self.loop()

        def reference(*arrays):
            state = {number: np.array(array, np.int64) for number, array in enumerate(arrays)}
            for step in steps:
                step(state)
            return [state[number] for number in range(len(arrays))]

        self.f.case("run", {}, integers(-99, 99), EXACT, reference)
        return self.f


def functions():
    for number in range(FIRST, FIRST + COUNT):
        yield Writer(number).finish()
