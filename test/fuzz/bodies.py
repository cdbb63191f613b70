# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies of structured ops: expressions over scalars, defined for all values that an input may have.

Nothing divides by zero, shifts too far or leaves the range of a type: operands are masked where an op asks for that, and the
text says so, so that a program stays defined when it is made smaller or gets other inputs.
"""

import dataclasses
import math

import numpy as np

from data import F16, F32, F64, I32, I64
from graph import BIT, Fact, whole

MATH_ERF = np.vectorize(math.erf, otypes=[np.float64])


@dataclasses.dataclass
class Scalar:
    name: str
    element: object
    fact: Fact
    index: bool = False


class Body:
    """Lines of a body, and the same as a function of {name: array}."""

    def __init__(self, graph):
        self.graph, self.random = graph, graph.random
        self.lines, self.steps, self.scalars = [], [], []
        self.counter = 0

    def operand(self, name, value):
        fact = self.graph.fact(value)
        return self.known(Scalar(name, value.element, Fact(fact.exact, fact.bound)))

    def known(self, scalar):
        self.scalars.append(scalar)
        return scalar

    def fresh(self):
        self.counter += 1
        return f"%t{self.counter}"

    def emit(self, text, element, fact, compute):
        """One op; `compute` takes {name: array}. None where its value may be too large."""
        if not fact.fits(element):
            return None
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        self.steps.append((name, lambda env: element.round(compute(env))))
        scalar = Scalar(name, element, fact)
        self.scalars.append(scalar)
        return scalar

    def constant(self, element, value):
        if element is BIT:
            literal = "true" if value else "false"
        else:
            literal = f"{float(value):.1f} : {element.name}" if element.is_float else f"{int(value)} : {element.name}"
        return self.emit(f"arith.constant {literal}", element, Fact(True, abs(value)), lambda env: np.asarray(value))

    def run(self, env):
        for name, compute in self.steps:
            env[name] = compute(env)

    # Expressions

    def pick(self, wanted=lambda s: True):
        there = [s for s in self.scalars if wanted(s)]
        return self.random.choice(there) if there else None

    def pair(self, element):
        return self.pick(lambda s: s.element is element), self.pick(lambda s: s.element is element)

    def grow(self, count):
        """So many random ops."""
        for _ in range(count):
            start = self.scalars[-1] if self.random.random() < 0.5 else self.pick()
            element = start.element
            if element is BIT:
                self.bit(start)
            elif element.bits == 8 and element.is_float:
                self.cast(start, F32 if self.random.random() < 0.7 else F16)
            elif self.random.random() < 0.15:
                self.cast(start, self.graph.random.choice([F32, F16, F64, I32, I64]))
            elif element.is_float:
                self.real(start)
            else:
                self.integer(start)

    def result(self, element):
        """A scalar of this type, made of the last one; a constant where there is no way."""
        last = self.scalars[-1]
        for scalar in (last, *reversed(self.scalars)):
            if scalar.element is element:
                return scalar
            made = self.cast(scalar, element)
            if made:
                return made
        return self.constant(element, 1)

    def bit(self, a):
        b = self.pick(lambda s: s.element is BIT)
        kind = self.random.choice(["andi", "ori", "xori", "select", "extui"])
        if kind == "extui":
            return self.cast(a, self.random.choice([I32, I64, F32]))
        if kind == "select":
            x = self.pick(lambda s: s.element is not BIT)
            y = x and self.pick(lambda s: s.element is x.element)
            if not x:
                return None
            fact = Fact(x.fact.exact and y.fact.exact, max(x.fact.bound, y.fact.bound))
            return self.emit(f"arith.select {a.name}, {x.name}, {y.name} : {x.element.name}", x.element, fact,
                             lambda env: np.where(env[a.name], env[x.name], env[y.name]))
        numpy_op = {"andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor}[kind]
        return self.emit(f"arith.{kind} {a.name}, {b.name} : i1", BIT, Fact(True, 1),
                         lambda env: numpy_op(env[a.name], env[b.name]))

    def integer(self, a):
        element = a.element
        b = self.pick(lambda s: s.element is element)
        t, bits = element.name, element.bits
        mask = (1 << bits) - 1
        big = whole(element)

        def unsigned(x):
            return np.asarray(x) & mask

        def binary(op, numpy_op, bound):
            return self.emit(f"arith.{op} {a.name}, {b.name} : {t}", element, Fact(True, min(bound, big + 1)),
                             lambda env: numpy_op(env[a.name], env[b.name]))

        plain = {"addi": (np.add, a.fact.bound + b.fact.bound), "subi": (np.subtract, a.fact.bound + b.fact.bound),
                 "muli": (np.multiply, a.fact.bound * b.fact.bound),
                 "maxsi": (np.maximum, max(a.fact.bound, b.fact.bound)), "minsi": (np.minimum, max(a.fact.bound, b.fact.bound)),
                 "andi": (np.bitwise_and, big + 1), "ori": (np.bitwise_or, big + 1), "xori": (np.bitwise_xor, big + 1)}
        kind = self.random.choice([*plain] * 2 + ["compare", "compare", "abs", "shift", "divide", "unsigned", "count", "constant"])
        if kind in plain:
            numpy_op, bound = plain[kind]
            return binary(kind, numpy_op, bound if bound <= big else big + 1)
        if kind == "compare":
            return self.compare(a, b, "cmpi", {"eq": np.equal, "ne": np.not_equal, "slt": np.less, "sge": np.greater_equal})
        if kind == "abs":
            return self.emit(f"math.absi {a.name} : {t}", element, Fact(True, a.fact.bound), lambda env: np.abs(env[a.name]))
        if kind == "constant":
            c = self.constant(element, self.random.randint(-9, 9))
            op, numpy_op = self.random.choice([("addi", np.add), ("muli", np.multiply), ("maxsi", np.maximum)])
            return self.emit(f"arith.{op} {a.name}, {c.name} : {t}", element, Fact(True, min(9 * a.fact.bound + 9, big + 1)),
                             lambda env: numpy_op(env[a.name], env[c.name]))
        if bits == 64:
            return None
        if kind == "unsigned":
            op, numpy_op = self.random.choice([("maxui", np.maximum), ("minui", np.minimum)])
            return self.emit(f"arith.{op} {a.name}, {b.name} : {t}", element, Fact(True, big + 1),
                             lambda env: numpy_op(unsigned(env[a.name]), unsigned(env[b.name])))
        if kind == "shift":
            most = self.constant(element, bits - 1)
            by = self.emit(f"arith.andi {b.name}, {most.name} : {t}", element, Fact(True, bits - 1),
                           lambda env: np.asarray(env[b.name]) & (bits - 1))
            op, shift = self.random.choice([("shli", lambda x, n: x << n), ("shrsi", lambda x, n: x >> n),
                                            ("shrui", lambda x, n: unsigned(x) >> n)])
            return self.emit(f"arith.{op} {a.name}, {by.name} : {t}", element, Fact(True, big + 1),
                             lambda env: shift(np.asarray(env[a.name]), env[by.name]))
        if kind == "divide":
            seven, one = self.constant(element, 7), self.constant(element, 1)
            low = self.emit(f"arith.andi {b.name}, {seven.name} : {t}", element, Fact(True, 7), lambda env: np.asarray(env[b.name]) & 7)
            by = self.emit(f"arith.ori {low.name}, {one.name} : {t}", element, Fact(True, 7), lambda env: env[low.name] | 1)
            op, divide = self.random.choice([
                ("divsi", lambda x, y: np.sign(x) * (np.abs(x) // y)), ("remsi", lambda x, y: np.sign(x) * (np.abs(x) % y)),
                ("floordivsi", lambda x, y: x // y), ("ceildivsi", lambda x, y: -(-x // y)),
                ("divui", lambda x, y: unsigned(x) // y), ("remui", lambda x, y: unsigned(x) % y)])
            return self.emit(f"arith.{op} {a.name}, {by.name} : {t}", element, Fact(True, big + 1),
                             lambda env: divide(np.asarray(env[a.name]), env[by.name]))

        def ones(x):
            return np.vectorize(lambda v: bin(int(v) & mask).count("1"), otypes=[np.int64])(x)

        def leading(x):
            return np.vectorize(lambda v: bits - (int(v) & mask).bit_length(), otypes=[np.int64])(x)
        op, count = self.random.choice([("ctpop", ones), ("ctlz", leading)])
        return self.emit(f"math.{op} {a.name} : {t}", element, Fact(True, bits), lambda env: count(env[a.name]))

    def compare(self, a, b, op, predicates):
        if not (a.fact.exact and b.fact.exact):
            return None
        predicate = self.random.choice([*predicates])
        return self.emit(f"arith.{op} {predicate}, {a.name}, {b.name} : {a.element.name}", BIT, Fact(True, 1),
                         lambda env: predicates[predicate](env[a.name], env[b.name]))

    def real(self, a):
        element, t = a.element, a.element.name
        b = self.pick(lambda s: s.element is element)
        both = a.fact.exact and b.fact.exact
        kinds = ["addf", "subf", "mulf", "maximumf", "minimumf", "negf", "absf"] * 2
        kinds += ["compare", "select", "floor", "maxnumf", "constant"] if both else ["smooth"] * 5
        if both and self.random.random() < 0.15:
            kinds = ["smooth"]
        kind = self.random.choice(kinds)
        name = {"exact": both, "bound": a.fact.bound + b.fact.bound}
        binary = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "maximumf": np.maximum, "minimumf": np.minimum,
                  "maxnumf": np.fmax}
        if kind in binary:
            bound = {"addf": name["bound"], "subf": name["bound"], "mulf": a.fact.bound * b.fact.bound}.get(
                kind, max(a.fact.bound, b.fact.bound))
            return self.emit(f"arith.{kind} {a.name}, {b.name} : {t}", element, Fact(both, bound),
                             lambda env: binary[kind](env[a.name], env[b.name]))
        if kind == "negf":
            return self.emit(f"arith.negf {a.name} : {t}", element, Fact(a.fact.exact, a.fact.bound), lambda env: -env[a.name])
        if kind == "absf":
            return self.emit(f"math.absf {a.name} : {t}", element, Fact(a.fact.exact, a.fact.bound), lambda env: abs(env[a.name]))
        if kind == "compare":
            return self.compare(a, b, "cmpf", {"oeq": np.equal, "une": np.not_equal, "olt": np.less, "oge": np.greater_equal})
        if kind == "select":
            c = self.compare(a, b, "cmpf", {"ogt": np.greater, "ule": np.less_equal})
            return self.emit(f"arith.select {c.name}, {b.name}, {a.name} : {t}", element, Fact(True, max(a.fact.bound, b.fact.bound)),
                             lambda env: np.where(env[c.name], env[b.name], env[a.name]))
        if kind == "floor":
            op = self.random.choice(["floor", "ceil", "roundeven", "trunc"])
            return self.emit(f"math.{op} {a.name} : {t}", element, Fact(True, a.fact.bound), lambda env: env[a.name])
        if kind == "constant":
            c = self.constant(element, self.random.randint(-3, 3))
            op, numpy_op = self.random.choice([("addf", np.add), ("mulf", np.multiply), ("maximumf", np.maximum)])
            return self.emit(f"arith.{op} {a.name}, {c.name} : {t}", element, Fact(True, 3 * a.fact.bound + 3),
                             lambda env: numpy_op(env[a.name], env[c.name]))
        return self.smooth(a)

    def smooth(self, a):
        """A function without steps; what comes out is no whole number."""
        element, t = a.element, a.element.name
        kind = self.random.choice(["tanh", "erf", "sin", "cos", "exp", "sqrt", "log", "divide"])
        if kind in ("tanh", "erf"):
            numpy_op = np.tanh if kind == "tanh" else MATH_ERF
            return self.emit(f"math.{kind} {a.name} : {t}", element, Fact(False, 1), lambda env: numpy_op(env[a.name]))
        if kind in ("sin", "cos", "exp"):
            if a.fact.bound > 4:
                a = self.emit(f"math.tanh {a.name} : {t}", element, Fact(False, 1), lambda env, a=a: np.tanh(env[a.name]))
            numpy_op = {"sin": np.sin, "cos": np.cos, "exp": np.exp}[kind]
            bound = math.exp(a.fact.bound) if kind == "exp" else 1
            return self.emit(f"math.{kind} {a.name} : {t}", element, Fact(False, bound), lambda env: numpy_op(env[a.name]))
        one = self.constant(element, 1)
        size = self.emit(f"math.absf {a.name} : {t}", element, Fact(a.fact.exact, a.fact.bound), lambda env: abs(env[a.name]))
        more = self.emit(f"arith.addf {size.name}, {one.name} : {t}", element, Fact(a.fact.exact, a.fact.bound + 1),
                         lambda env: env[size.name] + 1)
        if not more:
            return None
        if kind == "divide":
            return self.emit(f"arith.divf {a.name}, {more.name} : {t}", element, Fact(False, 1), lambda env: env[a.name] / env[more.name])
        numpy_op = np.sqrt if kind == "sqrt" else np.log
        return self.emit(f"math.{kind} {more.name} : {t}", element, Fact(False, a.fact.bound + 1), lambda env: numpy_op(env[more.name]))

    # Casts

    def cast(self, a, element):
        """`a` in another type, or None where that is not defined for all its values."""
        source, fact = a.element, a.fact
        if source is element:
            return a
        types = f"{a.name} : {source.name} to {element.name}"

        def plain(op, fact=fact):
            return self.emit(f"arith.{op} {types}", element, fact, lambda env: env[a.name])

        if element is BIT:
            if not fact.exact:
                return None
            zero = self.constant(source, 0)
            op = "cmpf une" if source.is_float else "cmpi ne"
            return self.emit(f"arith.{op}, {a.name}, {zero.name} : {source.name}", BIT, Fact(True, 1), lambda env: env[a.name] != 0)
        if source is BIT:
            return plain("uitofp" if element.is_float else "extui", Fact(True, 1))
        if source.is_float and element.is_float:
            if source.bits == element.bits:
                wide = self.cast(a, F32)
                return wide and self.cast(wide, element)
            if element.bits > source.bits:
                return plain("extf")
            return plain("truncf") if fact.fits(element) else None
        if source.is_float:
            if not fact.exact or fact.bound > whole(element):
                return None
            return plain("fptosi")
        if element.is_float:
            if fact.bound <= whole(element):
                return plain("sitofp", Fact(True, fact.bound))
            low = self.constant(source, min(7, whole(element)))
            part = self.emit(f"arith.andi {a.name}, {low.name} : {source.name}", source, Fact(True, 7),
                             lambda env: np.asarray(env[a.name]) & 7)
            return self.cast(part, element)
        if element.bits > source.bits:
            return plain("extsi")
        return plain("trunci", Fact(True, fact.bound if fact.bound <= whole(element) else whole(element) + 1))
