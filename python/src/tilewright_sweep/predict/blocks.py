# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often each basic block of the SASS runs.

The simulator counts PTX lines; ptxas says of which line an instruction is, but it unrolls, peels and copies loops. So the
blocks' counts x are unknowns of as many equations as there are lines:

    sum over blocks of (copies of line L in the block) * x  =  times that L was executed

for lines with work that ptxas keeps. Every warp runs the first block once, and blocks outside of loops at most once. Least
squares with x >= 0, and the smallest sum of x among equals: of a loop and its remainder the unrolled one is taken. Blocks
without such lines run as often as the rarest block beside them.
"""

import collections

#: Work that ptxas neither invents nor drops, and what it is made into.
_MADE_OF = {
    "ld.global": ("LDG",),
    "st.global": ("STG",),
    "ld.shared": ("LDS",),
    "st.shared": ("STS",),
    "ld": ("LD", "LDG", "LDS"),
    "st": ("ST", "STG", "STS"),
    "cp.async": ("LDGSTS", "UBLKCP", "UTMALDG"),
    "ldmatrix": ("LDSM",),
    "stmatrix": ("STSM",),
    "mma": ("HMMA", "IMMA", "DMMA"),
    "wmma": ("HMMA", "IMMA", "DMMA", "LDSM", "LDG", "LDS", "STG", "STS"),
    "wgmma": ("HGMMA", "IGMMA", "QGMMA"),
    "bar": ("BAR",),
    "barrier": ("BAR",),
    "fma": ("FFMA", "HFMA2", "DFMA"),
    "mul": ("FMUL", "HMUL2", "DMUL"),
    "add": ("FADD", "HADD2", "DADD"),
    "sub": ("FADD", "HADD2", "DADD"),
    "shfl": ("SHFL",),
    "red": ("RED", "ATOMS"),
    "atom": ("ATOMG", "ATOMS", "ATOM"),
    **dict.fromkeys(("ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh"), ("MUFU",)),
}


def is_made_of(instruction, root):
    """Whether SASS with this root carries out a PTX instruction, and does not only prepare it."""
    parts = instruction.split(".")
    made = _MADE_OF.get(".".join(parts[:2])) or _MADE_OF.get(parts[0], ())
    return root in made


def execution_counts(kernel, issue, entered):
    """Per basic block, times that warps run it; `issue`: {PTX line: its row of counts}, `entered`: warps that began."""
    copies = collections.defaultdict(collections.Counter)
    for index, block in enumerate(kernel.code):
        for item in block:
            if item.line in issue and is_made_of(issue[item.line]["instruction"], item.root):
                copies[item.line][index] += 1
    equations = [(of, issue[line]["executed"]) for line, of in copies.items()]
    size = len(kernel.code)
    limits = [float("inf")] * size
    for index in range(size):
        if index not in _after(kernel, index):
            limits[index] = float(entered)
    counts = [0.0] * size
    rows = collections.defaultdict(list)
    for number, (of, _) in enumerate(equations):
        for index, factor in of.items():
            rows[index].append((number, factor))
    # Relative errors, so that the prologue's lines matter beside those of the loop.
    weights = [1.0 / count for _, count in equations]
    residual = [count * weight for (_, count), weight in zip(equations, weights)]
    penalty = 1e-6
    for _ in range(400):
        moved = 0.0
        for index, of in rows.items():
            slope = sum(factor * weights[n] * residual[n] for n, factor in of)
            square = sum((factor * weights[n]) ** 2 for n, factor in of)
            value = min(limits[index], max(0.0, counts[index] + (slope - penalty * square**0.5) / square))
            if index == 0 and limits[0] == entered:
                value = float(entered)
            change = value - counts[index]
            if change:
                counts[index] = value
                moved = max(moved, abs(change) / max(value, 1.0))
                for n, factor in of:
                    residual[n] -= factor * weights[n] * change
        if moved < 1e-7:
            break
    known = {0: float(entered), **{index: counts[index] for index in rows}}
    return _fill(kernel, known)


def _fill(kernel, known):
    """Blocks of which no line says anything: as often as the rarest neighbour of which something is known; outside of
    loops at most once for every warp."""
    before = collections.defaultdict(set)
    for index, following in enumerate(kernel.successors):
        for other in following:
            before[other].add(index)
    reached = {0} | _after(kernel, 0)
    once = {index for index in reached if index not in _after(kernel, index)}
    for _ in range(len(kernel.code)):
        for index in sorted(reached - set(known)):
            near = [known[other] for other in (before[index] | kernel.successors[index]) - {index} if other in known]
            if near:
                known[index] = min(near + [known[0]] * (index in once))
    return [known.get(index, 0.0) if index in reached else 0.0 for index in range(len(kernel.code))]


def _after(kernel, start):
    """Blocks that may run after one."""
    found, waiting = set(), list(kernel.successors[start])
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting += kernel.successors[index]
    return found
