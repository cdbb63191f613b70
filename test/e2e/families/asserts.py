# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cf.assert of elements in bodies: gathers of rows as torch-mlir writes them. What does not hold is an error of the call."""

import numpy as np

from data import F32, I32, I64, integers
from functions import EXACT, Function

ROWS = 50
BELOW, BEYOND = "index must be larger or equal to 0", "index must be smaller than dim size"


def place(lines, f, index, element):
    """The index of an element as a coordinate, once it is known to be one."""
    lines += [f"%low = arith.constant 0 : {element.name}", f"%high = arith.constant {ROWS} : {element.name}",
              f"%isBelow = arith.cmpi slt, {index}, %high : {element.name}", f'cf.assert %isBelow, "{f.symbol}: {BEYOND}"',
              f"%isInside = arith.cmpi sge, {index}, %low : {element.name}", f'cf.assert %isInside, "{f.symbol}: {BELOW}"',
              f"%at = arith.index_cast {index} : {element.name} to index"]


def gather(dims, inner, sizes, element, dynamic, more=()):
    """Rows of a table, whose dims are `inner`, by indices over `dims`."""
    f = Function("asserts", f"{element.name}-f32", f"gather.{dims}.{inner}", {**sizes, "V": ROWS}, dynamic)
    indices, table = f.arg(element, dims), f.arg(F32, "V" + inner)

    def body(lines, index, out):
        place(lines, f, index, element)
        loops = []
        for number in range(len(inner)):
            lines.append(f"%loop{number} = linalg.index {len(dims) + number} : index")
            loops.append(f", %loop{number}")
        lines.append(f"%t = tensor.extract {table.name}[%at{''.join(loops)}] : {f.value_type(table)}")
        return "%t"

    f.ret(f.generic(dims + inner, [indices], f.empty(F32, dims + inner), body))
    for own in [{}, *more]:
        label = "x".join(str({**sizes, **own}[d]) for d in dims + inner)
        given = [integers(0, ROWS - 1), integers(-9, 9)]
        f.case(label, own, given, EXACT, lambda indices, table: table[indices])
        empty = 0 in {**sizes, **own}.values()
        for words, low, high in ((BEYOND, ROWS, 400), (BELOW, -400, -1), (BEYOND, -400, 400)):
            if low < 0 < high and np.prod([{**sizes, **own}[d] for d in dims]) < 20:
                continue  # one of the two alone
            wrong = [integers(low, high), integers(-9, 9)]
            if empty:
                f.case(f"{label}_{low}_{high}", own, wrong, EXACT,
                       lambda indices, table: np.zeros(indices.shape + table.shape[1:]))
            else:
                f.case(f"{label}_{low}_{high}", own, wrong, EXACT, error=f"'{f.symbol}': {f.symbol}: {words}")
    return f


def two_ops(dynamic):
    """The first op that fails is the one that is heard of, and a sum after both does not hide it."""
    sizes = {"n": 70, "m": 9}
    f = Function("asserts", "i32-f32", "two_ops", {**sizes, "V": ROWS}, dynamic)
    first, second, table = f.arg(I32, "n"), f.arg(I32, "m"), f.arg(F32, "V")
    parts = []
    for dims, indices, name in (("n", first, "first"), ("m", second, "second")):
        def body(lines, index, out):
            lines += [f"%high = arith.constant {ROWS} : i32", f"%isBelow = arith.cmpi ult, {index}, %high : i32",
                      f'cf.assert %isBelow, "{name} index"', f"%at = arith.index_cast {index} : i32 to index",
                      f"%t = tensor.extract {table.name}[%at] : {f.value_type(table)}"]
            return "%t"

        parts.append(f.generic(dims, [indices], f.empty(F32, dims), body))

    def add(lines, x, acc):
        lines.append(f"%t = arith.addf {x}, {acc} : f32")
        return "%t"

    f.ret(*(f.generic(part.dims, [part], f.zeros(F32, ""), add, reduce=part.dims) for part in parts))
    good, bad = integers(0, ROWS - 1), integers(60, 90)
    f.case("right", {}, [good, good, integers(-9, 9)], EXACT, lambda a, b, table: [table[a].sum(), table[b].sum()])
    for label, one, other, words in (("first", bad, good, "first"), ("second", good, bad, "second"), ("both", bad, bad, "first")):
        f.case(label, {}, [one, other, integers(-9, 9)], EXACT, error=f"{words} index")
    return f


def functions():
    for dynamic in (False, True):
        yield gather("bs", "h", {"b": 3, "s": 33, "h": 40}, I64, dynamic, more=[{"s": 0}, {"h": 0}, {"b": 1, "s": 1, "h": 1}] if dynamic else [])
        yield gather("s", "", {"s": 3000}, I32, dynamic)
        yield gather("", "h", {"h": 17}, I64, dynamic)
        yield two_ops(dynamic)
