# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of PyTorch: torch.export in this process, torch-mlir in one of its own.

    module ─ torch.export ─▶ program.pt2 ─ _lowering/lower_torch.py ─▶ MLIR text and parameter file ─▶ Program
           ─ torch.onnx.export ─▶ model.onnx ─ _lowering/lower_onnx.py ─────▲
"""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import threading
import warnings
from typing import Any, Mapping, Sequence

from ._errors import CompileError, InvalidArgumentError, UnavailableError
from ._lowering import TORCH, WAY_OUT, compile_lowered
from ._lowering.diagnostics import Refused, refuse_changes
from ._program import Program
from .onnx import lower as lower_onnx

_WAYS = ("torch-mlir", "onnx")


def from_torch(module: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, *, dynamic_shapes: Any = None,
               via: str | None = None, state: bool = False, timeout: float | None = None, **options) -> Program:
    """Compiles a torch.nn.Module, or a torch.export.ExportedProgram, to a function `main`.

    Its arguments are the tensors among `args` and `kwargs`, by the names that `forward` has for them, its results the tensors that
    `forward` returns; structures are flattened. An argument that `forward` writes in place is written in place by the program, too.
    What else is in `args` is constant. The module is taken as it is: call
    `eval()` before.

    dynamic_shapes: of torch.export, which dims of the arguments are of any size. via: "torch-mlir", or "onnx": by
    torch.onnx.export and torch-mlir's ONNX front end; None: "torch-mlir", and "onnx" where torch-mlir's Python
    (TILEWRIGHT_ONNX_PYTHON, or this one) has no torch. state: buffers that `forward` writes are arguments behind the others, by their
    names with `_` for a dot, and written in place; without it such a module is refused. timeout: seconds after which torch-mlir is ended. options: those of
    tilewright.compile; parameters: where the parameter file goes, or a program with whose weights it is shared, and donate: arguments
    whose memory a result gets, as for from_onnx.

    Raises CompileError where the module is not exported or not lowered, with the reason, UnavailableError without the packages.
    """
    if via not in (None, *_WAYS):
        raise InvalidArgumentError(f"via={via!r}; expected one of {', '.join(_WAYS)}, or None")
    if state and via == "onnx":
        raise InvalidArgumentError("state=True is for via='torch-mlir' alone")
    try:
        import torch
    except ImportError as error:
        raise UnavailableError(f"from_torch needs PyTorch: {error}; pip install tilewright[torch]") from None
    program = _exported(torch, module, args, kwargs, dynamic_shapes)
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        def by_torch_mlir(path):
            return _by_torch_mlir(torch, program, folder, path, timeout, ["state"] if state else [])

        def by_onnx(path):
            return lower_onnx(_to_onnx(torch, program, folder), timeout=timeout, parameters=path)

        def by_either(path):
            try:
                return by_torch_mlir(path)
            except UnavailableError as error:
                lacking = error
            try:
                return by_onnx(path)
            except UnavailableError as error:
                raise UnavailableError(f"{lacking} (nor by way of ONNX: {error})") from None

        lower = {"torch-mlir": by_torch_mlir, "onnx": by_onnx, None: by_either}[via]
        return compile_lowered(lower, type(module).__name__, options)


def _exported(torch, module, args, kwargs, dynamic_shapes):
    if isinstance(module, torch.export.ExportedProgram):
        return module
    if not isinstance(module, torch.nn.Module):
        raise InvalidArgumentError(f"from_torch takes a torch.nn.Module or a torch.export.ExportedProgram, no {type(module).__name__}")
    with _quiet("torch.export"), _masks_as_given(torch):
        return torch.export.export(module, tuple(args), dict(kwargs or {}), dynamic_shapes=dynamic_shapes)


def _by_torch_mlir(torch, program, folder, parameters, timeout, lowering):
    source, target = os.path.join(folder, "program.pt2"), os.path.join(folder, "model.mlir")
    with _quiet("torch.export.save"):
        torch.export.save(program, source)
    said = TORCH.run([source, target, parameters, *lowering], timeout)
    if said is not None:
        raise CompileError(f"the module: {said}; {WAY_OUT}")
    return pathlib.Path(target).read_text(encoding="utf-8")


def _to_onnx(torch, program, folder):
    path = os.path.join(folder, "model.onnx")
    try:
        with _quiet("torch.onnx.export"):
            made = torch.onnx.export(program, (), path, dynamo=True, external_data=False, verbose=False)
        signature = made.exported_program.graph_signature
        refuse_changes([*signature.buffers_to_mutate.values(), *signature.user_inputs_to_mutate.values()])
    except ImportError as error:  # onnx and onnxscript
        raise UnavailableError(f"torch.onnx.export: {error}; pip install onnx onnxscript") from None
    except Refused as refusal:
        raise CompileError(f"the module: {refusal}") from None
    return path


class _OfOtherThreads(io.TextIOBase):
    """A stream with what other threads write to it."""

    def __init__(self, stream):
        self._stream, self._silent = stream, threading.get_ident()

    def write(self, text):
        if threading.get_ident() == self._silent or self._stream is None:
            return len(text)
        return self._stream.write(text)

    def flush(self):
        if self._stream is not None:
            self._stream.flush()

    def __getattr__(self, name):
        return getattr(self._stream, name)


_QUIET = threading.RLock()


@contextlib.contextmanager
def _masks_as_given(torch):
    """nn.Transformer asks the elements of its masks whether they are causal, or padded at the end alone, to go another way then. What a
    trace cannot ask, and need not: the masks say as much."""
    transformer, was_fast = torch.nn.modules.transformer, torch.backends.mha.get_fastpath_enabled()
    asks = transformer._detect_is_causal_mask
    transformer._detect_is_causal_mask = lambda mask, is_causal=None, size=None: is_causal is True
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        transformer._detect_is_causal_mask = asks
        torch.backends.mha.set_fastpath_enabled(was_fast)


@contextlib.contextmanager
def _quiet(what):
    """PyTorch's progress and warnings are for its developers; its errors become ours."""
    try:
        # One at a time: what they replace is the process's.
        with _QUIET, warnings.catch_warnings(), contextlib.redirect_stdout(_OfOtherThreads(sys.stdout)):
            warnings.simplefilter("ignore")
            yield
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # of any kind
        lines = str(error).strip().splitlines()
        raise CompileError(f"{what}: {lines[0] if lines else type(error).__name__}") from error
