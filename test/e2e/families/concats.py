# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Concatenations that elementwise ops read, as models have them: rotary embedding, whose halves (or pairs) are turned
against each other, rotations of tensors (torch.roll) with windows around them, tokens moved on by one; and parts that
kernels write into one tensor.
"""

import numpy as np

from data import F16, F32, I8, I32, I64, integers, uniform
from functions import BOUNDED, EXACT, Function

DIMS = {"h": 3, "s": 10, "W": 32, "H": 16, "P": 2}


def sizes(f, dims):
    return [f.size_of(d) if f.is_dynamic(d) else str(f.sizes[d]) for d in dims]


def window(f, x, dims, offsets, steps=None):
    """A slice of `x` that has `dims`."""
    return f.raw(f"tensor.extract_slice {x.name}[{', '.join(map(str, offsets))}] [{', '.join(sizes(f, dims))}] "
                 f"[{', '.join(map(str, steps or [1] * len(dims)))}] : {f.value_type(x)} to {f.type(x.element, dims)}",
                 x.element, dims)


def concat(f, dim, parts, dims):
    types = ", ".join(f.value_type(p) for p in parts)
    return f.raw(f"tensor.concat dim({dim}) {', '.join(p.name for p in parts)} : ({types}) -> "
                 f"{f.type(parts[0].element, dims)}", parts[0].element, dims)


def reshape(f, op, x, groups, dims):
    shape = f" output_shape [{', '.join(sizes(f, dims))}]" if op == "expand_shape" else ""
    return f.raw(f"tensor.{op} {x.name} {groups}{shape} : {f.value_type(x)} into {f.type(x.element, dims)}",
                 x.element, dims)


def apply(f, op, dims, *operands):
    def body(lines, *scalars):
        lines.append(f"%t = {op} {', '.join(scalars[:len(operands)])} : {operands[0].element.name}")
        return "%t"
    return f.generic(dims, list(operands), f.empty(operands[0].element, dims), body)


def turned(f, x, spelling):
    """The halves of the last dim (or its pairs) the other way around, the first of them negated."""
    if spelling == "pairs":
        halves = [window(f, x, "hsH", [0, 0, first], [1, 1, 2]) for first in (0, 1)]
        f.sizes["U"] = 1
        left, right = (reshape(f, "expand_shape", part, "[[0], [1], [2, 3]]", "hsHU")
                       for part in (apply(f, "arith.negf", "hsH", halves[1]), halves[0]))
        both = concat(f, 3, [left, right], "hsHP")
        return reshape(f, "collapse_shape", both, "[[0], [1], [2, 3]]", "hsW")
    left, right = window(f, x, "hsH", [0, 0, 0]), window(f, x, "hsH", [0, 0, 16])
    parts = [apply(f, "arith.negf", "hsH", right), left]
    if spelling != "inserted":
        return concat(f, 2, parts, "hsW")
    whole = f.empty(x.element, "hsW")
    for first, part in zip((0, 16), parts):
        whole = f.raw(f"tensor.insert_slice {part.name} into {whole.name}[0, 0, {first}] [{', '.join(sizes(f, 'hsH'))}] "
                      f"[1, 1, 1] : {f.value_type(part)} into {f.value_type(whole)}", x.element, "hsW")
    return whole


def rotary(element, spelling, dynamic):
    """x * cos + turned(x) * sin; `transposed`: of heads that lie inside of tokens; `cached`: into a window of another."""
    f = Function("concats", element.name, f"rotary_{spelling}", DIMS, dynamic)
    transposed = spelling == "transposed"
    given = f.arg(element, "shW" if transposed else "hsW")
    cos, sin = f.arg(element, "sW"), f.arg(element, "sW")
    x = f.op("linalg.transpose", [given], f.empty(element, "hsW"), suffix=" permutation = [1, 0, 2]") if transposed else given
    cache = None
    if spelling == "cached":
        f.sizes["t"] = 15
        cache = f.arg(element, "htW")
    straight = apply(f, "arith.mulf", "hsW", x, cos)
    other = apply(f, "arith.mulf", "hsW", turned(f, x, spelling), sin)
    y = apply(f, "arith.addf", "hsW", straight, other)
    if cache:
        y = f.raw(f"tensor.insert_slice {y.name} into {cache.name}[0, 4, 0] [{', '.join(sizes(f, 'hsW'))}] [1, 1, 1] : "
                  f"{f.value_type(y)} into {f.value_type(cache)}", element, "htW")
    f.ret(y)

    def reference(x, cos, sin, *cache):
        x = np.transpose(x, (1, 0, 2)) if transposed else x
        if spelling == "pairs":
            other = np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
        else:
            other = np.concatenate([-x[..., 16:], x[..., :16]], -1)
        y = x * cos + other * sin
        if cache:
            cache[0][:, 4:14] = y
        return cache[0] if cache else y

    f.case("3x10x32", {}, integers(-9, 9), EXACT, reference)
    if dynamic and not cache:
        f.case("5x1x32", {"h": 5, "s": 1}, integers(-9, 9), EXACT, reference)
        f.case("1x67x32", {"h": 1, "s": 67}, integers(-9, 9), EXACT, reference)
    return f


def keys_behind_cache(element):
    """Keys of a decoder as front ends write them: turned by angles that are computed from positions, put behind those of a
    cache, with sizes that asserts compare.
    """
    f = Function("concats", element.name, "keys_behind_cache",
                 {"b": 2, "t": 5, "u": 2, "v": 5, "s": 7, "r": 12, "E": 1, "N": 3, "H": 16, "W": 32}, True)
    x, position, cache = f.arg(element, "btNW"), f.arg(I64, "uv"), f.arg(element, "bNsW")
    for one, other in ("bu", "tv"):
        same = f.raw(f"arith.cmpi eq, {f.size_of(one)}, {f.size_of(other)} : index", I32, None)
        f.emit(f'cf.assert {same.name}, "mismatched size for broadcast"')
    f.sized["r"] = f.raw(f"arith.addi {f.size_of('s')}, {f.size_of('t')} : index", I32, None).name

    def frequency(lines, out):
        lines += ["%i = linalg.index 0 : index", "%j = arith.index_cast %i : index to i32", "%k = arith.sitofp %j : i32 to f32",
                  "%b = arith.constant 2.0 : f32", "%c = arith.constant -0.5 : f32", "%l = arith.mulf %k, %c : f32",
                  "%t = math.powf %b, %l : f32"]
        return "%t"

    def convert(op, source, target):
        def body(lines, value, out):
            lines.append(f"%t = {op} {value} : {source.name} to {target.name}")
            return "%t"
        return body

    def product(lines, a, b, out):
        lines.append(f"%t = arith.mulf {a}, {b} : f32")
        return "%t"

    frequencies = f.generic("H", [], f.empty(F32, "H"), frequency)
    positions = f.generic("uv", [position], f.empty(F32, "uv"), convert("arith.sitofp", I64, F32))
    angles = f.generic("uvH", [positions, frequencies], f.empty(F32, "uvH"), product)
    both = concat(f, 2, [angles, angles], "uvW")

    def table(function):
        wide = reshape(f, "expand_shape", apply(f, function, "uvW", both), "[[0], [1, 2], [3]]", "uEvW")
        if element is F32:
            return wide
        return f.generic("uEvW", [wide], f.empty(element, "uEvW"), convert("arith.truncf", F32, element))

    def times(a, table):
        here, empty = "affine_map<(b, n, t, w) -> (b, n, t, w)>", f.empty(element, "bNtW")
        kinds = ", ".join(['"parallel"'] * 4)
        return f.raw(f"linalg.generic {{indexing_maps = [{here}, affine_map<(b, n, t, w) -> (b, 0, t, w)>, {here}], "
                     f"iterator_types = [{kinds}]}} ins({a.name}, {table.name} : {f.value_type(a)}, {f.value_type(table)}) "
                     f"outs({empty.name} : {f.value_type(empty)}) {{\n    ^bb0(%a: {element.name}, %c: {element.name}, "
                     f"%o: {element.name}):\n      %t = arith.mulf %a, %c : {element.name}\n      linalg.yield %t : "
                     f"{element.name}\n    }} -> {f.value_type(empty)}", element, "bNtW")

    cos, sin = table("math.cos"), table("math.sin")
    keys = f.op("linalg.transpose", [x], f.empty(element, "bNtW"), suffix=" permutation = [0, 2, 1, 3]")
    left, right = (window(f, keys, "bNtH", [0, 0, 0, first]) for first in (0, 16))
    halves = concat(f, 3, [apply(f, "arith.negf", "bNtH", right), left], "bNtW")
    keys = apply(f, "arith.addf", "bNtW", times(keys, cos), times(halves, sin))
    f.ret(concat(f, 2, [cache, keys], "bNrW"))

    def reference(x, position, cache):
        angle = np.tile(position[..., None] * 2 ** (-np.arange(16) / 2), 2)[:, None]
        x = x.transpose(0, 2, 1, 3)
        turned = np.concatenate([-x[..., 16:], x[..., :16]], -1)
        return np.concatenate([cache, x * np.cos(angle) + turned * np.sin(angle)], 2)

    fills = [uniform(-2, 2), integers(0, 50), uniform(-2, 2)]
    for b, t, s in ((2, 5, 7), (1, 1, 40), (3, 33, 0), (2, 0, 4)):
        f.case(f"{b}x{t}+{s}", {"b": b, "u": b, "t": t, "v": t, "s": s, "r": s + t}, fills, BOUNDED, reference)
    return f


def rotate(f, x, dims, axis, by):
    """Elements `by` further along `axis`, those in front behind the last."""
    size = f.sizes[dims[axis]]
    f.sizes["Y"], f.sizes["Z"] = size - by, by
    first = [by if d == axis else 0 for d in range(len(dims))]
    parts = [window(f, x, dims[:axis] + part + dims[axis + 1:], offsets)
             for part, offsets in (("Y", first), ("Z", [0] * len(dims)))]
    return concat(f, axis, parts, dims)


def shifted_windows(element, back):
    """Swin's windows of an image that is rotated along both dims, and, `back`, their rotation back beside a residual."""
    f = Function("concats", element.name, "windows_back" if back else "windows",
                 {"A": 6, "B": 8, "C": 24, "I": 2, "J": 3, "K": 2, "L": 4})
    x = f.arg(element, "IKJLC" if back else "ABC")
    if not back:
        y = rotate(f, rotate(f, x, "ABC", 0, 1), "ABC", 1, 3)
        y = reshape(f, "expand_shape", y, "[[0, 1], [2, 3], [4]]", "IJKLC")
        f.ret(f.op("linalg.transpose", [y], f.empty(element, "IKJLC"), suffix=" permutation = [0, 2, 1, 3, 4]"))
        f.case("6x8x24", {}, integers(-9, 9), EXACT, lambda x: np.roll(x, (-1, -3), (0, 1)).reshape(2, 3, 2, 4, 24)
               .transpose(0, 2, 1, 3, 4))
        return f
    residual = f.arg(element, "ABC")
    y = f.op("linalg.transpose", [x], f.empty(element, "IJKLC"), suffix=" permutation = [0, 2, 1, 3, 4]")
    y = reshape(f, "collapse_shape", y, "[[0, 1], [2, 3], [4]]", "ABC")
    f.ret(apply(f, "arith.addf", "ABC", rotate(f, rotate(f, y, "ABC", 0, 5), "ABC", 1, 5), residual))
    f.case("6x8x24", {}, integers(-9, 9), EXACT,
           lambda x, r: np.roll(x.transpose(0, 2, 1, 3, 4).reshape(6, 8, 24), (1, 3), (0, 1)) + r)
    return f


def unequal_parts(element):
    """Parts of other lengths, an argument and a product, and a body that counts."""
    f = Function("concats", element.name, "unequal_parts", {"M": 7, "K": 12, "N": 9, "T": 21})
    x, a, b = f.arg(element, "MK"), f.arg(element, "MK"), f.arg(element, "KN")
    both = concat(f, 1, [x, f.op("linalg.matmul", [a, b], f.zeros(element, "MN"))], "MT")

    def body(lines, x, out):
        lines += ["%i = linalg.index 1 : index", "%j = arith.index_cast %i : index to i32",
                  f"%k = arith.sitofp %j : i32 to {element.name}", f"%t = arith.mulf {x}, %k : {element.name}"]
        return "%t"

    f.ret(f.generic("MT", [both], f.empty(element, "MT"), body))
    f.case("7x12x9", {}, integers(-3, 3), EXACT, lambda x, a, b: np.concatenate([x, a @ b], 1) * np.arange(21))
    return f


def two_products(element):
    """Products beside each other in one tensor."""
    f = Function("concats", element.name, "two_products", {"M": 40, "K": 16, "N": 24, "T": 48})
    a, b, c = f.arg(element, "MK"), f.arg(element, "KN"), f.arg(element, "KN")
    f.ret(concat(f, 1, [f.op("linalg.matmul", [a, w], f.zeros(element, "MN")) for w in (b, c)], "MT"))
    f.case("40x16x24", {}, integers(-3, 3), EXACT, lambda a, b, c: np.concatenate([a @ b, a @ c], 1))
    return f


def rows_by_number(element, columns):
    """An embedding, whose rows are read in runs where their length allows."""
    f = Function("concats", element.name, f"rows_of_{columns}", {"R": 30, "T": 13, "C": columns})
    table, numbers = f.arg(element, "RC"), f.arg(I32, "T")

    def body(lines, number, out):
        lines += [f"%r = arith.index_cast {number} : i32 to index", "%c = linalg.index 1 : index",
                  f"%t = tensor.extract {table.name}[%r, %c] : {f.value_type(table)}"]
        return "%t"

    f.ret(f.generic("TC", [numbers], f.empty(element, "TC"), body))
    f.case(f"13x{columns}", {}, [integers(-9, 9), integers(0, 29)], EXACT, lambda t, n: t[n])
    return f


def functions():
    for dynamic in (False, True):
        for spelling in ("concat", "inserted", "transposed", "pairs", "cached"):
            yield rotary(F16 if spelling != "inserted" else F32, spelling, dynamic)
    for element in (F16, F32):
        yield keys_behind_cache(element)
    for back in (False, True):
        yield shifted_windows(F16, back)
    yield unequal_parts(F32)
    yield two_products(F32)
    for element, columns in ((F16, 40), (F16, 520), (F16, 20), (I8, 272), (F32, 7)):
        yield rows_by_number(element, columns)
