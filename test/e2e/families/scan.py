# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tilewright.scan`: short and in chunks, along any dim, in both directions, with and without the element itself."""

import numpy as np

from data import BF16, F16, F32, F64, I8, I32, I64, choice, integers, uniform
from functions import BOUNDED, EXACT, Function

# Op of floats, op of integers, NumPy, data whose results are exact.
COMBINERS = {"sum": ("addf", "addi", np.add, integers(-2, 2)), "product": ("mulf", "muli", np.multiply, choice(1, -1, 1)),
             "max": ("maximumf", "maxsi", np.maximum, integers(-99, 99)),
             # Not commutative: the last one that is not zero.
             "last": (None, None, None, choice(0, 0, 0, 3, -7))}


def combiner(how, element):
    """The text of a combiner's ops."""
    t = element.name
    if how == "last":
        zero, compare = ("0.0", "cmpf une") if element.is_float else ("0", "cmpi ne")
        return (f"        %z = arith.constant {zero} : {t}\n        %p = arith.{compare}, %next, %z : {t}\n"
                f"        %c = arith.select %p, %next, %sum : {t}\n")
    return f"        %c = arith.{COMBINERS[how][0 if element.is_float else 1]} %sum, %next : {t}\n"


def accumulated(how, x):
    """NumPy's, along the first axis."""
    if how != "last":
        return COMBINERS[how][2].accumulate(x, axis=0)
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = np.where(y[i] != 0, y[i], y[i - 1])
    return y


def scan(label, element, how, dims, sizes, along, dynamic, exclusive=False, reverse=False, init=False, more=(), data=None,
         check=EXACT, memref=False):
    flags = "".join(f".{name}" for name, on in (("exclusive", exclusive), ("reverse", reverse), ("init", init and not exclusive),
                                                ("memref", memref)) if on)
    f = Function("scan", element.name, f"{how}.{label}{flags}", sizes, dynamic)
    exact = COMBINERS[how][3]
    others = dims.replace(along, "")
    x = f.arg(element, dims, memref)
    start = f.arg(element, others, memref) if init or exclusive else None
    out = f.arg(element, dims, True) if memref else f.empty(element, dims)
    axis = dims.index(along)
    attributes = ", ".join([f"dim = {axis} : i64", *(["exclusive"] if exclusive else []), *(["reverse"] if reverse else [])])
    text = f"tilewright.scan ins({x.name} : {f.value_type(x)}) "
    if start:
        text += f"init({start.name} : {f.value_type(start)}) "
    t = element.name
    text += (f"outs({out.name} : {f.value_type(out)}) {{{attributes}}} combine {{\n      ^bb0(%sum: {t}, %next: {t}):\n"
             f"{combiner(how, element)}        tilewright.combined %c : {t}\n    }}")
    if memref:
        f.emit(text)
        f.ret()
    else:
        f.ret(f.raw(f"{text} -> {f.value_type(out)}", element, dims))

    def reference(x, *rest):
        x = np.moveaxis(x, axis, 0)
        if reverse:
            x = x[::-1]
        if start:
            x = np.concatenate([rest[0][None], x])
        y = accumulated(how, x) if x.shape[0] else x
        if start:
            y = y[:-1] if exclusive else y[1:]
        if reverse:
            y = y[::-1]
        return np.moveaxis(element.round(y), 0, axis)

    for own in [{}, *(more if dynamic else [])]:
        f.case("x".join(str({**sizes, **own}[d]) for d in dims), own, data or exact, check, reference)
    return f


def functions():
    row = {"m": 5, "n": 37}
    more = [{"n": 1}, {"n": 0}, {"m": 0}, {"n": 256}, {"n": 257}, {"m": 2, "n": 1000}, {"m": 1, "n": 17000}, {"m": 4100, "n": 260}]
    for dynamic in (False, True):
        yield scan("rows", F32, "sum", "mn", row, "n", dynamic, more=more)
        yield scan("columns", F32, "sum", "nm", {"n": 37, "m": 5}, "n", dynamic, more=more[:-1])
        yield scan("rows", I32, "sum", "mn", row, "n", dynamic, exclusive=True, more=more[:-1])
        yield scan("rows", F32, "max", "mn", row, "n", dynamic, reverse=True, more=more[:-1])
        yield scan("long", F32, "sum", "mn", {"m": 3, "n": 1100}, "n", dynamic)
        yield scan("long", F32, "sum", "mn", {"m": 3, "n": 1100}, "n", dynamic, exclusive=True, reverse=True)
        yield scan("long", I64, "sum", "mn", {"m": 3, "n": 1100}, "n", dynamic, init=True)
        yield scan("long", I32, "max", "anb", {"a": 2, "n": 700, "b": 9}, "n", dynamic, reverse=True)
    for element in (F16, BF16, F64, I8):
        yield scan("rows", element, "sum", "mn", row, "n", False)
        yield scan("rows", element, "product", "mn", row, "n", True)
        yield scan("long", element, "max", "n", {"n": 1100}, "n", True)
    yield scan("line", F32, "sum", "n", {"n": 100}, "n", True, more=[{"n": 0}, {"n": 5000}])
    yield scan("line", F32, "sum", "n", {"n": 100}, "n", True, exclusive=True, reverse=True, more=[{"n": 5000}])
    yield scan("middle", F32, "product", "abncd", {"a": 2, "b": 3, "n": 40, "c": 5, "d": 2}, "n", True, init=True, more=[{"n": 300, "a": 1}])
    yield scan("rows.random", F32, "sum", "mn", {"m": 3, "n": 700}, "n", True, data=uniform(-1, 1), check=BOUNDED, more=[{"n": 20000}])
    yield scan("columns.random", F16, "sum", "nm", {"m": 70, "n": 100}, "n", False, data=uniform(-1, 1), check=BOUNDED)
    yield scan("rows", F32, "sum", "mn", row, "n", True, memref=True, more=[{"n": 1000}])
    # Tiles that look back (2048 elements of f64, 4096 of f32, 8192 of bytes): several, in groups of 32.
    yield scan("tiles", F32, "last", "n", {"n": 9000}, "n", False)
    yield scan("tiles", I32, "last", "mn", {"m": 3, "n": 8195}, "n", True, exclusive=True, more=[{"n": 4096}, {"n": 4097}, {"m": 1, "n": 12289}])
    yield scan("tiles", I8, "last", "mn", {"m": 2, "n": 20000}, "n", True, reverse=True, more=[{"n": 8192}, {"n": 257}])
    yield scan("tiles", BF16, "max", "n", {"n": 20000}, "n", False, exclusive=True, reverse=True)
    yield scan("groups", F64, "last", "mn", {"m": 2, "n": 67600}, "n", True, init=True, more=[{"m": 1, "n": 65536}, {"m": 1, "n": 65537}])
    # Tiles of several scans side by side: all of them, and of two blocks of columns the second one not full; several groups.
    yield scan("column_tiles", I32, "last", "nB", {"n": 2500, "B": 3}, "n", True, more=[{"n": 1024}, {"n": 1025}, {"n": 257}])
    yield scan("column_tiles", F32, "last", "anB", {"a": 2, "n": 300, "B": 40}, "n", False, exclusive=True, reverse=True)
    yield scan("column_tiles", I8, "last", "nB", {"n": 5000, "B": 2}, "n", False, reverse=True)
    yield scan("column_groups", F64, "last", "anB", {"a": 1, "n": 4200, "B": 33}, "n", True, init=True, more=[{"n": 2048}, {"n": 2049}])
    yield scan("column_groups", F64, "last", "nB", {"n": 70000, "B": 2}, "n", False, exclusive=True)
    yield scan("groups.random", F64, "sum", "n", {"n": 140000}, "n", False, exclusive=True, data=uniform(-1, 1), check=BOUNDED)
