# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What run.py found: results.tsv beside this file, and docs/onnx.md, which is made of it.

A line of results.tsv is a case: name, operator, why torch-mlir does not lower it (empty: it does), and for each device the
result and its reason.
"""

import collections
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "results.tsv"
MODELS = HERE / "models.tsv"
PAGE = HERE.parents[1] / "docs/onnx.md"
DEVICES = ("cpu", "ptxsim@sm_80", "vulkan")
# From good to bad. misread: another result than the test's, but that of torch-mlir's text by plain loops; refused: with a
# diagnostic; failed: a crash, or a call that is an error; endless: no answer in a minute.
ORDER = ("right", "misread", "refused", "failed", "endless", "wrong")


def read():
    recorded = {}
    if TABLE.exists():
        for line in TABLE.read_text().splitlines()[1:]:
            name, operator, lowered, *cells = line.split("\t")
            found = {d: (cells[2 * i], cells[2 * i + 1]) for i, d in enumerate(DEVICES) if cells[2 * i]}
            recorded[name] = {"operator": operator, "lowered": lowered, "results": found}
    return recorded


def write(table):
    lines = ["\t".join(["case", "operator", "not lowered", *(w for d in DEVICES for w in (d, "reason"))])]
    for name, entry in sorted(table.items()):
        cells = [word for device in DEVICES for word in entry["results"].get(device, ("", ""))]
        lines.append("\t".join(re.sub(r"\s+", " ", word) for word in [name, entry["operator"], entry["lowered"], *cells]))
    TABLE.write_text("\n".join(lines) + "\n")
    PAGE.write_text(page(table))


def read_models():
    """Rows of models.tsv: model, device, image, verdict, kernels, seconds to compile, seconds of the first call."""
    return [line.split("\t") for line in MODELS.read_text().splitlines()[1:]] if MODELS.exists() else []


def write_models(rows):
    """Into models.tsv, beside what it has of other models and devices, and onto the page."""
    table = {(row[0], row[1]): row for row in [*read_models(), *rows]}
    lines = ["model\tdevice\timage\tverdict\tkernels\tcompiled\tcalled", *("\t".join(table[key]) for key in sorted(table))]
    MODELS.write_text("\n".join(lines) + "\n")
    PAGE.write_text(page(read()))


def merge(recorded, found, partial):
    """The record with what was found now; cases that are gone stay only after a run of a part."""
    table = dict(recorded) if partial else {}
    for name, entry in found.items():
        before = recorded.get(name, {"results": {}})["results"]
        table[name] = {**entry, "results": {**before, **entry["results"]}}
    return table


def worse(recorded, found):
    """Lines that say what is not as good as recorded; a refusal of what was refused may have other words."""
    lines = []
    for name, entry in sorted(found.items()):
        known = recorded.get(name)
        if known is None:
            lines.append(f"{name}: not recorded; --record")
            continue
        if entry["lowered"] and not known["lowered"]:
            lines.append(f"{name}: was lowered, is not: {entry['lowered']}")
        for device, (result, reason) in entry["results"].items():
            before = known["results"].get(device, ("", ""))[0]
            if before and ORDER.index(result) > ORDER.index(before):
                lines.append(f"{name} on {device}: was {before}, is {result}: {reason}")
    return lines


def report(path, found, lines):
    """For scripts/summarize.py: a case is good where it is as recorded."""
    bad = {}
    for line in lines:
        bad.setdefault(line.split(":")[0].split(" on ")[0], []).append(line)
    cases = [{"name": f"onnx {name}", "verdict": "failed" if name in bad else "passed",
              "reason": "; ".join(bad.get(name, []))} for name in sorted(found)]
    path.write_text(json.dumps({"cases": cases}))


def check_page(recorded):
    if PAGE.read_text() == page(recorded):
        return 0
    print("docs/onnx.md is not what test/onnx/results.tsv makes; test/onnx/run.py --record", file=sys.stderr)
    return 1


def cause(reason):
    """A reason without numbers and names of one case. Spaces are single, as the table has them."""
    reason = " ".join(reason.split())
    text = re.sub(r"'(%|@)?\w*\d\w*'", "…", reason)
    text = re.sub(r"tensor<[^>]*>|(?<![\w.])-?\d+(\.\d+)?(e[-+]?\d+)?(?![\w.])", "…", text)
    return text.replace("|", "\\|")


def page(table):
    """docs/onnx.md"""
    operators = collections.defaultdict(list)
    for entry in table.values():
        operators[entry["operator"]].append(entry)
    lowered = [entry for entry in table.values() if not entry["lowered"]]
    lines = [HEAD.format(cases=len(table), lowered=len(lowered))]
    lines += ["| | lowered | " + " | ".join(DEVICES) + " |", "|---|---|" + "---|" * len(DEVICES)]
    lines.append(f"| all | {len(lowered)} of {len(table)} | " + " | ".join(count(lowered, d) for d in DEVICES) + " |")
    for name in sorted(operators):
        entries = [entry for entry in operators[name] if not entry["lowered"]]
        cells = [count(entries, device) for device in DEVICES]
        lines.append(f"| {name} | {len(entries)} of {len(operators[name])} | " + " | ".join(cells) + " |")
    lines += ["", MODELS_HEAD, "| model | device | image | result | kernels | compiled, s | run, s |", "|---|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in read_models()]
    lines += ["", "## Not right, and why", ""]
    for device in DEVICES:
        lines += [f"### {device}", "", "| cases | result | reason |", "|---|---|---|"]
        reasons = collections.Counter((entry["results"][device][0], cause(entry["results"][device][1]))
                                      for entry in lowered if device in entry["results"]
                                      and entry["results"][device][0] != "right")
        for (result, reason), number in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
            lines.append(f"| {number} | {result} | {reason} |")
        lines.append("")
    lines += ["## Not lowered by torch-mlir, and why", "", "| cases | reason |", "|---|---|"]
    reasons = collections.Counter(cause(entry["lowered"]) for entry in table.values() if entry["lowered"])
    for reason, number in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"| {number} | {reason} |")
    return "\n".join(lines) + "\n"


def count(entries, device):
    """`right / tried`, of those that are not right also how."""
    results = collections.Counter(entry["results"][device][0] for entry in entries if device in entry["results"])
    if not results:
        return ""
    others = ", ".join(f"{results[what]} {what}" for what in ORDER[1:] if results[what])
    return f"{results['right']} / {sum(results.values())}" + (f" ({others})" if others else "")


MODELS_HEAD = """## Whole models

The image classifiers that the package has ("light": real networks, weights made up), by `test/onnx/models.py --record`. A whole image
is of 224 x 224; its result is held against the one in the package (relative 10⁻³). Two networks that take any size are simulated
with small images, against the oracle. *Compiled* is processor time of all threads, for both variants of `cpu`; *kernels* are those of both; *run* has loading the
program, and the oracle where it checks.
"""

HEAD = """# ONNX operators

The operator tests that the package `onnx` has ({cases} cases), lowered to linalg by torch-mlir ({lowered} of them), compiled and
run on each device, and held against the results that they carry, by their own tolerances. `test/onnx/run.py --record` makes this page;
`test/onnx/README.md` says how, [From Python](python.md#from-onnx) how to compile models.

Right / tried; *refused*: the compiler says why; *failed*: a call is an error; *endless*: it takes more than a minute; *wrong*: another result;
*misread*: another result, too, but the one that torch-mlir's text has when plain loops run it, or that text reads beyond a tensor.
"""
