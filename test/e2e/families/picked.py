# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batched products whose matrices a table names, as those of experts that tokens have chosen: fewer entries than matrices and
more, rows of one token and of many, either order of the matrix, what is done with the results; two matrices by one table. What
is a copy: matrices that others read, too, and those of open sizes.
"""

import numpy as np

from data import BF16, F16, F32, I32, I64, I8, integers
from functions import EXACT, Function, Value


def matrices(f, source, table, dims):
    """Matrix table[b] of `source`, a copy where no product reads it in place."""
    def body(lines, number, out):
        lines.append(f"%i = arith.index_cast {number} : {table.element.name} to index")
        indices = ["%i"]
        for position in range(1, len(dims)):
            lines.append(f"%i{position} = linalg.index {position} : index")
            indices.append(f"%i{position}")
        lines.append(f"%v = tensor.extract {source.name}[{', '.join(indices)}] : {f.value_type(source)}")
        return "%v"
    return f.generic(dims, [table], f.empty(source.element, dims), body)


def multiply_add(a, c):
    kind = "f" if a.is_float else "i"

    def body(lines, left, right, total):
        if a is not c:
            lines += [f"%{name} = arith.{'extf' if a.is_float else 'extsi'} {value} : {a.name} to {c.name}"
                      for name, value in (("l", left), ("r", right))]
            left, right = "%l", "%r"
        lines += [f"%p = arith.mul{kind} {left}, {right} : {c.name}", f"%t = arith.add{kind} {total}, %p : {c.name}"]
        return "%t"
    return body


def product(label, a, c, sizes, index=I64, order="kn", then=None, dynamic=False, known=""):
    rows = "m" if "m" in sizes else ""
    f = Function("picked", a.name, label, sizes, dynamic, known=known)
    x, w, e = f.arg(a, f"b{rows}k"), f.arg(a, f"e{order}"), f.arg(index, "b")
    picked = matrices(f, w, e, "b" + order)
    result = f.generic(f"b{rows}nk", [x, picked], f.zeros(c, f"b{rows}n"), multiply_add(a, c), reduce="k")
    if then == "other":
        v = f.arg(a, f"e{order}")
        second = f.generic(f"b{rows}nk", [x, matrices(f, v, e, "b" + order)], f.zeros(c, f"b{rows}n"), multiply_add(a, c), reduce="k")
        kind = "f" if c.is_float else "i"

        def combine(lines, gate, up, out):
            lines += [f"%z = arith.constant 0{'.0' if c.is_float else ''} : {c.name}",
                      f"%g = arith.max{'imumf' if c.is_float else 'si'} {gate}, %z : {c.name}", f"%t = arith.mul{kind} %g, {up} : {c.name}"]
            return "%t"
        f.ret(f.generic(f"b{rows}n", [result, second], f.empty(c, f"b{rows}n"), combine))
    elif then == "returned":
        f.ret(result, picked)
    else:
        f.ret(result)

    def reference(x, w, e, *others):
        wide = np.float64 if c.is_float else np.int64
        form = f"b{rows}k,b{order}->b{rows}n"
        apply = lambda m: np.einsum(form, x.astype(wide), m[e].astype(wide))
        result = apply(w)
        if then == "other":
            return np.maximum(result, 0) * apply(others[0])
        return [result, w[e]] if then == "returned" else result

    numbers = integers(0, f.sizes["e"] - 1)
    fills = [integers(-2, 2), integers(-2, 2), numbers] + [integers(-2, 2)] * (then == "other")
    for entries in (sizes["b"], 1, 0) if known else (sizes["b"],):
        f.case("x".join(map(str, {**sizes, "b": entries}.values())), {"b": entries}, fills, EXACT, reference)
    return f


def constant():
    """Matrices of the program, which a call keeps, and a result behind their last use."""
    f = Function("picked", "f32", "constant", {"b": 3, "m": 4, "n": 8, "k": 8, "e": 2})
    x, y, e = f.arg(F32, "bmk"), f.arg(F32, "bmn"), f.arg(I32, "b")
    numbers = np.random.default_rng(3).integers(-2, 3, (2, 8, 8))
    spelt = ", ".join("[" + ", ".join("[" + ", ".join(f"{number:.1f}" for number in row) + "]" for row in matrix) + "]" for matrix in numbers)
    w = f.raw(f"arith.constant dense<[{spelt}]> : tensor<2x8x8xf32>", F32, "ekn")
    first = f.generic("bmnk", [x, matrices(f, w, e, "bkn")], f.zeros(F32, "bmn"), multiply_add(F32, F32), reduce="k")
    second = f.generic("bmnk", [Value(first.name, F32, "bmk"), matrices(f, w, e, "bkn")], f.zeros(F32, "bmn"), multiply_add(F32, F32),
                       reduce="k")
    f.ret(second, f.op("linalg.add", [first, y], f.empty(F32, "bmn")))

    def reference(x, y, e):
        first = x @ numbers[e]
        return [first @ numbers[e], first + y]
    f.case("3x4x8x8x2", {}, [integers(-2, 2), integers(-2, 2), integers(0, 1)], EXACT, reference)
    return f


def functions():
    yield constant()
    blocks = {"b": 6, "m": 32, "n": 64, "k": 32, "e": 4}
    for a, c in ((F16, F32), (BF16, F32), (F32, F32), (I8, I32)):
        yield product("blocks", a, c, blocks)
        yield product("blocks_rows", a, c, blocks, order="nk")
        yield product("ragged", a, c, {"b": 3, "m": 19, "n": 37, "k": 21, "e": 5}, index=I32)
        yield product("tokens", a, c, {"b": 5, "n": 64, "k": 96, "e": 8}, index=I32)
        yield product("tokens_rows", a, c, {"b": 9, "n": 64, "k": 96, "e": 8}, order="nk")
    for a, c in ((F16, F32), (F32, F32)):
        for entries, columns in ((6, 16), (64, 3), (2, 4), (70, 32)):
            yield product(f"narrow_{entries}_{columns}", a, c, {"b": entries, "n": columns, "k": 24, "e": 5})
        yield product("one_row", a, c, {"b": 6, "m": 1, "n": 16, "k": 40, "e": 4})
        yield product("two", a, c, blocks, then="other")
        yield product("copied", a, c, blocks, then="returned")
        yield product("long", a, c, {"b": 5, "m": 128, "n": 256, "k": 512, "e": 3})
        yield product("entries", a, c, blocks, dynamic=True, known="mnke")
        yield product("entries_tokens", a, c, {"b": 5, "n": 64, "k": 96, "e": 8}, dynamic=True, known="nke")
        yield product("any", a, c, {"b": 6, "m": 16, "n": 32, "k": 16, "e": 4}, dynamic=True)
