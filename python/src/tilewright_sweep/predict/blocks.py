# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often each basic block of the SASS runs.

The simulator counts PTX lines; ptxas says of which line an instruction is, but it unrolls, peels and copies loops. So the
blocks' counts x are unknowns of as many equations as there are lines:

    sum over blocks of (copies of line L in the block) * x  =  times that L was executed

for lines with work that ptxas keeps. Every warp runs the first block once, and blocks outside of loops at most once. Least
squares with x >= 0, and the smallest sum of x among equals: of a loop and its remainder the unrolled one is taken. Blocks
without such lines follow from the flow of control.
"""

import collections

from tilewright_sweep.predict.pieces import share_of

#: Work that ptxas neither invents nor drops, and what it is made into.
_MADE_OF = {
    "ld.global": ("LDG",),
    "st.global": ("STG",),
    "ld.shared": ("LDS",),
    "st.shared": ("STS",),
    "ld": ("LD", "LDG", "LDS"),
    "st": ("ST", "STG", "STS"),
    "cp.async": ("LDGSTS", "UBLKCP", "UTMALDG", "UTMASTG"),
    "cp.reduce": ("UBLKRED", "UTMAREDG"),
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
    return _fill(kernel, _counted(kernel, issue, entered), untaken_edges(kernel))


def _counted(kernel, issue, entered):
    """{block: times} of the first block and of those with lines that were counted."""
    copies, guarded = collections.defaultdict(collections.Counter), set()
    untaken = untaken_edges(kernel)
    chain = _chains(kernel, untaken)
    for index, block in enumerate(kernel.code):
        for item in block:
            if item.line in issue and is_made_of(issue[item.line]["instruction"], item.root):
                copies[item.line][chain[index]] += share_of(issue[item.line]["instruction"], item.opcode)
                if item.predicated:
                    guarded.add(item.line)
    # What ptxas has made of a branch by a predicate may run less often than its block: it counts where nothing else does.
    sure = {index for line, of in copies.items() if line not in guarded for index in of}
    unsure = {line for line in guarded if set(copies[line]) <= sure}
    copies = {line: of for line, of in copies.items() if line not in unsure}
    never = {index for line, of in copies.items() if not issue[line]["executed"] for index in of}
    equations = [(of, issue[line]["executed"]) for line, of in copies.items() if issue[line]["executed"]]
    size = len(kernel.code)
    limits = [float("inf")] * size
    dead = set(range(1, size)) - _after(kernel, 0, untaken)
    for index in range(size):
        if index not in _after(kernel, index, untaken):
            limits[index] = float(entered)
        if index in dead:
            limits[index] = 0.0
    counts = _solve(equations, limits, entered)
    # ptxas makes loads and stores of neighbours into one, which has the line of one of them: such lines have fewer copies
    # than they were executed.
    merged = [
        line for line, of in copies.items()
        if issue[line]["executed"] > 1.05 * sum(factor * counts[index] for index, factor in of.items())
        and issue[line]["instruction"].startswith(("ld.", "st."))
    ]  # fmt: skip
    rest = [(of, issue[line]["executed"]) for line, of in copies.items() if issue[line]["executed"] and line not in merged]
    if merged and {index for of, _ in rest for index in of} == {index for of, _ in equations for index in of}:
        counts = _solve(rest, limits, entered)
    rows = {index for of, _ in equations for index in of}
    known = {**dict.fromkeys(never, 0.0), 0: float(entered), **{index: counts[index] for index in rows}}
    return {index: known[first] for index, first in enumerate(chain) if first in known}


def _chains(kernel, untaken):
    """For each block the first of those that it follows whenever they run, and that nothing else follows. Behind an EXIT by a
    predicate fewer warps run."""
    following = [{j for j in of if (i, j) not in untaken} for i, of in enumerate(kernel.successors)]
    before = collections.Counter(j for of in following for j in of)
    first = list(range(len(following)))
    for i, of in enumerate(following):
        if len(of) == 1 and before[min(of)] == 1 and min(of) > i and kernel.code[i][-1].root != "EXIT":
            first[min(of)] = first[i]
    return first


def _solve(equations, limits, entered):
    """Blocks' counts for [({block: copies}, times executed)]."""
    counts = [0.0] * len(limits)
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
    return counts


def untaken_edges(kernel):
    """Edges that a warp takes whose mbarrier is not complete (the simulator's waits end at once, or last), and turns of a
    loop over the different operands of lanes: those of copies, of which one lane asks for one."""
    found = set()
    for index, block in enumerate(kernel.code):
        if block[-1].opcode == "BRA.U.ANY" and kernel.target_of(block[-1]) == index:
            found.add((index, index))
        tests = [item for item in block if item.opcode.startswith("SYNCS.PHASECHK") and "TRYWAIT" in item.opcode]
        last = block[-1]
        guard = getattr(last, "guard", "")
        if not tests or last.root != "BRA" or guard.lstrip("!") != (tests[-1].operands or [""])[0]:
            continue
        taken = kernel.target_of(last)
        found |= {(index, other) for other in kernel.successors[index] if (other == taken) == guard.startswith("!")}
    return found


class Flow:
    """What is known of how often blocks run and edges between them are taken: what comes into a block leaves it."""

    def __init__(self, kernel, known, untaken):
        live = {0} | _after(kernel, 0, untaken)
        self.following = [
            sorted(other for other in of if index in live and (index, other) not in untaken)
            for index, of in enumerate(kernel.successors)
        ]
        self.before = [[other for other, of in enumerate(self.following) if index in of] for index in range(len(self.following))]
        self.blocks, self.edges = dict(known), {}
        self.entered = known[0]

    def _deduce(self, index, edges, outside):
        """From all edges on one side of a block the block, or from it and all but one edge the last one."""
        missing = [edge for edge in edges if edge not in self.edges]
        if missing and self.blocks.get(index) == 0.0:
            self.edges.update(dict.fromkeys(missing, 0.0))
            return True
        rest = outside + sum(self.edges[edge] for edge in edges if edge in self.edges)
        if not missing and edges and index not in self.blocks:
            self.blocks[index] = rest
            return True
        if len(missing) == 1 and index in self.blocks:
            self.edges[missing[0]] = max(0.0, self.blocks[index] - rest)
            return True
        return False

    def spread(self):
        """All that follows from what is known."""
        changed = True
        while changed:
            changed = False
            for index, following in enumerate(self.following):
                changed |= self._deduce(index, [(index, other) for other in following], 0.0)
                changed |= self._deduce(
                    index, [(other, index) for other in self.before[index]], self.entered if index == 0 else 0.0
                )


def _fill(kernel, known, untaken):
    """Blocks of which no line says anything, from the flow of control; where that does not say it either, they run as
    often as the rarest neighbour, and outside of loops at most once for every warp."""
    reached = {0} | _after(kernel, 0, untaken)
    flow = Flow(kernel, known, untaken)
    flow.spread()
    looping = {index for index in reached if index in _after(kernel, index, untaken)}
    inner = {}
    for body in sorted(loops_of(kernel).values(), key=len, reverse=True):
        inner.update(dict.fromkeys(body, frozenset(body)))
    near = {}
    for index in reached:
        around = {*flow.before[index], *flow.following[index]} - {index}
        # Neighbours of an inner loop, or of an outer one, say less.
        near[index] = {other for other in around if inner.get(other) == inner.get(index)} or around
    share = lambda index: sum(i in flow.blocks for i in near[index]) / max(1, len(near[index]))  # noqa: E731
    # First those that are surrounded by what is known.
    while (open_ := [index for index in reached - flow.blocks.keys() if share(index)]):
        index = min(open_, key=lambda index: (-share(index), index))
        flow.blocks[index] = min(
            [flow.blocks[i] for i in near[index] if i in flow.blocks] + [known[0]] * (index not in looping)
        )  # fmt: skip
        flow.spread()
    return [flow.blocks.get(index, 0.0) if index in reached else 0.0 for index in range(len(kernel.code))]


def _after(kernel, start, without=frozenset()):
    """Blocks that may run after one, `without` some edges."""
    found, waiting = set(), [(start, other) for other in kernel.successors[start]]
    while waiting:
        edge = waiting.pop()
        if edge[1] not in found and edge not in without:
            found.add(edge[1])
            waiting += [(edge[1], other) for other in kernel.successors[edge[1]]]
    return found


def loops_of(kernel):
    """{header: blocks} of natural loops: of edges back to a block that is on the way, depth first."""
    before, back = [[] for _ in kernel.code], set()
    for i, of in enumerate(kernel.successors):
        for j in of:
            before[j].append(i)
    state, stack = {0: 1}, [(0, iter(sorted(kernel.successors[0])))]
    while stack:
        i, following = stack[-1]
        for j in following:
            if j not in state:
                state[j] = 1
                stack.append((j, iter(sorted(kernel.successors[j]))))
                break
            if state[j] == 1:
                back.add((i, j))
        else:
            state[i] = 2
            stack.pop()
    loops = {}
    for i, header in sorted(back):
        body, todo = loops.setdefault(header, {header}), [i]
        while todo:
            at = todo.pop()
            if at not in body:
                body.add(at)
                todo += before[at]
    return loops
