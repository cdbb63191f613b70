# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in linalg that hides keys by a finite number and by -inf, one inside the other: what is done last decides, also for
queries of which all keys are hidden. And largest scores that begin with a finite number."""

import numpy as np

from data import F16, F32, I1, I64, choice, integers, uniform
from functions import Function, relative

INF = float("inf")
HIDDEN = -1e9
MASK, LENGTHS, ADDED, EMPTIED = (I1, "ij"), (I64, "h"), (F32, "ij"), (F32, "i")
MASKS = [choice(0, 1), integers(0, 0)]


class Scores:
    """`lines` compute the next score of %0, %1, …: a score, then what `args` have. In NumPy `numpy` does, of coordinates, too."""

    def __init__(self, lines, numpy, args=(), fills=()):
        self.lines, self.numpy, self.args, self.fills = lines, numpy, list(args), list(fills)


def choose(condition, seen, hidden, args=(), fills=()):
    """`condition`: lines to %c; `seen` in NumPy."""
    literal = "0xFF800000" if hidden == -INF else f"{hidden:.1e}"
    return Scores([*condition, f"%h = arith.constant {literal} : f32", "%r = arith.select %c, %0, %h : f32"],
                  lambda t, at, *more: np.where(seen(at, *more), t, hidden), args, fills)


def triangle(hidden):
    return choose(["%c = arith.cmpi ule, %at_j, %at_i : index"], lambda at: at["j"] <= at["i"], hidden)


def ahead(hidden):
    """The last queries see no key."""
    return choose(["%five = arith.constant 5 : index", "%n = arith.addi %at_i, %five : index", "%c = arith.cmpi uge, %at_j, %n : index"],
                  lambda at: at["j"] >= at["i"] + 5, hidden)


def masked(hidden):
    return choose(["%yes = arith.constant true", "%c = arith.andi %1, %yes : i1"], lambda at, m: m != 0, hidden, [MASK], MASKS)


def lengths(hidden):
    return choose(["%n = arith.index_cast %at_j : index to i64", "%c = arith.cmpi slt, %n, %1 : i64"],
                  lambda at, n: at["j"] < n[:, None, None], hidden, [LENGTHS], [integers(1, 70)])


def added():
    return Scores(["%r = arith.addf %0, %1 : f32"], lambda t, at, x: t + x, [ADDED], [choice(0, HIDDEN)])


def rounded():
    """Beside -6e4 f16 has no small numbers."""
    return Scores(["%z = arith.addf %0, %1 : f32", "%y = arith.truncf %z : f32 to f16", "%r = arith.extf %y : f16 to f32"],
                  lambda t, at, x: np.float16(np.float32(t + x)), [(F32, "j")], [integers(0, 7)])


def emptied():
    """Nothing is left of a query."""
    return Scores(["%r = arith.addf %0, %1 : f32"], lambda t, at, x: t + x[:, None], [EMPTIED], [choice(0, "-inf")])


# From the first that is done to the last; what the largest score begins with.
PROGRAMS = {
    "inner_triangle": ([triangle(-INF), masked(HIDDEN)], -INF),
    "outer_triangle": ([masked(HIDDEN), triangle(-INF)], -INF),
    "both_triangles": ([triangle(-INF), masked(HIDDEN), triangle(-INF)], -INF),
    "inner_comparison": ([triangle(-INF), ahead(HIDDEN)], -INF),
    "outer_comparison": ([ahead(HIDDEN), triangle(-INF)], -INF),
    "inner_lengths": ([lengths(-INF), masked(HIDDEN)], -INF),
    "outer_lengths": ([masked(HIDDEN), lengths(-INF)], -INF),
    "added_last": ([masked(HIDDEN), added()], -INF),
    "added_first": ([added(), masked(HIDDEN)], -INF),
    "begins_below": ([masked(HIDDEN)], -1e30),
    "begins_above": ([masked(-3e38)], -1e30),
    # Numbers that are chosen in the place of scores, which count where nothing else is larger.
    "small_number": ([masked(-1e4)], -INF),
    "small_triangle": ([triangle(-1e4), masked(-1e4)], -INF),
    "small_then_added": ([masked(-65504.0), added()], -INF),
    "number_then_added": ([masked(HIDDEN), added()], -1e30),
    "added_then_small": ([added(), masked(-1e4)], -INF),
    "added_between": ([triangle(HIDDEN), added(), masked(-2e9), triangle(-INF)], -INF),
    "two_numbers": ([masked(-1e4), ahead(HIDDEN)], -INF),
    "no_low_number": ([ahead(0.5), lengths(-INF), masked(-1e4)], -INF),
    "small_then_rounded": ([masked(-6e4), rounded()], -INF),
    "emptied_then_number": ([emptied(), masked(HIDDEN)], -INF),
    "emptied_then_large": ([emptied(), masked(5.0)], -INF),
    "small_then_emptied": ([masked(-1e4), emptied()], -INF),
}
# Scores are exact in f16.
EXACT = {"small_then_rounded"}
# On Vulkan, too.
EVERYWHERE = {"small_triangle", "small_then_added", "added_between"}


def step(f, x, scores, args):
    def body(lines, *scalars):
        names = {"%0": scalars[0], **{f"%{n}": s for n, s in enumerate(scalars[1:], 1)}}
        text = "\n".join(scores.lines)
        lines.extend(f"%at_{d} = linalg.index {n} : index" for n, d in enumerate("hij") if f"%at_{d}" in text)
        for line in scores.lines:
            lines.append(" ".join(names.get(word.rstrip(","), word.rstrip(",")) + "," * word.endswith(",") for word in line.split(" ")))
        return "%r"
    return f.generic("hij", [x, *args], f.empty(F32, "hij"), body)


def reduced(f, x, op, start):
    return f.generic(x.dims, [x], f.filled(F32, x.dims[:-1], start), lambda lines, a, b: lines.append(f"%t = arith.{op} {a}, {b} : f32") or "%t",
                     reduce="j")


def per_row(f, x, row, lines):
    def body(out, a, b, _):
        out.extend(line.format(a, b) for line in lines)
        return "%t"
    return f.generic("hij", [x, row], f.empty(F32, "hij"), body)


def quotients(f, p, total, emptied):
    """Weights, zeros where the largest of what was added to a query's scores is -inf."""
    if emptied is None:
        return per_row(f, p, total, ["%t = arith.divf {0}, {1} : f32"])
    spread = f.generic("ij", [emptied], f.empty(F32, "ij"), lambda lines, a, _: a)
    largest = reduced(f, spread, "maximumf", -INF)

    def body(out, a, b, most, _):
        out += ["%low = arith.constant 0xFF800000 : f32", "%zero = arith.constant 0.0 : f32", f"%d = arith.divf {a}, {b} : f32",
                f"%c = arith.cmpf oeq, {most}, %low : f32", "%t = arith.select %c, %zero, %d : f32"]
        return "%t"
    return f.generic("hij", [p, total, largest], f.empty(F32, "hij"), body)


def contraction(f, iteration, a, b, dims, along, element):
    def body(lines, x, y, acc):
        if element is not F32:
            lines += [f"%x = arith.extf {x} : {element.name} to f32", f"%y = arith.extf {y} : {element.name} to f32"]
            x, y = "%x", "%y"
        lines += [f"%p = arith.mulf {x}, {y} : f32", f"%t = arith.addf {acc}, %p : f32"]
        return "%t"
    return f.generic(iteration, [a, b], f.zeros(F32, dims), body, reduce=along)


def attention(element, label, steps, start):
    targets = ("cuda", "cpu", "cpu-reference") + ("vulkan",) * (label in EVERYWHERE)
    f = Function("attention_hiding", element.name, label, {"h": 2, "i": 40, "j": 70, "d": 16}, targets=targets)
    q, k, v = f.arg(element, "hid"), f.arg(element, "hjd"), f.arg(element, "hjd")
    args = [[f.arg(*arg) for arg in scores.args] for scores in steps]
    quarter = Scores(["%q = arith.constant 0.25 : f32", "%r = arith.mulf %0, %q : f32"], None)
    t = step(f, contraction(f, "hijd", q, k, "hij", "d", element), quarter, [])
    for scores, own in zip(steps, args):
        t = step(f, t, scores, own)
    p = per_row(f, t, reduced(f, t, "maximumf", start), ["%s = arith.subf {0}, {1} : f32", "%t = math.exp %s : f32"])
    guards = [arg for scores, own in zip(steps, args) for kind, arg in zip(scores.args, own) if kind == EMPTIED]
    w = quotients(f, p, reduced(f, p, "addf", 0), guards[0] if guards else None)
    if element is not F32:
        w = f.generic("hij", [w], f.empty(element, "hij"),
                      lambda lines, a, _: lines.append(f"%t = arith.truncf {a} : f32 to {element.name}") or "%t")
    f.ret(contraction(f, "hidj", w, v, "hid", "j", element))

    def reference(q, k, v, *more):
        t = np.einsum("hid,hjd->hij", q, k) * 0.25
        empty = np.zeros((t.shape[1], 1), bool)
        at = {"i": np.arange(t.shape[1])[:, None], "j": np.arange(t.shape[2])}
        for scores in steps:
            count = len(scores.args)
            t = np.float32(scores.numpy(t, at, *more[:count]))
            empty = np.isinf(more[0])[:, None] if scores.args == [EMPTIED] else empty
            more = more[count:]
        t = np.float64(t)
        with np.errstate(invalid="ignore"):
            p = np.exp(t - np.maximum(t.max(axis=-1, keepdims=True), start))
            return np.einsum("hij,hjd->hid", np.where(empty, 0, p / p.sum(axis=-1, keepdims=True)), v)
    eps = element.eps if element.bits < 32 else 0
    check = relative(2 * eps + 2.0 ** -23 * (4 * 16 + 64))
    fills = [fill for scores in steps for fill in (scores.fills if scores.args[:1] != [MASK] else [MASKS])]
    for number, name in enumerate(("some", "none")[:1 + any(fill is MASKS for fill in fills)]):
        scored = choice(-1, 1) if label in EXACT else uniform(-1, 1)
        f.case(name, {}, [scored, scored, uniform(0.25, 2), *(fill[number] if fill is MASKS else fill for fill in fills)],
               check, reference)
    return f


def functions():
    for label, (steps, start) in PROGRAMS.items():
        yield attention(F16, label, steps, start)
    for label in ("both_triangles", "added_last", "added_between", "two_numbers"):
        yield attention(F32, label, *PROGRAMS[label])
