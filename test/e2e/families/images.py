# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of images, whose windows a copy engine gathers on sm_90a: padding, steps between windows and between taps,
several images in a tile, any number of them, of any size, any number of filters, one to three dims of space, channels of no
whole step; each technique; what is fused behind.
Channels whose rows are no multiples of 16 bytes take the way of other targets. Images whose channels are outermost, on all.
"""

import itertools

import numpy as np

from data import BF16, F16, F32, I32, I8, integers
from families.contraction import exact_data, pair_name
from functions import EXACT, Function

# Named ops by dims of space: image, filter and result.
OPS = {1: ("conv_1d_nwc_wcf", "nuc", "icf", "nxf"), 2: ("conv_2d_nhwc_hwcf", "nuvc", "ijcf", "nxyf"),
       3: ("conv_3d_ndhwc_dhwcf", "nuvwc", "ijkcf", "nxyzf")}
FHWC = ("conv_2d_nhwc_fhwc", "nuvc", "fijc", "nxyf")
PLACES, TAPS, SPACE, PADDED = "xyz", "ijk", "uvw", "opq"


class Images:
    """`images` of `size`, `channels`; `filters` of `taps`; steps between windows, between taps; (low, high) of padding; how
    many windows of those that fit along each dim the result lacks."""

    def __init__(self, images, size, channels, filters, taps, steps=None, dilations=None, pads=None, fewer=0):
        rank = len(size)
        self.fewer = fewer
        self.rank, self.size, self.taps = rank, size, taps
        self.steps, self.dilations = steps or [1] * rank, dilations or [1] * rank
        self.pads = pads or [(0, 0)] * rank
        self.dims = {"n": images, "c": channels, "f": filters, **dict(zip(TAPS, taps)), **self.of_size(size)}

    def of_size(self, size):
        """Dims of images of that size."""
        padded = [s + low + high for s, (low, high) in zip(size, self.pads)]
        return {d: value for letters, values in ((SPACE, size), (PADDED, padded), (PLACES, self.places(padded)))
                for d, value in zip(letters, values)}

    def places(self, padded):
        return [(p - d * (t - 1) - 1) // s + 1 - self.fewer
                for p, d, t, s in zip(padded, self.dilations, self.taps, self.steps)]

    def sizes(self, own):
        """Dims where some have sizes of `own`."""
        return {**own, **self.of_size([own.get(d, s) for d, s in zip(SPACE, self.size)])}

    def emit_places(self, f):
        """Lets `f` know the sizes of its result where those of the image are open."""
        for d, place, (low, high), t, s, e in zip(SPACE, PLACES, self.pads, self.taps, self.steps, self.dilations):
            if not f.is_dynamic(place):
                continue
            more, step, one = (f.raw(f"arith.constant {value} : index", I32, None).name
                               for value in (low + high - e * (t - 1) - 1, s, 1 - self.fewer))
            fits = f.raw(f"arith.addi {f.size_of(d)}, {more} : index", I32, None).name
            last = f.raw(f"arith.floordivsi {fits}, {step} : index", I32, None).name
            f.sized[place] = f.raw(f"arith.addi {last}, {one} : index", I32, None).name

    def attributes(self):
        dense = lambda values: f"dense<[{', '.join(map(str, values))}]> : tensor<{self.rank}xi64>"
        return f"dilations = {dense(self.dilations)}, strides = {dense(self.steps)}"

    def reference(self, image, weights, order):
        image = np.pad(image, [(0, 0), *self.pads, (0, 0)])
        n, *_, c = image.strides
        space = image.strides[1:-1]
        view = np.lib.stride_tricks.as_strided(
            image, [image.shape[0], *self.places(image.shape[1:-1]), *self.taps, image.shape[-1]],
            [n, *(s * t for s, t in zip(space, self.steps)), *(s * t for s, t in zip(space, self.dilations)), c])
        letters = "n" + PLACES[:self.rank] + TAPS[:self.rank] + "c"
        if view.dtype.kind != "f":
            view, weights = view.astype(np.int64), weights.astype(np.int64)
        return np.einsum(f"{letters},{order}->n{PLACES[:self.rank]}f", view, weights)


def config(a, c, m, n, k, taps, groups=1, stages=3, techniques=""):
    """One for rows of pixels; `taps`: dims of space."""
    name = {F16: "k16.f16", BF16: "k16.bf16", I8: "k32.s8"}[a] + {F32: ".f32", I32: ".s32"}[c]
    registers = ", registers = [40, 232]" if groups == 2 else ""
    ones = ", 1" * taps
    return ("tilewright.lowering_config = {\"cuda:sm_90a\" = #tilewright.lowering_config<strategy = warp_specialized, "
            f"block = [{m}, {n}{ones}, {k}], warps = [{4 * groups}, 1{ones}, 1], stages = {stages}, "
            f"promote = [0, 1], mma = \"wgmma.m64n{n}{name}\"{registers}{techniques}>}}")


def convolution(label, images, a=F16, c=F32, op=None, pinned="", epilogue=None, numbers=(), open_dims="n", sizes=()):
    """`numbers`: how many images there are, where that is open; or `sizes` of several `open_dims`, numbers in their order."""
    name, image, order, output = op or OPS[images.rank]
    derived = "".join(PADDED[i] + PLACES[i] for i, d in enumerate(SPACE) if d in open_dims)
    known = "".join(d for d in images.dims if d not in open_dims + derived)
    f = Function("images", pair_name(a, c), label, images.dims, bool(numbers or sizes), ("cuda", "cpu-reference"), known)
    sizes = ([(f"{number}_images", {"n": number}) for number in numbers] or
             [("x".join(map(str, own)), images.sizes(dict(zip(open_dims, own)))) for own in sizes] or [("int", {})])
    x, w = f.arg(a, image), f.arg(a, order)
    images.emit_places(f)
    if any(map(any, images.pads)):
        low, high = ([0, *(p[side] for p in images.pads), 0] for side in (0, 1))
        x = f.pad(x, "n" + PADDED[:images.rank] + "c", low, high, f.constant(a, 0))
    attributes = images.attributes() + (", " + pinned if pinned else "")
    sums = f.op(f"linalg.{name}", [x, w], f.zeros(c, output), "{" + attributes + "}")
    terms = int(np.prod([images.dims["c"], *images.taps]))
    if epilogue:
        return epilogue(f, sums, lambda x, w: images.reference(x, w, order), output, sizes)
    f.ret(sums)
    for case, own in sizes:
        f.case(case, own, exact_data(a, c, terms + 1) if a.is_float else integers(-9, 9), EXACT,
               lambda x, w: images.reference(x, w, order))
    return f


def bias_and_more(f, sums, product, output, sizes):
    """A bias of each filter, what was there before, at least zero, as f16."""
    bias, residual = f.arg(F32, "f"), f.arg(F16, output)

    def body(lines, value, b, r, _):
        lines += [f"%t0 = arith.addf {value}, {b} : f32", f"%t1 = arith.extf {r} : f16 to f32",
                  "%t2 = arith.addf %t0, %t1 : f32", "%z = arith.constant 0.0 : f32", "%t3 = arith.maximumf %t2, %z : f32",
                  "%t4 = arith.truncf %t3 : f32 to f16"]
        return "%t4"
    f.ret(f.generic(output, [sums, bias, residual], f.empty(F16, output), body))
    for case, own in sizes:
        f.case(case, own, integers(-1, 1), EXACT,
               lambda x, w, bias, residual: F16.round(np.maximum(product(x, w) + bias + residual, 0)))
    return f


def per_image(f, sums, product, output, sizes):
    """Something of each image is added, which pixels of all images in one row cannot say: the old way."""
    more = f.arg(F32, "nf")

    def body(lines, value, m, _):
        lines.append(f"%t = arith.addf {value}, {m} : f32")
        return "%t"
    f.ret(f.generic(output, [sums, more], f.empty(F32, output), body))
    for case, own in sizes:
        f.case(case, own, integers(-1, 1), EXACT,
               lambda x, w, more: product(x, w) + more.reshape(more.shape[0], *[1] * (len(output) - 2), -1))
    return f


def shapes():
    ones, twos = [(1, 1), (1, 1)], [(2, 2), (2, 2)]
    yield "same", Images(2, [9, 11], 64, 72, [3, 3], pads=ones)
    yield "batch", Images(5, [7, 6], 72, 64, [3, 2])
    yield "strided", Images(3, [17, 15], 32, 64, [3, 3], [2, 2], pads=ones)
    yield "strided_leftover", Images(2, [18, 16], 16, 64, [3, 3], [3, 2], pads=ones)
    yield "dilated", Images(2, [12, 13], 16, 64, [3, 2], dilations=[2, 3], pads=[(2, 2), (3, 0)])
    yield "uneven", Images(2, [8, 9], 64, 64, [4, 2], pads=[(2, 1), (0, 1)])
    yield "far", Images(1, [5, 6], 64, 64, [5, 5], pads=twos)
    yield "one_by_one", Images(3, [9, 9], 64, 64, [1, 1], [2, 2])
    yield "one_tap_padded", Images(2, [5, 7], 64, 64, [1, 1], pads=ones)
    yield "one_image", Images(1, [12, 12], 64, 64, [3, 3], pads=ones)
    yield "channels_136", Images(2, [6, 6], 136, 136, [2, 2], pads=[(1, 0), (0, 1)])
    yield "channels_8", Images(2, [8, 8], 8, 64, [3, 3], pads=ones)
    yield "channels_12", Images(2, [8, 8], 12, 64, [3, 3], pads=ones)
    yield "line", Images(4, [37], 64, 64, [5], [2], pads=[(2, 2)])
    yield "line_of_one", Images(1, [70], 64, 64, [3], pads=[(1, 1)])
    yield "volume", Images(2, [4, 5, 6], 32, 64, [2, 3, 2], [1, 2, 1], pads=[(1, 0), (1, 1), (0, 1)])


def techniques():
    """Persistent blocks, clusters along pixels and along filters, stores by copy engines; pinned."""
    for number, (cluster, persistent, tma) in enumerate(itertools.product(([], [2, 1, 1, 1, 1], [1, 2, 1, 1, 1]),
                                                                        (False, True), (False, True))):
        more = ((", persistent = true" if persistent else "") + (f", cluster = {cluster}" if cluster else "") +
                (", tma_store = true" if tma else ""))
        images = Images(3, [11, 10], 72, 136, [3, 3], [1 + number % 2, 1], pads=[(1, 1), (1, 0)])
        yield convolution(f"technique_{number}", images, BF16 if number % 2 else F16,
                          pinned=config(BF16 if number % 2 else F16, F32, 128 if number % 3 else 64, 64, 64, 2,
                                        2 if number % 3 else 1, 2 + number % 3, more))


def parts():
    """The sums of channels in parts, one for each block of a cluster; the last has two tiles of filters in it, too."""
    for label, channels, m, groups, cluster, epilogue in (
            ("parts", 128, 64, 1, [1, 1, 1, 1, 2], None), ("parts_fused", 256, 128, 2, [1, 1, 1, 1, 4], bias_and_more),
            ("parts_pairs", 256, 128, 2, [1, 2, 1, 1, 2], None)):
        images = Images(3, [9, 10], channels, 128, [3, 3], [2, 1], pads=[(1, 1), (1, 1)])
        yield convolution(label, images, pinned=config(F16, F32, m, 64, 64, 2, groups, 3,
                                                       f", splits = {cluster[-1]}, cluster = {cluster}"), epilogue=epilogue)


def numbers():
    """Any number of images: none, one, as many as a variant is for, one more, many."""
    ones = [(1, 1), (1, 1)]
    yield convolution("any", Images(1, [9, 11], 64, 72, [3, 3], pads=ones), numbers=(0, 1, 5, 19))
    yield convolution("any_strided", Images(1, [13, 10], 32, 64, [3, 2], [2, 3], [1, 2], ones), BF16, numbers=(3, 18))
    yield convolution("any_one_by_one", Images(1, [9, 9], 64, 64, [1, 1], [2, 2]), numbers=(21,))
    yield convolution("any_line", Images(1, [37], 64, 64, [5], [2], pads=[(2, 2)]), numbers=(30,))
    yield convolution("any_volume", Images(1, [4, 5, 6], 32, 64, [2, 3, 2], [1, 2, 1], pads=[(1, 0), (1, 1), (0, 1)]),
                      numbers=(17,))
    yield convolution("any_bytes", Images(1, [9, 7], 144, 64, [3, 3], pads=ones), I8, I32, op=FHWC, numbers=(6,))
    yield convolution("any_fused", Images(1, [9, 10], 64, 64, [3, 3], pads=ones), epilogue=bias_and_more, numbers=(0, 20))
    yield convolution("any_per_image", Images(1, [9, 10], 64, 64, [3, 3], pads=ones), epilogue=per_image, numbers=(5,))
    for cluster, more in (([2, 1, 1, 1, 1], ", tma_store = true"), ([1, 2, 1, 1, 1], ", persistent = true")):
        label = f"any_cluster_{cluster[0]}"
        yield convolution(label, Images(1, [11, 10], 72, 136, [3, 3], [2, 1], pads=[(1, 1), (1, 0)]), numbers=(13,),
                          pinned=config(F16, F32, 128, 64, 64, 2, 2, 3, f", cluster = {cluster}{more}"))
    yield convolution("any_parts", Images(1, [9, 10], 128, 128, [3, 3], [2, 1], pads=ones), numbers=(1, 7),
                      pinned=config(F16, F32, 64, 64, 64, 2, 1, 3, ", splits = 2, cluster = [1, 1, 1, 1, 2]"))


def filters():
    """Any number of filters: none, of whole boxes and not, of whole rows of 16 bytes and not; one and several variants."""
    ones = [(1, 1), (1, 1)]
    yield convolution("any_filters", Images(2, [9, 11], 64, 72, [3, 3], pads=ones), open_dims="f",
                      sizes=[(0,), (8,), (72,), (120,), (35,), (640,)])
    yield convolution("any_filters_strided", Images(1, [13, 10], 32, 64, [3, 2], [2, 3], [1, 2], ones), BF16, open_dims="nf",
                      sizes=[(3, 136), (0, 8), (20, 4)])
    yield convolution("any_filters_fhwc", Images(2, [9, 7], 72, 64, [3, 3], pads=ones), op=FHWC, open_dims="nf",
                      sizes=[(4, 36), (5, 13)])
    yield convolution("any_filters_fused", Images(1, [9, 10], 64, 64, [3, 3], pads=ones), epilogue=bias_and_more,
                      open_dims="nf",
                      sizes=[(2, 72), (21, 136), (1, 20)])
    yield convolution("any_filters_line", Images(1, [37], 64, 64, [5], [2], pads=[(2, 2)]), open_dims="nf", sizes=[(30, 80)])


def any_size():
    """Rows, columns, planes of any number: of one window, of many, of none; padded in front, behind, and where there is nothing
    to pad; more windows than the result has."""
    ones = [(1, 1), (1, 1)]
    yield convolution("any_size", Images(1, [9, 11], 64, 72, [3, 3], pads=ones), open_dims="nuv",
                      sizes=[(2, 9, 11), (1, 1, 1), (3, 5, 30), (0, 9, 9), (4, 1, 20), (1, 0, 4), (6, 20, 21)])
    yield convolution("any_size_per_image", Images(1, [9, 10], 64, 64, [3, 3], pads=ones), epilogue=per_image, open_dims="nuv",
                      sizes=[(3, 8, 7)])
    yield convolution("any_size_bare", Images(1, [9, 11], 64, 72, [3, 2]),
                      open_dims="nuv", sizes=[(2, 9, 12), (1, 3, 2), (5, 4, 2)])
    yield convolution("any_size_strided", Images(1, [13, 10], 32, 64, [3, 2], [2, 3], [1, 2], ones), BF16, open_dims="nuv",
                      sizes=[(3, 13, 10), (2, 14, 11), (1, 1, 2), (9, 8, 21)])
    yield convolution("any_size_in_front", Images(1, [8, 9], 64, 64, [4, 3], [2, 1], pads=[(2, 0), (1, 0)]), open_dims="nuv",
                      sizes=[(2, 8, 9), (1, 2, 2), (3, 9, 13)])
    yield convolution("any_size_behind", Images(1, [8, 9], 64, 64, [4, 2], [3, 2], pads=[(0, 2), (0, 1)]), open_dims="nuv",
                      sizes=[(2, 8, 9), (1, 2, 1), (3, 9, 12)])
    yield convolution("any_size_all_padding", Images(1, [4, 4], 64, 64, [2, 2], pads=[(1, 1), (2, 0)]), open_dims="nuv",
                      sizes=[(2, 0, 3), (1, 3, 0), (1, 3, 4)])
    yield convolution("any_size_fewer", Images(1, [9, 9], 64, 64, [3, 3], [1, 2], pads=ones, fewer=1), open_dims="nuv",
                      sizes=[(2, 9, 10), (1, 5, 30)])
    yield convolution("any_size_fewer_bare", Images(1, [9, 9], 64, 64, [3, 3], [1, 2], fewer=2), open_dims="nuv",
                      sizes=[(2, 9, 10), (3, 5, 30)])
    yield convolution("any_height", Images(2, [9, 11], 64, 64, [3, 3], pads=ones), open_dims="u", sizes=[(9,), (1,), (40,)])
    yield convolution("any_width", Images(2, [9, 11], 64, 64, [3, 3], [2, 2]), open_dims="v", sizes=[(11,), (3,), (50,)])
    yield convolution("any_size_one_by_one", Images(1, [9, 9], 64, 64, [1, 1], [2, 2]), open_dims="nuv",
                      sizes=[(3, 9, 9), (1, 1, 1), (2, 2, 7), (7, 8, 2)])
    yield convolution("any_size_one_tap_padded", Images(1, [5, 7], 64, 64, [1, 1], [3, 2], pads=[(0, 2), (1, 1)]),
                      open_dims="nuv",
                      sizes=[(2, 5, 7), (1, 1, 1), (3, 2, 6)])
    yield convolution("any_size_line", Images(1, [37], 64, 64, [5], [2], pads=[(2, 2)]),
                      open_dims="nu", sizes=[(4, 37), (2, 40), (1, 1)])
    yield convolution("any_size_line_of_one", Images(1, [70], 64, 64, [3], pads=[(1, 1)]),
                      open_dims="u", sizes=[(70,), (1,), (300,)])
    yield convolution("any_size_volume", Images(1, [4, 5, 6], 32, 64, [2, 3, 2], [1, 2, 1], pads=[(1, 0), (1, 1), (0, 1)]),
                      open_dims="nuvw", sizes=[(2, 4, 5, 6), (1, 1, 1, 1), (3, 2, 4, 9)])
    yield convolution("any_size_bytes", Images(1, [9, 7], 144, 64, [3, 3], pads=ones), I8, I32, op=FHWC, open_dims="nuv",
                      sizes=[(2, 9, 7), (3, 4, 18)])
    yield convolution("any_size_channels_12", Images(1, [8, 8], 12, 64, [3, 3], pads=ones), open_dims="nuv", sizes=[(2, 8, 8)])
    yield convolution("any_size_fused", Images(1, [9, 10], 64, 64, [3, 3], pads=ones), epilogue=bias_and_more, open_dims="nuv",
                      sizes=[(2, 9, 10), (0, 4, 4), (5, 12, 11)])
    yield convolution("any_size_fused_filters", Images(1, [9, 10], 64, 64, [3, 3], [2, 1], pads=ones), BF16,
                      epilogue=bias_and_more, open_dims="nuvf",
                      sizes=[(2, 9, 10, 72), (3, 8, 17, 136), (2, 5, 5, 4), (1, 6, 6, 0)])
    for cluster, more in (([2, 1, 1, 1, 1], ", tma_store = true"), ([1, 2, 1, 1, 1], ", persistent = true")):
        yield convolution(f"any_size_cluster_{cluster[0]}", Images(1, [11, 10], 72, 136, [3, 3], [2, 1], pads=[(1, 1), (1, 0)]),
                          open_dims="nuv", sizes=[(3, 11, 10), (2, 8, 23)],
                          pinned=config(F16, F32, 128, 64, 64, 2, 2, 3, f", cluster = {cluster}{more}"))
    yield convolution("any_size_parts", Images(1, [9, 10], 128, 128, [3, 3], [2, 1], pads=ones), open_dims="nuv",
                      sizes=[(1, 9, 10), (3, 12, 9)],
                      pinned=config(F16, F32, 64, 64, 64, 2, 1, 3, ", splits = 2, cluster = [1, 1, 1, 1, 2]"))


def planes(label, images, a=F32, c=F32, fused=False):
    """Channels outermost, as most front ends write images: on CPUs, rows of narrow ones are one row."""
    f = Function("images", pair_name(a, c), f"planes_{label}", images.dims)
    x, w = f.arg(a, "ncuv"), f.arg(a, "fcij")
    if any(map(any, images.pads)):
        low, high = ([0, 0, *(p[side] for p in images.pads)] for side in (0, 1))
        x = f.pad(x, "nc" + PADDED[:2], low, high, f.constant(a, 0))
    sums = f.op("linalg.conv_2d_nchw_fchw", [x, w], f.zeros(c, "nfxy"), "{" + images.attributes() + "}")

    def product(x, w):
        return np.moveaxis(images.reference(np.moveaxis(x, 1, 3), w, "fcij"), 3, 1)
    if not fused:
        f.ret(sums)
        f.case("int", {}, exact_data(a, c, int(np.prod([images.dims["c"], *images.taps])) + 1), EXACT, product)
        return f
    bias, residual = f.arg(c, "f"), f.arg(c, "nfxy")

    def body(lines, value, b, r, _):
        lines += [f"%t0 = arith.addf {value}, {b} : {c.name}", f"%t1 = arith.addf %t0, {r} : {c.name}",
                  f"%z = arith.constant 0.0 : {c.name}", f"%t2 = arith.maximumf %t1, %z : {c.name}"]
        return "%t2"
    f.ret(f.generic("nfxy", [sums, bias, residual], f.empty(c, "nfxy"), body))
    f.case("int", {}, integers(-1, 1), EXACT,
           lambda x, w, bias, residual: np.maximum(product(x, w) + bias[:, None, None] + residual, 0))
    return f


def plane_shapes():
    ones = [(1, 1), (1, 1)]
    yield "narrow", Images(1, [7, 7], 24, 40, [3, 3], pads=ones)
    yield "batch", Images(2, [7, 7], 16, 24, [3, 3], pads=ones)
    yield "far", Images(1, [6, 5], 16, 16, [5, 5], pads=[(2, 2), (2, 2)])
    yield "dilated", Images(1, [7, 7], 16, 16, [3, 2], dilations=[2, 3], pads=[(2, 2), (3, 0)])
    yield "uneven", Images(1, [3, 5], 16, 24, [2, 4], pads=[(0, 1), (2, 1)])
    yield "wide", Images(1, [9, 14], 16, 16, [3, 3], pads=ones)
    yield "strided", Images(1, [13, 14], 16, 16, [3, 3], [2, 2], pads=ones)


def network(label, a=F32):
    """Several convolutions whose channels are outermost, with what is between them: padding, a bias and a threshold, a
    concatenation, pooling. Its images are stored with channels innermost."""
    sizes = {"n": 1, "c": 1, "u": 28, "v": 28, "U": 30, "V": 30, "f": 32, "g": 64, "h": 4, "i": 3, "j": 3, "o": 1, "p": 1,
             "y": 14, "z": 14, "s": 2, "t": 2}
    f = Function("images", pair_name(a, F32), f"network_{label}", sizes)
    x, first, bias = f.arg(a, "ncuv"), f.arg(a, "fcij"), f.arg(F32, "f")
    second, last = f.arg(a, "ffij"), f.arg(a, "hgop")
    ones = "{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}"
    twos = ones.replace("strides = dense<1>", "strides = dense<2>")
    zero, low = f.constant(a, 0), [0, 0, 1, 1]

    def threshold(lines, value, b, _):
        lines += [f"%t0 = arith.addf {value}, {b} : f32", "%z = arith.constant 0.0 : f32", "%t1 = arith.maximumf %t0, %z : f32"]
        return "%t1"

    sums = f.op("linalg.conv_2d_nchw_fchw", [f.pad(x, "ncUV", low, low, zero), first], f.zeros(F32, "nfuv"), ones)
    middle = f.generic("nfuv", [sums, bias], f.empty(F32, "nfuv"), threshold)
    more = f.op("linalg.conv_2d_nchw_fchw", [f.pad(middle, "nfUV", low, low, f.constant(F32, 0)), second],
                f.zeros(F32, "nfuv"), ones)
    both = f.raw(f"tensor.concat dim(1) {middle.name}, {more.name} : ({f.value_type(middle)}, {f.value_type(more)}) -> "
                 f"{f.type(F32, 'nguv')}", F32, "nguv")
    mixed = f.op("linalg.conv_2d_nchw_fchw", [both, last], f.zeros(F32, "nhuv"), ones)
    pooled = f.op("linalg.pooling_nchw_sum", [mixed, f.empty(F32, "st")], f.zeros(F32, "nhyz"), twos)
    f.ret(pooled)

    def convolve(image, weights, pad):
        images = Images(1, [28, 28], 1, 1, list(weights.shape[2:]), pads=[(pad, pad)] * 2)
        return np.moveaxis(images.reference(np.moveaxis(image, 1, 3), weights, "fcij"), 3, 1)

    def reference(x, first, bias, second, last):
        middle = np.maximum(convolve(x, first, 1) + bias[:, None, None], 0)
        mixed = convolve(np.concatenate([middle, convolve(middle, second, 1)], 1), last, 0)
        return mixed.reshape(1, 4, 14, 2, 14, 2).sum((3, 5))
    f.case("int", {}, integers(-1, 1), EXACT, reference)
    return f


def functions():
    yield network("f32")
    for label, images in plane_shapes():
        yield planes(label, images)
    yield planes("narrow_f16", Images(1, [7, 7], 24, 40, [3, 3], pads=[(1, 1), (1, 1)]), F16)
    yield planes("fused", Images(1, [7, 7], 24, 40, [3, 3], pads=[(1, 1), (1, 1)]), fused=True)
    yield planes("fused_batch", Images(3, [7, 6], 24, 40, [3, 3], pads=[(1, 1), (1, 1)]), fused=True)
    for label, images in shapes():
        yield convolution(label, images)
    yield convolution("fhwc", Images(2, [9, 7], 72, 64, [3, 3], pads=[(1, 1), (1, 1)]), BF16, op=FHWC)
    yield convolution("bytes", Images(2, [9, 7], 144, 64, [3, 3], pads=[(1, 1), (1, 1)]), I8, I32, op=FHWC)
    yield convolution("fused", Images(2, [9, 10], 64, 64, [3, 3], pads=[(1, 1), (1, 1)]), epilogue=bias_and_more)
    yield convolution("per_image", Images(2, [9, 10], 64, 64, [3, 3], pads=[(1, 1), (1, 1)]), epilogue=per_image)
    yield from techniques()
    yield from parts()
    yield from numbers()
    yield from filters()
    yield from any_size()
