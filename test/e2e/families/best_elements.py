# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The best element of a row and its place, in the words of other front ends than irregular.py has: ties by the lower place, as
JAX compares; larger elements and equal ones apart; integers; places as a tensor of their own. Each is taken element by
element here, as its body says, NaNs, equal elements and zeros of both signs among them.
"""

import numpy as np

from data import F16, F32, I8, I32, I64, integers
from functions import EXACT, Function

# Of the element v at place k, and of the best b so far at place a; t is the type of elements, p that of places.
ELEMENT_FIRST = """
    %c = arith.cmpf {greater}, {v}, {b} : {t}
    %n = arith.cmpf une, {v}, {v} : {t}
    %g = arith.ori %c, %n : i1
    %q = arith.cmpf oeq, {v}, {b} : {t}
    %l = arith.cmpi slt, {k}, {a} : {p}
    %u = arith.andi %q, %l : i1
    %w = arith.ori %g, %u : i1
    %s = arith.select %g, {v}, {b} : {t}
    %r = arith.select %w, {k}, {a} : {p}"""
BEST_FIRST = """
    %c = arith.cmpf {greater}, {b}, {v} : {t}
    %n = arith.cmpf une, {b}, {b} : {t}
    %g = arith.ori %c, %n : i1
    %q = arith.cmpf oeq, {b}, {v} : {t}
    %l = arith.cmpi slt, {a}, {k} : {p}
    %u = arith.andi %q, %l : i1
    %w = arith.ori %g, %u : i1
    %s = arith.select %g, {b}, {v} : {t}
    %r = arith.select %w, {a}, {k} : {p}"""
TIES = """
    %s = arith.{larger} {v}, {b} : {t}
    %g = arith.{compare} {greater}, {v}, {b} : {t}
    %q = arith.{compare} {equal}, {v}, {b} : {t}
    %m = arith.{tie} {k}, {a} : {p}
    %u = arith.select %q, %m, {a} : {p}
    %r = arith.select %g, {k}, %u : {p}"""
# The place changes where the better one of both is no longer what it was.
CHANGED = """
    %s = arith.{larger} {v}, {b} : {t}
    %g = arith.cmpi ne, %s, {b} : {t}
    %r = arith.select %g, {k}, {a} : {p}"""


def greater(least, x, y):
    return x < y if least else x > y


def element_first(least, v, k, b, a):
    taken = greater(least, v, b) or v != v
    return (v if taken else b), (k if taken or (v == b and k < a) else a)


def best_first(least, v, k, b, a):
    stays = greater(least, b, v) or b != b
    return (b if stays else v), (a if stays or (v == b and a < k) else k)


def ties(tie):
    def step(least, v, k, b, a):
        best = np.nan if v != v or b != b else min(v, b) if least else max(v, b)
        return best, (k if greater(least, v, b) else tie(k, a) if v == b else a)
    return step


def changed(least, v, k, b, a):
    best = min(v, b) if least else max(v, b)
    return best, (k if best != b else a)


# What it is written as, what a step does, whether it is of integers.
SPELLINGS = {
    "element_first": (ELEMENT_FIRST, element_first, {}), "best_first": (BEST_FIRST, best_first, {}),
    "lower": (TIES, ties(min), {"tie": "minsi"}), "higher": (TIES, ties(max), {"tie": "maxsi"}), "changed": (CHANGED, changed, {})}


def words(element, least, unsigned):
    if element.is_float:
        return {"greater": "olt" if least else "ogt", "equal": "oeq", "compare": "cmpf", "larger": "minimumf" if least else "maximumf"}
    sign = "u" if unsigned else "s"
    return {"greater": sign + ("lt" if least else "gt"), "equal": "eq", "compare": "cmpi",
            "larger": ("min" if least else "max") + sign + "i"}


def best(element, place, spelling, sizes, dynamic=False, least=False, begin=None, at=0, beside=False, unsigned=False, largest=3):
    """Of rows, or of all elements where the first size is 0; `at` is the place that the search begins with; beside: places are
    a tensor; largest: of the elements."""
    text, step, more = SPELLINGS[spelling]
    dims = {d: n for d, n in zip("mn", sizes) if n}
    loops = "".join(dims)
    label = f"{spelling}{'.least' if least else ''}{'.unsigned' if unsigned else ''}.{place.name}.{sizes[0]}x{sizes[1]}" + (
        "" if begin is None else f".from{begin}") + (f".at{at}" if at else "") + (".beside" if beside else "") + (f".to{largest}" if largest != 3 else "")
    f = Function("best", element.name, label, dims, dynamic)
    x = f.arg(element, loops)
    low, high = (-np.inf, np.inf) if element.is_float else (0, 255) if unsigned else (-(1 << (element.bits - 1)), (1 << (element.bits - 1)) - 1)
    start = (high if least else low) if begin is None else begin
    # A NaN for threes, and zeros of both signs.
    special = dict(f32=("0x7FC00000", "0x80000000"), f16=("0x7E00", "0x8000")).get(element.name)
    inputs = [x]
    if beside:
        def number(lines):
            lines += [f"%j = linalg.index {loops.index('n')} : index", f"%k = arith.index_cast %j : index to {place.name}"]
            return "%k"
        inputs.append(f.generic(loops, [], f.empty(place, loops), lambda lines, out: number(lines)))

    def body(lines, v, *rest):
        b, a = rest[-2:]
        t = element.name
        if special:
            lines += [f"%three = arith.constant 3.0 : {t}", f"%nan = arith.constant {special[0]} : {t}",
                      f"%one = arith.constant 1.0 : {t}", f"%minus = arith.constant {special[1]} : {t}",
                      f"%isthree = arith.cmpf oeq, {v}, %three : {t}", f"%isone = arith.cmpf oeq, {v}, %one : {t}",
                      f"%v = arith.select %isthree, %nan, {v} : {t}", f"%x = arith.select %isone, %minus, %v : {t}"]
            v = "%x"
        if beside:
            k = rest[0]
        else:
            k = "%k"
            lines += [f"%j = linalg.index {loops.index('n')} : index", f"%k = arith.index_cast %j : index to {place.name}"]
        lines += [line.strip() for line in text.format(v=v, b=b, a=a, k=k, t=t, p=place.name, **words(element, least, unsigned), **more)
                  .strip().splitlines()]
        return ["%s", "%r"]

    kept = loops[:-1]
    f.ret(*f.generic(loops, inputs, [f.filled(element, kept, start), f.filled(place, kept, at)], body, reduce="n"))

    def reference(x):
        rows = np.where(x == 3, np.nan, np.where(x == 1, -0.0, x)) if special else x & 255 if unsigned else x
        values, places = [], []
        for row in rows.reshape(-1, x.shape[-1]):
            value, place = start, at
            for i, v in enumerate(row):
                value, place = step(least, v, i, value, place)
            values.append(value)
            places.append(place)
        values = np.array(values).reshape(x.shape[:-1])
        return [element.round(values) if unsigned else values, np.array(places).reshape(x.shape[:-1])]

    data = integers(-largest, largest)
    for own in [{}, *([{"m": 130, "n": 3} if sizes[0] else {"n": 1}] if dynamic else [])]:
        f.case("x".join(str({**dims, **own}[d]) for d in loops), own, data, EXACT, reference)
    return f


def equal_or_nan(sizes, least=False):
    """The best number of a row, which passes NaNs over, and the first place of what equals it or is a NaN."""
    dims = {d: n for d, n in zip("mn", sizes) if n}
    loops, kept = "".join(dims), "".join(dims)[:-1]
    f = Function("best", "f32", f"equal_or_nan{'.least' if least else ''}.{sizes[0]}x{sizes[1]}", dims)
    x = f.arg(F32, loops)
    limit, nan = f.constant(F32, -1000000), f.raw("arith.constant 0x7FC00000 : f32", F32, None)

    def element(lines, v):
        lines += [f"%low = arith.cmpf olt, {v}, {limit.name} : f32", f"%v = arith.select %low, {nan.name}, {v} : f32"]

    def better(lines, v, b):
        element(lines, v)
        lines += [f"%m = arith.{'minnumf' if least else 'maxnumf'} %v, {b} : f32"]
        return "%m"

    def place(lines, v, b, at):
        element(lines, v)
        lines += [f"%c = arith.cmpf oeq, %v, {b} : f32", "%n = arith.cmpf uno, %v, %v : f32", "%o = arith.ori %c, %n : i1",
                  f"%j = linalg.index {len(kept)} : index", "%k = arith.index_cast %j : index to i64",
                  "%none = arith.constant 9223372036854775807 : i64", "%s = arith.select %o, %k, %none : i64",
                  f"%m = arith.minsi %s, {at} : i64"]
        return "%m"

    best = f.generic(loops, [x], f.filled(F32, kept, np.inf if least else -np.inf), better, reduce="n")
    f.ret(best, f.generic(loops, [x, best], f.filled(I64, kept, 2**63 - 1), place, reduce="n"))

    def reference(x):
        rows = np.where(x < -1000000, np.nan, x)
        value = (np.nanmin if least else np.nanmax)(rows, axis=-1)
        return [value, np.argmax(np.isnan(rows) | (rows == value[..., None]), axis=-1)]

    f.case("x".join(map(str, dims.values())), {}, integers(-1 << 20, 1 << 20), EXACT, reference)
    return f


def functions():
    for least in (False, True):
        for spelling in ("element_first", "best_first", "lower", "higher"):
            yield best(F32, I32, spelling, (23, 45), least=least)
        yield best(F16, I64, "element_first", (9, 300), True, least)
        yield best(F32, I64, "lower", (9, 19), True, least)
        yield best(I32, I32, "lower", (23, 45), least=least)
        yield best(I8, I64, "higher", (9, 300), True, least)
        yield best(I8, I32, "lower", (9, 77), least=least, unsigned=True)
        yield best(I32, I32, "changed", (9, 77), least=least)
        for element in (F16, I8):
            yield best(element, I32, "lower", (35, 21), least=least)
    # The search begins with an element that others are equal to, and with a place that is in front of theirs or not.
    for at in (-1, 1000):
        for spelling in ("element_first", "lower", "higher"):
            yield best(F32, I32, spelling, (23, 45), begin=2, at=at)
    for spelling in ("element_first", "best_first", "lower"):
        yield best(F32, I32, spelling, (0, 5000), beside=spelling == "element_first")
    yield best(F32, I32, "element_first", (12, 70), beside=True)
    yield best(I32, I32, "lower", (12, 70), True, beside=True)
    # Long enough to be searched in parts.
    for spelling in ("element_first", "best_first", "lower"):
        yield best(F32, I32, spelling, (0, 131072), least=spelling == "best_first")
    yield best(F32, I32, "element_first", (0, 98304), least=True, largest=2, beside=True)
    for spelling in ("lower", "higher"):
        yield best(I32, I64, spelling, (0, 131072), largest=1 << 20)
        yield best(I8, I32, spelling, (3, 163840), largest=100)
    yield equal_or_nan((0, 131072))
    yield equal_or_nan((3, 163840), least=True)
    yield equal_or_nan((23, 450))
