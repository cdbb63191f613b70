# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named ops of linalg that no other family has, each by its name: products, also of packed and of quantised operands,
elementwise ops, `elementwise` of every kind, `map`, `reduce`, random numbers. `test_ops.py` asks that together with the other
families all ops of the dialect are here."""

import math

import numpy as np

from data import BF16, F16, F32, F64, I1, I16, I32, I64, I8, integers, uniform
from functions import EXACT, Function, relative

SIZES = {"b": 3, "m": 19, "n": 37, "k": 29, "p": 2, "q": 3, "r": 4, "x": 8, "y": 4, "z": 2}
MORE = ({"b": 1, "m": 1, "n": 1, "k": 1, "p": 1, "q": 1, "r": 1}, {"m": 64, "n": 128, "k": 64}, {"m": 0, "k": 5, "p": 0},
        {"k": 0, "r": 0})

# Op: dims of left, right and result.
PRODUCTS = {"dot": ("k", "k", ""), "matvec": ("mk", "k", "m"), "vecmat": ("k", "kn", "n"), "matmul": ("mk", "kn", "mn"),
            "batch_matmul": ("bmk", "bkn", "bmn"), "batch_matvec": ("bmk", "bk", "bm"), "batch_vecmat": ("bk", "bkn", "bn"),
            "batch_reduce_matmul": ("bmk", "bkn", "mn"), "mmt4d": ("prxz", "qryz", "pqxy"),
            "batch_mmt4d": ("bprxz", "bqryz", "bpqxy"), "quantized_matmul": ("mk", "kn", "mn"),
            "quantized_batch_matmul": ("bmk", "bkn", "bmn")}
ERF = np.vectorize(math.erf, otypes=[np.float64])
FLOATS, INTEGERS = (F32, F16, BF16, F64), (I32, I8, I16, I64)
# Op: types, NumPy, inputs, ulps; 0: exact.
UNARY = {"exp": (FLOATS, np.exp, uniform(-4, 4), 4), "log": (FLOATS, np.log, uniform(2, 64), 4),
         "abs": (FLOATS, np.abs, uniform(-4, 4), 0), "ceil": (FLOATS, np.ceil, uniform(-8, 8), 0),
         "floor": (FLOATS, np.floor, uniform(-8, 8), 0), "negf": (FLOATS, np.negative, uniform(-8, 8), 0),
         "reciprocal": (FLOATS, lambda x: 1 / x, uniform(0.25, 64), 0),
         "round": (FLOATS, lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), uniform(-8, 8), 0),
         "sqrt": (FLOATS, np.sqrt, uniform(0, 64), 0), "rsqrt": (FLOATS, lambda x: 1 / np.sqrt(x), uniform(0.25, 64), 4),
         "square": (FLOATS, np.square, uniform(-8, 8), 0), "tanh": (FLOATS, np.tanh, uniform(0.125, 4), 8),
         "erf": (FLOATS, ERF, uniform(0.125, 4), 8)}


def quotient(x, y):
    """Of integers, towards 0."""
    return np.where(y, np.sign(x) * np.sign(y) * (np.abs(x) // np.maximum(np.abs(y), 1)), 0)


BINARY = {"add": (FLOATS + INTEGERS, np.add, 0), "sub": (FLOATS + INTEGERS, np.subtract, 0),
          "mul": (FLOATS + INTEGERS, np.multiply, 0), "max": (FLOATS + INTEGERS, np.maximum, 0),
          "min": (FLOATS + INTEGERS, np.minimum, 0), "div": (FLOATS + INTEGERS, None, 0), "div_unsigned": (INTEGERS, quotient, 0),
          "powf": (FLOATS, np.power, 16)}
# Of `elementwise`, by other names.
KINDS = {"max": "max_signed", "min": "min_signed"}
UNSIGNED = {"max_unsigned": np.maximum, "min_unsigned": np.minimum}


def label_of(f, sizes):
    return "x".join(map(str, {**f.sizes, **sizes}.values())) or "scalar"


def data_of(element, terms):
    """Small integers, every sum of products of which is exact."""
    return integers(-1, 1) if element in (F16, BF16) and terms > 200 else integers(-3, 3)


def product(name, operand, result, dynamic):
    left, right, out = PRODUCTS[name]
    dims = {d: SIZES[d] for d in sorted(set(left + right + out))}
    pair = operand.name if operand is result else f"{operand.name}-{result.name}"
    tiles = "".join(d for d in dims if d in "xyz")  # of known size
    f = Function("named", pair, name, dims, dynamic, known=tiles)
    a, b = f.arg(operand, left), f.arg(operand, right)
    points = [f.scalar_arg(I32) for _ in range(2)] if name.startswith("quantized") else []
    f.ret(f.op(f"linalg.{name}", [a, b, *points], f.zeros(result, out)))

    def reference(x, y, *points):
        if points:
            x, y = x - points[0], y - points[1]
        return result.round(np.einsum(f"{left},{right}->{out}", x, y))

    terms = math.prod(dims[d] for d in dims if d not in out)
    fill = data_of(operand, terms)
    fills = [fill, fill] + [integers(-2, 2)] * len(points)
    for sizes in ({}, *MORE) if dynamic else ({},):
        sizes = {d: size for d, size in sizes.items() if d in dims}
        if sizes or not f.cases:
            f.case(label_of(f, sizes), sizes, fills, EXACT, reference)
    return f


def elementwise(name, element, arguments, op, numpy_op, fills, ulps, dynamic, attributes=""):
    """`arguments`: their dims (m, n), and their types where these are others."""
    dims = {"m": SIZES["m"], "n": SIZES["n"]}
    f = Function("named", element.name, name, dims, dynamic)
    ins = [f.arg(*a) if isinstance(a, tuple) else f.arg(element, a) for a in arguments]
    f.ret(f.op(f"linalg.{op}", ins, f.empty(element, "mn"), attributes))
    check = relative((ulps + 1) * element.eps, element.tiny * 2) if ulps else EXACT
    for sizes in ({}, {"m": 1, "n": 1}, {"m": 0}, {"n": 1030}) if dynamic else ({},):
        f.case(label_of(f, sizes), sizes, fills, check, lambda *x: element.round(numpy_op(*x)))
    return f


def binary_fills(name, element):
    if name == "powf":
        return [uniform(0.5, 4), uniform(-2, 2)]
    if name == "div" and element.is_float:
        return [integers(-8, 8), uniform(0.25, 8)]
    if name.startswith("div"):
        return [integers(0 if name == "div_unsigned" else -100, 100), integers(1, 9)]
    return [integers(0 if name.endswith("unsigned") else -9, 9), integers(0 if name.endswith("unsigned") else -9, 9)]


def binary_op(name, element):
    if name == "div":
        return (lambda x, y: x / y) if element.is_float else quotient
    return BINARY[name][1]


def kind_attribute(kind, maps=""):
    return f"kind=#linalg.elementwise_kind<{kind}>{maps}"


def map_op(element, dynamic):
    f = Function("named", element.name, "map", {"m": 19, "n": 37}, dynamic)
    x, y, out = f.arg(element, "mn"), f.arg(element, "mn"), f.empty(element, "mn")
    t, kind = element.name, "f" if element.is_float else "i"
    types = ", ".join(f.value_type(v) for v in (x, y))
    f.ret(f.raw(f"linalg.map ins({x.name}, {y.name} : {types}) outs({out.name} : {f.value_type(out)})\n"
                f"      (%x: {t}, %y: {t}, %old: {t}) {{\n        %p = arith.mul{kind} %x, %y : {t}\n"
                f"        %s = arith.sub{kind} %p, %y : {t}\n        linalg.yield %s : {t}\n      }}", element, "mn"))
    f.case(label_of(f, {}), {}, integers(-5, 5), EXACT, lambda x, y: element.round(x * y - y))
    return f


def reduce_op(element, dynamic):
    """Two results over the middle dim: a sum and the largest."""
    f = Function("named", element.name, "reduce", {"m": 19, "k": 29, "n": 37}, dynamic)
    x = f.arg(element, "mkn")
    outs = [f.zeros(element, "mn"), f.filled(element, "mn", -100)]
    t, kind, larger = element.name, "f" if element.is_float else "i", "maximumf" if element.is_float else "maxsi"
    types = ", ".join(f.value_type(v) for v in outs)
    name = f.fresh()
    f.emit(f"{name}:2 = linalg.reduce ins({x.name}, {x.name} : {f.value_type(x)}, {f.value_type(x)}) "
           f"outs({outs[0].name}, {outs[1].name} : {types}) dimensions = [1]\n"
           f"      (%x: {t}, %y: {t}, %sum: {t}, %most: {t}) {{\n        %s = arith.add{kind} %x, %sum : {t}\n"
           f"        %l = arith.{larger} %y, %most : {t}\n        linalg.yield %s, %l : {t}, {t}\n      }}")
    for number, out in enumerate(outs):
        out.name = f"{name}#{number}"
    f.ret(*outs)
    for sizes in ({}, {"k": 0}, {"m": 1, "k": 300, "n": 1}) if dynamic else ({},):
        f.case(label_of(f, sizes), sizes, integers(-3, 3), EXACT, lambda x: [x.sum(axis=1), x.max(axis=1, initial=-100)])
    return f


def random_numbers(element, dynamic):
    """The op's own formula: a step of a generator for the row, and one for the column."""
    f = Function("named", element.name, "fill_rng_2d", {"m": 19, "n": 37}, dynamic)
    shape = f.arg(element, "mn")
    low, high, seed = f.constant(F64, -2), f.constant(F64, 6), f.scalar_arg(I32)
    out = f.empty(element, "mn")
    f.ret(f.op("linalg.fill_rng_2d", [low, high, seed], out))

    def following(x):
        return I32.round(x * 1103515245 + 12345)

    def reference(shape, seed):
        rows, columns = np.indices(shape.shape)
        number = following(I32.round(columns + following(I32.round(rows + seed))))
        scaled = (number.astype(np.float64) + 2147483647.0) * (8.0 * 2.3283063999999999e-10) - 2.0
        return element.round(scaled)

    check = EXACT if not element.is_float else relative(2 * element.eps, element.eps)
    f.case(label_of(f, {}), {}, [integers(0, 0), integers(-99, 99)], check, reference)
    return f


def functions():
    pairs = {name: [(F32, F32), (I32, I32)] for name in PRODUCTS}
    for name in ("matmul", "batch_matvec", "batch_reduce_matmul", "batch_mmt4d", "dot"):
        pairs[name] += [(F16, F32), (BF16, F32), (I8, I32), (F64, F64)]
    for name in ("quantized_matmul", "quantized_batch_matmul"):
        pairs[name] = [(I8, I32), (I16, I32)]
    for name, types in pairs.items():
        for operand, result in types:
            for dynamic in (False, True):
                yield product(name, operand, result, dynamic)
    for name, (types, op, fill, ulps) in UNARY.items():
        for element in types:
            yield elementwise(name, element, ["mn"], name, op, [fill], ulps, element is F32)
        yield elementwise(f"elementwise_{name}", F32, ["mn"], "elementwise", op, [fill], ulps, False, kind_attribute(name))
    for name, (types, _, ulps) in BINARY.items():
        for element in types:
            op, fills = binary_op(name, element), binary_fills(name, element)
            yield elementwise(name, element, ["mn", "mn"], name, op, fills, ulps, element in (F32, I32))
        element = types[0]
        op, fills = binary_op(name, element), binary_fills(name, element)
        yield elementwise(f"elementwise_{name}", element, ["mn", "mn"], "elementwise", op, fills, ulps, False,
                          kind_attribute(KINDS.get(name, name)))
    for name, op in UNSIGNED.items():
        yield elementwise(f"elementwise_{name}", I32, ["mn", "mn"], "elementwise", op, binary_fills(name, I32), 0, False,
                          kind_attribute(name))
    maps = " indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>]"
    for dynamic in (False, True):
        yield elementwise("elementwise_maps", F32, ["nm", "n"], "elementwise", lambda x, y: x.T * y, [integers(-9, 9)] * 2, 0,
                          dynamic, kind_attribute("mul", maps))
        yield elementwise("select", F32, [(I1, "mn"), "mn", "mn"], "select", np.where, [integers(0, 1)] + [integers(-9, 9)] * 2,
                          0, dynamic)
        yield elementwise("elementwise_select", I32, [(I1, "mn"), "mn", "mn"], "elementwise", np.where,
                          [integers(0, 1)] + [integers(-9, 9)] * 2, 0, dynamic, kind_attribute("select"))
        for element in (F32, I32):
            yield map_op(element, dynamic)
            yield reduce_op(element, dynamic)
        for element in (F32, F64, I32):
            yield random_numbers(element, dynamic)
