# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PTX of matrices that ptxas makes into several instructions: wmma.mma of m16n16k16 is two HMMA.16816, wmma.store four STG."""

import re

_BITS = {"f64": 64, "f32": 32, "tf32": 32, "s32": 32, "f16": 16, "bf16": 16, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}


def macs(opcode):
    """Multiplications of an HMMA, IMMA or DMMA: m, n, k without marks between them, as 16816, 1688, 884."""
    shape = opcode.split(".")[1]
    m = 16 if shape.startswith("16") else 8
    return m * 8 * int(shape[len(str(m)) + 1 :])


def width_of(opcode):
    """Bytes of a lane."""
    for part in opcode.split("."):
        if part in ("64", "128"):
            return int(part) // 8
    return 4


def _loaded(opcode):
    """Bits that all lanes load or store."""
    parts = opcode.split(".")
    if parts[0] in ("LDSM", "STSM"):
        return 8 * 8 * 16 * (int(parts[-1]) if parts[-1].isdigit() and parts[-2].endswith("88") else 1)
    return 32 * 8 * width_of(opcode)


def share_of(instruction, opcode):
    """How much of a PTX instruction one of SASS does; 1 of others than matrices."""
    parts, shape = instruction.split("."), re.search(r"\.m(\d+)n(\d+)k(\d+)", instruction)
    if parts[0] not in ("mma", "wmma") or "sp" in parts or not shape:
        return 1.0
    m, n, k = map(int, shape.groups())
    if opcode.split(".")[0] in ("HMMA", "IMMA", "DMMA"):
        return min(1.0, macs(opcode) / (m * n * k))
    elements = {"a": m * k, "b": k * n, "c": m * n, "d": m * n}.get(parts[2])
    bits = _BITS.get(parts[-1])
    return min(1.0, _loaded(opcode) / (elements * bits)) if elements and bits else 1.0
