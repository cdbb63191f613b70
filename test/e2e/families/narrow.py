# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements that only products and conversions know: f8E4M3FN and f8E5M2 converted, moved and multiplied; products of signed
by unsigned bytes; weights of i4 and i2, multiplied and dequantised.

Sums of products of 8-bit floats stay below 2^13, which is what a Hopper GPU adds up exactly.
"""

import numpy as np

from data import BF16, E4M3, E4M3UZ, E5M2, E5M2UZ, F16, F32, F64, I16, I2, I32, I4, I8, integers, uniform
from families import relayout
from families.contraction import indexing, sizes
from functions import EXACT, Function

FORMS = {"nn": ("mk", "kn"), "ta": ("km", "kn"), "tb": ("mk", "nk")}
RAGGED = (sizes(33, 41, 57), sizes(64, 48, 128), sizes(17, 130, 7), sizes(9, 9, 0))


def cast(source, target):
    """Small numbers, ties, and numbers beyond the largest."""
    f = Function("cast", f"{source.name}-{target.name}", "float8", {"a": 37, "b": 66}, True)
    x = f.arg(source, "ab")

    def body(lines, x, out):
        op = "extf" if source.bits < target.bits else "truncf"
        lines.append(f"%r = arith.{op} {x} : {source.name} to {target.name}")
        return "%r"

    f.ret(f.generic("ab", [x], f.empty(target, "ab"), body))
    for label, data in (("small", uniform(-0.125, 0.125)), ("ties", uniform(-512, 512)), ("large", integers(-70000, 70000))):
        f.case(f"{label}/37x66", {}, data, EXACT, target.round)
    return f


def integer_cast(source, target):
    f = Function("cast", f"{source.name}-{target.name}", "float8", {"a": 37, "b": 66}, True)
    x = f.arg(source, "ab")

    def body(lines, x, out):
        op = "fptosi" if source.is_float else "sitofp"
        lines.append(f"%r = arith.{op} {x} : {source.name} to {target.name}")
        return "%r"

    f.ret(f.generic("ab", [x], f.empty(target, "ab"), body))
    numbers = [("small", uniform(-9, 9)), ("large", uniform(-224, 224))] if source.is_float else \
        [("ties", integers(-100, 100)), ("large", integers(-2**(source.bits - 1), 2**(source.bits - 1) - 1))]
    for label, data in numbers:
        f.case(f"{label}/37x66", {}, data, EXACT, lambda x: target.round(np.trunc(x)))
    return f


def sum_of(element):
    """x + 0.5 x, each rounded."""
    f = Function("elementwise", element.name, "float8_sum", {"a": 37, "b": 66}, True)
    x, half = f.arg(element, "ab"), f.constant(element, 0.5)

    def body(lines, x, out):
        lines += [f"%h = arith.mulf {x}, {half.name} : {element.name}", f"%s = arith.addf {x}, %h : {element.name}"]
        return "%s"

    f.ret(f.generic("ab", [x], f.empty(element, "ab"), body))
    f.case("uniform/37x66", {}, uniform(-16, 16), EXACT, lambda x: element.round(x + element.round(x * 0.5)))
    return f


def extrema(element, op, dynamic):
    f = Function("reduction", element.name, f"float8_{op}", {"a": 37, "b": 66}, dynamic)
    x, start = f.arg(element, "ab"), f.arg(element, "a")

    def body(lines, x, out):
        lines.append(f"%r = arith.{op}imumf {x}, {out} : {element.name}")
        return "%r"

    f.ret(f.generic("ab", [x], start, body, reduce="b"))
    find = np.max if op == "max" else np.min
    for dims in ({}, {"a": 1, "b": 300}, {"a": 5, "b": 0}) if dynamic else ({},):
        f.case("x".join(map(str, {**f.sizes, **dims}.values())), dims, integers(-16, 16), EXACT,
               lambda x, start: find(np.concatenate([x, start[:, None]], axis=1), axis=1) + 0.0)
    return f


def pool(element):
    f = Function("pooling_max", element.name, "float8_window", {"N": 2, "H": 9, "W": 12, "C": 5, "P": 4, "Q": 5, "K": 3, "L": 4})
    x, start = f.arg(element, "NHWC"), f.arg(element, "NPQC")
    f.ret(f.op("linalg.pooling_nhwc_max", [x, f.empty(element, "KL")], start, "{strides = dense<2> : tensor<2xi64>}"))

    def reference(x, start):
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 4), axis=(1, 2))[:, ::2, ::2]
        return np.maximum(windows.max(axis=(-2, -1)), start) + 0.0

    f.case("2x9x12x5", {}, integers(-16, 16), EXACT, reference)
    return f


def product(a, b, form, dynamic, unsigned=None, sums=F32):
    """`unsigned`: the operand that is extended by zeros."""
    left, right = FORMS[form]
    dims = sizes(1, 1, 1) if dynamic else RAGGED[0]
    c = sums if a.is_float else I32
    name = f"{a.name}-{b.name}" + ("" if sums == F32 else f"-{sums.name}") if a.is_float else "u8-s8" if unsigned == 0 else "s8-u8"
    f = Function("product_float8" if a.is_float else "product_signs", name, form, dims, dynamic)
    ins = [f.arg(a, left), f.arg(b, right)]

    def body(lines, x, y, out):
        for number, (value, element) in enumerate(((x, a), (y, b))):
            op = "extf" if a.is_float else "extui" if unsigned == number else "extsi"
            lines.append(f"%w{number} = arith.{op} {value} : {element.name} to {c.name}")
        suffix = "f" if a.is_float else "i"
        lines.extend((f"%p = arith.mul{suffix} %w0, %w1 : {c.name}", f"%t = arith.add{suffix} {out}, %p : {c.name}"))
        return "%t"

    def reference(*arrays):
        if unsigned is not None:
            arrays = [x & 255 if number == unsigned else x for number, x in enumerate(arrays)]
        return c.round(np.einsum(f"{left},{right}->mn", *arrays))

    f.ret(f.generic("mnk", ins, f.zeros(c, "mn"), body, reduce="k"))
    for dims in RAGGED if dynamic else ({},):
        label = "x".join(map(str, {**f.sizes, **dims}.values()))
        f.case(f"int/{label}", dims, integers(-3, 3) if a.is_float else integers(-128, 127), EXACT, reference)
    return f


def quantized(element):
    """relu(x · w), scaled and written as 8-bit floats."""
    f = Function("product_quantized", element.name, "40x56x72", sizes(40, 56, 72))
    x, w = f.arg(element, "mk"), f.arg(element, "kn")
    total = f.op("linalg.matmul", [x, w], f.zeros(F32, "mn"))
    scale, zero = f.constant(F32, 0.25), f.constant(F32, 0)

    def body(lines, p, out):
        lines.extend((f"%t = arith.mulf {p}, {scale.name} : f32", f"%u = arith.maximumf %t, {zero.name} : f32",
                      f"%v = arith.truncf %u : f32 to {element.name}"))
        return "%v"

    f.ret(f.generic("mn", [total], f.empty(element, "mn"), body))
    f.case("int/40x56x72", {}, integers(-3, 3), EXACT, lambda x, w: element.round(np.maximum((x @ w) * 0.25, 0)))
    return f


def dequantized(groups, signed, dynamic, inner=32, weights=I4, rows=33, columns=42):
    """x · ((w - zero) · scale), with a scale for each row of w, or for each group of it."""
    dims = {"m": rows, "n": columns, "g": 3, "K": inner}
    w_dims, s_dims = ("ngK", "ng") if groups else ("nK", "n")
    x_dims = w_dims.replace("n", "m")
    bits, odd = weights.bits, inner % (8 // weights.bits) > 0
    shape = "" if (rows, columns) == (33, 42) else f"_{inner}x{columns}"
    f = Function("dequantized", f"{'i' if signed else 'u'}{bits}-f16", "odd_" * odd + ("groups" if groups else "rows") + shape,
                 {d: dims[d] for d in "mn" + w_dims[1:]}, dynamic)
    x, w = f.arg(F16, x_dims), f.arg(weights, w_dims)
    scale, zero = f.arg(F16, s_dims), f.arg(F16, s_dims)

    def body(lines, w, scale, zero, out):
        lines.extend((f"%f = arith.{'si' if signed else 'ui'}tofp {w} : {weights.name} to f16", f"%d = arith.subf %f, {zero} : f16",
                      f"%p = arith.mulf %d, {scale} : f16"))
        return "%p"

    wide = f.generic(w_dims, [w, scale, zero], f.empty(F16, w_dims), body)
    iteration = "mn" + w_dims[1:]
    maps = indexing(iteration, x_dims, w_dims, "mn")
    f.ret(f.op("linalg.contract", [x, wide], f.zeros(F32, "mn"), maps))

    def reference(x, w, scale, zero):
        w = w if signed else w & (2**bits - 1)
        scale, zero = (v.reshape(v.shape + (1,)) for v in (scale, zero))
        return np.einsum(f"{x_dims},{w_dims}->mn", x, (w - zero) * scale)

    for sizes_ in ({}, {"m": 17, "n": 5, "g": 1}, {"m": 0, "n": 4, "g": 2}) if dynamic else ({},):
        sizes_ = {d: s for d, s in sizes_.items() if d in f.sizes}
        label = "x".join(str(v) for v in {**f.sizes, **sizes_}.values())
        f.case(f"int/{label}", sizes_, [integers(-2, 2), integers(-(2**bits) // 2, 2**bits // 2 - 1), integers(-2, 2), integers(-2, 2)], EXACT,
               reference)
    return f


def dequantized_columns(weights, dynamic, inner, groups=5, columns=None):
    """x · (w · scale), w as it is multiplied: rows of a sum, with a scale for each column of a group of rows. CPUs dequantise
    while they pack, a chunk of groups at a time; one row takes each weight once."""
    columns = (72 if weights is I2 else 70) if columns is None else columns
    dims = {"m": 21, "n": columns, "g": groups, "K": inner}
    f = Function("dequantized", f"{weights.name}-f16", f"columns_{groups}x{inner}" + ("" if columns else "_none"), {d: dims[d] for d in "mngK"}, dynamic)
    x, w, scale = f.arg(F16, "mgK"), f.arg(weights, "gKn"), f.arg(F16, "gn")

    def body(lines, w, scale, out):
        lines.extend((f"%f = arith.sitofp {w} : {weights.name} to f16", f"%p = arith.mulf %f, {scale} : f16"))
        return "%p"

    wide = f.generic("gKn", [w, scale], f.empty(F16, "gKn"), body)
    f.ret(f.op("linalg.contract", [x, wide], f.zeros(F32, "mn"), indexing("mngK", "mgK", "gKn", "mn")))
    for sizes_ in ({}, {"m": 1, "n": 64}, {"m": 1, "n": 36 if weights is I2 else 34, "g": 1}, {"m": 130, "g": 0}) if dynamic else ({},):
        label = "x".join(str(v) for v in {**f.sizes, **sizes_}.values())
        f.case(f"int/{label}", sizes_, [integers(-2, 2), integers(-2, 1) if weights is I2 else integers(-8, 7), integers(-2, 2)], EXACT,
               lambda x, w, scale: np.einsum("mgk,gkn->mn", x, w * scale[:, None, :]))
    return f


def mixed(a, b, unsigned=False, dynamic=True):
    """x · w, with weights of fewer bits that the body itself converts beside x."""
    f = Function("product_mixed", f"{a.name}-{'u' * unsigned}{b.name}", "rows", sizes(33, 41, 57), dynamic)
    ins = [f.arg(a, "mk"), f.arg(b, "nk")]

    def body(lines, x, w, out):
        op = "extf" if b.is_float else "uitofp" if unsigned else "sitofp"
        if a is not F32:
            lines.append(f"%x = arith.extf {x} : {a.name} to f32")
        lines.extend((f"%w = arith.{op} {w} : {b.name} to f32", f"%p = arith.mulf {x if a is F32 else '%x'}, %w : f32",
                      f"%t = arith.addf {out}, %p : f32"))
        return "%t"

    f.ret(f.generic("mnk", ins, f.zeros(F32, "mn"), body, reduce="k"))
    data = [integers(-2, 2), integers(-3, 3) if b.is_float else integers(-100, 100)]
    for dims in ({}, sizes(64, 48, 128), sizes(1, 130, 70), sizes(9, 9, 0)) if dynamic else ({},):
        label = "x".join(map(str, {**f.sizes, **dims}.values()))
        f.case(f"int/{label}", dims, data, EXACT, lambda x, w: x @ (w & 2**b.bits - 1 if unsigned else w).T)
    return f


def zero_points(dynamic):
    """Bytes less a zero point of all, times weights less one of each column; both are taken out of the sum."""
    f = Function("product_zero_points", "u8-s8", "columns", sizes(33, 41, 57), dynamic)
    ins = [f.arg(I8, "mk"), f.arg(I8, "kn"), f.arg(I8, "n")]

    def body(lines, x, w, zero, out):
        lines.extend((f"%x = arith.extui {x} : i8 to i32", f"%w = arith.extsi {w} : i8 to i32", f"%z = arith.extsi {zero} : i8 to i32",
                      f"%a = arith.subi %x, {middle.name} : i32", "%b = arith.subi %w, %z : i32", "%p = arith.muli %a, %b : i32",
                      f"%t = arith.addi {out}, %p : i32"))
        return "%t"

    middle = f.constant(I32, 128)
    f.ret(f.generic("mnk", ins, f.filled(I32, "mn", 7), body, reduce="k"))
    for dims in ({}, sizes(64, 48, 128), sizes(1, 130, 70), sizes(20, 20, 0)) if dynamic else ({},):
        label = "x".join(map(str, {**f.sizes, **dims}.values()))
        f.case(f"int/{label}", dims, integers(-128, 127), EXACT, lambda x, w, zero: ((x & 255) - 128) @ (w - zero) + 7)
    return f


def one_row(element, weights=None):
    """One row of a dynamic number by a matrix that lies along the sum: read by rows, not gathered by columns."""
    f = Function("one_row", element.name + (f"-{weights.name}" if weights else ""), "along_sum", sizes(1, 37, 83), True)
    x, w = f.arg(element, "mk"), f.arg(weights or element, "nk")
    if weights:
        w = f.generic("nk", [w], f.empty(element, "nk"),
                      lambda lines, w, out: lines.append(f"%f = arith.sitofp {w} : {weights.name} to {element.name}") or "%f")
    f.ret(f.op("linalg.contract", [x, w], f.zeros(F32, "mn"), indexing("mnk", "mk", "nk", "mn")))
    for sizes_ in ({}, {"m": 1, "n": 1, "k": 1}, {"m": 2, "n": 9}, {"m": 1, "k": 0}, {"m": 0}):
        label = "x".join(str(v) for v in {**f.sizes, **sizes_}.values())
        f.case(f"int/{label}", sizes_, integers(-3, 3), EXACT, lambda x, w: x @ w.T)
    return f


def signs_of_products(signs, batch, element=I4):
    """Two or four elements of a sum share a byte of either operand; `signs` says how each is extended."""
    lead, low = "b" if batch else "", -(2**element.bits) // 2
    f = Function(f"product_int{element.bits}", signs, "batch" if batch else "rows",
                 {**({"b": 3} if batch else {}), "m": 70, "n": 41, "K": 202 if element is I4 else 204}, True)
    ins = [f.arg(element, lead + "mK"), f.arg(element, lead + "nK")]

    def body(lines, x, y, out):
        for number, value in enumerate((x, y)):
            lines.append(f"%w{number} = arith.ext{'u' if signs[number] == 'u' else 's'}i {value} : {element.name} to i32")
        lines.extend(("%p = arith.muli %w0, %w1 : i32", f"%t = arith.addi {out}, %p : i32"))
        return "%t"

    def reference(*arrays):
        x, y = (a & (2**element.bits - 1) if sign == "u" else a for a, sign in zip(arrays, signs))
        return np.einsum(f"{lead}mk,{lead}nk->{lead}mn", x, y)

    f.ret(f.generic(lead + "mnK", ins, f.zeros(I32, lead + "mn"), body, reduce="K"))
    for sizes_ in ({}, {"m": 16, "n": 8}, {"m": 9, "n": 130}):
        label = "x".join(str(v) for v in {**f.sizes, **sizes_}.values())
        f.case(f"int/{label}", sizes_, integers(low, -low - 1), EXACT, reference)
    return f


def product_of(element, k):
    f = Function("dequantized", f"{element.name}-i32", "product", {"m": 33, "n": 41, "K": k}, True)
    ins = [f.arg(element, "mK"), f.arg(element, "nK")]
    f.ret(f.op("linalg.contract", ins, f.zeros(I32, "mn"), indexing("mnK", "mK", "nK", "mn")))
    f.case(f"int/33x41x{k}", {}, integers(-(2**element.bits) // 2, 2**element.bits // 2 - 1), EXACT, lambda x, w: x @ w.T)
    return f


def bits_cast(element, unsigned, sizes_, dynamic, extracted=False):
    """Elements that share bytes, as i32 and f32, read in order or by tensor.extract."""
    f = Function("cast_packed", ("u" if unsigned else "i") + f"{element.bits}-f32", "extracted" if extracted else "x".join(map(str, sizes_.values())),
                 sizes_, dynamic)
    x = f.arg(element, "mK")
    sign = "ui" if unsigned else "si"

    def body(lines, *scalars):
        value = scalars[0]
        if extracted:
            lines += ["%i = linalg.index 0 : index", "%j = linalg.index 1 : index", f"%e = tensor.extract {x.name}[%i, %j] : {f.value_type(x)}"]
            value = "%e"
        lines += [f"%w = arith.ext{sign} {value} : {element.name} to i32", f"%f = arith.{sign}tofp {value} : {element.name} to f32"]
        return "%w", "%f"

    f.ret(*f.generic("mK", [] if extracted else [x], [f.empty(I32, "mK"), f.empty(F32, "mK")], body))
    reference = (lambda x: [x & (2**element.bits - 1)] * 2) if unsigned else (lambda x: [x, x])
    for own in ({}, {"m": 1}, {"m": 0}) if dynamic else ({},):
        f.case("x".join(str(v) for v in {**sizes_, **own}.values()), own, integers(-(2**element.bits) // 2, 2**element.bits // 2 - 1), EXACT, reference)
    return f


def packed_casts():
    for element in (I4, I2):
        for unsigned in (False, True):
            yield bits_cast(element, unsigned, {"m": 9, "K": 40}, True)
            yield bits_cast(element, unsigned, {"m": 5, "K": 7}, False)
        yield bits_cast(element, False, {"m": 6, "K": 9}, False, extracted=True)


def functions():
    yield from packed_casts()
    for a, b in ((F16, I8), (BF16, I8), (F32, I8), (F16, E4M3), (BF16, E5M2), (F16, E5M2UZ), (F16, I16)):
        yield mixed(a, b, dynamic=b is not I16)
    yield mixed(F16, I8, unsigned=True)
    yield zero_points(False)
    yield zero_points(True)
    for inner, signed, groups, dynamic in ((32, True, False, False), (32, True, True, True), (32, False, False, False), (30, True, False, False),
                                           (7, False, True, False)):
        yield dequantized(groups, signed, dynamic, inner, I2)
    yield dequantized_columns(I2, False, 12)
    yield dequantized_columns(I2, True, 32)
    yield product_of(I2, 60)
    for signs in ("ss", "su"):
        yield signs_of_products(signs, False, I2)
    yield dequantized(False, True, False)
    yield dequantized(True, True, True)
    yield dequantized(False, False, False)
    yield dequantized(False, True, False, 31)
    yield dequantized(True, False, False, 7)
    # Too few columns, or too short a sum, for panels; and no sum.
    for inner, columns in ((6, 28), (64, 5), (0, 12)):
        yield dequantized(False, True, False, inner, rows=17, columns=columns)
    yield dequantized(True, False, True, 0, columns=12)
    yield dequantized_columns(I4, False, 8, 1, columns=0)
    for weights in (I4, I8):
        yield dequantized_columns(weights, False, 32)
        yield dequantized_columns(weights, False, 12)
        yield dequantized_columns(weights, False, 6, 40)
        yield dequantized_columns(weights, True, 32)
    for element in (F32, F16, BF16):
        yield one_row(element)
    yield one_row(F16, I8)
    yield product_of(I4, 58)
    for signs in ("ss", "su", "us", "uu"):
        yield signs_of_products(signs, False)
    yield signs_of_products("ss", True)
    for element in (E4M3, E5M2):
        for op in ("max", "min"):
            yield extrema(element, op, op == "max")
        yield pool(element)
        for other in (F32, F16, BF16, F64):
            yield cast(other, element)
            yield cast(element, other)
        yield relayout.transpose(element, "ba", True)
        yield relayout.copy(element, "ab", True)
        yield relayout.fill(element, True)
        yield quantized(element)
    for element in (E4M3UZ, E5M2UZ):
        for other in (F32, F16):
            yield cast(other, element)
            yield cast(element, other)
        yield relayout.transpose(element, "ba", True)
        yield relayout.fill(element, True)
        yield sum_of(element)
        yield quantized(element)
    for element in (E4M3, E5M2, E4M3UZ, E5M2UZ):
        for other in (I32, I8):
            yield integer_cast(other, element)
        yield integer_cast(element, I32)
    yield product(E4M3UZ, E4M3UZ, "nn", True)
    yield product(E4M3, E4M3, "nn", True)
    for a, b, form in ((E4M3, E4M3, "ta"), (E5M2, E5M2, "tb"), (E5M2, E4M3, "tb"), (E4M3, E5M2, "nn")):
        yield product(a, b, form, False)
    yield product(E4M3, E5M2, "tb", False, sums=F16)
    yield product(I8, I8, "tb", True, 1)
    for form, unsigned in (("nn", 0), ("ta", 1)):
        yield product(I8, I8, form, False, unsigned)
