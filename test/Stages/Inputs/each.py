# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""each.py FOLDER PROGRAM TARGETS: every stage alone, on the dump of the one before it, gives that stage's dump; and a
compilation that goes on from any dump ends in the same code. Messages and explanations name lines, ops and values of what was
read."""

import pathlib
import re
import subprocess
import sys

folder, program, targets = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]


def without_names(text):
    return re.sub(r'message = "[^"]*"|"(?:strategy|rows of) [^"]*"|operand [0-9] \(%\w+\)', "", text).split()


def run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stderr}")
    return done.stdout


def code(path, *options):
    return run("tilewright-compile", path, f"--target={targets}", "--emit=ptx", "-o", "-", *options)


run("tilewright-compile", program, f"--target={targets}", f"--dump-stages={folder}", "--emit=mlir", "-o", folder / "last")
dumps = sorted(folder.glob("*.mlir"))
expected, before = code(program), program
for number, dump in enumerate(dumps, 1):
    stage = dump.stem.split("-")[-1]
    if dump.name != f"{program.stem}.{number:02}-{stage}.mlir":
        sys.exit(f"{dump.name} is stage {number}")
    alone = run("tilewright-opt", f"-tilewright-stage=name={stage}" + (f" targets={targets}" if stage == "clone" else ""),
                before)
    if without_names(alone) != without_names(dump.read_text()):
        sys.exit(f"tilewright-opt: stage {stage} alone gives other IR")
    # A few of them, for the time that it takes.
    goes_on = stage in ("clone", "configure", "tile", "distribute")
    if goes_on and code(before, f"--start-at={stage}") != expected:
        sys.exit(f"tilewright-compile: --start-at={stage} gives other code")
    before = dump
print(f"{len(dumps)} stages")
