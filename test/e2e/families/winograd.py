# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions by linalg's transforms of Winograd, F(m x m, r x r), against the convolution.

Dims by letter: u v the image, i j the window, x y the result; p q rows and columns of a transformed tile, s t tiles,
z all of those of an image or batch, o all places of a tile.
"""

import numpy as np

from data import F16, F32, F64, integers, uniform
from functions import BOUNDED, EXACT, Function


def convolution(element, m, r, tiles, flat=False, accumulate=False):
    """`flat`: the window has one row, and so have the tiles."""
    a = m + r - 1
    n, c, f_ = 2, 5, 7
    rows, high = (1, 1) if flat else (m, r)
    p = rows + high - 1
    s, t = tiles
    sizes = {"n": n, "c": c, "f": f_, "u": s * rows + high - 1, "v": t * m + r - 1, "i": high, "j": r, "x": s * rows,
             "y": t * m, "p": p, "q": a, "s": s, "t": t, "z": s * t * n, "o": p * a}
    label = f"F_{m}_{r}" + ("_flat" if flat else "") + ("_accumulate" if accumulate else "")
    f = Function("winograd", element.name, label, sizes)
    image, window = f.arg(element, "nuvc"), f.arg(element, "fijc")
    out = f.arg(element, "nxyf") if accumulate else f.zeros(element, "nxyf")
    fmr = f"fmr(F_{m}_{r})"
    weights = f.op(f"linalg.winograd_filter_transform {fmr}", [window], f.empty(element, "pqcf"))
    values = f.op(f"linalg.winograd_input_transform {fmr}", [image], f.empty(element, "pqstnc"))
    collapse = lambda value, groups, dims: f.raw(
        f"tensor.collapse_shape {value.name} {groups} : {f.value_type(value)} into {f.type(element, dims)}", element, dims)
    product = f.op("linalg.batch_matmul", [collapse(values, "[[0, 1], [2, 3, 4], [5]]", "ozc"),
                                           collapse(weights, "[[0, 1], [2], [3]]", "ocf")], f.zeros(element, "ozf"))
    shape = ", ".join(str(sizes[d]) for d in "pqstnf")
    wide = f.raw(f"tensor.expand_shape {product.name} [[0, 1], [2, 3, 4], [5]] output_shape [{shape}] : "
                 f"{f.value_type(product)} into {f.type(element, 'pqstnf')}", element, "pqstnf")
    f.ret(f.op(f"linalg.winograd_output_transform {fmr}", [wide], out))

    def reference(x, w, *start):
        view = np.lib.stride_tricks.sliding_window_view(x, (high, r), axis=(1, 2))
        total = np.einsum("nxycij,fijc->nxyf", view, w)
        return total + start[0] if start else total

    if (m, r) == (2, 3):
        # Quarters of integers are exact.
        f.case("int", {}, integers(-3, 3), EXACT, reference)
    f.case("random", {}, uniform(-1, 1), BOUNDED, reference)
    return f


def direct(label, n, places, channels, filters, pad=False, accumulate=False, relu=False):
    """A convolution of 3 x 3 windows, which --fp=winograd computes so."""
    x, y = places
    sizes = {"n": n, "c": channels, "f": filters, "u": x + 2, "v": y + 2, "i": 3, "j": 3, "x": x, "y": y}
    if pad:
        sizes |= {"a": x, "b": y}
    f = Function("winograd", F32.name, f"direct_{label}", sizes)
    image, window = f.arg(F32, "nabc" if pad else "nuvc"), f.arg(F32, "ijcf")
    out = f.arg(F32, "nxyf") if accumulate else f.zeros(F32, "nxyf")
    if pad:
        image = f.pad(image, "nuvc", [0, 1, 1, 0], [0, 1, 1, 0], f.constant(F32, 0))
    result = f.op("linalg.conv_2d_nhwc_hwcf", [image, window], out)
    if relu:
        result = f.generic("nxyf", [result], f.empty(F32, "nxyf"), lambda lines, a, _: (
            lines.append("%zero = arith.constant 0.0 : f32") or lines.append(f"%r = arith.maximumf {a}, %zero : f32") or ["%r"]))
    f.ret(result)

    def reference(image, w, *start):
        if pad:
            image = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
        total = np.einsum("nxycij,ijcf->nxyf", np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(1, 2)), w)
        total = total + start[0] if start else total
        return np.maximum(total, 0) if relu else total

    f.case("int", {}, integers(-3, 3), EXACT, reference)
    return f


def functions():
    yield direct("batch", 2, (8, 18), 16, 24)
    yield direct("padded", 1, (16, 16), 20, 32, pad=True, relu=True)
    yield direct("accumulate", 1, (16, 18), 16, 16, accumulate=True)
    yield convolution(F32, 2, 3, (4, 4))
    yield convolution(F32, 2, 3, (1, 3), accumulate=True)
    yield convolution(F32, 2, 3, (3, 2), flat=True)
    yield convolution(F64, 2, 3, (2, 5))
    yield convolution(F16, 2, 3, (2, 2))
    yield convolution(F32, 4, 3, (2, 3))
    yield convolution(F32, 4, 3, (1, 2), accumulate=True)
    # Upstream's thirds are those of f32, in f64, too: no f64 here.
    yield convolution(F32, 4, 3, (3, 1), flat=True)
    yield convolution(F32, 2, 5, (2, 2))
