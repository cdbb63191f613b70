# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the innermost loop of an assembly file that has most of an instruction: loop.py FILE INSTRUCTION."""

import re
import sys

lines = open(sys.argv[1]).read().splitlines()
labels = {match[1]: number for number, line in enumerate(lines) if (match := re.match(r"(\.LBB\w+):", line))}
best = []
for number, line in enumerate(lines):
    target = re.search(r"^\s+(?:b|cb|tb|j)\S*\s.*(\.LBB\w+)$", line)
    if target and labels.get(target[1], number) < number:
        loop = lines[labels[target[1]]:number + 1]
        inner = any(re.match(r"\.LBB", other) for other in loop[1:])
        if not inner and sum(sys.argv[2] in x for x in loop) > sum(sys.argv[2] in x for x in best):
            best = loop
print("\n".join(best))
