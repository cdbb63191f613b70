# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX: traced in this process, lowered by IREE's compiler in one of its own.

    function ─ jax.export ─▶ StableHLO ─ stablehlo/ ─▶ MLIR text and parameter file ─▶ Program
"""

from __future__ import annotations

import inspect
from typing import Any, Mapping, Sequence

from ._errors import CompileError, InvalidArgumentError, UnavailableError
from ._lowering import compile_lowered
from ._program import Program
from .stablehlo import lower


def from_jax(function: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, *, timeout: float | None = None,
             **options) -> Program:
    """Compiles a function of JAX, jitted or not, or a jax.export.Exported, to a function `main`.

    args, kwargs: what the function is traced with: arrays, jax.ShapeDtypeStruct, and structures of them. Their leaves, in JAX's
    order, are main's arguments, by names such as `params_w` (those of an Exported have none); its results are the leaves of what the
    function returns. jax.jit leaves out arguments that a function does not use, unless it is told keep_unused. Dims that
    jax.export.symbolic_shape made are of any size. What the function closes over is constant: large arrays go to the parameter file.
    Arguments that jax.jit is told to donate are written in place where a result has their type, which is not returned then.

    timeout: seconds after which IREE's compiler is ended. options: those of tilewright.compile; parameters: where the parameter
    file goes, as for from_onnx.

    Raises CompileError where the function is not traced or not lowered, with the reason, UnavailableError without the packages.
    """
    try:
        import jax
        import jax.export
    except ImportError as error:
        raise UnavailableError(f"from_jax needs JAX: {error}; pip install tilewright[jax]") from None
    if isinstance(function, jax.export.Exported):
        exported = function
    elif callable(function):
        exported = _exported(jax, function, tuple(args), dict(kwargs or {}))
    else:
        raise InvalidArgumentError(f"from_jax takes a function or a jax.export.Exported, no {type(function).__name__}")
    names = _names(jax, function, exported)
    text = str(exported.mlir_module()).encode()
    return compile_lowered(lambda path: lower(text, inputs=names, timeout=timeout, parameters=path),
                           getattr(function, "__name__", None) or getattr(exported, "fun_name", "model"), options)


def _exported(jax, function, args, kwargs):
    # A function that is jitted already keeps its options; it may leave out arguments that it does not use.
    jitted = function if hasattr(function, "lower") else jax.jit(function, keep_unused=True)
    try:
        return jax.export.export(jitted, platforms=("cpu",))(*args, **kwargs)
    except Exception as error:  # of any kind
        lines = str(error).strip().splitlines()
        raise CompileError(f"jax.export: {lines[0] if lines else type(error).__name__}") from error


def _names(jax, function, exported):
    """What to call main's arguments, the leaves of (args, kwargs): the parameter, and the way to the leaf."""
    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        parameters = []
    names = []
    for path, _ in jax.tree_util.tree_flatten_with_path(exported.in_tree.unflatten(exported.in_avals))[0]:
        kind, first, *rest = [str(getattr(step, "key", getattr(step, "idx", getattr(step, "name", step)))) for step in path]
        if kind == "0" and int(first) < len(parameters):
            first = parameters[int(first)]
        names.append("_".join([first, *rest]).replace(",", "_"))
    return [names[number] for number in exported.module_kept_var_idx]
