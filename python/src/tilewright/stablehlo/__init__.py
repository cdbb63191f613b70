# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in StableHLO, lowered to linalg by IREE's compiler.

    python -m tilewright.stablehlo model.mlir -o lowered.mlir   # and lowered.safetensors, with its large constants
    program = tilewright.from_stablehlo("model.mlir", target="cpu")

The package iree-base-compiler (`pip install tilewright[stablehlo]`) works in a process of its own, .._lowering's
lower_stablehlo.py, by the same Python or the one that TILEWRIGHT_STABLEHLO_PYTHON names. tilewright.from_jax comes by here.
"""

from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Sequence

from .._errors import CompileError
from .._lowering import STABLEHLO, WAY_OUT, compile_lowered
from .._program import Program


def lower(model: str | os.PathLike | bytes, *, inputs: Sequence[str] = (), timeout: float | None = None,
          parameters: str | os.PathLike | None = None) -> str:
    """The MLIR text of a module of StableHLO: its public function `main`, on tensors.

    model: a path, or the text or the bytecode itself as bytes. inputs: names of main's arguments, in order; none: %arg0, %arg1.
    timeout: seconds after which IREE's compiler is ended. parameters: a path; constants of 4 KiB and more go to a parameter file
    (safetensors) there. There is none where no constant is large. None: the text has all.

    Raises CompileError where the module is not lowered, with the op and the reason, UnavailableError without the package.
    """
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(model, (bytes, bytearray)):
            path, name = os.path.join(folder, "model.mlir"), "the module"
            pathlib.Path(path).write_bytes(model)
        else:
            path = name = os.fspath(model)
            with open(path, "rb"):  # the ordinary errors of files
                pass
        target = os.path.join(folder, "lowered.mlir")
        said = STABLEHLO.run([path, target, *(["--parameters", os.fspath(parameters)] if parameters else []),
                              "--inputs", ",".join(inputs)], timeout)
        if said is not None:
            raise CompileError(f"{name}: {said}; {WAY_OUT}")
        return pathlib.Path(target).read_text(encoding="utf-8")


def from_stablehlo(model: str | os.PathLike | bytes, *, inputs: Sequence[str] = (), timeout: float | None = None, **options) -> Program:
    """Lowers a module as `lower` does and compiles it; options are those of tilewright.compile.

    parameters: where the parameter file goes; None: into a folder that goes when the program does. `Program.save` copies it.
    donate: {name of an argument: number of a result}: that result is written into its memory, and not returned.
    """
    stem = pathlib.Path(model).stem if isinstance(model, (str, os.PathLike)) else "model"
    return compile_lowered(lambda path: lower(model, inputs=inputs, timeout=timeout, parameters=path), stem, options)
