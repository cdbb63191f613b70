# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dims of size one where the compiler learns of them late, or from another operand: 1 against `?`, reductions of
one element, slices that keep such a dim, and convolutions with one output whose input is wider than their window."""

import numpy as np

from data import F32, F64, I32, I8, integers
from functions import EXACT, Function


def family(label, dims, dynamic=False):
    return Function("unit_dims", "f32", label, dims, dynamic)


def one_term():
    """K is 1 in one operand and `?` in the other."""
    f = family("matmul_k", {"m": 5, "n": 8, "K": 1, "k": 1}, dynamic=True)
    a, b = f.arg(F32, "mK"), f.arg(F32, "kn")
    f.ret(f.op("linalg.matmul", [a, b], f.zeros(F32, "mn")))
    f.case("5x8x1", {}, integers(-9, 9), EXACT, np.matmul)
    f.case("5x8x3", {"k": 3}, integers(-9, 9), EXACT, error="dim 0 of %arg1 is not what was promised")
    return f


def one_row():
    """A dim is 1 in one operand of an elementwise op and `?` in the others."""
    f = family("elementwise", {"M": 1, "m": 1, "n": 37}, dynamic=True)
    a, b = f.arg(F32, "Mn"), f.arg(F32, "mn")

    maps = "affine_map<(i, j) -> (i, j)>"
    e, t = f.empty(F32, "mn"), f.type(F32, "mn")
    f.ret(f.raw(f"linalg.generic {{indexing_maps = [{maps}, {maps}, {maps}], iterator_types = [\"parallel\", "
                f"\"parallel\"]}} ins({a.name}, {b.name} : {f.value_type(a)}, {t}) outs({e.name} : {t}) {{\n"
                f"      ^bb0(%a: f32, %b: f32, %o: f32):\n        %s = arith.subf %a, %b : f32\n"
                f"        linalg.yield %s : f32\n    }} -> {t}", F32, "mn"))
    f.case("37", {}, integers(-9, 9), EXACT, np.subtract)
    return f


def reduction(op, start, combine):
    """Of one element: an elementwise op, and of the neutral element a copy."""
    f = family(f"reduce_{op}", {"m": 37, "k": 1})
    x = f.arg(F32, "mk")

    def body(lines, value, acc):
        lines.append(f"%t = arith.{op} {value}, {acc} : f32")
        return "%t"

    f.ret(f.generic("mk", [x], f.filled(F32, "m", start), body, reduce="k"))
    f.case("37x1", {}, integers(-9, 9), EXACT, lambda x: combine(x[:, 0], start))
    return f


def pooling():
    """A window of one element."""
    f = family("pooling", {"n": 1, "h": 5, "w": 7, "c": 4, "k": 1, "l": 1})
    x, window = f.arg(F32, "nhwc"), f.empty(F32, "kl")
    attributes = "{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}"
    f.ret(f.op("linalg.pooling_nhwc_max", [x, window], f.filled(F32, "nhwc", float("-inf")), attributes))
    f.case("5x7x4", {}, integers(-9, 9), EXACT, lambda x: x)
    return f


def convolution(name, image, filter_, output, dims, strides, reference, element=F32, result=F32):
    """One output; the window leaves some of the input unread."""
    f = family(f"{name}_{element.name}", dims)
    x, w = f.arg(element, image), f.arg(element, filter_)
    attributes = f"{{dilations = dense<1> : tensor<{strides}xi64>, strides = dense<6> : tensor<{strides}xi64>}}"
    f.ret(f.op(f"linalg.{name}", [x, w], f.zeros(result, output), attributes))
    f.case("one", {}, integers(-9, 9), EXACT, reference)
    return f


def one_image():
    """One image, and a result of `?` images."""
    f = family("conv_one_image", {"N": 1, "n": 1, "h": 9, "w": 8, "c": 4, "k": 3, "l": 2, "f": 6, "i": 7, "j": 7},
               dynamic=True)
    x, w, c = f.arg(F32, "Nhwc"), f.arg(F32, "klcf"), f.arg(F32, "nijf")
    f.ret(f.op("linalg.conv_2d_nhwc_hwcf", [x, w], c))

    def reference(x, w, c):
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2), axis=(1, 2))
        return c + np.einsum("nijckl,klcf->nijf", windows, w)

    f.case("1x9x8", {}, integers(-9, 9), EXACT, reference)
    f.case("2x9x8", {"n": 2}, integers(-9, 9), EXACT, error="dim 0 of %arg2 is not what was promised")
    return f


def kept_slices():
    """Slices and what is put back into them keep a dim of one."""
    f = family("slices", {"m": 40, "k": 1})
    x, y = f.arg(F32, "mk"), f.arg(F32, "mk")
    part = f.raw(f"tensor.extract_slice {x.name}[9, 0] [31, 1] [1, 1] : tensor<40x1xf32> to tensor<31x1xf32>", F32, None)
    whole = f.raw(f"tensor.insert_slice {part.name} into {y.name}[3, 0] [31, 1] [1, 1] : tensor<31x1xf32> into "
                  "tensor<40x1xf32>", F32, "mk")
    f.ret(whole)
    f.case("40x1", {}, integers(-9, 9), EXACT, lambda x, y: np.concatenate([y[:3], x[9:], y[34:]]))
    return f


def padded_row(dynamic):
    """A slice of one row, in steps of two, with rows around it."""
    f = family("padded_row", {"m": 3, "n": 16, "j": 8, "p": 4}, dynamic)
    x = f.arg(F32, "mn")
    rows = "1"
    if dynamic:
        f.emit(f"%c0 = arith.constant 0 : index\n    %c2 = arith.constant 2 : index\n"
               f"    %size = tensor.dim {x.name}, %c0 : {f.value_type(x)}\n    %rows = arith.divui %size, %c2 : index")
        rows = "%rows"
    given = f"tensor<{'?' if dynamic else 1}x8xf32>"
    part = f.raw(f"tensor.extract_slice {x.name}[0, 4] [{rows}, 8] [2, 1] : {f.value_type(x)} to {given}", F32, None)
    zero = f.constant(F32, 0)
    padded = f"tensor<{'?' if dynamic else 4}x8xf32>"
    result = f.raw(f"tensor.pad {part.name} low[2, 0] high[1, 0] {{\n      ^bb0(%i0: index, %i1: index):\n"
                f"        tensor.yield {zero.name} : f32\n    }} : {given} to {padded}", F32, "pj")
    if dynamic:
        result = f.raw(f"tensor.cast {result.name} : {padded} to {f.type(F32, 'pj')}", F32, "pj")
    f.ret(result)

    def reference(x):
        return np.pad(x[0:2 * (len(x) // 2):2, 4:12], ((2, 1), (0, 0)))

    f.case("3x16", {}, integers(-9, 9), EXACT, reference)
    if dynamic:
        f.case("8x16", {"m": 8, "p": 7}, integers(-9, 9), EXACT, reference)
    return f


def one_element():
    """A slice of rank 0, which begins at any element."""
    f = family("element", {"m": 9})
    x = f.arg(F64, "m")
    part = f.raw(f"tensor.extract_slice {x.name}[3] [1] [1] : tensor<9xf64> to tensor<f64>", F64, "")

    def body(lines, value, out):
        lines.append(f"%t = arith.addf {value}, {value} : f64")
        return "%t"

    f.ret(f.generic("", [part], f.empty(F64, ""), body))
    f.case("3", {}, integers(-9, 9), EXACT, lambda x: 2 * x[3])
    return f


def functions():
    yield one_term()
    yield one_row()
    yield reduction("addf", 0, np.add)
    yield reduction("maximumf", float("-inf"), np.maximum)
    yield pooling()
    yield convolution("conv_2d_nhwc_hwcf", "nhwc", "klcf", "nijf",
                      {"n": 1, "h": 8, "w": 7, "c": 4, "k": 3, "l": 2, "f": 6, "i": 1, "j": 1}, 2,
                      lambda x, w: np.einsum("nklc,klcf->nf", x[:, :3, :2], w)[:, None, None, :])
    yield convolution("conv_1d_ncw_fcw", "ncw", "fck", "nfi", {"n": 1, "c": 4, "w": 8, "f": 6, "k": 3, "i": 1}, 1,
                      lambda x, w: np.einsum("nck,fck->nf", x[:, :, :3], w)[:, :, None], I8, I32)
    # Of one element, too: nothing is left of the sum of loops.
    yield convolution("conv_1d_nwc_wcf", "nwc", "kcf", "nif", {"n": 1, "c": 4, "w": 5, "f": 6, "k": 1, "i": 1}, 1,
                      lambda x, w: np.einsum("nkc,kcf->nf", x[:, :1], w)[:, None, :])
    yield one_image()
    yield kept_slices()
    yield padded_row(dynamic=False)
    yield padded_row(dynamic=True)
    yield one_element()
