#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pinned configs of products beside cuBLAS: what the ranking of the compiler was held against.

    perf/ladder/make.py --configs perf/ladder/configs.json -o configs             # here: a slice per problem, a rung per config
    python3 ladder/run.py --folder=configs --peers=cublas --json=dependent.jsonl  # there; TILEWRIGHT_CUDA_DEPENDENT_LAUNCH=0 for plain.jsonl
    perf/ladder/configs.py dependent.jsonl plain.jsonl > README.md                # here again

configs.json is a list of {"m", "n", "k", "type" (bf16), "configs": [fields of a config as text]}; each problem has what the
compiler takes beside them.
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import rungs

SHORT = (("strategy = warp_specialized, ", ""), ("promote = [0, 1], ", ""))


def slices(path):
    """The problems of such a file as slices of the ladder."""
    found = []
    for entry in json.loads(path.read_text()):
        configs = entry.pop("configs")
        problem = rungs.Problem(**entry)
        found.append(rungs.Slice(problem.name, problem.name, (problem,), (
            rungs.Rung("default", "what the compiler takes"), *(rungs.Rung(str(i), x, x) for i, x in enumerate(configs)))))
    return found


def _times(path):
    """{(problem, config): (seconds, share of cuBLAS's speed)} of right answers, the first of equals."""
    found = {}
    for text in path.read_text().splitlines():
        line = json.loads(text)
        for report in line["rungs"].values():
            if report["config"] and report.get("verdict") == "ok" and "median_s" in report:
                found.setdefault((line["problem"]["name"], report["config"]), (report["median_s"], report.get("of_cublas")))
    return found


def table(dependent, plain):
    """Markdown: a row per problem and config, the fastest of a problem first."""
    order = list(dict.fromkeys(name for name, _ in dependent))
    text = ["| problem | config | us | of cuBLAS | us, launched plainly |", "|---|---|---|---|---|"]
    for (name, config), (seconds, share) in sorted(dependent.items(), key=lambda x: (order.index(x[0][0]), x[1][0])):
        other, said = plain.get((name, config)), config
        for long, short in SHORT:
            said = said.replace(long, short)
        text.append(f"| `{name}` | `{said}` | {seconds * 1e6:.1f} | {'' if share is None else f'{share:.2f}'} | "
                    f"{'' if other is None else f'{other[0] * 1e6:.1f}'} |")
    return "\n".join(text)


if __name__ == "__main__":
    print(table(_times(pathlib.Path(sys.argv[1])), _times(pathlib.Path(sys.argv[2])) if len(sys.argv) > 2 else {}))
