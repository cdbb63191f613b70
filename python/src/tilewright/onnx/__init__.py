# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models in ONNX's format, lowered to linalg by torch-mlir.

    python -m tilewright.onnx model.onnx -o model.mlir          # and model.safetensors, with its weights
    program = tilewright.from_onnx("model.onnx", target="cpu")

torch-mlir and the package onnx (`pip install tilewright[onnx]`) work in a process of their own, lower.py, by the same Python
or the one that TILEWRIGHT_ONNX_PYTHON names; lower_torch.py does the same for modules of PyTorch. spelling.py brings torch-mlir's
text to that of MLIR 22.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from .._errors import CompileError, UnavailableError
from .._program import Program, compile as compile_text

_FOLDER = pathlib.Path(__file__).parent
# Exit code of a lowering where the model is the reason.
_REFUSED = 3
WAY_OUT = "export the model without it, or write that part as linalg"


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
        said = run_lowering("lower.py", [path, target, *([os.fspath(parameters)] if parameters else [])], timeout)
        if said is not None:
            raise CompileError(f"{name}: {said}; {WAY_OUT}")
        return pathlib.Path(target).read_text(encoding="utf-8")


def from_onnx(model: str | os.PathLike | bytes, *, timeout: float | None = None, **options) -> Program:
    """Lowers a model as `lower` does and compiles it; options are those of tilewright.compile.

    parameters: where the parameter file goes; None: into a folder that goes when the program does. `Program.save` copies it.
    """
    stem = pathlib.Path(model).stem if isinstance(model, (str, os.PathLike)) else "model"
    return compile_lowered(lambda path: lower(model, timeout=timeout, parameters=path), stem, options)


def compile_lowered(lower_to, stem, options):
    """Compiles lower_to(path of the parameter file), the text. The file is options' "parameters", or one in a folder that goes
    when the program does, by the name `stem`."""
    kept = options.pop("parameters", None)
    folder = None if kept else tempfile.TemporaryDirectory(prefix="tilewright-")
    path = os.fspath(kept or os.path.join(folder.name, _plain(stem) + ".safetensors"))
    text = lower_to(path)
    named = 'tilewright.parameters = "' in text
    program = compile_text(text, parameters=path if named else None, **options)
    if named:
        program._folder = folder
    return program


def _plain(name):
    """A name that stands in a text without escapes."""
    return re.sub(r"[^\w.+-]", "_", name) or "model"


def _file_of(model, folder):
    """(a path that has the model, what to call it)"""
    if isinstance(model, (str, os.PathLike)):
        with open(model, "rb"):  # the ordinary errors of files
            return os.fspath(model), os.fspath(model)
    data = model if isinstance(model, (bytes, bytearray)) else model.SerializeToString()
    path = os.path.join(folder, "model.onnx")
    pathlib.Path(path).write_bytes(data)
    return path, "the model"


def run_lowering(script, arguments, timeout, needs="torch-mlir", extra="onnx"):
    """Why torch-mlir refuses the model; None where it does not. UnavailableError where its Python lacks what `extra` has."""
    python = os.environ.get("TILEWRIGHT_ONNX_PYTHON") or sys.executable
    try:
        done = subprocess.run([python, str(_FOLDER / script), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=timeout, check=False)
    except OSError as error:
        raise UnavailableError(f"cannot run {python}: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        return f"torch-mlir has not lowered it within {timeout:g} s"
    if done.returncode == 0:
        return None
    if done.returncode == _REFUSED:
        return done.stdout.strip()
    lines = done.stderr.strip().splitlines()
    last = lines[-1] if lines else "without a message"
    if last.startswith(("ModuleNotFoundError", "ImportError")):
        raise UnavailableError(f"{python} has no {needs}: {last}; pip install tilewright[{extra}], or name a Python that "
                               "has it in TILEWRIGHT_ONNX_PYTHON")
    how = f"by signal {-done.returncode}" if done.returncode < 0 else f"with status {done.returncode}"
    return f"torch-mlir ended {how} ({last})"
