# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions over any subset of dims: sum, product, maximum and minimum; and
reductions of computed values (sum of squares, a dot of rows)."""

import numpy as np

from data import F16, F32, F64, BF16, I32, I8, TYPES, choice, integers, uniform
from functions import BOUNDED, EXACT, Function

# (label, iteration, what remains)
SHAPES = (("rows", "mn", "m"), ("columns", "mn", "n"), ("all2", "mn", ""), ("vector", "k", ""),
          ("outer3", "abc", "bc"), ("middle3", "abc", "ac"), ("inner3", "abc", "ab"), ("ends3", "abc", "b"),
          ("first_two3", "abc", "c"), ("mixed4", "abcd", "bd"), ("transposed3", "abc", "ca"))
OPS = {"sum": ("addf", "addi", 0), "prod": ("mulf", "muli", 1), "max": ("maximumf", "maxsi", None),
       "min": ("minimumf", "minsi", None)}
SMALL = {"m": 19, "n": 37, "k": 301, "a": 3, "b": 5, "c": 17, "d": 4}
MORE = ({"m": 1, "n": 1, "k": 1, "a": 1, "b": 1, "c": 1, "d": 1},
        {"m": 64, "n": 1024, "k": 4099, "a": 8, "b": 64, "c": 32, "d": 8},
        {"m": 300, "n": 7, "k": 64, "a": 130, "b": 3, "c": 2, "d": 9},
        {"m": 6, "n": 0, "k": 0, "a": 0, "b": 4, "c": 5, "d": 3})


def neutral(element, op):
    if op == "sum":
        return 0
    if op == "prod":
        return 1
    if element.is_float:
        return float("-inf") if op == "max" else float("inf")
    low = -(1 << (element.bits - 1))
    return low if op == "max" else -low - 1


def exact_data(element, op, terms):
    if op in ("max", "min"):
        return integers(-1000, 1000) if element.bits > 8 and element.name != "bf16" else integers(-100, 100)
    if op == "prod":
        # Powers of two, few enough that no partial product leaves the range.
        if element.is_float:
            return choice(1, -1, 2, 0.5) if terms < element.bits - 2 else choice(1, -1)
        return choice(1, -1, 3)
    if not element.is_float:
        return integers(-100, 100)
    limit = 2 ** (element.mantissa + 1)
    return integers(-1, 1) if terms * 3 > limit else integers(-3, 3)


def reduce(element, op, label, iteration, rest, dynamic):
    dims = {d: SMALL[d] for d in iteration}
    f = Function("reduction", element.name, f"{op}_{label}", dims, dynamic)
    x = f.arg(element, iteration)
    name = OPS[op][0 if element.is_float else 1]

    def body(lines, value, acc):
        lines.append(f"%t = arith.{name} {value}, {acc} : {element.name}")
        return "%t"

    gone = "".join(d for d in iteration if d not in rest)
    start = f.filled(element, rest, neutral(element, op))
    f.ret(f.generic(iteration, [x], start, body, reduce=gone))
    axes = tuple(iteration.index(d) for d in gone)
    kept = [d for d in iteration if d in rest]
    order = [kept.index(d) for d in rest]
    numpy_op = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}[op]

    def reference(x):
        initial = {} if op in ("sum", "prod") else {"initial": neutral(element, op)}
        return element.round(np.transpose(numpy_op(x, axis=axes, **initial), order))

    for sizes in ({}, *MORE) if dynamic else ({},):
        sizes = {d: sizes[d] for d in iteration if d in sizes}
        full = {**dims, **sizes}
        terms = int(np.prod([full[d] for d in gone], dtype=np.int64))
        text = "x".join(map(str, full.values()))
        # A long sum in a narrow accumulator is not exact: only the bound is checked.
        if not (op == "sum" and element.is_float and terms > 2 ** (element.mantissa + 1)):
            f.case(f"int/{text}", sizes, exact_data(element, op, terms), EXACT, reference)
        if element.is_float and op in ("sum", "max"):
            check = EXACT if op == "max" else BOUNDED
            f.case(f"random/{text}", sizes, uniform(-1, 1), check, reference)
    return f


def sum_of_squares(element, dynamic):
    dims = {"m": 21, "n": 130}
    f = Function("reduction", element.name, "sum_of_squares", dims, dynamic)
    x = f.arg(element, "mn")

    def body(lines, value, acc):
        lines.append(f"%q = arith.mulf {value}, {value} : {element.name}")
        lines.append(f"%t = arith.addf %q, {acc} : {element.name}")
        return "%t"

    f.ret(f.generic("mn", [x], f.zeros(element, "m"), body, reduce="n"))
    for sizes in [{}] + ([{"m": 3, "n": 1025}] if dynamic else []):
        n = {**dims, **sizes}["n"]
        f.case(f"random/{n}", sizes, uniform(-1, 1), BOUNDED,
               lambda x: element.round(np.sum(x * x, axis=1)))
    return f


def two_results(dynamic):
    """Sum and maximum of a row in one op."""
    f = Function("reduction", "f32", "sum_and_max", {"m": 23, "n": 65}, dynamic)
    x = f.arg(F32, "mn")

    def body(lines, value, total, most):
        lines.append(f"%t = arith.addf {value}, {total} : f32")
        lines.append(f"%u = arith.maximumf {value}, {most} : f32")
        return ["%t", "%u"]

    f.ret(*f.generic("mn", [x], [f.zeros(F32, "m"), f.filled(F32, "m", float("-inf"))], body, reduce="n"))
    f.case("int", {}, integers(-9, 9), EXACT, lambda x: [x.sum(axis=1), x.max(axis=1)])
    return f


def long(element, op, iteration, sizes, dynamic):
    """Few results of many elements: many blocks share one, a second kernel combines. The sizes are primes."""
    f = Function("reduction", element.name, f"{op}_long_{iteration}", sizes[0], dynamic)
    x = f.arg(element, iteration)
    name = OPS[op][0 if element.is_float else 1]

    def body(lines, value, acc):
        lines.append(f"%t = arith.{name} {value}, {acc} : {element.name}")
        return "%t"

    rest = "m" if iteration == "mk" else ""
    f.ret(f.generic(iteration, [x], f.filled(element, rest, neutral(element, op)), body, reduce="k"))

    def reference(x):
        last = len(iteration) - 1
        return element.round(np.sum(x, axis=last) if op == "sum" else
                             np.max(x, axis=last, initial=neutral(element, op)))

    for size in sizes if dynamic else sizes[:1]:
        terms, text = size["k"], "x".join(map(str, size.values()))
        f.case(f"int/{text}", {} if size is sizes[0] else size, exact_data(element, op, terms), EXACT, reference)
        if element is F32 and op == "sum":
            f.case(f"random/{text}", {} if size is sizes[0] else size, uniform(-1, 1), BOUNDED,
                   reference)
    return f


def masked_registers(element, columns):
    """Rows of register tiles of two vectors of AVX2, the last of which has one, and rows that are no whole tiles."""
    lanes = 2 * 256 // element.bits
    f = Function("reduction", element.name, f"masked_registers_{columns}", {"m": 6, "n": columns},
                 targets=("cpu:x86-64-v3", "cpu-reference"))
    x = f.arg(element, "mn")
    suffix = "f" if element.is_float else "i"

    def body(lines, value, acc):
        lines.append(f"%t = arith.add{suffix} {value}, {acc} : {element.name}")
        return "%t"

    config = f"#tilewright.lowering_config<strategy = reduction, block = [4, {lanes}], thread = [4, {lanes}]>"
    f.ret(f.generic("mn", [x], f.zeros(element, "m"), body, reduce="n",
                    attributes=f'tilewright.lowering_config = {{"cpu:x86-64-v3" = {config}}}'))
    f.case("int", {}, integers(1, 9), EXACT, lambda x: x.sum(axis=1))
    return f


def of_nothing(element):
    """Rows without elements, added to what stands there, and used in the same kernel."""
    f = Function("reduction", element.name, "of_nothing", {"m": 6, "k": 0})
    x, start, y = f.arg(element, "mk"), f.arg(element, "m"), f.arg(element, "m")
    suffix = "f" if element.is_float else "i"

    def op(name):
        def body(lines, *scalars):
            lines.append(f"%t = arith.{name}{suffix} {scalars[0]}, {scalars[1]} : {element.name}")
            return "%t"
        return body

    total = f.generic("mk", [x], start, op("add"), reduce="k")
    f.ret(f.generic("m", [total, y], f.empty(element, "m"), op("mul")))
    f.case("int", {}, integers(-9, 9), EXACT, lambda x, start, y: start * y)
    return f


def functions():
    for element in (F32, I32):
        yield of_nothing(element)
    for element, columns in ((F32, 24), (F32, 40), (I32, 24), (F64, 12), (F32, 20)):
        yield masked_registers(element, columns)
    primes = [{"k": k} for k in (999983, 65537, 4099, 1, 0)]
    for element, op in ((F32, "sum"), (I32, "sum"), (F16, "max"), (I8, "max"), (F64, "sum")):
        for dynamic in (True, False):
            yield long(element, op, "k", primes, dynamic)
    yield long(F32, "sum", "mk", [{"m": 3, "k": 99991}], False)
    rows = [{"m": m, "k": k} for m, k in ((3, 99991), (40, 70), (32, 65536), (33, 65537), (5, 0), (0, 7))]
    for element in (F32, I32):
        yield long(element, "sum", "mk", rows, True)
    yield long(I32, "sum", "mk", [{"m": 7, "k": 30011}], False)
    for element in TYPES:
        for op in OPS:
            for label, iteration, rest in SHAPES:
                full = element is F32 and op == "sum"
                few = label in ("rows", "columns", "all2", "mixed4") and (
                    element in (F32, I32, F16) or (op == "sum" or label == "rows"))
                if full or few:
                    yield reduce(element, op, label, iteration, rest, True)
                if (full and label in ("rows", "columns", "vector", "middle3", "mixed4")) or \
                        (few and label == "rows" and element in (F32, F16, I8)):
                    yield reduce(element, op, label, iteration, rest, False)
    for element in (F32, F64, BF16):
        yield sum_of_squares(element, True)
    yield sum_of_squares(F32, False)
    yield two_results(True)
