#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A library's process of `perf/cpu/run`.

    libraries.py NAME PATH      # NAME is openblas, mkl or onednn, PATH its shared library

It prints a line of JSON with facts, then for each line `element problem calls` (problems.py) the median of the seconds of a
call and whether the result is right; `null` where the library has no such case. Results are compared with NumPy's in f64, the
first 64 rows of each product and the first two of an image, under a bound that follows from the length of the sum.
"""

import ctypes
import json
import os
import statistics
import sys
import time

import numpy as np

import problems

ROWS = 64  # of a product that are compared


#===----------------------------------------------------------------------===#
# Operands
#===----------------------------------------------------------------------===#

class Operands:
    """Random operands of a product as the library takes them, as f64, and memory for the result."""

    def __init__(self, element, library, problem):
        random = np.random.default_rng(1)
        first, second = problem.shapes()
        result = (*first[:-1], second[-1])
        if element == "i8":
            # MKL's A is unsigned.
            low, high, kind = (0, 128, np.uint8) if library == "mkl" else (-128, 128, np.int8)
            self.a = random.integers(low, high, first).astype(kind)
            self.b = random.integers(-128, 128, second).astype(np.int8)
            self.c = np.full(result, 1 << 30, np.int32)
            self.wide = [x.astype(np.float64) for x in (self.a, self.b)]
            return
        dtype = np.float64 if element == "f64" else np.float32
        self.a, self.b = random.standard_normal(first, dtype), random.standard_normal(second, dtype)
        self.c = np.full(result, np.nan, dtype)
        if element == "bf16":
            self.a, self.b = ((x.view(np.uint32) >> 16).astype(np.uint16) for x in (self.a, self.b))
            self.wide = [(x.astype(np.uint32) << 16).view(np.float32).astype(np.float64) for x in (self.a, self.b)]
        else:
            self.wide = [x.astype(np.float64) for x in (self.a, self.b)]

    def right(self):
        a, b = self.wide
        a, c = a[..., :ROWS, :], self.c[..., :ROWS, :]
        bound = 0 if c.dtype == np.int32 else (a.shape[-1] + 8) * np.finfo(c.dtype).eps
        return bool((np.abs(c - a @ b) <= bound * (np.abs(a) @ np.abs(b))).all())


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


IMAGE_ROWS = 2  # of an image that are compared


def convolved(image, filters, problem):
    """The first rows of the result, in f64."""
    (top, left), (height, width), stride = problem.pads, problem.window, problem.stride
    _, rows, columns, _ = problem.result
    rows = min(rows, IMAGE_ROWS)
    padded = np.pad(image.astype(np.float64), ((0, 0), (top, top), (left, left), (0, 0)))
    total = 0
    for i in range(height):
        for j in range(width):
            part = padded[:, i:i + stride * (rows - 1) + 1:stride, j:j + stride * (columns - 1) + 1:stride]
            total = total + (part * filters[i, j] if problem.depthwise else part @ filters[i, j].astype(np.float64))
    return total


def is_convolved(result, image, filters, problem):
    terms = problem.window[0] * problem.window[1] * (1 if problem.depthwise else problem.image[3])
    bound = (terms + 8) * np.finfo(np.float32).eps * convolved(np.abs(image), np.abs(filters), problem)
    return bool((np.abs(result[:, :IMAGE_ROWS] - convolved(image, filters, problem)) <= bound).all())


#===----------------------------------------------------------------------===#
# BLAS
#===----------------------------------------------------------------------===#

def blas_call(library, name, element, problem, held):
    """A call of cblas_*gemm*, of gemv where m or n is 1; a loop over them for a batch, but of MKL's strided form."""
    m, n, k = problem.m, problem.n, problem.k
    real = ctypes.c_double if element == "f64" else ctypes.c_float
    letter = {"f32": "s", "f64": "d"}.get(element)
    a, b, c = (pointer(x) for x in (held.a, held.b, held.c))
    if problem.batch and letter and name == "mkl":
        function = getattr(library, f"cblas_{letter}gemm_batch_strided")
        return lambda: function(101, 111, 111, m, n, k, real(1), a, k, ctypes.c_int(m * k), b, n, ctypes.c_int(k * n),
                                real(0), c, n, ctypes.c_int(m * n), problem.batch)
    if problem.batch:
        one = problems.Product(m, n, k)
        parts = [type("Held", (), {"a": held.a[i], "b": held.b[i], "c": held.c[i]}) for i in range(problem.batch)]
        calls = [blas_call(library, name, element, one, part) for part in parts]
        return lambda: [call() for call in calls]
    if element == "i8":
        zero = ctypes.c_int32(0)
        return lambda: library.cblas_gemm_s8u8s32(101, 111, 111, 173, m, n, k, real(1), a, k, 0, b, n, 0, real(0), c, n,
                                                  ctypes.byref(zero))
    if letter and 1 in (m, n):
        function = getattr(library, f"cblas_{letter}gemv")
        # The matrix as it lies in memory; one row times it is its transpose times a vector.
        matrix, vector = (a, b) if n == 1 else (b, a)
        turned, rows, columns = (111, m, k) if n == 1 else (112, k, n)
        return lambda: function(101, turned, rows, columns, real(1), matrix, columns, vector, 1, real(0), c, 1)
    function = getattr(library, f"cblas_{letter}gemm" if letter else "cblas_gemm_bf16bf16f32")
    return lambda: function(101, 111, 111, m, n, k, real(1), a, k, b, n, real(0), c, n)


#===----------------------------------------------------------------------===#
# oneDNN
#===----------------------------------------------------------------------===#

# What our types are called by oneDNN 3 (dnnl_types.h), of the operands and of the result.
DNNL_TYPES = {"f32": (3, 3), "bf16": (2, 3), "i8": (5, 4)}
DNNL_SOURCE, DNNL_RESULT, DNNL_WEIGHTS = 1, 17, 33
# Kinds of what a primitive description is asked for.
DNNL_SOURCE_LAYOUT, DNNL_WEIGHTS_LAYOUT, DNNL_RESULT_LAYOUT = 129, 131, 133


class Dnnl:
    """oneDNN 3 by its C interface."""

    def __init__(self, library):
        self.library = library
        library.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
        self.engine = self.make("dnnl_engine_create", 1, ctypes.c_size_t(0))
        self.stream = self.make("dnnl_stream_create", self.engine, 1)

    @staticmethod
    def check(status):
        if status:
            raise SystemExit(f"libraries: error: oneDNN says {status}")

    def make(self, function, *arguments):
        handle = ctypes.c_void_p()
        self.check(getattr(self.library, function)(ctypes.byref(handle), *arguments))
        return handle

    def plain(self, shape, kind, strides=None):
        """Memory as it lies in an array of `shape`, or with `strides` in elements."""
        if strides is None:
            strides = [1]
            for size in reversed(shape[1:]):
                strides.insert(0, strides[0] * size)
        dims = ctypes.c_int64 * 12
        return self.make("dnnl_memory_desc_create_with_strides", len(shape), dims(*shape), kind, dims(*strides))

    def any(self, shape, kind):
        """A layout that the primitive chooses."""
        return self.make("dnnl_memory_desc_create_with_tag", len(shape), (ctypes.c_int64 * 12)(*shape), kind, 1)

    def run(self, primitive, memories):
        class Argument(ctypes.Structure):
            _fields_ = [("number", ctypes.c_int), ("memory", ctypes.c_void_p)]
        arguments = (Argument * len(memories))(*memories.items())

        def call():
            self.check(self.library.dnnl_primitive_execute(primitive, self.stream, len(memories), arguments))
            self.check(self.library.dnnl_stream_wait(self.stream))
        return call

    def matmul(self, element, problem, held):
        """On plain row-major memory."""
        operand, result = DNNL_TYPES[element]
        arrays = (held.a, held.b, held.c)
        layouts = [self.plain(x.shape, kind) for x, kind in zip(arrays, (operand, operand, result))]
        a, b, c = layouts
        plan = self.make("dnnl_matmul_primitive_desc_create", self.engine, a, b, None, c, None)
        memories = [self.make("dnnl_memory_create", layout, self.engine, pointer(x)) for layout, x in zip(layouts, arrays)]
        return self.run(self.make("dnnl_primitive_create", plan),
                        dict(zip((DNNL_SOURCE, DNNL_WEIGHTS, DNNL_RESULT), memories)))

    def reorder(self, source, source_memory, to, to_memory):
        plan = self.make("dnnl_reorder_primitive_desc_create", source, self.engine, to, self.engine, None)
        self.run(self.make("dnnl_primitive_create", plan), {DNNL_SOURCE: source_memory, DNNL_RESULT: to_memory})()

    def convolution(self, problem, image, filters, result):
        """In layouts that the library chooses for all three, as in a whole network of its own; and what unpacks the result."""
        channels_last = lambda shape: (shape[0], shape[3], *shape[1:3])
        strides_last = lambda shape: (shape[1] * shape[2] * shape[3], 1, shape[2] * shape[3], shape[3])
        (height, width), c, f = problem.window, problem.image[3], problem.channels
        if problem.depthwise:
            shape, strides = (c, 1, 1, height, width), (1, 1, 1, width * c, c)
        else:
            shape, strides = (f, c, height, width), (1, f, width * c * f, c * f)
        kinds = [(channels_last(problem.image), strides_last(problem.image), image), (shape, strides, filters),
                 (channels_last(problem.result), strides_last(problem.result), result)]
        dims = ctypes.c_int64 * 12
        wanted = [self.any(dims_, 3) for dims_, _, _ in kinds]
        # Forward, for inference; the algorithm is the direct one.
        plan = self.make("dnnl_convolution_forward_primitive_desc_create", self.engine, 96, 1, wanted[0], wanted[1], None, wanted[2],
                         dims(problem.stride, problem.stride), dims(0, 0), dims(*problem.pads), dims(*problem.pads), None)
        layouts = [ctypes.c_void_p(self.library.dnnl_primitive_desc_query_md(plan, kind, 0))
                   for kind in (DNNL_SOURCE_LAYOUT, DNNL_WEIGHTS_LAYOUT, DNNL_RESULT_LAYOUT)]
        everything = ctypes.c_void_p(-1 & (1 << 64) - 1)  # memory that the library allocates
        packed = [self.make("dnnl_memory_create", layout, self.engine, everything) for layout in layouts]
        ours = [self.plain(dims_, 3, strides_) for dims_, strides_, _ in kinds]
        plain = [self.make("dnnl_memory_create", layout, self.engine, pointer(x)) for layout, (_, _, x) in zip(ours, kinds)]
        for i in (0, 1):
            self.reorder(ours[i], plain[i], layouts[i], packed[i])
        call = self.run(self.make("dnnl_primitive_create", plan),
                        dict(zip((DNNL_SOURCE, DNNL_WEIGHTS, DNNL_RESULT), packed)))
        return call, lambda: self.reorder(layouts[2], packed[2], ours[2], plain[2])


def dnnl_sgemm(library, problem, held):
    """Of oneDNN before 3."""
    m, n, k = problem.m, problem.n, problem.k
    sizes, real = ctypes.c_int64, ctypes.c_float
    return lambda: library.dnnl_sgemm(ctypes.c_char(b"N"), ctypes.c_char(b"N"), *map(sizes, (m, n, k)), real(1), pointer(held.a),
                                      sizes(k), pointer(held.b), sizes(n), real(0), pointer(held.c), sizes(n))


#===----------------------------------------------------------------------===#
# The process
#===----------------------------------------------------------------------===#

def prepare(library, name, element, problem):
    """A call, and a function that says whether its result is right; None where the library has no such case."""
    modern = name == "onednn" and hasattr(library, "dnnl_matmul_primitive_desc_create")
    if isinstance(problem, problems.Convolution):
        if not modern or element != "f32":
            return None
        random = np.random.default_rng(1)
        image = random.standard_normal(problem.image, np.float32)
        filters = random.standard_normal(problem.filter_shape, np.float32)
        result = np.full(problem.result, np.nan, np.float32)
        call, unpack = Dnnl(library).convolution(problem, image, filters, result)

        def right():
            unpack()
            return is_convolved(result, image, filters, problem)
        return call, right
    held = Operands(element, name, problem)
    if modern:
        return Dnnl(library).matmul(element, problem, held), held.right
    if name == "onednn":
        return None if problem.batch else (dnnl_sgemm(library, problem, held), held.right)
    return blas_call(library, name, element, problem, held), held.right


def main(name, path):
    library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    configuration = ""
    if name == "openblas":
        library.openblas_get_config.restype = ctypes.c_char_p
        configuration = library.openblas_get_config().decode()
    types = {"openblas": ["f32", "f64"], "mkl": ["f32", "f64", "bf16", "i8"],
             "onednn": list(DNNL_TYPES) if hasattr(library, "dnnl_matmul_primitive_desc_create") else ["f32"]}[name]
    print(json.dumps({"path": os.path.basename(path), "configuration": configuration, "types": types}), flush=True)
    key, made = None, None
    for line in sys.stdin:
        element, text, calls = line.split()
        if key != (element, text):
            key, made = (element, text), prepare(library, name, element, problems.parse(text)) if element in types else None
        if not made:
            print("null", flush=True)
            continue
        call, right = made
        for _ in range(2):
            call()
        seconds = []
        for _ in range(int(calls)):
            begin = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - begin)
        print(json.dumps({"median": statistics.median(seconds), "ok": right()}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
