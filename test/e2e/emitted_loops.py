#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `--emit=loops` writes, by MLIR's own tools and clang to machine code, on the random programs of
families/memref_programs.py, against NumPy.

    build/venv/bin/python test/e2e/emitted_loops.py             # what scripts/test runs
    build/venv/bin/python test/e2e/emitted_loops.py 100:200     # 200 programs from number 100 on
"""

import ctypes
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from data import make
from families.memref_programs import Writer

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOWERINGS = "-expand-strided-metadata -lower-affine -convert-scf-to-cf -llvm-request-c-wrappers -convert-to-llvm " \
            "-reconcile-unrealized-casts"


def tool(name):
    found = shutil.which(f"{name}-22") or shutil.which(name)
    return found or sys.exit(f"{name} is not on PATH; source build/env.sh")


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {(done.stderr + done.stdout).strip()[:2000]}")


def descriptor(array):
    """A memref of MLIR's C interface."""
    sizes = ctypes.c_int64 * array.ndim
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64), ("sizes", sizes), ("strides", sizes)]
    strides = [step // array.itemsize for step in array.strides]
    return type("Memref", (ctypes.Structure,), {"_fields_": fields})(array.ctypes.data, array.ctypes.data, 0, sizes(*array.shape),
                                                                    sizes(*strides))


def compute(function, arrays, kind, folder):
    """Runs the loops of kind `kind`, which change `arrays`."""
    source, loops, lowered, code, library = (folder / f"{function.symbol}_{kind}{end}" for end in
                                             (".mlir", ".loops.mlir", ".llvm.mlir", ".ll", ".so"))
    source.write_text(f"module {{\n{function.text()}\n}}\n")
    run(ROOT / "build/bin/tilewright-compile", source, "--emit=loops", f"--loops={kind}", "-o", loops)
    run(tool("mlir-opt"), loops, "-lower-affine", *LOWERINGS.split(), "-o", lowered)
    run(tool("mlir-translate"), "--mlir-to-llvmir", lowered, "-o", code)
    run(tool("clang"), "-w", "-O0", "-shared", "-fPIC", code, "-o", library)
    entry = getattr(ctypes.CDLL(str(library)), "_mlir_ciface_" + function.symbol)
    entry(*[ctypes.byref(descriptor(array)) for array in arrays])


def main():
    first, count = map(int, (sys.argv[1:] or ["1:16"])[0].split(":"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            function = Writer(number, dynamic=number % 2 == 0).finish()
            case = function.cases[0]
            kind = ("scf", "affine")[number // 2 % 2]
            arrays = [make(arg.element, [int(d) for d in given["type"].split("x")[:-1]], given).astype(np.int32)
                      for arg, given in zip(function.args, case.inputs)]
            try:
                compute(function, arrays, kind, pathlib.Path(folder))
                wrong = [str(n) for n, (got, want) in enumerate(zip(arrays, case.golden(function.args))) if (got != want).any()]
                problem = f"wrong elements in argument {', '.join(wrong)}" if wrong else ""
            except RuntimeError as error:
                problem = str(error)
            if problem:
                failed += 1
                print(f"FAILED {function.symbol}, --loops={kind}: {problem}", file=sys.stderr)
    print(f"{count - failed} of {count} programs are right as loops", file=sys.stderr)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
