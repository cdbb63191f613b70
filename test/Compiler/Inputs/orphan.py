# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""orphan.py COMPILER: starts it for a process that has ended and that nobody has waited for yet, with an input that
does not end, and says whether the compiler ends."""

import os
import subprocess
import sys

never, _writer = os.pipe()
parent = os.fork()
if parent == 0:
    os._exit(0)
# Ended, but not waited for: a zombie.
os.waitid(os.P_PID, parent, os.WEXITED | os.WNOWAIT)
try:
    done = subprocess.run([sys.argv[1], f"--parent-pid={parent}", "-", "-o", "-"], stdin=never, timeout=30, check=False)
    print("ended with status", done.returncode)
except subprocess.TimeoutExpired:
    print("waits for ever")
os.waitpid(parent, 0)
