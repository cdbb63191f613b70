# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions that `perf/cpu/run` times, as programs and as numbers for libraries.

    512x330x457                      product of 512 x 457 by 457 x 330: M x N x K
    16*128x128x64                    16 such products, row-major, one after the other in memory
    conv:1x56x56x64:64x3x3:1         image N x H x W x C in memory, filters F x KH x KW, stride; padded by half a filter
    depthwise:1x112x112x32:3x3:1     one filter for each channel

Filters are constants of the program, as a model has them: they may be packed ahead of the calls. So may a library's.
"""

import array
import dataclasses
import math
import random
import re

RESULTS = {"bf16": "f32", "i8": "i32"}


@dataclasses.dataclass(frozen=True)
class Product:
    m: int
    n: int
    k: int
    batch: int = 0

    @property
    def flops(self):
        return 2.0 * self.m * self.n * self.k * (self.batch or 1)

    def program(self, element):
        result = RESULTS.get(element, element)
        front = f"{self.batch}x" if self.batch else ""
        op = "batch_matmul" if self.batch else "matmul"
        a, b = (f"tensor<{front}{x}x{y}x{element}>" for x, y in ((self.m, self.k), (self.k, self.n)))
        c = f"tensor<{front}{self.m}x{self.n}x{result}>"
        zero = "0" if result == "i32" else "0.0"
        return (f"func.func @main(%a: {a}, %b: {b}) -> {c} {{\n"
                f"  %zero = arith.constant {zero} : {result}\n  %e = tensor.empty() : {c}\n"
                f"  %z = linalg.fill ins(%zero : {result}) outs(%e : {c}) -> {c}\n"
                f"  %p = linalg.{op} ins(%a, %b : {a}, {b}) outs(%z : {c}) -> {c}\n  return %p : {c}\n}}\n")

    def shapes(self):
        front = (self.batch,) if self.batch else ()
        return [(*front, self.m, self.k), (*front, self.k, self.n)]


@dataclasses.dataclass(frozen=True)
class Convolution:
    image: tuple  # N, H, W, C
    filters: int  # 0: one for each channel
    window: tuple  # KH, KW
    stride: int

    @property
    def depthwise(self):
        return not self.filters

    @property
    def channels(self):
        """Of the result."""
        return self.filters or self.image[3]

    @property
    def pads(self):
        return tuple(size // 2 for size in self.window)

    @property
    def result(self):
        """N, H, W, C."""
        height, width = ((size + 2 * pad - window) // self.stride + 1
                         for size, pad, window in zip(self.image[1:3], self.pads, self.window))
        return (self.image[0], height, width, self.channels)

    @property
    def flops(self):
        n, h, w, c = self.result
        return 2.0 * n * h * w * c * self.window[0] * self.window[1] * (1 if self.depthwise else self.image[3])

    @property
    def filter_shape(self):
        """KH, KW, C, and F unless it is one for each channel."""
        return (*self.window, self.image[3], *([] if self.depthwise else [self.filters]))

    def weights(self):
        """Of the filters, as they lie in memory."""
        numbers = random.Random(1)
        return array.array("f", (numbers.uniform(-1, 1) for _ in range(math.prod(self.filter_shape))))

    def program(self, element):
        assert element == "f32"
        words = self.weights().tobytes().hex().upper()
        n, h, w, c = self.image
        top, left = self.pads
        kind = lambda shape: "tensor<" + "x".join(map(str, shape)) + "xf32>"
        image, padded, filters, result = (kind(shape) for shape in (
            self.image, (n, h + 2 * top, w + 2 * left, c), self.filter_shape, self.result))
        op = "depthwise_conv_2d_nhwc_hwc" if self.depthwise else "conv_2d_nhwc_hwcf"
        return (f"func.func @main(%x: {image}) -> {result} {{\n"
                f"  %zero = arith.constant 0.0 : f32\n  %w = arith.constant dense<\"0x{words}\"> : {filters}\n"
                f"  %p = tensor.pad %x low[0, {top}, {left}, 0] high[0, {top}, {left}, 0] {{\n"
                f"  ^bb0(%a: index, %b: index, %c: index, %d: index):\n    tensor.yield %zero : f32\n"
                f"  }} : {image} to {padded}\n  %e = tensor.empty() : {result}\n"
                f"  %z = linalg.fill ins(%zero : f32) outs(%e : {result}) -> {result}\n"
                f"  %r = linalg.{op} {{strides = dense<{self.stride}> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}}\n"
                f"       ins(%p, %w : {padded}, {filters}) outs(%z : {result}) -> {result}\n  return %r : {result}\n}}\n")

    def shapes(self):
        return [self.image]


def parse(text):
    """Of one of the forms above; ValueError if it is none."""
    numbers = lambda words: tuple(map(int, words.split("x")))
    if match := re.fullmatch(r"(?:(\d+)\*)?(\d+)x(\d+)x(\d+)", text):
        batch, m, n, k = (int(word or 0) for word in match.groups())
        problem = Product(m, n, k, batch)
    elif match := re.fullmatch(r"conv:(\d+x\d+x\d+x\d+):(\d+)x(\d+x\d+):(\d+)", text):
        problem = Convolution(numbers(match[1]), int(match[2]), numbers(match[3]), int(match[4]))
    elif match := re.fullmatch(r"depthwise:(\d+x\d+x\d+x\d+):(\d+x\d+):(\d+)", text):
        problem = Convolution(numbers(match[1]), 0, numbers(match[2]), int(match[3]))
    else:
        raise ValueError(f"'{text}' is none of MxNxK, B*MxNxK, conv:NxHxWxC:FxKHxKW:STRIDE, depthwise:NxHxWxC:KHxKW:STRIDE")
    if getattr(problem, "stride", 1) < 1 or match[1] == "0" or problem.flops <= 0:
        raise ValueError(f"'{text}' has nothing to compute")
    return problem


def file_name(text):
    return text.replace("*", "-times-").replace(":", "-")
