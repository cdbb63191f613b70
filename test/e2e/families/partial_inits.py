# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that write a part of their init: one column, by a map with a constant. The other elements are the init's."""

import numpy as np

from data import F32, I32, integers
from functions import EXACT, Function

COLUMN = 1
KINDS = ("number", "element", "place")  # the same everywhere, those of an input, the number of the row


def write_column(f, init, x, kind):
    """`init` with another column."""
    source = f"ins({x.name} : {f.value_type(x)}) " if kind == "element" else ""
    maps = ["affine_map<(i) -> (i)>"] * bool(source) + [f"affine_map<(i) -> (i, {COLUMN})>"]
    element = init.element.name
    block = ", ".join(f"%s{n}: {element}" for n in range(len(maps)))
    lines = {"place": "        %i = linalg.index 0 : index\n        %p = arith.index_cast %i : index to i32\n"}.get(kind, "")
    number = f.constant(init.element, 3).name if kind == "number" else {"element": "%s0", "place": "%p"}[kind]
    text = f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [\"parallel\"]}} {source}" \
           f"outs({init.name} : {f.value_type(init)}) {{\n      ^bb0({block}):\n{lines}        linalg.yield {number} : {element}\n    }}"
    if init.memref:
        f.emit(text)
        return init
    return f.raw(f"{text} -> {f.value_type(init)}", init.element, init.dims)


def column(element, kind, dynamic, where):
    """`where` the init is: an argument, a memref, filled, or a constant that the compiler knows."""
    f = Function("partial_inits", element.name, f"{kind}_{where}", {"m": 5, "n": 3}, dynamic, known="n")
    x = f.arg(element, "m", memref=where == "memref")
    y = f.arg(element, "mn", memref=where == "memref")
    if where == "filled":
        init = f.filled(element, "mn", 1)
    elif where == "constant":
        init = f.raw(f"arith.constant dense<1> : {f.type(element, 'mn')}", element, "mn")
    else:
        init = y
    result = write_column(f, init, x, kind)
    if where in ("filled", "constant"):
        add = "addf" if element.is_float else "addi"
        result = f.generic("mn", [result, y], f.empty(element, "mn"),
                           lambda lines, a, b, _: lines.append(f"%t = arith.{add} {a}, {b} : {element.name}") or "%t")
    if where != "memref":
        f.ret(result)

    def reference(x, y):
        init = np.ones_like(y) if where in ("filled", "constant") else y.copy()
        init[:, COLUMN] = {"number": 3, "element": x, "place": np.arange(len(x))}[kind]
        return init + y if where in ("filled", "constant") else init
    for m in (5, *((1, 300, 0) if dynamic else ())):
        f.case(str(m), {"m": m}, integers(-3, 3), EXACT, reference)
    return f


def functions():
    for kind in KINDS:
        for element in (F32, I32) if kind != "place" else (I32,):
            for where in ("argument", "memref", "filled"):
                yield column(element, kind, False, where)
                yield column(element, kind, True, where)
            if element is I32:
                yield column(element, kind, False, "constant")
