# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions by bodies of their own, whose terms are taken one after another in the order of the loops: a polynomial
(o * 3 + x), a moving average (o / 2 + x), and a sum of the positive elements. Of rows side by side, of columns,
of elements that the loops visit in another order than memory has them in, and of windows."""

import numpy as np

from data import F32, I32, integers, uniform
from functions import BOUNDED, EXACT, Function


def polynomial(lines, value, acc):
    lines.append("%three = arith.constant 3 : i32")
    lines.append(f"%m = arith.muli {acc}, %three : i32")
    lines.append(f"%r = arith.addi %m, {value} : i32")
    return "%r"


def average(lines, value, acc):
    lines.append("%half = arith.constant 0.5 : f32")
    lines.append(f"%m = arith.mulf {acc}, %half : f32")
    lines.append(f"%r = arith.addf %m, {value} : f32")
    return "%r"


def positive(lines, value, acc):
    lines.append("%zero = arith.constant 0 : i32")
    lines.append(f"%c = arith.cmpi sgt, {value}, %zero : i32")
    lines.append(f"%m = arith.addi {acc}, {value} : i32")
    lines.append(f"%r = arith.select %c, %m, {acc} : i32")
    return "%r"


# (element, body, the same of NumPy)
BODIES = {"polynomial": (I32, polynomial, lambda o, x: 3 * o + x), "average": (F32, average, lambda o, x: o / 2 + x),
          "positive": (I32, positive, lambda o, x: o + np.maximum(x, 0))}

# (loops, reduced ones, dims of the input, of the result); loops beside each other run as they are listed.
ORDERS = {"vector": ("k", "k", "k", ""), "rows": ("mk", "k", "mk", "m"), "columns": ("mk", "k", "km", "m"),
          "all": ("kl", "kl", "kl", ""), "transposed": ("kl", "kl", "lk", ""), "inner2": ("mkl", "kl", "mlk", "m"),
          "outer2": ("mkl", "kl", "klm", "m"), "ends": ("kml", "kl", "lmk", "m")}
SMALL = {"m": 9, "k": 140, "l": 33}
MORE = ({"m": 3, "k": 16, "l": 70}, {"m": 1, "k": 1, "l": 1}, {"m": 5, "k": 0, "l": 4}, {"m": 40, "k": 15, "l": 17})


def fold(combine, start, x, loops, reduced, dims):
    """`x` of `dims`, combined with `start` term by term."""
    kept = [d for d in loops if d not in reduced]
    x = np.transpose(x, [dims.index(d) for d in kept] + [dims.index(d) for d in loops if d in reduced])
    terms = int(np.prod(x.shape[len(kept):], dtype=np.int64))
    x = x.reshape(x.shape[:len(kept)] + (terms,))
    total = start
    for term in range(terms):
        total = combine(total, x[..., term])
    return total


def reduction(name, order, dynamic):
    element, body, combine = BODIES[name]
    loops, reduced, dims, rest = ORDERS[order]
    sizes = {d: SMALL[d] for d in loops}
    f = Function("sequential", element.name, f"{name}_{order}", sizes, dynamic)
    x, start = f.arg(element, dims), f.arg(element, rest)
    f.ret(f.generic(loops, [x], start, body, reduce=reduced))

    def reference(x, start):
        if element.is_float:
            return element.round(fold(lambda o, v: element.round(combine(o, v)), start, x, loops, reduced, dims))
        return fold(lambda o, v: element.round(combine(o, v)), start, x, loops, reduced, dims)

    for case in ({}, *MORE) if dynamic else ({},):
        case = {d: case[d] for d in loops if d in case}
        text = "x".join(map(str, {**sizes, **case}.values()))
        if element.is_float:
            f.case(f"random/{text}", case, uniform(-1, 1), BOUNDED, reference)
        else:
            f.case(f"int/{text}", case, integers(-9, 9), EXACT, reference)
    return f


def windows():
    """Each window of an image from its rows' other end: the loops over it are not in the order of its dims."""
    f = Function("sequential", "i32", "polynomial_windows", {"h": 30, "w": 20, "i": 9, "j": 6, "k": 3, "l": 4})
    x, start = f.arg(I32, "hw"), f.arg(I32, "ij")
    shape = f.empty(I32, "lk")
    body = []
    result = polynomial(body, "%v", "%o")
    lines = "\n".join(f"        {line}" for line in body)
    f.ret(f.raw("linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i * 3 + l, j * 2 + k)>, "
                "affine_map<(i, j, k, l) -> (l, k)>, affine_map<(i, j, k, l) -> (i, j)>], "
                "iterator_types = [\"parallel\", \"parallel\", \"reduction\", \"reduction\"]} "
                f"ins({x.name}, {shape.name} : {f.value_type(x)}, {f.value_type(shape)}) "
                f"outs({start.name} : {f.value_type(start)}) {{\n      ^bb0(%v: i32, %d: i32, %o: i32):\n{lines}\n"
                f"        linalg.yield {result} : i32\n    }} -> {f.value_type(start)}", I32, "ij"))

    def reference(x, start):
        total = start
        for k in range(3):
            for l in range(4):
                total = I32.round(3 * total + x[l:l + 25:3, k:k + 11:2])
        return total

    f.case("int", {}, integers(-9, 9), EXACT, reference)
    return f


def functions():
    for name in BODIES:
        for order in ORDERS:
            yield reduction(name, order, True)
            if name == "polynomial" or order in ("vector", "rows"):
                yield reduction(name, order, False)
    yield windows()
