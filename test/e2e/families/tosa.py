# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TOSA functions, one op each or the few that a front end writes for a layer.

What the ops mean is upstream's: the oracle compiles what upstream's conversions
make of them, and NumPy has a formula of its own where one is short.
"""

import numpy as np

from data import BF16, F16, F32, I1, I8, I32, integers, uniform
from functions import BOUNDED, EXACT, Function

SMALL = integers(-9, 9)


def function(element, label, dims, dynamic=False):
    return Function("tosa", element.name, label, dims, dynamic)


def op(f, name, operands, result, element, dims, attributes=""):
    """`operands` are values, or the (name, type) of constants."""
    pairs = [(v.name, f.value_type(v)) if hasattr(v, "name") else v for v in operands]
    names, types = (", ".join(words) for words in zip(*pairs))
    return f.raw(f"{name} {names} {attributes}: ({types}) -> {result}", element, dims)


def apply(f, name, operands, element, dims, attributes=""):
    return op(f, name, operands, f.type(element, dims), element, dims, attributes)


def const(f, element, *values):
    text = f"[{', '.join(map(str, values))}]" if len(values) > 1 else str(values[0])
    kind = f"tensor<{len(values)}x{element.name}>"
    value = f.raw(f'"tosa.const"() <{{values = dense<{text}> : {kind}}}> : () -> {kind}', element, None)
    return value.name, kind


def shape(f, *values):
    kind, text = f"!tosa.shape<{len(values)}>", ", ".join(map(str, values))
    value = f.raw(f"tosa.const_shape {{values = dense<[{text}]> : tensor<{len(values)}xindex>}} : () -> {kind}",
                  I32, None)
    return value.name, kind


def matmul(element, result, dynamic, zeros=(0, 0)):
    f = function(element, "matmul", {"b": 2, "m": 13, "n": 20, "k": 17}, dynamic)
    x, y = f.arg(element, "bmk"), f.arg(element, "bkn")
    z = [const(f, element, float(v) if element.is_float else v) for v in zeros]
    f.ret(apply(f, "tosa.matmul", [x, y, *z], result, "bmn"))
    for sizes in [{}] + ([{"b": 1, "m": 1, "n": 70, "k": 33}, {"b": 3, "m": 0, "n": 4, "k": 5}] if dynamic else []):
        f.case("x".join(map(str, {**f.sizes, **sizes}.values())), sizes, SMALL, EXACT,
               lambda a, b: (a - zeros[0]) @ (b - zeros[1]))
    return f


def windows(x, kernel, stride):
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(1, 2))
    return view[:, ::stride, ::stride]


def conv(element, result, dynamic, stride=1):
    n = 10 // stride
    f = function(element, f"conv2d.stride{stride}", {"b": 1, "H": 10, "W": 10, "C": 5, "F": 7, "K": 3, "P": n, "Q": n},
                 dynamic)
    x, w, bias = f.arg(element, "bHWC"), f.arg(element, "FKKC"), f.arg(result, "F")
    z = const(f, element, 0.0 if element.is_float else 0)
    f.ret(apply(f, "tosa.conv2d", [x, w, bias, z, z], result, "bPQF",
                f"{{acc_type = {result.name}, dilation = array<i64: 1, 1>, "
                f"pad = array<i64: 1, {2 - stride}, 1, {2 - stride}>, stride = array<i64: {stride}, {stride}>}} "))

    def reference(x, w, bias):
        padded = np.pad(x, ((0, 0), (1, 2 - stride), (1, 2 - stride), (0, 0)))
        return np.einsum("bpqckl,fklc->bpqf", windows(padded, (3, 3), stride), w) + bias

    for sizes in [{}] + ([{"b": 3}] if dynamic else []):
        f.case("x".join(str({**f.sizes, **sizes}[d]) for d in "bHW"), sizes, SMALL, EXACT, reference)
    return f


def depthwise(element, result):
    f = function(element, "depthwise", {"b": 2, "H": 8, "W": 9, "C": 5, "M": 2, "K": 3, "P": 6, "Q": 7, "F": 10})
    x, w, bias = f.arg(element, "bHWC"), f.arg(element, "KKCM"), f.arg(result, "F")
    z = const(f, element, 0.0 if element.is_float else 0)
    f.ret(apply(f, "tosa.depthwise_conv2d", [x, w, bias, z, z], result, "bPQF",
                f"{{acc_type = {result.name}, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
                "stride = array<i64: 1, 1>} "))
    f.case("2x8x9", {}, SMALL, EXACT, lambda x, w, bias: np.einsum(
        "bpqckl,klcm->bpqcm", windows(x, (3, 3), 1), w).reshape(2, 6, 7, 10) + bias)
    return f


def pool(element, kind):
    f = function(element, kind, {"b": 2, "H": 9, "W": 7, "C": 5, "P": 4, "Q": 3})
    x = f.arg(element, "bHWC")
    z = const(f, element, 0.0 if element.is_float else 0)
    zeros, sums = [], ""
    if kind == "avg_pool2d":
        zeros, sums = [z, z], f"acc_type = {'f32' if element.is_float else 'i32'}, "
    f.ret(apply(f, f"tosa.{kind}", [x, *zeros], element, "bPQC",
                f"{{{sums}kernel = array<i64: 3, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}} "))
    f.case("2x9x7", {}, SMALL, EXACT if kind == "max_pool2d" or not element.is_float else BOUNDED,
           (lambda x: windows(x, (3, 3), 2).max(axis=(4, 5))) if kind == "max_pool2d" else None)
    return f


def reduction(element, kind, numpy, dynamic):
    f = function(element, kind, {"m": 9, "n": 37, "U": 1}, dynamic)
    f.ret(apply(f, f"tosa.{kind}", [f.arg(element, "mn")], element, "mU", "{axis = 1 : i32} "))
    for sizes in [{}] + ([{"m": 70, "n": 300}] if dynamic else []):
        f.case("x".join(str({**f.sizes, **sizes}[d]) for d in "mn"), sizes, SMALL, EXACT,
               lambda x: numpy(x, axis=1, keepdims=True))
    return f


def extremum(kind, numpy, nan_mode):
    """The first row has one infinity alone, the second NaN alone. Data has neither: the bits of f32 come and go as i32, 7 for NaN."""
    f = Function("tosa", "f32", f"{kind}.{nan_mode.lower()}", {"m": 4, "n": 3, "U": 1}, False)
    bits = f.arg(I32, "mn")
    x = f.raw(f"arith.bitcast {bits.name} : {f.type(I32, 'mn')} to {f.type(F32, 'mn')}", F32, "mn")
    r = apply(f, f"tosa.{kind}", [x], F32, "mU", f"{{axis = 1 : i32, nan_mode = {nan_mode}}} ")
    found = f.raw(f"arith.bitcast {r.name} : {f.type(F32, 'mU')} to {f.type(I32, 'mU')}", I32, "mU")
    is_number = apply(f, "tosa.equal", [r, r], I1, "mU")
    seven = f.raw(f'"tosa.const"() <{{values = dense<7> : {f.type(I32, "UU")}}}> : () -> {f.type(I32, "UU")}', I32, "UU")
    f.ret(apply(f, "tosa.select", [is_number, found, seven], I32, "mU"))
    end = -np.inf if "max" in kind else np.inf
    values = np.array([end, end, end, np.nan, np.nan, np.nan, end, np.nan, end, 2, 3, -1], np.float32).view(np.int32)

    def reference(bits):
        r = numpy(bits.astype(np.int32).view(np.float32), axis=1, keepdims=True)
        return np.where(np.isnan(r), 7, r.view(np.int32))

    f.case("4x3", {}, {"fill": "values", "values": values.tolist()}, EXACT, reference)
    return f


def resize(element, result, offset):
    """Twice as many rows and columns; with an offset, by half-pixel centers."""
    f = function(element, f"resize{offset}", {"b": 2, "H": 5, "W": 4, "C": 3, "P": 10, "Q": 8})
    x = f.arg(element, "bHWC")
    scales, up = (shape(f, 4, 2, 4, 2), 4) if offset else (shape(f, 2, 1, 2, 1), 2)
    f.ret(apply(f, "tosa.resize", [x, scales, shape(f, offset, offset), shape(f, 1, 1)], result,
                "bPQC", "{mode = BILINEAR} "))

    def along(x, axis, count):
        v = np.arange(count) * (up // 2) + offset
        low, d = v // up, (v % up).reshape([-1 if i == axis else 1 for i in range(4)])
        first, second = (x.take(np.clip(i, 0, x.shape[axis] - 1), axis) for i in (low, low + 1))
        return first * (up - d) + second * d

    def reference(x):
        r = along(along(x.astype(np.int64 if not element.is_float else np.float64), 1, 10), 2, 8)
        return r / up**2 if element.is_float else r

    f.case("2x5x4x3", {}, SMALL, EXACT, reference)
    return f


def elementwise(element, name, numpy, dynamic=False, low=-4, high=4):
    f = function(element, name, {"m": 13, "n": 45}, dynamic)
    f.ret(apply(f, f"tosa.{name}", [f.arg(element, "mn")], element, "mn"))
    f.case("13x45", {}, uniform(low, high) if element.is_float else SMALL, BOUNDED if element.is_float else EXACT,
           None if element.is_float else numpy)
    return f


def broadcast(element, name, numpy):
    f = function(element, name, {"m": 13, "n": 45, "U": 1})
    x, y = f.arg(element, "mn"), f.arg(element, "Un")
    f.ret(apply(f, f"tosa.{name}", [x, y], element, "mn"))
    f.case("13x45", {}, SMALL, EXACT, numpy)
    return f


def unfolded():
    """What upstream folds to other results: the least number is negated to the greatest one, and a product of i8 is of i32."""
    f = function(I8, "unfolded", {"m": 300, "U": 1})
    x, none, hundred = f.arg(I8, "m"), const(f, I8, 0), const(f, I8, 100)
    once = apply(f, "tosa.negate", [x, none, none], I8, "m")
    f.ret(apply(f, "tosa.negate", [once, none, none], I8, "m"),
          op(f, "tosa.mul", [hundred, hundred, none], "tensor<1xi32>", I32, "U"))

    def reference(x):
        negate = lambda x: np.minimum(-x.astype(np.int32), 127)
        return [negate(negate(x)).astype(np.int8), np.array([10000], np.int32)]

    f.case("300", {}, integers(-128, 127), EXACT, reference)
    return f


def rescale(per_channel):
    f = function(I32, "rescale.channels" if per_channel else "rescale", {"m": 13, "N": 3})
    x = f.arg(I32, "mN")
    scales = (1968900000, 1345000000, 1073741824) if per_channel else (1073741824,)
    shifts = (31, 33, 32) if per_channel else (33,)
    m, s, zi, zo = const(f, I32, *scales), const(f, I8, *shifts), const(f, I32, 0), const(f, I8, 22)
    f.ret(apply(f, "tosa.rescale", [x, m, s, zi, zo], I8, "mN",
                "{scale32 = true, rounding_mode = SINGLE_ROUND, "
                f"per_channel = {'true' if per_channel else 'false'}, input_unsigned = false, "
                "output_unsigned = false} "))

    def reference(x):
        exact = x.astype(object) * np.array(scales, object)
        whole = np.array([1 << v for v in shifts], object)
        rounded = (exact + whole // 2) // whole
        return np.clip(rounded.astype(np.int64) + 22, -128, 127)

    f.case("13x3", {}, integers(-400, 400), EXACT, reference)
    return f


def softmax():
    f = function(F32, "softmax", {"m": 9, "n": 37, "U": 1})
    x, zero = f.arg(F32, "mn"), const(f, I8, 0)
    top = apply(f, "tosa.reduce_max", [x], F32, "mU", "{axis = 1 : i32} ")
    e = apply(f, "tosa.exp", [apply(f, "tosa.sub", [x, top], F32, "mn")], F32, "mn")
    total = apply(f, "tosa.reduce_sum", [e], F32, "mU", "{axis = 1 : i32} ")
    scale = apply(f, "tosa.reciprocal", [total], F32, "mU")
    f.ret(apply(f, "tosa.mul", [e, scale, zero], F32, "mn"))
    f.case("9x37", {}, uniform(-4, 4), BOUNDED)
    return f


def moved(element, label, dims, out, write, reference, dynamic=False):
    f = function(element, label, dims, dynamic)
    f.ret(write(f, f.arg(element, "mn"), out))
    f.case("x".join(str(dims[d]) for d in "mn"), {}, SMALL, EXACT, reference)
    return f


def relayouts(element):
    yield moved(element, "reshape", {"m": 6, "n": 20, "a": 3, "b": 40}, "ab",
                lambda f, x, o: apply(f, "tosa.reshape", [x, shape(f, 3, 40)], element, o), lambda x: x.reshape(3, 40))
    yield moved(element, "transpose", {"m": 6, "n": 20}, "nm",
                lambda f, x, o: apply(f, "tosa.transpose", [x], element, o, "{perms = array<i32: 1, 0>} "),
                lambda x: x.T)
    yield moved(element, "pad", {"m": 6, "n": 20, "a": 9, "b": 23}, "ab",
                lambda f, x, o: apply(f, "tosa.pad", [x, shape(f, 1, 2, 0, 3),
                                                      const(f, element, 3.0 if element.is_float else 3)], element, o),
                lambda x: np.pad(x, ((1, 2), (0, 3)), constant_values=3))
    yield moved(element, "concat", {"m": 6, "n": 20, "a": 12}, "an",
                lambda f, x, o: apply(f, "tosa.concat", [x, x], element, o, "{axis = 0 : i32} "),
                lambda x: np.concatenate([x, x]))
    yield moved(element, "slice", {"m": 6, "n": 20, "a": 3, "b": 7}, "ab",
                lambda f, x, o: apply(f, "tosa.slice", [x, shape(f, 2, 5), shape(f, 3, 7)], element, o),
                lambda x: x[2:5, 5:12])
    for dynamic in (False, True):
        yield moved(element, "tile", {"m": 6, "n": 20, "a": 12, "b": 60}, "ab",
                    lambda f, x, o: apply(f, "tosa.tile", [x, shape(f, 2, 3)], element, o), lambda x: np.tile(x, (2, 3)), dynamic)


def scatter(element, dynamic):
    """Rows of each batch at places of their own."""
    f = function(element, "scatter", {"b": 2, "k": 12, "w": 3, "c": 20}, dynamic)
    values, at, rows = f.arg(element, "bkc"), f.arg(I32, "bw"), f.arg(element, "bwc")
    f.ret(apply(f, "tosa.scatter", [values, at, rows], element, "bkc"))

    def reference(values, at, rows):
        values = values.copy()
        for batch in range(len(at)):
            values[batch, at[batch]] = rows[batch]
        return values

    f.case("2x12x3x20", {}, [SMALL, {"fill": "values", "values": [3, 0, 11, 5, 11, 1]}, SMALL], EXACT, reference)
    return f


def functions():
    yield scatter(F32, True)
    yield scatter(I8, False)
    yield matmul(F32, F32, True)
    yield matmul(F16, F32, False)
    yield matmul(I8, I32, True, (3, -2))
    yield conv(F32, F32, True)
    yield conv(F32, F32, False, 2)
    yield conv(I8, I32, False)
    yield depthwise(F32, F32)
    yield depthwise(I8, I32)
    yield pool(F32, "max_pool2d")
    yield pool(F32, "avg_pool2d")
    yield pool(I8, "avg_pool2d")
    yield reduction(F32, "reduce_sum", np.sum, True)
    yield reduction(I32, "reduce_max", np.max, False)
    for nan_mode, largest, smallest in (("PROPAGATE", np.max, np.min), ("IGNORE", np.fmax.reduce, np.fmin.reduce)):
        yield extremum("reduce_max", largest, nan_mode)
        yield extremum("reduce_min", smallest, nan_mode)
    yield resize(F32, F32, -1)
    yield resize(I8, I32, -1)
    yield resize(I8, I32, 0)
    yield elementwise(F32, "sigmoid", None, True)
    yield elementwise(BF16, "tanh", None)
    yield elementwise(I32, "abs", np.abs)
    yield broadcast(F32, "add", np.add)
    yield broadcast(I32, "maximum", np.maximum)
    yield unfolded()
    yield rescale(False)
    yield rescale(True)
    yield softmax()
    yield from relayouts(F32)
    yield from relayouts(I8)
