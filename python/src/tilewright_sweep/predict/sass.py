# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ptxas makes of the kernels of a PTX file: instructions with their control bits, and registers.

Of the 128 bits of an instruction since Volta the upper ones say how it is issued (arXiv:1804.06826, section 2.1):

    bit 125..122  which operands stay in the reuse cache     (nvdisasm prints them as .reuse)
    bit 121..116  barriers to wait for                       one bit each
    bit 115..113  barrier that is released when the operands have been read; 7: none
    bit 112..110  barrier that is released when the result is there; 7: none
    bit 109       yield
    bit 108..105  cycles until the next instruction of the warp
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile


class ToolError(RuntimeError):
    pass


class Instruction:
    __slots__ = ("opcode", "operands", "line", "stall", "write_barrier", "read_barrier", "waits", "target", "guard")

    def __init__(self, opcode, operands, line, control, target, guard):
        self.opcode, self.operands, self.line, self.target, self.guard = opcode, operands, line, target, guard or ""
        self.stall = control & 15
        self.write_barrier = control >> 5 & 7
        self.read_barrier = control >> 8 & 7
        self.waits = control >> 11 & 63

    @property
    def root(self):
        return self.opcode.split(".")[0]

    @property
    def predicated(self):
        return bool(self.guard)

    @property
    def highest(self):
        """The number of the highest register that the instruction names, or that belongs to one that it names; -1: none."""
        highest = -1
        for slot, operand in enumerate(self.operands):
            address = re.search(r"\[(.*)\]", operand)
            # Of an address the register says itself how wide it is, of what is moved the instruction.
            for match in re.finditer(r"(?<![A-Z])R(\d+)(\.64)?", address[1] if address else operand):
                wide = 2 if match[2] else 1 if address else self._registers_of(slot)
                highest = max(highest, int(match[1]) + wide - 1)
        return highest

    def _registers_of(self, slot):
        """How many registers the one that stands in a place of the operands is the first of."""
        if match := re.match(r"[HIQ]GMMA\.64x(\d+)x\d+\.(\w+)", self.opcode):
            sums = int(match[1]) // (4 if match[2] == "F16" else 2)
            return 4 if slot == 1 else sums
        if match := re.search(r"\.(128|64)(?:\.|$)", self.opcode):
            return int(match[1]) // 32
        if self.root in ("LDSM", "STSM"):
            return int(self.opcode[-1]) if self.opcode[-1] in "24" else 1
        if self.root in ("HMMA", "IMMA"):
            return {0: 4, 1: 4, 2: 2}.get(slot, 4)
        pairs = self.root in ("DADD", "DMUL", "DFMA", "DMMA") or self.opcode == "CS2R"
        return 2 if pairs or ".WIDE" in self.opcode and slot in (0, 3) else 1

    def registers(self):
        """(slot, number, whether it stays in the reuse cache) of the operands that are read from the register file."""
        for slot, operand in enumerate(self.operands[1:]):
            if match := re.fullmatch(r"[-|~!]*R(\d+)(?:\.[\w.]+?)??(\.reuse)?\|?", operand):
                yield slot, int(match[1]), bool(match[2])


class Kernel:
    """`code`: basic blocks, lists of Instruction; `successors` of each; registers and spills of a thread, shared memory of a
    block."""

    def __init__(self, name):
        self.name, self.registers, self.spills, self.shared = name, 0, 0, 0
        self.code, self.successors = [], []
        self._targets = {}

    def target_of(self, branch):
        """The number of the block that a branch goes to."""
        return self._targets.get(branch.target)


def find(name, may_miss=False):
    """A tool of the CUDA toolkit: by the variable TILEWRIGHT_NAME, the path, CUDA_HOME or its usual place."""
    homes = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    found = os.environ.get(f"TILEWRIGHT_{name.upper()}") or shutil.which(name)
    for home in homes:
        if not found and home and pathlib.Path(home, "bin", name).exists():
            found = str(pathlib.Path(home, "bin", name))
    if not found and not may_miss:
        raise ToolError(f"{name} was not found; it is of the CUDA toolkit, and of a package of its own for Python")
    return found


def resources(log):
    """{kernel: (registers, bytes of spills, static bytes of shared memory)} from what `ptxas -v` says."""
    found, name, spills = {}, None, 0
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            name, spills = match[1], 0
        elif match := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spills = int(match[1]) + int(match[2])
        elif name and (match := re.search(r"Used (\d+) registers", line)):
            shared = re.search(r"(\d+) bytes smem", line)
            found[name] = (int(match[1]), spills, int(shared[1]) if shared else 0)
    return found


_INSTRUCTION = re.compile(
    r"\s*/\*[0-9a-f]+\*/\s+(?:\{\s*)?(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*([^;]*);\s*/\* 0x([0-9a-f]{16}) \*/"
)


def parse(text):
    """{kernel: Kernel} from `nvdisasm -c -gp -hex`."""
    found, kernel, line, pending = {}, None, 0, None
    labels, items = {}, []

    def finish():
        if kernel is not None:
            divide(kernel, items, labels)

    for row in text.splitlines():
        if match := re.match(r"\s*\.section\s+\.text\.([^,\s]+)", row):
            finish()
            kernel = found.setdefault(match[1], Kernel(match[1]))
            labels, items, line = {}, [], 0
        elif match := re.match(r"(\.L_[\w$]+):", row):
            labels[match[1]] = len(items)
        elif match := re.search(r'nv_debug_ptx_txt[^"]*", line (\d+)', row):
            line = int(match[1])
        elif match := _INSTRUCTION.match(row):
            pending = match
        elif pending and (match := re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/", row)):
            predicate, opcode, operands = pending[1], pending[2], pending[3]
            target = re.search(r"`\((\.L_[\w$]+)\)", operands)
            parts = [part.strip() for part in operands.split(",") if part.strip()]
            control = int(match[1], 16) >> 41
            items.append(Instruction(opcode, parts, line, control, target[1] if target else None, predicate))
            pending = None
    finish()
    return found


def _jumps(item):
    """Whether an instruction goes elsewhere: ptxas leaves far loops by a call that nothing returns from, under a predicate."""
    return item.root == "BRA" or item.opcode == "CALL.REL.NOINC" and item.predicated and item.target is not None


def divide(kernel, items, labels):
    """Basic blocks of a list of instructions."""
    ends = {"BRA", "EXIT", "RET", "JMP", "BRX"}
    targets = {labels[item.target] for item in items if item.target in labels}
    starts = {0, *targets} | {i + 1 for i, item in enumerate(items) if item.root in ends or _jumps(item)}
    starts = sorted(start for start in starts if start < len(items))
    number = {start: index for index, start in enumerate(starts)}
    kernel.code = [items[start:end] for start, end in zip(starts, starts[1:] + [len(items)])]
    kernel.successors = []
    kernel._targets = {label: number[start] for label, start in labels.items() if start in number}
    for index, block in enumerate(kernel.code):
        last, following = block[-1], set()
        if _jumps(last) and last.target in labels and labels[last.target] in number:
            following.add(number[labels[last.target]])
        falls = last.root not in ends or last.predicated or any("P" in part for part in last.operands[:-1])
        if falls and index + 1 < len(kernel.code):
            following.add(index + 1)
        kernel.successors.append(following)


def mend_lines(kernel, text):
    """ptxas often gives a product of a warpgroup the line of what stands near it, another product among them. The first one
    behind a fence gets the next product of its shape behind the fence's line, the others those behind the one before."""
    shapes, fences = {}, set()
    for line, row in enumerate(text.splitlines(), 1):
        if match := re.search(r"wgmma\.mma_async\S*\.m(\d+)n(\d+)k(\d+)", row):
            shapes[line] = match.groups()
        elif "wgmma.fence" in row:
            fences.add(line)
    cursor = 0
    for item in (item for block in kernel.code for item in block):
        if item.opcode == "WARPGROUP.ARRIVE" and item.line in fences:
            cursor = item.line
        elif item.root in ("HGMMA", "IGMMA", "QGMMA"):
            shape = re.search(r"(\d+)x(\d+)x(\d+)", item.opcode).groups()
            item.line = min((line for line in shapes if line > cursor and shapes[line] == shape), default=item.line)
            cursor = item.line


def assemble(ptx, arch, ptxas=None, nvdisasm=None):
    """{kernel: Kernel} of a PTX file, by ptxas and nvdisasm; raises ToolError where there is none."""
    ptxas, nvdisasm = ptxas or find("ptxas"), nvdisasm or find("nvdisasm")
    with tempfile.TemporaryDirectory() as folder:
        cubin = str(pathlib.Path(folder) / "kernel.cubin")
        done = subprocess.run(
            [ptxas, "-v", "-lineinfo", f"-arch={arch}", str(ptx), "-o", cubin], capture_output=True, text=True
        )
        if done.returncode:
            raise ToolError(f"ptxas: {done.stderr.strip()}")
        listing = subprocess.run([nvdisasm, "-c", "-gp", "-hex", cubin], capture_output=True, text=True)
        if listing.returncode:
            raise ToolError(f"nvdisasm: {listing.stderr.strip()}")
        kernels = parse(listing.stdout)
        text = pathlib.Path(ptx).read_text()
        for kernel in kernels.values():
            mend_lines(kernel, text)
    for name, used in resources(done.stdout + done.stderr).items():
        kernels[name].registers, kernels[name].spills, kernels[name].shared = used
    return kernels
