# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and poolings: every named op of linalg, with strides and dilations.

Dims of operands by letter: n batch, g group, c channel, f filter, m multiplier;
x y z places of the window, i j k places inside of it, and u v w the dims of the
image that a pair of them runs over: u = x * stride + i * dilation.
"""

import numpy as np

from data import BF16, F16, F32, F64, I32, I8, integers, uniform
from families.contraction import exact_data, pair_name
from functions import BOUNDED, EXACT, Function

PAIRS = {"u": "xi", "v": "yj", "w": "zk"}

# Name, image, filter, output.
CONVOLUTIONS = (
    ("conv_1d", "u", "i", "x"), ("conv_2d", "uv", "ij", "xy"), ("conv_3d", "uvw", "ijk", "xyz"),
    ("conv_1d_nwc_wcf", "nuc", "icf", "nxf"), ("conv_1d_ncw_fcw", "ncu", "fci", "nfx"),
    ("conv_2d_nhwc_hwcf", "nuvc", "ijcf", "nxyf"), ("conv_2d_nhwc_fhwc", "nuvc", "fijc", "nxyf"),
    ("conv_2d_nchw_fchw", "ncuv", "fcij", "nfxy"), ("conv_2d_nhwgc_gfhwc", "nuvgc", "gfijc", "nxygf"),
    ("conv_2d_ngchw_gfchw", "ngcuv", "gfcij", "ngfxy"), ("conv_2d_ngchw_fgchw", "ngcuv", "fgcij", "ngfxy"),
    ("conv_3d_ndhwc_dhwcf", "nuvwc", "ijkcf", "nxyzf"), ("conv_3d_ncdhw_fcdhw", "ncuvw", "fcijk", "nfxyz"),
    ("depthwise_conv_1d_nwc_wc", "nuc", "ic", "nxc"), ("depthwise_conv_1d_ncw_cw", "ncu", "ci", "ncx"),
    ("depthwise_conv_1d_nwc_wcm", "nuc", "icm", "nxcm"), ("depthwise_conv_2d_nhwc_hwc", "nuvc", "ijc", "nxyc"),
    ("depthwise_conv_2d_nchw_chw", "ncuv", "cij", "ncxy"), ("depthwise_conv_2d_nhwc_hwcm", "nuvc", "ijcm", "nxycm"),
    ("depthwise_conv_3d_ndhwc_dhwc", "nuvwc", "ijkc", "nxyzc"),
    ("depthwise_conv_3d_ncdhw_cdhw", "ncuvw", "cijk", "ncxyz"),
    ("depthwise_conv_3d_ndhwc_dhwcm", "nuvwc", "ijkcm", "nxyzcm"))
QUANTIZED = ("conv_2d_nhwc_hwcf", "conv_2d_nhwc_fhwc", "conv_2d_nchw_fchw", "conv_2d_nhwgc_gfhwc",
             "conv_2d_ngchw_gfchw", "conv_3d_ndhwc_dhwcf", "depthwise_conv_2d_nhwc_hwc",
             "depthwise_conv_2d_nhwc_hwcm")
POOLINGS = (("nwc", "nuc", "nxc"), ("ncw", "ncu", "ncx"), ("nhwc", "nuvc", "nxyc"), ("nchw", "ncuv", "ncxy"),
            ("ndhwc", "nuvwc", "nxyzc"))
POOLED = {"nwc": ("sum", "max", "max_unsigned", "min", "min_unsigned"), "ncw": ("sum", "max"),
          "nhwc": ("sum", "max", "max_unsigned", "min", "min_unsigned"), "nchw": ("sum", "max"),
          "ndhwc": ("sum", "max", "min")}

STRIDES, DILATIONS = {"x": 2, "y": 1, "z": 1}, {"i": 1, "j": 2, "k": 1}
SMALL = {"n": 2, "g": 2, "c": 5, "f": 9, "m": 3, "x": 5, "y": 6, "z": 3, "i": 3, "j": 2, "k": 2}
DEEP = {"n": 1, "g": 2, "c": 33, "f": 40, "m": 3, "x": 3, "y": 17, "z": 2, "i": 3, "j": 3, "k": 2}
ONE = {d: 1 for d in SMALL}


class Windows:
    """Strides and dilations of an op, and what follows from them."""

    def __init__(self, name):
        plain = name in ("conv_1d", "conv_2d", "conv_3d")
        self.strides = {d: 1 if plain else s for d, s in STRIDES.items()}
        self.dilations = {d: 1 if plain else s for d, s in DILATIONS.items()}
        self.plain = plain

    def sizes(self, image, dims):
        full = dict(dims)
        for d in image:
            if d in PAIRS:
                place, inside = PAIRS[d]
                full[d] = max(0, dims[place] - 1) * self.strides[place] + (dims[inside] - 1) * self.dilations[inside] + 1
        return full

    def attributes(self, image):
        spatial = [d for d in image if d in PAIRS]
        if self.plain:
            return ""
        dense = lambda values: f"dense<[{', '.join(map(str, values))}]> : tensor<{len(spatial)}xi64>"
        return "{dilations = " + dense([self.dilations[PAIRS[d][1]] for d in spatial]) + ", strides = " + \
            dense([self.strides[PAIRS[d][0]] for d in spatial]) + "}"

    def view(self, array, image, dims):
        """The array with a dim for each place and each place inside, and their letters."""
        array = np.ascontiguousarray(array)
        shape, steps, letters = [], [], ""
        for d, step in zip(image, array.strides):
            if d not in PAIRS:
                shape, steps, letters = shape + [dims[d]], steps + [step], letters + d
                continue
            place, inside = PAIRS[d]
            shape += [dims[place], dims[inside]]
            steps += [step * self.strides[place], step * self.dilations[inside]]
            letters += PAIRS[d]
        return np.lib.stride_tricks.as_strided(array, shape, steps), letters


def select(dims, *operands):
    letters = "".join(PAIRS.get(d, d) for operand in operands for d in operand)
    return {d: dims[d] for d in dims if d in letters}


def label_of(dims):
    return "x".join(str(v) for v in dims.values())


def convolution(name, image, filter_, output, a, c, dims_list, dynamic=False, accumulate=False, family="convolution", pinned=""):
    windows = Windows(name)
    dims_list = [select(dims, image, filter_, output) for dims in dims_list]
    first = windows.sizes(image, dims_list[0])
    label = "any" if dynamic else label_of(dims_list[0])
    targets = {"targets": ("cuda", "cpu-reference")} if pinned else {}
    f = Function(family, pair_name(a, c), f"{name}_{label}", first, dynamic, **targets)
    x, w = f.arg(a, image), f.arg(a, filter_)
    out = f.arg(c, output) if dynamic or accumulate else f.zeros(c, output)
    attributes = windows.attributes(image)
    f.ret(f.op(f"linalg.{name}", [x, w], out, attributes[:-1] + f", {pinned}}}" if pinned else attributes))
    for dims in dims_list:
        terms = int(np.prod([v for d, v in dims.items() if d not in output]))

        def reference(image_, weights, *start, dims=dims):
            view, letters = windows.view(image_, image, dims)
            total = np.einsum(f"{letters},{filter_}->{output}", view, weights)
            return total + start[0] if start else total

        sizes = windows.sizes(image, dims)
        f.case(f"int/{label_of(dims)}", sizes, exact_data(a, c, terms + 1) if a is not I8 else integers(-100, 100),
               EXACT, reference)
        if dynamic and dims["n"]:
            places = {**sizes, "x": dims["x"] + 1}
            f.case(f"outside/{label_of(dims)}", places, integers(0, 1), EXACT, error="the last window reaches")
        if a.is_float:
            f.case(f"random/{label_of(dims)}", sizes, uniform(-1, 1), BOUNDED, reference)
    return f


def quantized(name, image, filter_, output, dims):
    windows = Windows(name)
    dims = select(dims, image, filter_, output)
    f = Function("convolution", "i8-i32", f"{name}_q_{label_of(dims)}", windows.sizes(image, dims))
    x, w = f.arg(I8, image), f.arg(I8, filter_)
    points = [f.scalar_arg(I32), f.scalar_arg(I32)]
    f.ret(f.op(f"linalg.{name}_q", [x, w, *points], f.zeros(I32, output), windows.attributes(image)))

    def reference(image_, weights, zero, weight_zero):
        view, letters = windows.view(image_, image, dims)
        return np.einsum(f"{letters},{filter_}->{output}", view - zero, weights - weight_zero)

    f.case(f"int/{label_of(dims)}", windows.sizes(image, dims), integers(-100, 100), EXACT, reference)
    return f


def pooling(layout, image, output, kind, element, dynamic=False):
    name = f"pooling_{layout}_{kind}"
    windows = Windows(name)
    inside = "".join(PAIRS[d][1] for d in image if d in PAIRS)
    dims = select(SMALL, image, inside, output)
    label = "any" if dynamic else label_of(dims)
    f = Function("pooling", element.name, f"{layout}_{kind}_{label}", windows.sizes(image, dims), dynamic)
    x, window, start = f.arg(element, image), f.arg(element, inside), f.arg(element, output)
    f.ret(f.op(f"linalg.{name}", [x, window], start, windows.attributes(image)))
    reduce = {"sum": np.sum, "max": np.max, "min": np.min}[kind.split("_")[0]]
    join = {"sum": np.add, "max": np.maximum, "min": np.minimum}[kind.split("_")[0]]
    for sizes in [dims] + ([{**dims, "c": 70, "n": 1}, {**dims, "c": 0}] if dynamic else []):
        def reference(image_, _, first, sizes=sizes):
            view, letters = windows.view(image_, image, sizes)
            order = [letters.index(d) for d in output] + [letters.index(d) for d in inside]
            axes = tuple(range(len(output), len(order)))
            pooled = reduce(np.transpose(view, order), axis=axes)
            return join(pooled, first)

        low = 0 if "unsigned" in kind else -60
        f.case(f"int/{label_of(sizes)}", windows.sizes(image, sizes), integers(low, 60), EXACT, reference)
    return f


# Dims of an image that is padded: s t r are what is given of u v w.
GIVEN = {"u": "s", "v": "t", "w": "r"}
LOW, HIGH = {"u": 1, "v": 2, "w": 0}, {"u": 2, "v": 1, "w": 1}


def padding_of(image):
    """Dims of the tensor that is padded to `image`, and how far."""
    given = "".join(GIVEN.get(d, d) for d in image)
    return given, [LOW.get(d, 0) for d in image], [HIGH.get(d, 0) for d in image]


def given_sizes(windows, image, dims):
    sizes = windows.sizes(image, dims)
    return {**sizes, **{GIVEN[d]: sizes[d] - LOW[d] - HIGH[d] for d in image if d in GIVEN}}


def padded_convolution(name, image, filter_, output, a, c, dims_list, dynamic=False):
    """Nothing is written but the output: the windows know what is outside."""
    windows = Windows(name)
    dims_list = [select(dims, image, filter_, output) for dims in dims_list]
    given, low, high = padding_of(image)
    label = "any" if dynamic else label_of(dims_list[0])
    f = Function("convolution.padded", pair_name(a, c), f"{name}_{label}", given_sizes(windows, image, dims_list[0]),
                 dynamic)
    x, w = f.arg(a, given), f.arg(a, filter_)
    padded = f.pad(x, image, low, high, f.constant(a, 0))
    out = f.arg(c, output) if dynamic else f.zeros(c, output)
    f.ret(f.op(f"linalg.{name}", [padded, w], out, windows.attributes(image)))
    for dims in dims_list:
        terms = int(np.prod([v for d, v in dims.items() if d not in output]))

        def reference(image_, weights, *start, dims=dims):
            view, letters = windows.view(np.pad(image_, list(zip(low, high))), image, dims)
            total = np.einsum(f"{letters},{filter_}->{output}", view, weights)
            return total + start[0] if start else total

        f.case(f"int/{label_of(dims)}", given_sizes(windows, image, dims),
               exact_data(a, c, terms + 1) if a is not I8 else integers(-100, 100), EXACT, reference)
    return f


def padded_pooling(layout, image, output, kind, element, outside):
    name = f"pooling_{layout}_{kind}"
    windows = Windows(name)
    inside = "".join(PAIRS[d][1] for d in image if d in PAIRS)
    dims = select(SMALL, image, inside, output)
    given, low, high = padding_of(image)
    f = Function("pooling.padded", element.name, f"{layout}_{kind}_{label_of(dims)}", given_sizes(windows, image, dims))
    x, window, start = f.arg(element, given), f.arg(element, inside), f.arg(element, output)
    padded = f.pad(x, image, low, high, f.constant(element, outside))
    f.ret(f.op(f"linalg.{name}", [padded, window], start, windows.attributes(image)))
    reduce, join = {"sum": (np.sum, np.add), "max": (np.max, np.maximum)}[kind]

    def reference(image_, _, first):
        view, letters = windows.view(np.pad(image_, list(zip(low, high)), constant_values=outside), image, dims)
        order = [letters.index(d) for d in output] + [letters.index(d) for d in inside]
        axes = tuple(range(len(output), len(order)))
        return join(reduce(np.transpose(view, order), axis=axes), first)

    f.case(f"int/{label_of(dims)}", given_sizes(windows, image, dims), integers(-60, 60), EXACT, reference)
    return f


def padded():
    by_name = {spec[0]: spec for spec in CONVOLUTIONS}
    for name in ("conv_2d_nhwc_hwcf", "conv_2d_nchw_fchw"):
        for a, c, dims in ((F32, F32, SMALL), (F16, F32, {**DEEP, "c": 40})):
            yield padded_convolution(*by_name[name], a, c, [dims])
    yield padded_convolution(*by_name["conv_2d_nhwc_hwcf"], I8, I32, [{**DEEP, "c": 48}])
    # Three channels of so many windows are copied with a fourth (PadChannels.cpp).
    yield padded_convolution(*by_name["conv_1d_nwc_wcf"], F16, F32, [{**SMALL, "n": 2, "x": 40000, "i": 9, "c": 3, "f": 8}])
    # The smallest takes in nothing but padding.
    nothing = {**ONE, "i": 3, "j": 3}
    for a, c in ((F32, F32), (F16, F32)):
        yield padded_convolution(*by_name["conv_2d_nhwc_hwcf"], a, c, [SMALL, nothing, {**SMALL, "c": 40, "f": 33}],
                                 dynamic=True)
    pools = {spec[0]: spec for spec in POOLINGS}
    yield padded_pooling(*pools["nhwc"], "max", F32, float("-inf"))
    yield padded_pooling(*pools["nchw"], "max", F16, -7)
    yield padded_pooling(*pools["ncw"], "sum", F32, 3)
    yield padded_pooling(*pools["nhwc"], "max", I8, -128)


def functions():
    yield from padded()
    for spec in CONVOLUTIONS:
        yield convolution(*spec, F32, F32, [SMALL])
    by_name = {spec[0]: spec for spec in CONVOLUTIONS}
    for name in ("conv_2d_nhwc_hwcf", "conv_2d_nchw_fchw", "depthwise_conv_2d_nhwc_hwc", "conv_1d_nwc_wcf"):
        for a, c in ((F16, F32), (BF16, F32), (F64, F64), (I8, I32)):
            yield convolution(*by_name[name], a, c, [SMALL], accumulate=True)
    # On matrix units where there are some.
    for name in ("conv_2d_nhwc_hwcf", "conv_2d_nhwc_fhwc", "conv_2d_nchw_fchw", "conv_3d_ndhwc_dhwcf",
                 "conv_2d_nhwgc_gfhwc"):
        yield convolution(*by_name[name], F16, F32, [DEEP])
    # Few filters, of a group each, that fill the columns of instructions, or half of them; channels and rows of no whole tile.
    for name in ("conv_2d_nhwgc_gfhwc", "conv_2d_nhwc_hwcf"):
        for dims in ({"f": 16, "c": 16, "y": 33}, {"f": 8, "c": 24, "y": 9}, {"f": 12, "c": 20, "y": 8}):
            yield convolution(*by_name[name], F16, F32, [{**DEEP, **dims}])
    for name in ("conv_2d_nhwc_hwcf", "conv_2d_ngchw_fgchw", "depthwise_conv_2d_nchw_chw"):
        for a, c in ((F32, F32), (F16, F32)):
            yield convolution(*by_name[name], a, c, [SMALL, ONE, {**SMALL, "c": 40, "f": 33}, {**SMALL, "n": 0}],
                              dynamic=True)
    # Images of which a tensor map of up to five dims describes all windows; rows, channels and filters of no whole tile.
    for name, dims in (("conv_2d_nhwc_hwcf", {"n": 1, "x": 3, "y": 70, "c": 72, "f": 136}),
                       ("conv_2d_nhwc_fhwc", {"n": 1, "x": 70, "y": 3, "c": 64, "f": 72}),
                       ("conv_1d_nwc_wcf", {"n": 3, "x": 70, "c": 136, "f": 72})):
        for a, c in ((F16, F32), (BF16, F32)):
            yield convolution(*by_name[name], a, c, [{**DEEP, **dims}])
    for name in QUANTIZED:
        for dims in (SMALL, DEEP):
            yield quantized(*by_name[name], dims)
    for layout, image, output in POOLINGS:
        for kind in POOLED[layout]:
            yield pooling(layout, image, output, kind, I32 if "unsigned" in kind else F32)
    for element in (F16, I8):
        yield pooling("nhwc", "nuvc", "nxyc", "max", element)
    yield pooling("nhwc", "nuvc", "nxyc", "max", F32, dynamic=True)
    yield pooling("nchw", "ncuv", "ncxy", "sum", F32, dynamic=True)
