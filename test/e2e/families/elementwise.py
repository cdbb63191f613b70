# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations: arithmetic in every type, chains with broadcasts and
transposed operands, math functions, comparisons and casts, rank 0 to 6.

Arithmetic on small integers is exact. A math function may be off by the ulps
that its entry states, relative to the result; inputs keep its result away from
cancellation.
"""

import math

import numpy as np

from data import BF16, E4M3, F16, F32, F64, I1, I16, I32, I8, I64, TYPES, choice, integers, uniform
from functions import EXACT, Function, relative

NAMES = "abcdef"
RANKS = {0: (), 1: (1031,), 2: (31, 70), 3: (3, 17, 9), 4: (2, 3, 5, 7), 5: (2, 3, 2, 5, 4), 6: (2, 3, 2, 3, 2, 5)}


def named_dims(shape):
    return dict(zip(NAMES, shape))


def label_of(sizes):
    return "x".join(map(str, sizes.values())) or "scalar"


def arithmetic(element, rank, dynamic):
    """(x + y) · z - x, then the larger of that and y."""
    dims = named_dims(RANKS[rank])
    iteration = "".join(dims)
    f = Function("elementwise", element.name, f"arithmetic_rank{rank}", dims, dynamic)
    x, y, z = (f.arg(element, iteration) for _ in range(3))
    kind = "f" if element.is_float else "i"

    def body(lines, x, y, z, out):
        t = element.name
        lines.append(f"%p = arith.add{kind} {x}, {y} : {t}")
        lines.append(f"%q = arith.mul{kind} %p, {z} : {t}")
        lines.append(f"%r = arith.sub{kind} %q, {x} : {t}")
        lines.append(f"%s = arith.{'maximumf' if element.is_float else 'maxsi'} %r, {y} : {t}")
        return "%s"

    f.ret(f.generic(iteration, [x, y, z], f.empty(element, iteration), body))
    data = integers(-5, 5) if element.is_float else integers(-(2 ** (element.bits - 1)), 2 ** (element.bits - 1) - 1)

    def reference(x, y, z):
        return np.maximum(element.round((x + y) * z - x), y)

    more = [dict.fromkeys(dims, 1), {**dims, "a": 0}, {**dims, "a": 129}] if dynamic and rank else []
    for sizes in [{}, *more]:
        f.case(label_of({**dims, **sizes}), sizes, data, EXACT, reference)
    return f


def broadcast_chain(element, dynamic):
    """Operands that broadcast along one or both dims, or come transposed."""
    dims = {"m": 45, "n": 67}
    f = Function("elementwise", element.name, "broadcast_chain", dims, dynamic)
    x, row, column, t, s = (f.arg(element, d) for d in ("mn", "n", "m", "nm", ""))
    kind = "f" if element.is_float else "i"

    def first(lines, x, row, column, out):
        lines.append(f"%p = arith.add{kind} {x}, {row} : {element.name}")
        lines.append(f"%q = arith.mul{kind} %p, {column} : {element.name}")
        return "%q"

    def second(lines, x, t, s, out):
        lines.append(f"%p = arith.sub{kind} {x}, {t} : {element.name}")
        lines.append(f"%q = arith.add{kind} %p, {s} : {element.name}")
        return "%q"

    middle = f.generic("mn", [x, row, column], f.empty(element, "mn"), first)
    f.ret(f.generic("mn", [middle, t, s], f.empty(element, "mn"), second))

    def reference(x, row, column, t, s):
        return element.round((x + row) * column[:, None] - t.T + s)

    for sizes in [{}] + ([{"m": 1, "n": 1}, {"m": 128, "n": 64}, {"m": 0, "n": 5}, {"m": 3, "n": 1030}]
                         if dynamic else []):
        f.case(label_of({**dims, **sizes}), sizes, integers(-4, 4), EXACT, reference)
    return f


# name: (op, NumPy, lowest, highest input, ulps)
MATH = {
    "exp": ("math.exp", np.exp, -4, 4, 4), "log": ("math.log", np.log, 2, 64, 4),
    "sqrt": ("math.sqrt", np.sqrt, 0, 64, 2), "rsqrt": ("math.rsqrt", lambda x: 1 / np.sqrt(x), 0.25, 64, 4),
    "tanh": ("math.tanh", np.tanh, 0.125, 4, 8), "erf": ("math.erf", np.vectorize(math.erf, otypes=[np.float64]), 0.125, 4, 8),
    "sin": ("math.sin", np.sin, 0.125, 3, 8), "cos": ("math.cos", np.cos, -1.5, 1.5, 8),
    "abs": ("math.absf", np.abs, -4, 4, 0), "floor": ("math.floor", np.floor, -8, 8, 0),
    "ceil": ("math.ceil", np.ceil, -8, 8, 0), "round": ("math.roundeven", np.round, -8, 8, 0),
    "round_away": ("math.round", lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), -8, 8, 0),
}


def math_function(element, name, dynamic):
    op, numpy_op, low, high, ulps = MATH[name]
    dims = {"a": 9, "b": 117}
    f = Function("math", element.name, name, dims, dynamic)
    x = f.arg(element, "ab")

    def body(lines, x, out):
        lines.append(f"%r = {op} {x} : {element.name}")
        return "%r"

    f.ret(f.generic("ab", [x], f.empty(element, "ab"), body))
    # A narrow type's function may be computed in it by a polynomial in f32: one
    # rounding; f64 functions of NumPy are themselves off by an ulp.
    check = relative((ulps + 1) * element.eps, element.tiny * 2) if ulps else EXACT
    f.case(label_of(dims), {}, uniform(low, high), check, lambda x: element.round(numpy_op(x)))
    return f


def remainder(element):
    """Exact, however large the quotient is."""
    dims = {"a": 9, "b": 117}
    f = Function("math", element.name, "remainder", dims)
    x, y = f.arg(element, "ab"), f.arg(element, "ab")

    def body(lines, x, y, out):
        lines.append(f"%r = arith.remf {x}, {y} : {element.name}")
        return "%r"

    f.ret(f.generic("ab", [x, y], f.empty(element, "ab"), body))
    large = {"f16": 65504.0, "f32": 3.4e38, "bf16": 3e38, "f64": 1.7e308}[element.name]
    f.case(label_of(dims), {}, [choice(large, -large, 60000.0, -7.5, 1.0, 6.0, -6.0, 0.1, 0.0), choice(3.0, -2.0, 0.7, 0.01, 1000.0)],
           EXACT, np.fmod)
    return f


def gelu(approximate, dynamic):
    """0.5 x (1 + erf(x / sqrt 2)), or its approximation by tanh."""
    dims = {"a": 77, "b": 130}
    f = Function("math", "f32", "gelu_tanh" if approximate else "gelu", dims, dynamic)
    x = f.arg(F32, "ab")
    half, root, one = f.constant(F32, 0.5), f.constant(F32, 0.70710678), f.constant(F32, 1)
    factor, cubic = f.constant(F32, 0.7978845608), f.constant(F32, 0.044715)

    def body(lines, x, out):
        if approximate:
            lines += [f"%x2 = arith.mulf {x}, {x} : f32", f"%x3 = arith.mulf %x2, {x} : f32", f"%c = arith.mulf %x3, {cubic.name} : f32",
                      f"%d = arith.addf {x}, %c : f32", f"%p = arith.mulf %d, {factor.name} : f32", "%q = math.tanh %p : f32"]
        else:
            lines += [f"%p = arith.mulf {x}, {root.name} : f32", "%q = math.erf %p : f32"]
        lines += [f"%r = arith.addf %q, {one.name} : f32", f"%s = arith.mulf {x}, {half.name} : f32",
                  "%t = arith.mulf %s, %r : f32"]
        return "%t"

    f.ret(f.generic("ab", [x], f.empty(F32, "ab"), body))
    vector_erf = np.vectorize(math.erf, otypes=[np.float64])

    def reference(x):
        with np.errstate(invalid="ignore"):
            return 0.5 * x * (1 + (np.tanh(0.7978845608 * (x + 0.044715 * x**3)) if approximate else vector_erf(x * math.sqrt(0.5))))

    f.case("positive", {}, uniform(0, 4), relative(16 * F32.eps, 1e-38), reference)
    # What 1 + erf cancels is an error of x.
    values = choice("-inf", "inf", "nan", -1e30, -7, -5.6, -4.3, -3, -1, -0.3, -0.0, 0.0, 1e-20, 0.7, 2.1, 5.5, 9, 1e10)
    f.case("signs", {}, values, relative(16 * F32.eps, 8 * F32.eps), reference)
    return f


def select(element, dynamic):
    """Compare and select: x > 0 ? x · y : -y."""
    dims = {"a": 33, "b": 65}
    f = Function("elementwise", element.name, "select", dims, dynamic)
    x, y = f.arg(element, "ab"), f.arg(element, "ab")
    zero = f.constant(element, 0)
    kind = "f" if element.is_float else "i"

    def body(lines, x, y, out):
        lines += [f"%c = arith.cmp{kind} {'ogt' if kind == 'f' else 'sgt'}, {x}, {zero.name} : {element.name}",
                  f"%p = arith.mul{kind} {x}, {y} : {element.name}",
                  f"%q = arith.sub{kind} {zero.name}, {y} : {element.name}",
                  f"%r = arith.select %c, %p, %q : {element.name}"]
        return "%r"

    f.ret(f.generic("ab", [x, y], f.empty(element, "ab"), body))
    f.case(label_of(dims), {}, integers(-5, 5), EXACT,
           lambda x, y: element.round(np.where(x > 0, x * y, 0 - y)))
    return f


CASTS = ((F32, F16, "arith.truncf"), (F16, F32, "arith.extf"), (F32, BF16, "arith.truncf"), (BF16, F32, "arith.extf"),
         (F64, F32, "arith.truncf"), (F32, F64, "arith.extf"), (I32, F32, "arith.sitofp"), (F32, I32, "arith.fptosi"),
         (I8, I32, "arith.extsi"), (I8, I32, "arith.extui"), (I32, I8, "arith.trunci"), (I8, F16, "arith.sitofp"),
         (I32, I64, "arith.extsi"))


def cast(source, target, op, dynamic):
    dims = {"a": 37, "b": 66}
    f = Function("cast", f"{source.name}-{target.name}", op.split(".")[1], dims, dynamic)
    x = f.arg(source, "ab")

    def body(lines, x, out):
        lines.append(f"%r = {op} {x} : {source.name} to {target.name}")
        return "%r"

    f.ret(f.generic("ab", [x], f.empty(target, "ab"), body))
    data = integers(-128, 127) if source is I8 else uniform(-64, 64) if source.is_float \
        else integers(-100_000, 100_000)

    def reference(x):
        if op == "arith.extui":
            x = x & 255
        return target.round(np.trunc(x) if op == "arith.fptosi" else x)

    f.case(label_of(dims), {}, data, EXACT, reference)
    return f


def integer_ops(element, dynamic):
    """Bits, shifts, division and remainder by constants, unsigned comparison."""
    dims = {"a": 1025}
    f = Function("elementwise", element.name, "integer_ops", dims, dynamic)
    x, y = f.arg(element, "a"), f.arg(element, "a")
    seven, two = f.constant(element, 7), f.constant(element, 2)

    def body(lines, x, y, out):
        t = element.name
        lines += [f"%p = arith.andi {x}, {y} : {t}", f"%q = arith.xori %p, {x} : {t}",
                  f"%r = arith.shrsi %q, {two.name} : {t}", f"%s = arith.divsi {y}, {seven.name} : {t}",
                  f"%u = arith.remsi {x}, {seven.name} : {t}", f"%v = arith.addi %r, %s : {t}",
                  f"%w = arith.addi %v, %u : {t}", f"%z = arith.minui %w, {y} : {t}"]
        return "%z"

    f.ret(f.generic("a", [x, y], f.empty(element, "a"), body))
    low, high = -(2 ** (element.bits - 1)), 2 ** (element.bits - 1) - 1

    def reference(x, y):
        w = element.round((((x & y) ^ x) >> 2) + np.fix(y / 7).astype(np.int64) + np.fmod(x, 7))
        mask = 2**element.bits - 1
        return element.round(np.minimum(w & mask, y & mask))

    f.case(label_of(dims), {}, integers(low, high), EXACT, reference)
    return f


def shifts(element, dynamic):
    """By any amount: at the width and beyond, and by negative ones, all bits leave the number."""
    dims = {"a": 1025}
    f = Function("elementwise", element.name, "shifts", dims, dynamic)
    x, y = f.arg(element, "a"), f.arg(element, "a")

    def body(lines, x, y, out):
        lines += [f"%{op} = arith.{op} {x}, {y} : {element.name}" for op in ("shli", "shrsi", "shrui")]
        lines += [f"%p = arith.xori %shli, %shrsi : {element.name}", f"%q = arith.addi %p, %shrui : {element.name}"]
        return "%q"

    f.ret(f.generic("a", [x, y], f.empty(element, "a"), body))

    def reference(x, y):
        result = []
        for value, amount in zip(map(int, x), map(int, y)):
            inside, mask = 0 <= amount < element.bits, 2**element.bits - 1
            left, right = (value << amount, (value & mask) >> amount) if inside else (0, 0)
            signed = value >> (amount if inside else element.bits - 1)
            total = (((left & mask) ^ (signed & mask)) + right) & mask
            result.append(total - (total >> (element.bits - 1) << element.bits))
        return np.array(result, np.int64)

    f.case(label_of(dims), {}, [integers(-(2 ** (element.bits - 1)), 2 ** (element.bits - 1) - 1), integers(-9, 70)], EXACT,
           reference)
    return f


def shifts_of_tensors(element, op):
    """The same for ops on tensors, whose sizes are not known."""
    f = Function("elementwise", element.name, f"{op}_of_tensors", {"a": 517}, True)
    x, y = f.arg(element, "a"), f.arg(element, "a")
    f.ret(f.raw(f"arith.{op} {x.name}, {y.name} : {f.value_type(x)}", element, "a"))
    least, mask = -(2 ** (element.bits - 1)), 2**element.bits - 1

    def shift(value, amount):
        if op == "shrsi":
            return value >> (amount if 0 <= amount < element.bits else element.bits - 1)
        if not 0 <= amount < element.bits:
            return 0
        result = value << amount if op == "shli" else (value & mask) >> amount
        return ((result & mask) - least) % 2**element.bits + least

    f.case("a=517", {}, [integers(least, -least - 1), choice(least, -1, 0, 1, 7, element.bits - 1, element.bits, 70)], EXACT,
           lambda x, y: np.array([shift(int(v), int(n)) for v, n in zip(x, y)], np.int64))
    return f


def equal_operands(op):
    """One tensor as both operands, of unknown sizes: what that folds to has those sizes."""
    f = Function("elementwise", "i32", f"{op.strip(',').replace(' ', '_')}_of_one_tensor", {"a": 37, "b": 5}, True)
    x = f.arg(I32, "ab")
    y = f.raw(f"arith.{op} {x.name}, {x.name} : {f.value_type(x)}", I1 if "cmpi" in op else I32, "ab")
    f.ret(y)
    for sizes in ({}, {"a": 0}):
        f.case(label_of({**f.sizes, **sizes}), sizes, integers(-9, 9), EXACT,
               lambda x: np.full(x.shape, int(op == "cmpi eq,"), np.int64))
    return f


def one_bit():
    """Integer ops of i1, where true is 1 or -1, each result a bit of the number: a divisor is never false."""
    f = Function("elementwise", "i1", "integer_ops", {"a": 130}, False)
    x, y, one = f.arg(I1, "a"), f.arg(I1, "a"), f.arg(I1, "a")
    ops = {  # what each is of x and y, both 0 or 1
        "arith.shli {x}, {y}": lambda x, y: x & ~y, "arith.shrui {x}, {y}": lambda x, y: x & ~y,
        "arith.shrsi {x}, {y}": lambda x, y: x, "arith.divui {x}, {one}": lambda x, y: x,
        "arith.ceildivui {x}, {one}": lambda x, y: x, "arith.remui {x}, {one}": lambda x, y: 0 * x,
        "arith.remsi {x}, {one}": lambda x, y: 0 * x, "math.ctpop {x}": lambda x, y: x,
        "math.ctlz {x}": lambda x, y: 1 - x, "math.cttz {x}": lambda x, y: 1 - x, "math.absi {x}": lambda x, y: x,
        "%u{n}, %b{n} = arith.addui_extended {x}, {y} : i1, i1": lambda x, y: x & y,
        "%b{n}, %u{n} = arith.mului_extended {x}, {y} : i1": lambda x, y: x & y,
        "%u{n}, %b{n} = arith.mulsi_extended {x}, {y} : i1": lambda x, y: 0 * x}

    def body(lines, x, y, one, out):
        total = "%c0"
        lines.append("%c0 = arith.constant 0 : i32")
        for number, op in enumerate(ops):
            op = op if "%b" in op else f"%b{{n}} = {op} : i1"
            lines += [op.format(x=x, y=y, one=one, n=number), f"%w{number} = arith.extui %b{number} : i1 to i32",
                      f"%n{number} = arith.constant {number} : i32", f"%p{number} = arith.shli %w{number}, %n{number} : i32",
                      f"%t{number} = arith.ori {total}, %p{number} : i32"]
            total = f"%t{number}"
        return total

    f.ret(f.generic("a", [x, y, one], f.empty(I32, "a"), body))
    f.case("a=130", {}, [choice(0, 1), choice(0, 1), choice(1)], EXACT,
           lambda x, y, one: sum((op(np.abs(x), np.abs(y)) & 1) << n for n, op in enumerate(ops.values())).astype(np.int64))
    return f


def bits_of_floats(source, op):
    """A conversion to one bit: the lowest of the number."""
    f = Function("cast", f"{source.name}-i1", op.split(".")[1], {"a": 130}, True)
    x = f.arg(source, "a")
    f.ret(f.generic("a", [x], f.empty(I1, "a"), lambda lines, x, out: lines.append(
        f"%r = {op} {x} : {source.name} to i1") or "%r"))
    f.case("a=130", {}, choice(0.0, 1.0), EXACT, lambda x: x.astype(np.int64))
    return f


def bit_counts(element, dynamic):
    """Absolute values, leading and trailing zeros: rows and columns, since tiles have both."""
    dims = {"a": 37, "b": 5}
    f = Function("elementwise", element.name, "bit_counts", dims, dynamic)
    x = f.arg(element, "ab")

    def body(lines, x, out):
        t = element.name
        lines += [f"%p = math.absi {x} : {t}", f"%q = math.ctlz {x} : {t}", f"%r = math.cttz {x} : {t}",
                  f"%s = arith.muli %q, %r : {t}", f"%t = arith.addi %p, %s : {t}"]
        return "%t"

    f.ret(f.generic("ab", [x], f.empty(element, "ab"), body))

    def reference(x):
        leading = [element.bits - (int(v) & (2**element.bits - 1)).bit_length() for v in x.flat]
        trailing = [(int(v) & -int(v)).bit_length() - 1 if v else element.bits for v in x.flat]
        return element.round(np.abs(x) + np.reshape(np.array(leading) * np.array(trailing), x.shape))

    f.case(label_of(dims), {}, integers(-(2 ** (element.bits - 1)) + 1, 2 ** (element.bits - 1) - 1), EXACT, reference)
    return f


def to_bf16_once(source):
    """Integers next to the middle of two bf16 numbers, which f32 would round to the middle first."""
    dims = {"a": 130}
    f = Function("cast", f"{source.name}-bf16", "near_ties", dims)
    x = f.arg(source, "a")
    f.ret(f.generic("a", [x], f.empty(BF16, "a"), lambda lines, x, out: lines.append(
        f"%r = arith.sitofp {x} : {source.name} to bf16") or "%r"))
    near = [2**24 + 2**16 + 1, 2**24 + 3 * 2**16 - 1, 2**30 + 2**22 + 1, 2**31 - 1]
    if source is I64:
        near += [2**40 + 2**32 + 1, 2**52 + 3 * 2**44 - 1]

    def rounded(value):
        below = max(abs(value).bit_length() - 8, 0)
        kept, rest = divmod(abs(value), 2**below)
        up = 2 * rest > 2**below or 2 * rest == 2**below and kept % 2 == 1
        return (kept + up) * 2**below * (-1 if value < 0 else 1)

    f.case(label_of(dims), {}, choice(*near, *(-v for v in near), 0, 257), EXACT,
           lambda x: np.array([rounded(int(v)) for v in x], np.float64))
    return f


def clamp(element):
    dims = {"a": 130}
    f = Function("elementwise", element.name, "clamp", dims, True)
    x, low, high = (f.arg(element, "a") for _ in range(3))
    f.ret(f.generic("a", [x, low, high], f.empty(element, "a"), lambda lines, x, low, high, out: lines.append(
        f"%r = math.clampf {x} to [{low}, {high}] : {element.name}") or "%r"))
    f.case(label_of(dims), {}, [integers(-9, 9), integers(-5, 0), integers(0, 5)], EXACT,
           lambda x, low, high: np.minimum(np.maximum(x, low), high))
    return f


def integer_powers(element):
    """Modulo the number of values; of negative exponents what is left of 1 / x^n."""
    dims = {"a": 517}
    f = Function("elementwise", element.name, "integer_powers", dims)
    x, n = f.arg(element, "a"), f.arg(element, "a")
    f.ret(f.generic("a", [x, n], f.empty(element, "a"), lambda lines, x, n, out: lines.append(
        f"%r = math.ipowi {x}, {n} : {element.name}") or "%r"))

    def power(x, n):
        value = pow(x, n, 2**element.bits) if n >= 0 else {1: 1, -1: -1 if n % 2 else 1}.get(x, 0)
        return (value + 2**(element.bits - 1)) % 2**element.bits - 2**(element.bits - 1)

    f.case(label_of(dims), {}, [integers(-7, 7), choice(-4, -3, -1, 0, 1, 2, 3, 5, 30, 63)], EXACT,
           lambda x, n: np.array([power(int(a), int(b)) for a, b in zip(x, n)]))
    return f


def large_powers(element):
    """Of exponents that the type itself does not have: the last bit decides the sign."""
    dims = {"a": 130}
    f = Function("elementwise", element.name, "large_powers", dims)
    x, n = f.arg(element, "a"), f.arg(I32, "a")
    f.ret(f.generic("a", [x, n], f.empty(element, "a"), lambda lines, x, n, out: lines.append(
        f"%r = math.fpowi {x}, {n} : {element.name}, i32") or "%r"))
    f.case(label_of(dims), {}, [choice(-1, 1), choice(257, 258, 2049, 65537, 16777217, -16777219, 2147483647)], EXACT,
           lambda x, n: np.where(n % 2 == 1, x, 1))
    return f


def guarded_division(element):
    """Quotients and remainders that exist, chosen in lanes beside others that do not."""
    dims = {"a": 517}
    f = Function("elementwise", element.name, "guarded_division", dims)
    x, y, first = f.arg(element, "a"), f.arg(element, "a"), f.constant(element, 0)

    def body(lines, x, y, out):
        t = element.name
        lines += [f"%q = arith.divsi {x}, {y} : {t}", f"%r = arith.remui {x}, {y} : {t}", f"%s = arith.addi %q, %r : {t}",
                  f"%c = arith.cmpi eq, {y}, {first.name} : {t}", f"%t = arith.select %c, {x}, %s : {t}",
                  f"%l = arith.cmpi slt, {y}, {first.name} : {t}", f"%u = arith.select %l, {x}, %t : {t}"]
        return "%u"

    f.ret(f.generic("a", [x, y], f.empty(element, "a"), body))
    least = -2 ** (element.bits - 1)

    def reference(x, y):
        def one(a, b):
            return element.round(int(a / b) + a % 2**element.bits % b) if b > 0 else a
        return np.array([one(int(a), int(b)) for a, b in zip(x, y)])

    f.case(label_of(dims), {}, [choice(least, 5, -21, 100), choice(0, -1, 1, 7)], EXACT, reference)
    return f


def quotients(element, op, narrow=False):
    """Of numbers next to multiples of the divisor, and of the largest and least ones there are; narrow: in rows of two, divided by
    a number for each column."""
    dims = {"a": 117, "b": 2} if narrow else {"a": 517}
    f = Function("elementwise", element.name, f"quotients_{op}{'_narrow' * narrow}", dims)
    loops = "".join(dims)
    x, n, y = f.arg(element, loops), f.arg(element, loops), f.arg(element, loops[-1])

    def body(lines, x, n, y, out):
        lines += [f"%p = arith.muli {n}, {y} : {element.name}", f"%d = arith.addi %p, {x} : {element.name}",
                  f"%r = arith.{op} %d, {y} : {element.name}"]
        return "%r"

    f.ret(f.generic(loops, [x, n, y], f.empty(element, loops), body))
    least, most, mask = -2 ** (element.bits - 1), 2 ** (element.bits - 1) - 1, 2**element.bits - 1

    def reference(x, n, y):
        result, shape = [], x.shape
        for x, n, y in zip(map(int, x.flat), map(int, n.flat), map(int, np.broadcast_to(y, shape).flat)):
            d = int(element.round(np.array((n * y + x) & mask, np.uint64).astype(np.int64)))
            if op.endswith("ui"):
                d, y = d & mask, y & mask
            elif d == least and y == -1:
                y = 1
            q = abs(d) // abs(y) * (1 if (d < 0) == (y < 0) else -1)
            value = (q if op.startswith("div") else d - q * y) & mask
            result.append(value - mask - 1 if value > most else value)
        return np.array(result, np.int64).reshape(shape)

    def numbers(*values):  # of 64 bits those that the runner's f64 has
        return choice(*(value for value in values if int(float(value)) == value))

    f.case(label_of(dims), {}, [choice(-1, 0, 1), numbers(0, 1, 2, 3, -3, 77, least, most, most // 3),
                    numbers(1, -1, 2, 3, -3, 5, 7, 10, 100, -128, 127, least, least + 1, most, most - 1, most // 2 + 1)],
           EXACT, reference)
    return f


def guarded_remainder():
    """Of indices, by an element that may be zero."""
    dims = {"a": 517}
    f = Function("elementwise", "i32", "guarded_remainder", dims, True)
    x, zero = f.arg(I32, "a"), f.constant(I32, 0)

    def body(lines, x, out):
        lines += ["%i = linalg.index 0 : index", f"%n = arith.index_cast {x} : i32 to index", "%m = arith.remui %i, %n : index",
                  "%r = arith.index_cast %m : index to i32", f"%c = arith.cmpi eq, {x}, {zero.name} : i32",
                  f"%t = arith.select %c, {x}, %r : i32"]
        return "%t"

    f.ret(f.generic("a", [x], f.empty(I32, "a"), body))
    f.case(label_of(dims), {}, choice(0, 1, 7, 100), EXACT,
           lambda x: np.where(x == 0, 0, np.arange(len(x)) % np.maximum(x, 1)))
    return f


def extended(element):
    """The upper halves of products with and without signs, and the carry of a sum."""
    f = Function("elementwise", element.name, "extended", {"a": 37, "b": 5})
    x, y = f.arg(element, "ab"), f.arg(element, "ab")
    t = element.name

    def body(lines, x, y, out):
        lines += [f"%l, %h = arith.mului_extended {x}, {y} : {t}", f"%m, %i = arith.mulsi_extended {x}, {y} : {t}",
                  f"%s, %c = arith.addui_extended {x}, {y} : {t}, i1", f"%d = arith.extui %c : i1 to {t}",
                  f"%p = arith.xori %l, %h : {t}", f"%q = arith.xori %i, %p : {t}", f"%r = arith.addi %q, %d : {t}"]
        return "%r"

    f.ret(f.generic("ab", [x, y], f.empty(element, "ab"), body))

    def reference(x, y):
        bits, full = element.bits, 2**element.bits
        result = []
        for a, b in zip(map(int, x.flat), map(int, y.flat)):
            product = (a % full) * (b % full)
            value = (product % full) ^ (product >> bits) ^ ((a * b >> bits) % full)
            value = (value + ((a % full + b % full) >> bits)) % full
            result.append(value - full if value >= full // 2 else value)
        return np.reshape(np.array(result, np.int64), x.shape)

    low = -(2 ** (element.bits - 1)) + 1
    f.case(label_of(f.sizes), {}, integers(low, -low), EXACT, reference)
    return f


def special_values(dynamic):
    """NaN, infinities, -0 and denormals go through maximumf and addition."""
    dims = {"a": 8}
    f = Function("elementwise", "f32", "special_values", dims, dynamic)
    x, y = f.arg(F32, "a"), f.arg(F32, "a")

    def body(lines, x, y, out):
        lines += [f"%m = arith.maximumf {x}, {y} : f32", f"%r = arith.addf %m, {x} : f32"]
        return "%r"

    f.ret(f.generic("a", [x, y], f.empty(F32, "a"), body))
    tiny = 1e-45
    big = 3e38
    left = {"fill": "values", "values": [-0.0, tiny, big, big, -big, 1.5, -tiny, 0.0]}
    right = {"fill": "values", "values": [0.0, 0.0, big, -big, -big, -1.5, -1.0, -0.0]}
    f.case("values", {}, [left, right], EXACT)
    return f


def beside_zero(dynamic):
    """Quotients of 1 and the greater one of an element and +0, the lesser one of it and -0: infinities of one sign."""
    f = Function("elementwise", "f32", "beside_zero", {"m": 6, "n": 70}, dynamic)
    x = f.arg(F32, "mn")
    one, zero = f.constant(F32, 1), f.constant(F32, 0)
    minus = f.raw("arith.constant -0.0 : f32", F32, None)

    def quotient(op, other):
        def body(lines, x, _):
            lines += [f"%m = arith.{op} {x}, {other.name} : f32", f"%q = arith.divf {one.name}, %m : f32"]
            return "%q"
        return f.generic("mn", [x], f.empty(F32, "mn"), body)

    f.ret(quotient("maximumf", zero), quotient("minimumf", minus))

    def reference(x):
        with np.errstate(divide="ignore"):
            return [1 / (np.maximum(x, 0) + 0.0), -1 / (np.maximum(-x, 0) + 0.0)]

    for sizes in [{}, *([{"m": 1, "n": 5}] if dynamic else [])]:
        f.case("x".join(str({**f.sizes, **sizes}[d]) for d in "mn"), sizes, choice(-0.0, 0.0, 2, -2, "nan"), EXACT, reference)
    return f


def index_op(dynamic):
    """linalg.index in the body: x + 10 · row - column."""
    dims = {"m": 35, "n": 21}
    f = Function("generic_index", "i32", "rows_and_columns", dims, dynamic)
    x = f.arg(I32, "mn")
    ten = f.constant(I32, 10)

    def body(lines, x, out):
        lines += ["%i = linalg.index 0 : index", "%j = linalg.index 1 : index",
                  "%p = arith.index_cast %i : index to i32", "%q = arith.index_cast %j : index to i32",
                  f"%r = arith.muli %p, {ten.name} : i32", f"%s = arith.addi %r, {x} : i32",
                  "%t = arith.subi %s, %q : i32"]
        return "%t"

    f.ret(f.generic("mn", [x], f.empty(I32, "mn"), body))
    f.case("35x21", {}, integers(-99, 99), EXACT,
           lambda x: x + 10 * np.arange(35)[:, None] - np.arange(21)[None, :])
    return f


def functions():
    for element in TYPES:
        for rank in RANKS if element is F32 else (1, 2, 4):
            if rank:
                yield arithmetic(element, rank, True)
            if element in (F32, F16, I8) and rank in (0, 1, 2, 6):
                yield arithmetic(element, rank, False)
        yield broadcast_chain(element, True)
        yield select(element, True)
        if not element.is_float:
            yield integer_ops(element, True)
            yield bit_counts(element, False)
            yield shifts(element, False)
            for op in ("shli", "shrsi", "shrui"):
                yield shifts_of_tensors(element, op)
            yield extended(element)
    yield one_bit()
    for op in ("shli", "shrsi", "shrui"):
        yield shifts_of_tensors(I64, op)
    for op in ("xori", "subi", "cmpi eq,", "cmpi slt,"):
        yield equal_operands(op)
    for source in (F64, F32, F16, BF16, E4M3):
        for op in ("arith.fptoui", "arith.fptosi"):
            yield bits_of_floats(source, op)
    yield broadcast_chain(F32, False)
    for element in (F32, F16, BF16, F64):
        for name in MATH:
            if element in (F32, F64) or name in ("exp", "tanh", "sqrt", "erf", "round_away"):
                yield math_function(element, name, True)
    yield math_function(F32, "exp", False)
    for element in (F32, F16, BF16, F64):
        yield remainder(element)
    for approximate in (False, True):
        yield gelu(approximate, True)
        yield gelu(approximate, False)
    for source, target, op in CASTS:
        yield cast(source, target, op, True)
    for source in (I32, I64):
        yield to_bf16_once(source)
    for element in (F32, F16, BF16):
        yield clamp(element)
        yield large_powers(element)
    for element in (I8, I32, I64):
        yield integer_powers(element)
    for element in (I8, I32):
        yield guarded_division(element)
    for element in (I8, I16, I32, I64):
        for op in ("divsi", "remsi", "divui", "remui"):
            yield quotients(element, op)
    for op in ("divsi", "remui"):
        yield quotients(I64, op, narrow=True)
    yield guarded_remainder()
    yield beside_zero(False)
    yield beside_zero(True)
    yield special_values(False)
    yield index_op(True)
    yield index_op(False)
