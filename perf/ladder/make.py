#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the ladder (rungs.py): a folder with an artifact for each slice and rung, and plan.json.

    perf/ladder/make.py -o ladder             # here
    python3 ladder/run.py --device=cuda       # there; a session of tilewright-sweep does it as its step `ladder`
"""

import argparse
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import configs
import rungs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="the folder")
    parser.add_argument("--size", choices=("full", "tiny"), default="full", help="tiny: what a simulator can do (%(default)s)")
    parser.add_argument("--slices", default="", help="only those with this text in their names")
    parser.add_argument("--configs", type=pathlib.Path, metavar="FILE", help="instead of the ladder, pinned configs of problems (configs.py)")
    parser.add_argument("--target", default="cuda:sm_90a", help="%(default)s")
    parser.add_argument("--compiler", default=str(HERE.parents[1] / "build/bin/tilewright-compile"), help="%(default)s")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    plan = {"schema": 1, "size": arguments.size, "target": arguments.target, "slices": []}
    for slice_ in configs.slices(arguments.configs) if arguments.configs else rungs.slices(arguments.size):
        if arguments.slices not in slice_.name:
            continue
        for rung in slice_.rungs:
            name = f"{slice_.name}-{rung.name}"
            done = subprocess.run([arguments.compiler, "-", f"--target={arguments.target}", "-o",
                                   str(arguments.output / f"{name}.tw")], input=rungs.program(slice_, rung), text=True,
                                  stderr=subprocess.PIPE)
            if done.returncode:
                sys.exit(f"make.py: error: {name}: {done.stderr.strip()}")
        plan["slices"].append({"name": slice_.name, "title": slice_.title, "checked_only": slice_.checked_only,
                               "problems": [dataclasses.asdict(p) for p in slice_.problems],
                               "rungs": [dataclasses.asdict(r) for r in slice_.rungs]})
    (arguments.output / "plan.json").write_text(json.dumps(plan, indent=1) + "\n")
    for name in ("run.py", "rungs.py"):
        shutil.copy(HERE / name, arguments.output / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
