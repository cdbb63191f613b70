# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ptxas makes of the kernels of a PTX file: registers, spills, and the innermost loop with the most matrix instructions."""

import collections
import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "python/src"), str(pathlib.Path(__file__).resolve().parent)]

import loops  # noqa: E402
from tilewright_sweep.predict import sass  # noqa: E402

find = sass.find
MATRIX = re.compile(r"^(HMMA|IMMA|DMMA|BMMA|HGMMA|IGMMA|QGMMA)\b")


class Kernel:
    """registers and spills (bytes stored and loaded) of a kernel, the opcodes of its main loop, counted, and how many of them
    wait for matrix instructions of a warpgroup."""

    def __init__(self, kernel):
        opcodes = [item.opcode for item in main_loop(kernel)]
        self.registers, self.spills = kernel.registers, kernel.spills
        self.loop = collections.Counter(opcode.split(".")[0] for opcode in opcodes)
        self.waits = sum(opcode.startswith("WARPGROUP.DEPBAR") for opcode in opcodes)

    @property
    def matrices(self):
        return sum(count for op, count in self.loop.items() if MATRIX.match(op))

    @property
    def instructions(self):
        return sum(self.loop.values())

    def per_matrix(self, count):
        return f"{count / self.matrices:.2f}" if self.matrices else "-"


def main_loop(kernel):
    """Instructions of the loop with the most matrix instructions, among those that have none with some within."""
    def instructions(loop):
        return [item for block in loop for item in kernel.code[block]]

    def matrices(loop):
        return sum(bool(MATRIX.match(item.opcode)) for item in instructions(loop))

    found = [loop for loop in loops.natural_loops(kernel.successors) if matrices(loop)]
    inner = [loop for loop in found if not any(set(other) < set(loop) for other in found)]
    return instructions(max(inner, key=matrices)) if inner else []


def kernels(path, arch, ptxas=None, nvdisasm=None):
    """Kernel's name -> Kernel. Without names of the tools, those that `sass.find` finds."""
    return {name: Kernel(kernel) for name, kernel in sass.assemble(path, arch, ptxas, nvdisasm).items()}
