# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ptxas makes of the kernels of a PTX file: registers, spills, the innermost loop with the most matrix instructions, and
the registers of each role of warps.

A role begins where its warps give registers away or take some (`setmaxnreg`), and ends where another begins:

    USETMAXREG.DEALLOC.CTAPOOL 0x28           the producer: no register above R39
    ...
    USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8    the consumers: none above R231
"""

import collections
import dataclasses
import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "python/src"), str(pathlib.Path(__file__).resolve().parent)]

import loops  # noqa: E402
from tilewright_sweep.predict import sass  # noqa: E402

find = sass.find
MATRIX = re.compile(r"^(HMMA|IMMA|DMMA|BMMA|HGMMA|IGMMA|QGMMA)\b")


@dataclasses.dataclass
class Role:
    """`limit`: the registers that its warps ask for; `highest`: how many its instructions name, by the highest number."""
    name: str
    limit: int
    highest: int


class Kernel:
    """registers and spills (bytes stored and loaded) of a kernel, its roles, the opcodes of its main loop, counted, and how many
    of them wait for matrix instructions of a warpgroup; how many registers the loop needs, by the highest number."""

    def __init__(self, kernel):
        items = main_loop(kernel)
        self.registers, self.spills, self.roles = kernel.registers, kernel.spills, roles(kernel)
        self.loop = collections.Counter(item.root for item in items)
        self.waits = sum(is_wait(item) for item in items)
        self.highest = 1 + max((item.highest for item in items), default=-1)
        self.under_way = min((groups_left(item) for item in items if is_wait(item)), default=None)
        self.split_stages = waits_within_stages(kernel)

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
    # Of a loop that is there with masks and without, the latter.
    return instructions(max(inner, key=lambda loop: (matrices(loop), -len(instructions(loop))))) if inner else []


def is_wait(item):
    return item.opcode.startswith("WARPGROUP.DEPBAR")


def groups_left(item):
    """How many groups of matrix instructions may be under way behind a wait: WARPGROUP.DEPBAR.LE gsb0, 0x1."""
    return int(item.operands[1], 0) if len(item.operands) > 1 else 0


def following(kernel, block, at):
    """Where a warp may be next: places (block, index)."""
    if at + 1 < len(kernel.code[block]):
        return [(block, at + 1)]
    return [(other, 0) for other in kernel.successors[block]]


def reached(kernel, places, ends):
    """The places that lead from `places` up to those, with them, of which `ends` is true."""
    found, work = set(), list(places)
    while work:
        block, at = place = work.pop()
        if place in found:
            continue
        found.add(place)
        if not ends(kernel.code[block][at]):
            work += following(kernel, block, at)
    return found


def places_of(kernel, opcode):
    return [(block, at) for block, items in enumerate(kernel.code) for at, item in enumerate(items) if item.root == opcode]


def roles(kernel):
    """Of code that several roles share, as at the kernel's end, each has its part."""
    result = []
    for block, at in places_of(kernel, "USETMAXREG"):
        first = kernel.code[block][at]
        inside = reached(kernel, following(kernel, block, at), lambda item: item.root == "USETMAXREG")
        highest = max((kernel.code[b][i].highest for b, i in inside), default=-1)
        name = "producer" if ".DEALLOC" in first.opcode else "consumer"
        result.append(Role(name, int(first.operands[-1], 0), 1 + highest))
    return result


def waits_within_stages(kernel):
    """Waits of a warpgroup between two of its matrix instructions with no wait for a stage (of a barrier) between these."""
    def ends(item):
        return item.root == "HGMMA" or item.opcode.startswith("SYNCS.PHASECHK")

    def item(place):
        return kernel.code[place[0]][place[1]]

    def from_place(place):
        return reached(kernel, following(kernel, *place), ends)

    waits = {wait for place in places_of(kernel, "HGMMA") for wait in from_place(place) if is_wait(item(wait))}
    return sum(any(item(place).root == "HGMMA" for place in from_place(wait)) for wait in waits)


def find_nvdisasm(build):
    """That of the CUDA toolkit, or else Triton's, which the simulator's tests install into `build`/others; None: neither."""
    theirs = next(build.glob("others/venv/lib/python3*/site-packages/triton/backends/nvidia/bin/nvdisasm"), None)
    return find("nvdisasm", may_miss=True) or (str(theirs) if theirs else None)


def kernels(path, arch, ptxas=None, nvdisasm=None):
    """Kernel's name -> Kernel. Without names of the tools, those that `sass.find` finds."""
    return {name: Kernel(kernel) for name, kernel in sass.assemble(path, arch, ptxas, nvdisasm).items()}
