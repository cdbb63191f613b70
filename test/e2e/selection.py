# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which of the generated cases a run takes when it does not take all of them.

A case on a target has the factors family, element type, layout, static or dynamic, class of its sizes, and target; the
run takes cases in which every pair of values of two factors that exists appears (pairs.py), and what always.txt lists
on every target. A function is compiled for the targets on which one of its cases was taken, and for the oracle.

Some labels say little of a target: a config pinned for one target is none for the others, whose default is tried once;
where nothing runs, sizes do not matter; labels of some families (ALIKE) have much in common from their first words on; and
others (SIMILAR_CODE) have neither products nor attention, for which newer GPUs of NVIDIA have kernels of their own: labels and
sizes are tried on the first of them.
"""

import fnmatch
import math
import re

import batches as batching
import pairs

ORACLE = "cpu-reference"
LARGE = 4096  # input elements
COMPILED_ONLY = ("cuda:sm_100a",)  # by no device of the end-to-end run
ALIKE = {"attention": 1, "attention_pages": 1, "filling": 2}  # words of labels that count

NEWER_GPUS = ("cuda:sm_90a", "cuda:sm_100a")
SIMILAR_CODE = {"asserts", "broadcast", "cast", "cast_packed", "combiner", "copy", "donated", "elementwise", "fill", "gather",
                "host_scalars", "host_slices", "loop_program", "marked", "math", "memref_elementwise", "memref_program", "nonzero",
                "pack", "pad", "parallel_loop", "partial_inits", "pooling", "scan", "scatter", "sort", "transpose", "unique"}


def is_similar(function, target):
    """Whether an older target has kernels much like those of the function."""
    return function.family in SIMILAR_CODE and target in NEWER_GPUS


def layout(function):
    """A function's label without its sizes: which operand is transposed, which dims are reduced, which config."""
    words = function.path.split("/")[3].split("_")
    return "_".join(w for w in words if w != "any" and not re.fullmatch(r"\d+(x\d+)+", w))


def layouts(function, targets):
    """For each of `targets`, what of the label matters there."""
    own = layout(function)
    pinned = set(re.findall(r'[{,] *"([a-z0-9_:+-]+)" = #tilewright.lowering_config', function.text()))
    short = "_".join(own.split("_")[:ALIKE[function.family]]) if function.family in ALIKE else own
    return {t: "default" if pinned and t not in pinned and batching.short(t) not in pinned
            else "" if t in COMPILED_ONLY or is_similar(function, t) else short for t in targets}


def elements(case):
    """How many elements the inputs of a case have."""
    return sum(math.prod(int(d) for d in re.findall(r"(\d+)x", i["type"])) for i in case.inputs)


def size_class(case):
    sizes = [int(d) for i in case.inputs for d in re.findall(r"(\d+)x", i["type"])]
    if 0 in sizes:
        return "empty"
    if all(d == 1 for d in sizes):
        return "one"
    aligned = "aligned" if all(d % 8 == 0 for d in sizes if d > 1) else "ragged"
    return f"large {aligned}" if elements(case) > LARGE else aligned


def select(functions, targets, seed, patterns):
    """Sets `targets` of each case to those where it is taken. Returns (how many cases on targets are taken, of how many)."""
    tried = [(f, case, target) for f in functions for case in f.cases for target in targets
             if target != ORACLE and (not f.targets or batching.short(target) in f.targets)]
    shown = {f.path: layouts(f, targets) for f in functions}
    rows = [(f.family, "" if target in COMPILED_ONLY and is_similar(f, target) else f.element, shown[f.path][target], f.shape,
             "" if target in COMPILED_ONLY or is_similar(f, target) else size_class(case), target) for f, case, target in tried]
    work = [(f.path, (f.path, target)) for f, _, target in tried]
    always = [n for n, (_, case, _) in enumerate(tried) if any(fnmatch.fnmatchcase(case.name, p) for p in patterns)]
    chosen = pairs.choose(rows, seed, always, work)
    for f in functions:
        for case in f.cases:
            case.targets = set()
    for n in chosen:
        _, case, target = tried[n]
        case.targets.add(target)
    return len(chosen), len(rows)
