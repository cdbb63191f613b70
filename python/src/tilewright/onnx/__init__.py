# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models in ONNX's format, lowered to linalg by torch-mlir.

    python -m tilewright.onnx model.onnx -o model.mlir          # and model.safetensors, with its weights
    program = tilewright.from_onnx("model.onnx", target="cpu")

torch-mlir and the package onnx (`pip install tilewright[onnx]`) work in a process of their own, .._lowering's lower_onnx.py, by
the same Python or the one that TILEWRIGHT_ONNX_PYTHON names.
"""

from __future__ import annotations

import os
import pathlib
import tempfile

from .._errors import CompileError
from .._lowering import ONNX, WAY_OUT, compile_lowered
from .._program import Program


def lower(model: str | os.PathLike | bytes, *, timeout: float | None = None,
          parameters: str | os.PathLike | None = None) -> str:
    """The MLIR text of a model: a function `main` whose arguments and results are those of the graph.

    model: a path, the bytes of a file, or an onnx.ModelProto. timeout: seconds after which torch-mlir is ended. parameters:
    a path; constants of 4 KiB and more go to a parameter file (safetensors) there, and the text has their names and that
    of the file. There is none where no constant is large. None: the text has all.

    Raises CompileError where the model is not lowered, with the op and the reason, UnavailableError without the packages.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, name = _file_of(model, folder)
        target = os.path.join(folder, "model.mlir")
        said = ONNX.run([path, target, *([os.fspath(parameters)] if parameters else [])], timeout)
        if said is not None:
            raise CompileError(f"{name}: {said}; {WAY_OUT}")
        return pathlib.Path(target).read_text(encoding="utf-8")


def from_onnx(model: str | os.PathLike | bytes, *, timeout: float | None = None, **options) -> Program:
    """Lowers a model as `lower` does and compiles it; options are those of tilewright.compile.

    parameters: where the parameter file goes; None: into a folder that goes when the program does. `Program.save` copies it.
    donate: {name of an input: number of a result}: that result is written into the input's memory, and not returned.
    """
    stem = pathlib.Path(model).stem if isinstance(model, (str, os.PathLike)) else "model"
    return compile_lowered(lambda path: lower(model, timeout=timeout, parameters=path), stem, options)


def _file_of(model, folder):
    """(a path that has the model, what to call it)"""
    if isinstance(model, (str, os.PathLike)):
        with open(model, "rb"):  # the ordinary errors of files
            return os.fspath(model), os.fspath(model)
    data = model if isinstance(model, (bytes, bytearray)) else model.SerializeToString()
    path = os.path.join(folder, "model.onnx")
    pathlib.Path(path).write_bytes(data)
    return path, "the model"
