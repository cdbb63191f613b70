# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of what is covered: operations of the functions of test/e2e, and what became of each in the reports of its runs.

    docs/site/coverage.py REPORT...        # prints the page

A report is what test/e2e/run.py writes. What no report has is "not run": nothing is taken from the functions alone.
"""

import collections
import dataclasses
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/e2e"))

KINDS = {"Structured operations": ("linalg",), "Operations of ours": ("tilewright",), "TOSA": ("tosa",),
         "Tensors and memrefs": ("tensor", "memref"), "In bodies": ("math", "arith"),
         "On the host and around kernels": ("scf", "affine", "cf", "vector", "func")}
OP = re.compile(rf"(?<![\w#!%@.])((?:{'|'.join(d for dialects in KINDS.values() for d in dialects)})\.\w+)")
# What reads like an op, and is an attribute, or a terminator.
NO_OPS = re.compile(r"^tilewright\.(lowering_config|combined)$|^\w+\.yield$|^(func|linalg)\.return$")
BACKENDS = ("cpu", "cuda", "vulkan")
SHAPES = ("static", "dynamic")
# Devices of the suite that are another back end's: its code, simulated or on another machine.
DEVICES = {"ptxsim": "cuda", "vulkan-newer": "vulkan", "cpu-aarch64": "cpu"}


@dataclasses.dataclass
class Cell:
    """An op with an element type, on a back end, with sizes that are known or not."""
    passed: int = 0
    failed: int = 0
    reasons: set = dataclasses.field(default_factory=set)

    def text(self, notes):
        marks = "".join(f"[^{notes.setdefault(reason, len(notes) + 1)}]" for reason in sorted(self.reasons))
        if self.failed:
            return f"**{self.failed} failed**{marks}"
        if self.passed:
            return f"{self.passed}{marks}"
        return f"refused{marks}" if marks else "not run"


def ops_of(function):
    text = re.sub(r'"[^"\n]*"', "", "\n".join(function.lines))
    return {op for op in OP.findall(text) if not NO_OPS.match(op)}


def backend(device):
    """cpu, cuda or vulkan, of `ptxsim@sm_90+large` or `cuda:sm_80` as of any other name of a device or target."""
    name = re.split("[@:]", device)[0]
    return DEVICES.get(name, name)


def collect(functions, reports):
    """{op: {element: {(back end, shape): Cell}}}, without the cells that no function is for."""
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    by_case, by_path = {}, {}
    for function in functions:
        cells = collections.defaultdict(list)
        for op in ops_of(function):
            for name in BACKENDS:
                if not function.targets or name in function.targets:
                    cells[name].append(found[op][function.element].setdefault((name, function.shape), Cell()))
        by_path[function.path] = cells
        by_case.update((case.name, cells) for case in function.cases)
    for report in reports:
        for test in report["cases"]:
            note(test, by_case, by_path)
    return found


def note(test, by_case, by_path):
    """Adds one verdict of a report to the cells it is about."""
    name, verdict, reason = test["name"], test["verdict"], test["reason"]
    refused = re.fullmatch(r"refuse (\S+) for (\S+)", name)
    if refused:
        for cell in by_path.get(refused[1], {}).get(backend(refused[2]), []):
            if verdict == "skipped":
                cell.reasons.add(reason.partition(": ")[2] or reason)
            else:
                cell.failed += 1
        return
    case, _, device = name.rpartition(" on ")
    for cell in by_case.get(case, {}).get(backend(device), []):
        if verdict == "passed":
            cell.passed += 1
        elif verdict == "failed":
            cell.failed += 1
        elif reason.startswith("known to fail: "):
            cell.reasons.add("wrong: " + reason.removeprefix("known to fail: "))


def table(found, dialects, notes):
    head = [f"{name}, {shape}" for name in BACKENDS for shape in SHAPES]
    rows = [f"| op | element types | {' | '.join(head)} |", "|---" * (len(head) + 2) + "|"]
    for op in sorted(found):
        if op.split(".")[0] not in dialects:
            continue
        for element, cells in sorted(found[op].items()):
            texts = [cells[name, shape].text(notes) if (name, shape) in cells else "" for name in BACKENDS for shape in SHAPES]
            rows.append(f"| `{op}` | {element} | {' | '.join(texts)} |")
    return rows


def page(functions, reports):
    found, notes = collect(functions, reports), {}
    every = [cell for elements in found.values() for cells in elements.values() for cell in cells.values()]
    states = collections.Counter("failed" if c.failed else "passed" if c.passed else "refused" if c.reasons else "not run" for c in every)
    counted = ", ".join(f"{states[state]} {state}" for state in ("passed", "refused", "failed", "not run"))
    text = ["# What is covered", "",
            "Made of what the end-to-end suite reported when it last ran: how many cases passed of functions that have the operation, with "
            "the element types (those of operands and of the result, where they differ), compiled for the back end and compared with the "
            "oracle, with sizes known to the compiler or not until the run. CUDA's are simulated where the machine has no GPU. "
            "*refused*: the compiler says why; *not run*: a function is there, and the reports say nothing of it (a run takes cases in which all "
            "pairs of factors appear, `--all` every one); empty: the suite has no such function.", "",
            f"{len(found)} operations; of their cells {counted}.", ""]
    for title, dialects in KINDS.items():
        text += [f"## {title}", "", *table(found, dialects, notes), ""]
    text += [f"[^{number}]: {reason}" for reason, number in notes.items()]
    return "\n".join(text) + "\n"


def suite():
    """Every function of the suite."""
    from families import ALL

    return [function for family in ALL for function in family.functions()]


def reports_in(build):
    """The reports of the last run of scripts/test, else of the last one by hand."""
    paths = sorted((build / "test-results").glob("e2e*.json")) or [p for p in [build / "e2e/report.json"] if p.exists()]
    return read(paths)


def read(paths):
    return [json.loads(path.read_text()) for path in paths]


if __name__ == "__main__":
    sys.stdout.write(page(suite(), read([pathlib.Path(path) for path in sys.argv[1:]])))
