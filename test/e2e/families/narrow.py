# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements of 8 bits that only products and conversions know: f8E4M3FN and f8E5M2 converted, moved and multiplied;
products of signed by unsigned bytes.

Sums of products of 8-bit floats stay below 2^13, which is what a Hopper GPU adds up exactly.
"""

import numpy as np

from data import BF16, E4M3, E5M2, F16, F32, F64, I32, I8, integers, uniform
from families import relayout
from families.contraction import sizes
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


def product(a, b, form, dynamic, unsigned=None):
    """`unsigned`: the operand that is extended by zeros."""
    left, right = FORMS[form]
    dims = sizes(1, 1, 1) if dynamic else RAGGED[0]
    c = F32 if a.is_float else I32
    name = f"{a.name}-{b.name}" if a.is_float else "u8-s8" if unsigned == 0 else "s8-u8"
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


def functions():
    for element in (E4M3, E5M2):
        for other in (F32, F16, BF16, F64):
            yield cast(other, element)
            yield cast(element, other)
        yield relayout.transpose(element, "ba", True)
        yield relayout.copy(element, "ab", True)
        yield relayout.fill(element, True)
        yield quantized(element)
    yield product(E4M3, E4M3, "nn", True)
    for a, b, form in ((E4M3, E4M3, "ta"), (E5M2, E5M2, "tb"), (E5M2, E4M3, "tb"), (E4M3, E5M2, "nn")):
        yield product(a, b, form, False)
    yield product(I8, I8, "tb", True, 1)
    for form, unsigned in (("nn", 0), ("ta", 1)):
        yield product(I8, I8, form, False, unsigned)
