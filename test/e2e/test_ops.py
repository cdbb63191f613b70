#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the families have every op of linalg that the compiler takes.

    test_ops.py [BUILD]

`tilewright-compile --list-ops` is the list; an op that no program of the families has, and that is not in WITHOUT below
with the reason, fails.
"""

import pathlib
import re
import subprocess
import sys

import families

# Ops that the families' programs do not have as text, and who tests them.
WITHOUT = {}


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2] / "build")
    listed = subprocess.run([build / "bin/tilewright-compile", "--list-ops"], check=True, capture_output=True, text=True).stdout
    wanted = set(re.findall(r"^\s*(linalg\.\w+)", listed, re.MULTILINE))
    found = {name for family in families.ALL for function in family.functions() for name in re.findall(r"linalg\.\w+", function.text())}
    missing = sorted(wanted - found - set(WITHOUT))
    stale = sorted(set(WITHOUT) & found | set(WITHOUT) - wanted)
    for name in missing:
        print(f"FAILED {name}: no program of the families has it")
    for name in stale:
        print(f"FAILED {name}: is among the exceptions, and need not be")
    print(f"ops: {len(wanted) - len(missing)} of {len(wanted)} ops of linalg are in programs, {len(WITHOUT)} excepted")
    sys.exit(bool(missing or stale or not wanted))


if __name__ == "__main__":
    main()
