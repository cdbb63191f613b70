# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ops.py and models.py found: results.tsv and models.tsv beside this file, and docs/torch.md, which is made of them.

A line of results.tsv is a sample: operator, its type and number, result, reason, inputs. A line of models.tsv is a model: its name,
result, reason, kernels of a call for cpu and for sm_90a, and the largest error as a share of the result's largest element.
"""

import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "results.tsv"
MODELS = HERE / "models.tsv"
PAGE = HERE.parents[1] / "docs/torch.md"
# From good to bad. refused: with a diagnostic; failed: a crash, or a call that is an error; endless: no answer in time.
ORDER = ("right", "refused", "failed", "endless", "wrong")


def read():
    """{operator: {case: (result, reason, inputs)}}"""
    table = collections.defaultdict(dict)
    if TABLE.exists():
        for line in TABLE.read_text().splitlines()[1:]:
            operator, case, *cells = line.split("\t")
            table[operator][case] = tuple(cells)
    return dict(table)


def write(table):
    lines = ["operator\tcase\tresult\treason\tinputs"]
    for operator, cases in sorted(table.items()):
        lines += ["\t".join(re.sub(r"\s+", " ", word) for word in (operator, case, *cells)) for case, cells in sorted(cases.items())]
    TABLE.write_text("\n".join(lines) + "\n")
    PAGE.write_text(page(read()))


def read_models():
    """{model: (result, reason, kernels, kernels for sm_90a, error)}, all text"""
    lines = MODELS.read_text().splitlines()[1:] if MODELS.exists() else []
    return {name: tuple(cells) for name, *cells in (line.split("\t") for line in lines)}


def write_models(table):
    lines = ["model\tresult\treason\tkernels\tkernels for sm_90a\terror"]
    for name, (result, reason, kernels, on_gpu, error) in sorted(table.items()):
        error = f"{float(error):.0e}" if result == "right" else ""
        lines.append("\t".join([name, result, re.sub(r"\s+", " ", reason), str(kernels), str(on_gpu), error]))
    MODELS.write_text("\n".join(lines) + "\n")
    PAGE.write_text(page(read()))


def worse(recorded, found):
    """Lines that say what is not as good as recorded; a refusal of what was refused may have other words."""
    lines = []
    for operator, cases in sorted(found.items()):
        for case, (result, reason, _) in sorted(cases.items()):
            before = recorded.get(operator, {}).get(case)
            if before is None:
                lines.append(f"{operator} {case}: not recorded; --record")
            elif ORDER.index(result) > ORDER.index(before[0]):
                lines.append(f"{operator} {case}: was {before[0]}, is {result}: {reason}")
    return lines


def check_page():
    if PAGE.exists() and PAGE.read_text() == page(read()):
        return 0
    print("docs/torch.md is not what test/torch/*.tsv make; test/torch/ops.py --record", file=sys.stderr)
    return 1


def count(cases):
    """`right / tried`, of those that are not right also how."""
    results = collections.Counter(cells[0] for cells in cases)
    others = ", ".join(f"{results[what]} {what}" for what in ORDER[1:] if results[what])
    return f"{results['right']} / {sum(results.values())}" + (f" ({others})" if others else "")


def cause(reason):
    """A reason without numbers and names of one case."""
    text = re.sub(r"'(%|@)?\w*\d\w*'", "…", reason)
    text = re.sub(r"tensor<[^>]*>|(?<![\w.])-?\d+(\.\d+)?(e[-+]?\d+)?(?![\w.])", "…", text)
    return text.replace("|", "\\|")


def group(operator):
    if re.match(r"nn\.[A-Z]", operator):
        return "modules (`nn.Conv2d`, …)"
    known = re.match(r"(nn\.functional|linalg|special|fft|masked|signal)\.", operator)
    return f"`{known[1]}.*`" if known else "others"


def models_page(table):
    """The section about models."""
    if not table:
        return []
    good = sum(cells[0] == "right" for cells in table.values())
    lines = MODELS_HEAD.format(models=len(table), good=good).splitlines() + ["| model | result | kernels of a call, cpu | sm_90a |", "|---|---|---|---|"]
    for name, (result, reason, kernels, on_gpu, _) in sorted(table.items()):
        lines.append(f"| {name} | {result}{': ' + cause(reason) if reason else ''} | {kernels if kernels != '0' else ''} | {on_gpu if on_gpu != '0' else ''} |")
    return lines


def page(table):
    """docs/torch.md"""
    every = [cells for cases in table.values() for cells in cases.values()]
    good = [name for name, cases in table.items() if all(cells[0] == "right" for cells in cases.values())]
    lines = [HEAD.format(operators=len(table), samples=len(every), good=len(good))]
    lines += ["| | operators | all right | samples right / tried |", "|---|---|---|---|"]
    groups = collections.defaultdict(list)
    for name in table:
        groups[group(name)].append(name)
    for title, names in [("all", list(table)), *sorted(groups.items())]:
        cells = [each for name in names for each in table[name].values()]
        lines.append(f"| {title} | {len(names)} | {len(set(names) & set(good))} | {count(cells)} |")
    lines += models_page(read_models())
    lines += ["", "## Not all right", "", "| operator | samples right / tried | first reason |", "|---|---|---|"]
    for name, cases in sorted(table.items()):
        bad = [cells for cells in cases.values() if cells[0] != "right"]
        if bad:
            lines.append(f"| {name} | {count(cases.values())} | {cause(bad[0][1])} |")
    lines += ["", "## All right", ""]
    for title, names in sorted(groups.items()):
        lines += [f"{title}: {', '.join(sorted(set(names) & set(good)))}", ""]
    return "\n".join(lines).rstrip() + "\n"


HEAD = """# PyTorch operators

{operators} of the operators and modules that PyTorch tests itself with (`op_db` and `module_db`, 817 in torch 2.15.0), {samples} samples of their
inputs, compiled by `tilewright.from_torch` for `cpu`, run, and held against what PyTorch gives; {good} are right in all samples. A sample of f32, i64,
bool or f16 has the tolerances of `test/torch/attempt.py`; of random results the shape and the type are compared, complex ones are returned as
their parts. `test/torch/ops.py --record` makes this page; `test/torch/README.md` says how, [From Python](python.md#from-pytorch) how to compile
modules. What is not here was not tried yet.

Right / tried; *refused*: an error says why; *failed*: a crash, or a call is an error; *endless*: it takes too long; *wrong*: another result.
"""

MODELS_HEAD = """
## Models

{models} models of Transformers, torchvision and timm with random weights, of which {good} are right on `cpu` (within 1e-3 of the largest element
of a result). Those of Transformers have two layers; `test/torch/model_list.py` has their sizes. `test/torch/models.py --record` makes the table.
A model of that list that is not here was not tried yet. *@dynamic*: a program for any number of sequences and tokens, called with several;
*@decode*: a prompt and 20 steps with caches of any length, which a step returns; *@static-cache*: with caches of 32 tokens, which it writes in
place ([language models](python.md#language-models)); *@chunks*: padded sequences in parts of any length. Kernels are those of a step then,
also those that are for some sizes alone.

"""
