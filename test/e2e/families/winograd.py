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


def functions():
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
