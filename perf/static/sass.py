# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ptxas makes of the kernels of a PTX file: registers, spills, and the innermost loop with the most matrix instructions."""

import collections
import pathlib
import re
import subprocess
import tempfile

MATRIX = re.compile(r"^(HMMA|IMMA|DMMA|BMMA|HGMMA|IGMMA|QGMMA)\b")


class Kernel:
    """registers and spills (bytes stored and loaded) of a kernel, the opcodes of its main loop, counted, and how many of them
    wait for matrix instructions of a warpgroup."""

    def __init__(self):
        self.registers, self.spills, self.loop = 0, 0, collections.Counter()
        self.waits = 0

    @property
    def matrices(self):
        return sum(count for op, count in self.loop.items() if MATRIX.match(op))

    @property
    def instructions(self):
        return sum(self.loop.values())

    def per_matrix(self, count):
        return f"{count / self.matrices:.2f}" if self.matrices else "-"


def resources(log):
    """Kernel's name -> Kernel, from what `ptxas -v` says."""
    result, kernel = {}, None
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            kernel = result.setdefault(match[1], Kernel())
        elif kernel is not None and (match := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line)):
            kernel.spills = int(match[1]) + int(match[2])
        elif kernel is not None and (match := re.search(r"Used (\d+) registers", line)):
            kernel.registers = int(match[1])
    return result


def functions(text):
    """Kernel's name -> list of (labels before it, opcode, label it jumps to)."""
    result, body, labels = {}, None, []
    for line in text.splitlines():
        if match := re.match(r"\s*\.section\s+\.text\.([^,\s]+)", line):
            body, labels = result.setdefault(match[1], []), []
        elif match := re.match(r"(\.L_[\w$]+):", line):
            labels.append(match[1])
        elif body is not None and (match := re.match(r"\s*/\*[0-9a-f]+\*/\s+(?:\{\s*)?(?:@!?\w+\s+)?([A-Z][\w.]*)([^;]*);", line)):
            target = re.search(r"`\((\.L_[\w$]+)\)", match[2]) if match[1].startswith("BRA") else None
            body.append((labels, match[1], target[1] if target else None))
            labels = []
    return result


def main_loop(body):
    """Opcodes of the smallest loop among those with the most matrix instructions."""
    at = {label: index for index, (labels, _, _) in enumerate(body) for label in labels}
    loops = [(at[target], index) for index, (_, _, target) in enumerate(body) if target in at and at[target] <= index]
    # Innermost: no other loop with matrix instructions lies within.
    loops = [(first, last, sum(bool(MATRIX.match(op)) for _, op, _ in body[first:last + 1])) for first, last in loops]
    loops = [loop for loop in loops if loop[2] > 0]
    inner = [loop for loop in loops if not any(loop[0] <= other[0] and other[1] <= loop[1] and other != loop for other in loops)]
    if not inner:
        return []
    first, last, _ = max(inner, key=lambda loop: loop[2])
    return [op for _, op, _ in body[first:last + 1]]


def kernels(path, arch, ptxas="ptxas", nvdisasm="nvdisasm"):
    """Kernel's name -> Kernel."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = str(pathlib.Path(folder) / "kernel.cubin")
        log = subprocess.run([ptxas, "-v", f"-arch={arch}", path, "-o", cubin], check=True, capture_output=True, text=True)
        text = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
    found, bodies = resources(log.stdout + log.stderr), functions(text)
    for name, kernel in found.items():
        opcodes = main_loop(bodies[name])
        kernel.loop = collections.Counter(op.split(".")[0] for op in opcodes)
        kernel.waits = sum(op.startswith("WARPGROUP.DEPBAR") for op in opcodes)
    return found
