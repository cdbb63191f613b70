# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Square products by the library that a machine has, for its ceilings: cuBLAS on CUDA, OpenBLAS on CPUs; by ctypes alone.

    call, stream, name = product(device, host_stream, "f16:f32", 8192)
    call(stream)

TILEWRIGHT_CUBLAS and TILEWRIGHT_OPENBLAS name a library that is not where the loader finds it.
"""

import ctypes
import os

from tilewright_sweep import runtime

#: Of library_types.h and cublas_api.h.
TYPES = {"f32": 0, "f64": 1, "f16": 2, "i8": 3, "i32": 10, "bf16": 14}
COMPUTE = {"f32": 68, "f64": 70, "i32": 72, "f16": 68, "bf16": 68}
TRANSPOSED, PLAIN, DEFAULT_ALGORITHM = 1, 0, -1
ROW_MAJOR, NO_TRANS = 101, 111


class NoLibrary(runtime.Error):
    """The message says why."""


def _load(variable, names):
    named = os.environ.get(variable)
    for name in [named] if named else names:
        try:
            return ctypes.CDLL(name), name.split("/")[-1]
        except OSError as error:
            why = str(error)
    raise NoLibrary(f"no library: {why}; {variable} can name one")


def _views(device, types, size):
    operand, _, result = types.partition(":")
    return [device.view(dtype, (size, size)) for dtype in (operand, operand, result)]


def _check(code, what):
    if code:
        raise NoLibrary(f"{what} answered {code}")


def _cuda_stream(ordinal):
    """A stream of the device's primary context, which is made the current one of this thread: cuBLAS asks for it."""
    driver, _ = _load("TILEWRIGHT_CUDA_LIBRARY", ["libcuda.so.1"])
    context, number, stream = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_void_p()
    _check(driver.cuInit(0), "cuInit")
    _check(driver.cuDeviceGet(ctypes.byref(number), ordinal), "cuDeviceGet")
    _check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number), "cuDevicePrimaryCtxRetain")
    _check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    _check(driver.cuStreamCreate(ctypes.byref(stream), 1), "cuStreamCreate")
    return stream


def _cublas(device, types, size):
    operand, _, result = types.partition(":")
    if operand not in TYPES or result not in TYPES or result == "i8":
        raise NoLibrary(f"cuBLAS is not asked for products of {types}")
    c, name = _load("TILEWRIGHT_CUBLAS", [f"libcublas.so.{n}" for n in (13, 12, 11)])
    native, handle = _cuda_stream(int(device.name.partition(":")[2] or 0)), ctypes.c_void_p()
    _check(c.cublasCreate_v2(ctypes.byref(handle)), "cublasCreate")
    _check(c.cublasSetStream_v2(handle, native), "cublasSetStream")
    views = _views(device, types, size)
    scalar = {"f64": ctypes.c_double, "i32": ctypes.c_int32}.get(result, ctypes.c_float)
    one, zero, edge = scalar(1), scalar(0), ctypes.c_int(size)
    a, b, out = (ctypes.c_void_p(view.address) for view in views)

    def call(_):
        _check(c.cublasGemmEx(handle, TRANSPOSED, PLAIN, edge, edge, edge, ctypes.byref(one), a, TYPES[operand], edge,
                              b, TYPES[operand], edge, ctypes.byref(zero), out, TYPES[result], edge, COMPUTE[result],
                              DEFAULT_ALGORITHM), "cublasGemmEx")  # fmt: skip

    call.views = views
    return call, device.stream(native.value), name


def _openblas(device, stream, types, size):
    kind = {"f32:f32": ("cblas_sgemm", ctypes.c_float), "f64:f64": ("cblas_dgemm", ctypes.c_double)}.get(types)
    if not kind:
        raise NoLibrary(f"OpenBLAS has no products of {types}")
    c, name = _load("TILEWRIGHT_OPENBLAS", ["libopenblas.so.0", "libopenblas.so"])
    views, scalar = _views(device, types, size), kind[1]
    a, b, out = (ctypes.c_void_p(view.address) for view in views)
    function, edge = getattr(c, kind[0]), ctypes.c_int(size)

    def call(_):
        function(ROW_MAJOR, NO_TRANS, NO_TRANS, edge, edge, edge, scalar(1), a, edge, b, edge, scalar(0), out, edge)

    call.views = views
    return call, None, name


def product(device, stream, types, size):
    """(call, its stream, the library's name); the views are call.views. A stream of None: a call takes as long as it takes
    the caller."""
    kind = device.name.partition(":")[0]
    if kind == "cuda":
        return _cublas(device, types, size)
    if kind == "cpu":
        return _openblas(device, stream, types, size)
    raise NoLibrary(f"no library is asked on {kind}")
