# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Drives the simulator with NVIDIA's cuda-bindings, unchanged: load, launch, copy, events. Exits with 77 where the
# bindings are not installed, with 1 where PTXSIM_REQUIRE_BINDINGS is set.

import ctypes
import os
import sys

try:
    import numpy as np
    from cuda.bindings import driver as cu
except ImportError:
    print("needs numpy and cuda-bindings")
    sys.exit(1 if os.environ.get("PTXSIM_REQUIRE_BINDINGS") else 77)


def check(answer):
    status, *values = answer
    if status != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else values


check(cu.cuInit(0))
device = check(cu.cuDeviceGet(0))
name = check(cu.cuDeviceGetName(64, device)).split(b"\0")[0]
assert name.startswith(b"ptxsim"), name
context = check(cu.cuDevicePrimaryCtxRetain(device))
check(cu.cuCtxSetCurrent(context))
module = check(cu.cuModuleLoadData(open(sys.argv[1], "rb").read() + b"\0"))
kernel = check(cu.cuModuleGetFunction(module, b"weightedSum"))

count = 1000
values = (np.arange(count) % 7).astype(np.float32)
result = np.zeros(1, np.float32)
stream = check(cu.cuStreamCreate(0))
start, end = check(cu.cuEventCreate(0)), check(cu.cuEventCreate(0))
source, target = check(cu.cuMemAlloc(values.nbytes)), check(cu.cuMemAlloc(4))
check(cu.cuMemcpyHtoDAsync(source, values.ctypes.data, values.nbytes, stream))
check(cu.cuMemsetD32Async(target, 0, 1, stream))
check(cu.cuEventRecord(start, stream))
arguments = ((int(source), int(target), count), (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int))
check(cu.cuLaunchKernel(kernel, 3, 1, 1, 128, 1, 1, 0, stream, arguments, 0))
check(cu.cuEventRecord(end, stream))
check(cu.cuMemcpyDtoHAsync(result.ctypes.data, target, 4, stream))
check(cu.cuStreamSynchronize(stream))
assert result[0] == (values * (np.arange(count) % 4 + 1)).sum(), result
assert check(cu.cuEventElapsedTime(start, end)) >= 0
check(cu.cuMemFree(source))
check(cu.cuMemFree(target))
check(cu.cuDevicePrimaryCtxRelease(device))
