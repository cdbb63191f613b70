# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles damaged copies of a program: mutate.py COMPILER COUNT FOLDER.

Each copy has a few characters or words changed, dropped, doubled or swapped. The
compiler must end by itself with exit code 0, or with 1 and a diagnostic.
"""

import pathlib
import random
import re
import subprocess
import sys

from make import FUNCTION

WORDS = ["-1", "0", "?", "9223372036854775807", "99999999999999999999", "f64", "i1", "index", "tensor", "memref",
         "%a", "%zero", "linalg.add", "scf.yield", "complex<f32>", "4294967296", "none", "@f", "vector<4xf32>"]


def mutate(text, generator):
    for _ in range(generator.randint(1, 3)):
        parts = re.findall(r"\w+|\s+|.", text, re.S)
        i = generator.randrange(len(parts))
        action = generator.randrange(4)
        if action == 0:
            parts[i] = generator.choice(WORDS)
        elif action == 1:
            parts[i] = ""
        elif action == 2:
            parts[i] *= 2
        else:
            j = generator.randrange(len(parts))
            parts[i], parts[j] = parts[j], parts[i]
        text = "".join(parts)
    return text


def main():
    compiler, count, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    bad = 0
    for i in range(count):
        source, output = folder / f"{i}.mlir", folder / f"{i}.tw"
        source.write_text(mutate(FUNCTION, random.Random(i)))
        output.unlink(missing_ok=True)
        done = subprocess.run([compiler, source, "-o", output, "--target=cuda:sm_80,cpu"], capture_output=True,
                              text=True, errors="replace", timeout=60)
        fine = done.returncode == 0 or (done.returncode == 1 and "error:" in done.stderr and not output.exists())
        if not fine:
            bad += 1
            print(f"{source}: exit code {done.returncode}\n{done.stderr[-500:]}")
    print(f"{count} damaged programs, {bad} badly handled")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
