# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of what is covered, out of the functions and the expected failures of test/e2e."""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/e2e"))

KINDS = {"Structured operations": ("linalg",), "Tensors and memrefs": ("tensor", "memref"), "In bodies": ("math", "arith"),
         "On the host": ("scf", "vector", "func")}
OP = re.compile(r"\b((?:linalg|tensor|memref|math|arith|scf|vector|func)\.\w+)")
SHAPES = {"static": "s", "dynamic": "d"}


def collect():
    """{op: {element: set of shapes}} of every function of the suite."""
    from families import ALL

    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for family in ALL:
        for function in family.functions():
            for op in set(OP.findall("\n".join(function.lines))):
                found[op][function.element].add(SHAPES[function.shape])
    return found


def table(found, dialects):
    rows = ["| op | element types |", "|---|---|"]
    for op in sorted(found):
        if op.split(".")[0] in dialects:
            cells = [f"{element} ({''.join(sorted(shapes, reverse=True))})" for element, shapes in sorted(found[op].items())]
            rows.append(f"| `{op}` | {', '.join(cells)} |")
    return rows


def page():
    found = collect()
    text = ["# What is covered", "",
            "Made of the end-to-end suite: operations of its functions, each compiled for CUDA, Vulkan and the CPU and compared on every device "
            "with the oracle. The element types are those of the functions that an operation is in, `operands-result` where they "
            "differ; s: with static sizes, d: with sizes known at run time only.", ""]
    for title, dialects in KINDS.items():
        text += [f"## {title}", "", *table(found, dialects), ""]
    failures = [line for line in (ROOT / "test/e2e/expected-failures.txt").read_text().splitlines()
                if line.strip() and not line.startswith("#")]
    text += ["## Known not to work", "", *(["```", *failures, "```"] if failures else ["Nothing that the suite tries."]), ""]
    return "\n".join(text)
