# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two products of one operand, whose results are combined element by element, which GPUs compute in one kernel (a dual
product): gated networks, activated and cast between or not; sums; the operand that both read on either side, normalised,
cast; the others in either order, or computed from bytes; batches; memrefs. What is not one kernel: results of other use, a
product of a product.

Small integers are exact whatever the order of the sums. An activated gate is at most as wrong as its sum is, and what it is
multiplied by once more.
"""

import numpy as np

from data import BF16, F16, F32, F64, I32, I8, integers, uniform
from families.contraction import indexing
from families.norms import norm, normalised
from functions import BOUNDED, EXACT, Function, relative


def extend(lines, value, a, c, name):
    if a is c:
        return value
    lines.append(f"{name} = arith.ext{'f' if a.is_float else 'si'} {value} : {a.name} to {c.name}")
    return name


def truncate(lines, value, c, a, name="%t"):
    if a is c:
        return value
    lines.append(f"{name} = arith.trunc{'f' if a.is_float else 'i'} {value} : {c.name} to {a.name}")
    return name


def activate(kind, lines, value, c):
    if kind == "relu":
        lines += [f"%z = arith.constant 0{'.0' if c.is_float else ''} : {c.name}",
                  f"%r = arith.max{'imumf' if c.is_float else 'si'} {value}, %z : {c.name}"]
        return "%r"
    if kind == "silu":
        lines += [f"%one = arith.constant 1.0 : {c.name}", f"%n = arith.negf {value} : {c.name}", f"%e = math.exp %n : {c.name}",
                  f"%d = arith.addf %e, %one : {c.name}", f"%r = arith.divf {value}, %d : {c.name}"]
        return "%r"
    return value


def activated(kind, x):
    return np.maximum(x, 0) if kind == "relu" else x / (1 + np.exp(-x)) if kind == "silu" else x


class Dual:
    """The network's form: `forms` of the left operand, the gate's and the other right one; `between`: the type in which the
    gate is kept; `combine`: mulf, addf or subf; `shared`: the number of the operand that both read."""

    def __init__(self, label, a, c, sizes, act="relu", combine="mul", between=None, out=None, forms=("mk", "kn", "kn"),
                 shared=0, dynamic="", front="", other_front="", keep="", memref=False, order=0):
        self.label, self.a, self.c, self.sizes, self.act, self.combine = label, a, c, sizes, act, combine
        self.between, self.out, self.shared, self.dynamic = between or c, out or c, shared, dynamic
        self.front, self.other_front, self.keep, self.memref, self.order = front, other_front, keep, memref, order
        self.batch = "b" if "b" in sizes else ""
        self.forms = [self.batch + form for form in forms]
        self.result = self.batch + "mn"

    def maps(self, which):
        """The forms of one product's operands, left and right."""
        pair = (self.forms[0], self.forms[1 + which])
        return pair if self.shared == 0 else pair[::-1]

    def function(self):
        letters = {d: d.upper() if self.dynamic and d not in self.dynamic else d for d in self.sizes}
        name = lambda dims: "".join(letters[d] for d in dims)
        f = Function("dual", self.a.name, self.label, {letters[d]: s for d, s in self.sizes.items()}, bool(self.dynamic))
        self.letters = letters
        a, c = self.a, self.c
        given = F32 if self.front == "cast" else a
        x = f.arg(given, name(self.forms[0]), self.memref)
        weights = [f.arg(I8 if self.other_front == "bytes" else a, name(form), self.memref) for form in self.forms[1:]]
        gain = f.arg(a, name("k")) if self.front == "norm" else None
        target = f.arg(self.out, name(self.result), True) if self.memref else None
        # Of memrefs, what is computed between is in memory of its own.
        def temporary(element, dims):
            if not self.memref:
                return f.empty(element, dims)
            more = ", ".join(f.size_of(d) for d in dims if f.is_dynamic(d))
            return f.raw(f"memref.alloc({more}) : {f.type(element, dims, True)}", element, dims, True)
        if self.front == "cast":
            x = f.generic(name(self.forms[0]), [x], f.empty(a, name(self.forms[0])),
                          lambda lines, value, out: truncate(lines, value, F32, a))
        if self.front == "norm":
            x = norm(f, "rms", a, name(self.forms[0]), name(self.forms[0].replace("k", "")), name("k"), x, gain)
        if self.other_front == "bytes":
            def convert(lines, value, out):
                lines.append(f"%t = arith.sitofp {value} : i8 to {a.name}")
                return "%t"
            weights = [f.generic(name(form), [w], f.empty(a, name(form)), convert) for form, w in zip(self.forms[1:], weights)]

        def multiply(which):
            operands = [x, weights[which]][::1 if self.shared == 0 else -1]
            zeros = temporary(c, name(self.result))
            zeros = f.fill(f.constant(c, 0), zeros)
            return f.op("linalg.contract", operands, zeros, indexing(name(self.batch + "mnk"), *map(name, self.maps(which)), name(self.result)))

        # The other one may come first.
        sums = [None, None]
        for which in ((0, 1), (1, 0))[self.order]:
            sums[which] = multiply(which)
        gate, up = sums
        if self.act != "none" or self.between is not c:
            gate = f.generic(name(self.result), [gate], temporary(self.between, name(self.result)),
                             lambda lines, value, out: truncate(lines, activate(self.act, lines, value, c), c, self.between))
        kind = "f" if c.is_float else "i"

        def last(lines, g, u, out):
            g = extend(lines, g, self.between, c, "%w")
            lines.append(f"%c = arith.{self.combine}{kind} {g}, {u} : {c.name}")
            return truncate(lines, "%c", c, self.out)
        result = f.generic(name(self.result), [gate, up], target or f.empty(self.out, name(self.result)), last)
        if not self.memref:
            f.ret(*([result] + {"gate": [gate], "up": [up]}.get(self.keep, [])))
        return f

    def reference(self, x, w, v, *rest):
        if self.front == "cast":
            x = self.a.round(x)
        if self.front == "norm":
            x = normalised("rms", self.a, x, rest[0], self.forms[0].index("k"))
        exact = lambda t: t if t.dtype.kind == "f" else t.astype(np.int64)
        gate, up = (np.einsum(f"{self.forms[0]},{form}->{self.result}", exact(x), exact(t)) for form, t in zip(self.forms[1:], (w, v)))
        gate = self.between.round(activated(self.act, self.c.round(gate)))
        up = self.c.round(up)
        result = self.out.round({"mul": np.multiply, "add": np.add, "sub": np.subtract}[self.combine](gate, up))
        return [result] + {"gate": [gate], "up": [up]}.get(self.keep, [])

    def cases(self, cases=({},), check="int", most=2):
        f = self.function()
        for given in cases:
            full = {**self.sizes, **given}
            text = "x".join(map(str, full.values()))
            given = {self.letters[d]: size for d, size in given.items()}
            target = [uniform(-1, 1) if self.out.is_float else integers(-9, 9)] if self.memref else []
            if check == "int":
                fills = [integers(-most, most)] * (len(f.args) - len(target)) + target
                f.case(f"int/{text}", given, fills, EXACT, self.reference)
            else:
                fills = [uniform(0.5, 1.5), *[uniform(-1, 1)] * 2]
                fills += [uniform(0.5, 1.5)] if self.front == "norm" else []
                k = max(full["k"], 1)
                # Of numbers up to k about: in the gate's type, once more by the product.
                bound = relative(8 * self.out.eps, 8 * k * k * (self.between.eps + self.a.eps))
                f.case(f"random/{text}", given, fills + target, bound, self.reference)
                small = [uniform(-1, 1), *[uniform(-0.125, 0.125)] * 2]
                small += [uniform(0.5, 1)] if self.front == "norm" else []
                f.case(f"bounds/{text}", given, small + target, BOUNDED)
        return f


def product_of_product(a, size):
    """x w, and x times that, combined: the second product reads what the first becomes."""
    f = Function("dual", a.name, "of_a_product", {"m": size, "n": size, "k": size})
    x, w = f.arg(a, "mk"), f.arg(a, "kn")
    first = f.op("linalg.matmul", [x, w], f.zeros(F32, "mn"))
    narrow = f.generic("mn", [first], f.empty(a, "mn"), lambda lines, value, out: truncate(lines, value, F32, a))
    second = f.op("linalg.matmul", [x, narrow], f.zeros(F32, "mn"))
    f.ret(f.generic("mn", [first, second], f.empty(F32, "mn"), lambda lines, g, u, out: (lines.append(
        f"%c = arith.addf {g}, {u} : f32"), "%c")[1]))
    f.case(f"int/{size}", {}, integers(-1, 1), EXACT, lambda x, w: x @ w + x @ a.round(x @ w))
    return f


def functions():
    sizes = lambda m, k, n: {"m": m, "k": k, "n": n}
    rows = [{"m": m} for m in (0, 1, 17, 130)]
    anything = [sizes(1, 1, 1), sizes(130, 72, 200), sizes(5, 0, 9), sizes(0, 7, 5), sizes(16, 64, 64), sizes(64, 40, 33)]
    for a, c in ((F16, F32), (BF16, F32), (F32, F32), (I8, I32), (F64, F64)):
        yield Dual("aligned", a, c, sizes(64, 128, 96)).cases()
        yield Dual("ragged", a, c, sizes(77, 53, 45)).cases()
        yield Dual("any", a, c, sizes(33, 57, 41), dynamic="mkn").cases(({}, *anything))
    yield Dual("narrow_sums", F16, F16, sizes(64, 96, 40)).cases(most=1)
    for a in (F16, BF16):
        yield Dual("gate_cast", a, F32, sizes(80, 64, 72), between=a, out=a).cases()
        yield Dual("silu", a, F32, sizes(64, 96, 128), "silu", between=a, out=a).cases(check="random")
        yield Dual("silu_rows_any", a, F32, sizes(40, 64, 104), "silu", out=a, dynamic="m").cases(({}, *rows), "random")
        yield Dual("norm", a, F32, sizes(48, 64, 104), "silu", between=a, out=a, front="norm").cases(check="random")
        yield Dual("norm_rows_any", a, F32, sizes(48, 72, 56), "silu", out=a, front="norm", dynamic="m").cases(({}, *rows), "random")
    yield Dual("silu", F32, F32, sizes(40, 72, 64), "silu").cases(check="random")
    yield Dual("norm", F32, F32, sizes(40, 57, 33), "silu", front="norm").cases(check="random")
    yield Dual("sum", F16, F32, sizes(64, 64, 64), "none", "add").cases()
    yield Dual("difference", F16, F32, sizes(40, 200, 72), "none", "sub", order=1).cases()
    yield Dual("other_first", F16, F32, sizes(96, 72, 64), between=F16, out=F16, order=1).cases()
    yield Dual("turned", F16, F32, sizes(64, 80, 48), forms=("mk", "nk", "nk")).cases()
    yield Dual("one_turned", F16, F32, sizes(64, 80, 48), forms=("mk", "nk", "kn")).cases()
    yield Dual("columns", F16, F32, sizes(72, 80, 64), forms=("km", "kn", "kn")).cases()
    yield Dual("right", F16, F32, sizes(64, 96, 72), forms=("kn", "mk", "mk"), shared=1).cases()
    yield Dual("right", F32, F32, sizes(30, 40, 50), forms=("kn", "km", "km"), shared=1).cases()
    yield Dual("cast", F16, F32, sizes(24, 64, 48), front="cast").cases()
    yield Dual("bytes", F16, F32, sizes(32, 96, 64), other_front="bytes").cases()
    yield Dual("batch", F16, F32, {"b": 3, **sizes(40, 72, 48)}).cases()
    yield Dual("batch", F32, F32, {"b": 2, **sizes(20, 24, 40)}).cases()
    yield Dual("batch_any", BF16, F32, {"b": 2, **sizes(24, 64, 40)}, dynamic="bm").cases(({}, {"b": 0}, {"b": 5, "m": 33}))
    yield Dual("memrefs", F16, F32, sizes(64, 64, 64), memref=True).cases()
    yield Dual("memrefs_any", F32, F32, sizes(50, 40, 30), memref=True, dynamic="mkn").cases(({}, *anything))
    yield Dual("few_rows", F16, F32, sizes(4, 256, 96)).cases()
    yield Dual("one_row", F32, F32, sizes(1, 100, 64)).cases()
    yield Dual("none", F16, F32, sizes(24, 0, 40)).cases()
    yield Dual("none", F32, F32, sizes(24, 0, 40)).cases()
    yield Dual("one_step", F16, F32, sizes(32, 16, 32)).cases()
    yield Dual("long", F16, F32, sizes(64, 1040, 64)).cases(most=1)
    yield Dual("keeps_gate", F16, F32, sizes(48, 64, 56), keep="gate").cases()
    yield Dual("keeps_up", F16, F32, sizes(48, 64, 56), keep="up").cases()
    yield product_of_product(F16, 48)
