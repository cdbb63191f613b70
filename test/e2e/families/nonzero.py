# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tilewright.nonzero`: places of what is not zero, into fewer, as many or more rows; and a result whose size depends on data."""

import numpy as np

from data import BF16, E4M3, F16, F32, F64, I1, I8, I32, I64, choice, integers
from functions import EXACT, Function

FEW = choice(0, 0, 3, -1)


def places_of(x):
    return np.stack(np.nonzero(x), axis=1).reshape(-1, x.ndim)


def nonzero(label, element, index, dims, sizes, dynamic, data=FEW, more=(), memref=False, sliced=False):
    """`sizes` has the number of rows as r, and that of the dims as R; sliced: the rows that were found, alone."""
    f = Function("nonzero", element.name, f"{label}.{index.name}" + (".sliced" if sliced else "") + (".memref" if memref else ""), sizes,
                 dynamic)
    x, rows, count = f.arg(element, dims, memref), f.arg(index, "rR", memref), f.arg(index, "", memref)
    where, number = f.value_type(rows), f.value_type(count)
    text = f"tilewright.nonzero ins({x.name} : {f.value_type(x)}) outs({rows.name}, {count.name} : {where}, {number})"
    if memref:
        f.emit(text)
        f.ret()
    else:
        name = f.fresh()
        f.emit(f"{name}:2 = {text} -> {where}, {number}")
        found, counted = type(rows)(f"{name}#0", index, "rR"), type(rows)(f"{name}#1", index, "")
        if sliced:
            n = f.raw(f"tensor.extract {counted.name}[] : {number}", index, None)
            size = f.raw(f"arith.index_cast {n.name} : {index.name} to index", I64, None)
            kind = f"tensor<?x{len(dims)}x{index.name}>"
            found = f.raw(f"tensor.extract_slice {found.name}[0, 0] [{size.name}, {len(dims)}] [1, 1] : {where} to {kind}", index, "rR")
            found.type_text = kind
            f.ret(found)
        else:
            f.ret(found, counted)

    def reference(x, rows, count):
        places = places_of(x)
        if sliced:
            return places
        rows = rows.copy()
        kept = places[:len(rows)]
        rows[:len(kept)] = kept
        result = [rows, np.array(len(places))]
        return [x, *result] if memref else result

    for own in [{}, *(more if dynamic else [])]:
        full = {**sizes, **own}
        f.case("x".join(str(full[d]) for d in dims + "r"), own, [data, integers(-9, -1), integers(-9, -1)], EXACT, reference)
    return f


def functions():
    plane = {"m": 7, "n": 21, "r": 147, "R": 2}
    more = [{"m": 0}, {"n": 0, "r": 0}, {"r": 3}, {"m": 60, "n": 70, "r": 5000}, {"m": 1, "n": 5000}]
    for dynamic in (False, True):
        yield nonzero("plane", F32, I64, "mn", plane, dynamic, more=more)
        yield nonzero("line", I32, I32, "n", {"n": 100, "r": 20, "R": 1}, dynamic, more=[{"n": 3000, "r": 3000}, {"n": 1}])
        yield nonzero("plane", I1, I64, "mn", plane, dynamic, sliced=True, data=integers(0, 1), more=[{"m": 30, "r": 700}, {"m": 0}])
    for element in (F16, BF16, F64, I8, I64, E4M3):
        yield nonzero("space", element, I32, "mnk", {"m": 3, "n": 5, "k": 4, "r": 60, "R": 3}, False, data=choice(0, 1, -2))
    yield nonzero("odd", F32, I64, "n", {"n": 60, "r": 60, "R": 1}, True, data=choice("nan", "inf", 0.0, -0.0, 1e-45))
    yield nonzero("plane", F32, I64, "mn", plane, True, memref=True, more=[{"r": 10}])
    # No elements by the type, with room for some.
    yield nonzero("empty", F32, I64, "Am", {"A": 0, "m": 5, "r": 3, "R": 2}, True, more=[{"r": 0}, {"m": 0}])
    yield nonzero("empty", F32, I64, "mn", {"m": 0, "n": 5, "r": 3, "R": 2}, False)
