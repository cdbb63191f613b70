# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tilewright: compile linalg programs for GPUs and CPUs, and run them on arrays.

    import numpy, tilewright

    program = tilewright.compile(text, target="cpu")
    result = program(numpy.ones((4, 8), "float32"), other)   # a tilewright.Tensor
    result.numpy()

Arguments are NumPy arrays, tilewright.Tensor, or anything with `__dlpack__`;
results have `__dlpack__` themselves, so that torch.from_dlpack(result) and the
like take them without a copy. docs/python.md tells the rest.

Environment: TILEWRIGHT_COMPILE (the compiler's path), TILEWRIGHT_CUDA_LIBRARY,
TILEWRIGHT_VULKAN_LIBRARY, TILEWRIGHT_PTXSIM_LIBRARY (drivers).
"""

from ._devices import Device, Stream, device, devices
from ._errors import (CompileError, CorruptArtifactError, DeadlineExceededError, DeviceLostError, Error, InternalError,
                      InvalidArgumentError, NotFoundError, OutOfMemoryError, ProgramError, UnavailableError,
                      UnsupportedError)
from ._program import Function, Program, compile, load
from ._tensors import Tensor, asarray, empty
from ._torch import from_torch
from ._jax import from_jax
from .onnx import from_onnx
from .stablehlo import from_stablehlo
from . import _core

__version__ = _core.version()
__all__ = [
    "CompileError", "CorruptArtifactError", "DeadlineExceededError", "Device", "DeviceLostError", "Error", "Function",
    "InternalError", "InvalidArgumentError", "NotFoundError", "OutOfMemoryError", "Program", "ProgramError", "Stream",
    "Tensor", "UnavailableError", "UnsupportedError", "asarray", "compile", "device", "devices", "empty",
    "from_jax", "from_onnx", "from_stablehlo", "from_torch", "load",
]
