# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of code, wherever their blocks stand in the text."""


def reachable(following):
    found, work = set(), [0]
    while work:
        if (block := work.pop()) not in found:
            found.add(block)
            work += following[block]
    return found


def natural_loops(following):
    """`following[b]`: the blocks that may come behind block b; 0 is the first. A list of loops, each the sorted numbers
    of its blocks: those from which a way leads back to a block through which every way to them goes."""
    known = reachable(following)
    before = {block: [] for block in known}
    for block in known:
        for other in following[block]:
            before[other].append(block)
    through = {block: known for block in known}
    through[0] = {0}
    changed = True
    while changed:
        changed = False
        for block in sorted(known - {0}):
            new = {block} | set.intersection(*(through[x] for x in before[block]))
            changed |= new != through[block]
            through[block] = new
    loops = {}
    for block in sorted(known):
        for head in following[block]:
            if head not in through[block]:
                continue
            inside, work = loops.setdefault(head, {head}), [block]
            while work:
                if (other := work.pop()) not in inside:
                    inside.add(other)
                    work += before[other]
    return [sorted(loops[head]) for head in sorted(loops)]
