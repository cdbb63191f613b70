# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of other front ends, lowered to linalg by packages that bring an LLVM of their own, each in a process of its own.

    lower_onnx.py        a file of ONNX                         by torch-mlir
    lower_torch.py       a program that torch.export saved      by torch-mlir
    lower_stablehlo.py   StableHLO, which JAX makes             by IREE's compiler

These three are scripts: they import what lies beside them, and nothing of Tilewright else.

    torch_operators.py, torch_reductions.py, torch_scatters.py, torch_pooling.py, torch_sampling.py, torch_special.py,
    torch_bessel.py, torch_linalg.py, torch_random.py, torch_data_sizes.py
                     PyTorch's operators in ones that torch-mlir has
    torch_complex.py complex numbers as pairs of real ones
    irregular.py     scatters, scans, sorts: the packages' ops become ours
    spelling.py      torch-mlir's text as MLIR 22 spells it, names of arguments
    parameters.py    large constants go to a parameter file
    argument_sizes.py   which sizes of arguments torch.export knows to be equal
    donations.py     arguments whose memory a result gets
    finish.py        how each of the three ends: what it writes, its exit code
    with_parent.py   it ends with the process that started it, too
    diagnostics.py   why a model is refused
    float8.py        casts of ONNX that saturate

This module starts a script, and compiles what it wrote.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import weakref

from .._errors import Error, InvalidArgumentError, UnavailableError
from .._program import Program, compile as compile_text
from . import donations, parameters
from .diagnostics import REFUSED

_FOLDER = pathlib.Path(__file__).parent
WAY_OUT = "export the model without it, or write that part as linalg"


@dataclasses.dataclass(frozen=True)
class FrontEnd:
    """A script and what it needs."""

    script: str
    package: str  # what lowers
    needs: str  # what its Python must have, in words
    extra: str  # that brings it, of this package
    variable: str  # of the environment: a Python that has it

    def run(self, arguments, timeout):
        """Why the model is refused; None where it is not. UnavailableError where the Python lacks what is needed."""
        python = os.environ.get(self.variable) or sys.executable
        try:
            done = subprocess.run([python, str(_FOLDER / "with_parent.py"), str(os.getpid()), str(_FOLDER / self.script), *arguments],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=timeout,
                                  check=False)
        except OSError as error:
            raise UnavailableError(f"cannot run {python}: {error.strerror}") from error
        except subprocess.TimeoutExpired:
            return f"{self.package} has not lowered it within {timeout:g} s"
        if done.returncode == 0:
            return None
        if done.returncode == REFUSED:
            return done.stdout.strip()
        lines = done.stderr.strip().splitlines()
        last = lines[-1] if lines else "without a message"
        if last.startswith(("ModuleNotFoundError", "ImportError")):
            raise UnavailableError(f"{python} has no {self.needs}: {last}; pip install tilewright[{self.extra}], or name a Python "
                                   f"that has it in {self.variable}")
        how = f"by signal {-done.returncode}" if done.returncode < 0 else f"with status {done.returncode}"
        return f"{self.package} ended {how} ({last})"


ONNX = FrontEnd("lower_onnx.py", "torch-mlir", "torch-mlir", "onnx", "TILEWRIGHT_ONNX_PYTHON")
TORCH = FrontEnd("lower_torch.py", "torch-mlir", "torch with torch-mlir", "torch", "TILEWRIGHT_ONNX_PYTHON")
STABLEHLO = FrontEnd("lower_stablehlo.py", "IREE's compiler", "iree-base-compiler", "stablehlo", "TILEWRIGHT_STABLEHLO_PYTHON")


def donated(text, results):
    """The text with main's arguments that are given away, {name: number of the result that is in its memory}, marked as such."""
    text, unknown = donations.mark(text, results)
    if unknown is not None:
        raise InvalidArgumentError(f"donate: 'main' has no tensor '{unknown}' among its arguments, or gives it away already")
    return text


class _Folder:
    """A new folder, which goes when nobody has it any more in the process that made it; children made by os.fork leave it there."""

    def __init__(self):
        self.name = tempfile.mkdtemp(prefix="tilewright-")
        weakref.finalize(self, _Folder._remove, self.name, os.getpid())

    @staticmethod
    def _remove(name, maker):
        if os.getpid() == maker:
            shutil.rmtree(name, ignore_errors=True)


def compile_lowered(lower_to, stem, options):
    """Compiles lower_to(path of the parameter file), the text. The file is options' "parameters": a path, or a program, to whose
    file is added what it lacks; without them, one in a folder that goes when the program does, by the name `stem`. Options'
    "donate" is what donated() takes."""
    kept = options.pop("parameters", None)
    shared = kept if isinstance(kept, Program) else None
    if shared is not None:
        kept = shared.parameters
    folder = None if kept and shared is None else _Folder()
    name = os.path.basename(kept) if kept else _plain(stem) + ".safetensors"
    path = os.path.join(folder.name, name) if folder else os.fspath(kept)
    text = donated(lower_to(path), options.pop("donate", None) or {})
    named = 'tilewright.parameters = "' in text
    if named and shared is not None and kept:
        renamed = parameters.add_to(kept, path)
        text = re.sub(r'dense_resource<"([^"]*)">', lambda use: f'dense_resource<"{renamed.get(use[1], use[1])}">', text)
        path, folder = kept, shared._folder
    program = compile_text(text, parameters=path if named else None, **options)
    if named:
        program._folder = folder
    return program


def _plain(name):
    """A name that stands in a text without escapes."""
    return re.sub(r"[^\w.+-]", "_", name) or "model"


def command(name, description, model, lower):
    """python -m NAME: lowers a file, `model` in words, by `lower`; the exit code."""
    package = {"tilewright.onnx": ONNX, "tilewright.stablehlo": STABLEHLO}[name].package
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=description)
    source = parser.add_argument("model", help=model)
    parser.add_argument("-o", dest="output", default="-", help="the MLIR text; '-', the default, is standard output")
    parser.add_argument("--timeout", type=float, help=f"seconds after which {package} is ended")
    parser.add_argument("--parameters", metavar="FILE", help="parameter file (safetensors) for constants of 4 KiB and more; the "
                        "default has the name of the text, with .safetensors; the compiler looks for it beside the text")
    parser.add_argument("--donate", metavar="INPUT=RESULT", action="append", default=[], help="the result with this number, from 0 on, "
                        "is written into that input's memory, and not returned: a cache that is updated where it is")
    parser.add_argument("--inline", action="store_true", help="all constants stay in the text, as they do on standard output")
    # A flag that is not known is named before a model that is missing, of which argparse alone would speak first.
    parser.usage = parser.format_usage().removeprefix("usage: ").strip()
    source.nargs = "?"
    options, unknown = parser.parse_known_args()
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.model is None:
        parser.error("the following arguments are required: model")
    if options.inline and options.parameters:
        parser.error("--inline and --parameters exclude each other")
    pairs = [pair.rpartition("=") for pair in options.donate]
    if wrong := [pair for pair, (name, _, result) in zip(options.donate, pairs) if not name or not result.isdecimal()]:
        parser.error(f"--donate={wrong[0]}: expected INPUT=RESULT, the name of an input and the number of a result")
    parameters = options.parameters
    if not parameters and not options.inline and options.output != "-":
        stem = options.output[:-len(".mlir")] if options.output.endswith(".mlir") else options.output
        parameters = stem + ".safetensors"
    try:
        text = lower(options.model, timeout=options.timeout, parameters=parameters)
        text = donated(text, {name: int(result) for name, _, result in pairs})
        if options.output == "-":
            sys.stdout.write(text)
            return 0
        # The whole file or none.
        part = f"{options.output}.{os.getpid()}"
        try:
            with open(part, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, options.output)
        finally:
            if os.path.exists(part):
                os.unlink(part)
    except (Error, OSError) as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        return 1
    return 0
