# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices that bodies use as numbers: they have 64 bits everywhere, also where a kernel's coordinates have 32."""

import numpy as np

from data import F32, I1, I32, I64, INDEX, integers
from functions import EXACT, Function, Value


def function(element, label, args, result, body, reference, values, sizes=None, dynamic=False, cases=({},)):
    """`body` of %s0 … in a loop over m, or of all of it where there is no other input."""
    f = Function("index_numbers", element.name, label, {"m": 70, **(sizes or {})}, dynamic)
    ins = [f.arg(e, "m") for e in args]

    def lines(out, *scalars):
        out.extend(body)
        return "%r"

    f.ret(f.generic("m", ins, f.empty(result, "m"), lines))
    for case in cases:
        f.case("x".join(map(str, {**f.sizes, **case}.values())), case, integers(*values), EXACT, reference)
    return f


def places(count):
    return np.arange(count, dtype=np.int64)


def passed(dynamic):
    """Tensors of indices as arguments and results; where they are read, too."""
    f = Function("index_numbers", "index", "passed", {"m": 70, "n": 9, "k": 33}, dynamic)
    x = f.arg(F32, "mn")
    # Who calls passes numbers of 64 bits.
    rows, start = (Value(f.arg(I64, "k", type_text=f.type(INDEX, "k")).name, INDEX, "k") for _ in range(2))

    def take(lines, row, out):
        lines += ["%j = linalg.index 1 : index", f"%r = tensor.extract {x.name}[{row}, %j] : {f.value_type(x)}"]
        return "%r"

    def add(lines, row, start, out):
        lines.append(f"%r = arith.addi {row}, {start} : index")
        return "%r"

    taken = f.generic("kn", [rows], f.empty(F32, "kn"), take)
    f.ret(taken, f.generic("k", [rows, start], f.empty(INDEX, "k"), add))
    for sizes in ({}, {"k": 1}, {"k": 0}) if dynamic else ({},):
        f.case("x".join(map(str, {**f.sizes, **sizes}.values())), sizes, [integers(-9, 9), integers(0, 69), integers(-10**12, 10**12)],
               EXACT, lambda x, rows, start: [x[rows], rows + start])
    return f


def functions():
    far = 5000000000
    for dynamic in (False, True):
        yield passed(dynamic)
        yield function(I64, "product", [I64], I64,
                       ["%i = linalg.index 0 : index", "%k = arith.constant 100000 : index",
                        "%m = arith.muli %i, %k : index", "%c = arith.index_cast %m : index to i64",
                        "%r = arith.addi %c, %s0 : i64"],
                       lambda x: places(len(x)) * 100000 + x, (-9, 9), {"m": 50000}, dynamic)
        yield function(I64, "remainder", [I64], I32,
                       ["%i = linalg.index 0 : index", "%k = arith.constant 100003 : index",
                        "%c7 = arith.constant 7 : index", "%m = arith.muli %i, %k : index",
                        "%d = arith.remui %m, %c7 : index", "%r = arith.index_cast %d : index to i32"],
                       lambda x: places(len(x)) * 100003 % 7, (-9, 9), {"m": 50000}, dynamic)
    yield function(I64, "and_back", [I64], I64,
                   ["%d = arith.index_cast %s0 : i64 to index", "%r = arith.index_cast %d : index to i64"],
                   lambda x: x, (-9 * 10**12, 9 * 10**12))
    yield function(I64, "lower_half", [I64], I32,
                   ["%d = arith.index_cast %s0 : i64 to index", "%r = arith.index_cast %d : index to i32"],
                   lambda x: I32.round(x), (-9 * 10**12, 9 * 10**12))
    yield function(I64, "far_constant", [I64], I1,
                   [f"%c = arith.constant {far} : index", "%d = arith.index_cast %s0 : i64 to index",
                    "%r = arith.cmpi slt, %d, %c : index"], lambda x: x < far, (far - 5, far + 5))
    yield function(F32, "below_largest", [F32], F32,
                   ["%c = arith.constant 9223372036854775807 : index", "%i = linalg.index 0 : index",
                    "%b = arith.cmpi slt, %i, %c : index", "%z = arith.constant 0.0 : f32",
                    "%r = arith.select %b, %s0, %z : f32"], lambda x: x, (-9, 9), None, True, ({}, {"m": 300}))
    yield function(I32, "unsigned", [I32], I64,
                   ["%d = arith.index_castui %s0 : i32 to index", "%c = arith.constant 7 : index",
                    "%b = arith.cmpi slt, %d, %c : index", "%e = arith.extui %b : i1 to i64",
                    "%w = arith.index_cast %d : index to i64", "%r = arith.addi %w, %e : i64"],
                   lambda x: x % 2**32 + (x % 2**32 < 7), (-10, 10))
    yield function(I64, "clipped", [I64], I64,
                   ["%d = arith.index_cast %s0 : i64 to index", "%one = arith.constant 1 : index",
                    "%n = arith.constant 60 : index", "%zero = arith.constant 0 : index",
                    "%p = arith.addi %d, %one : index", "%a = arith.maxsi %p, %zero : index",
                    "%b = arith.minsi %a, %n : index", "%r = arith.index_cast %b : index to i64"],
                   lambda x: np.clip(x + 1, 0, 60), (-2**40, 2**40))
    yield squares()


def squares():
    f = Function("index_numbers", "f32", "squares", {"k": 100000})
    x = f.arg(F32, "k")

    def body(lines, value, acc):
        lines += ["%i = linalg.index 0 : index", "%m = arith.muli %i, %i : index",
                  "%c = arith.index_cast %m : index to i64", f"%r = arith.addi %c, {acc} : i64"]
        return "%r"

    f.ret(f.generic("k", [x], f.zeros(I64, ""), body, reduce="k"))
    f.case("int", {}, integers(-9, 9), EXACT, lambda x: np.sum(places(len(x)) ** 2))
    return f
