# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands in for compiler and runner, with a fault that is known.

As compiler (fake.py IN.mlir -o OUT …) it copies the program, and dies of a signal
if the program has FAULT=op in the environment and that op, or does not end if HANG
names one that it has; in SLOW, a file, it writes a line each time and then takes 60 s. REFUSE=op makes it refuse all programs, those with the op in more words. HANG_RUN is a runner that does not end. As runner (fake.py
OUT --function=… --input=…) it ends with 2, a difference, if the program multiplies
matrices, and with 1 if the inputs are not those of the function.
"""

import os
import re
import shutil
import signal
import sys
import time

program = open(sys.argv[1], encoding="utf-8").read()
if "-o" in sys.argv:
    if "REFUSE" in os.environ:
        refused = os.environ["REFUSE"] in program
        sys.exit("a long message, at whose end stands what is asked for: refused" if refused else "another")
    if os.environ.get("FAULT", "nothing") in program:
        os.kill(os.getpid(), signal.SIGABRT)
    if os.environ.get("HANG", "nothing") in program:
        time.sleep(600)
    if "SLOW" in os.environ:
        with open(os.environ["SLOW"], "a+", encoding="utf-8") as log:
            log.write("asked\n")
            log.seek(0)
            if len(log.readlines()) > 4:
                time.sleep(60)
    shutil.copyfile(sys.argv[1], sys.argv[sys.argv.index("-o") + 1])
    sys.exit(0)
if "HANG_RUN" in os.environ:
    time.sleep(600)
name = next(word.split("=")[1] for word in sys.argv if word.startswith("--function="))
inputs = [word for word in sys.argv if word.startswith("--input=")]
signature = re.search(rf"func\.func @{name}\((.*?)\)", program).group(1)
types = [tensor or scalar for tensor, scalar in re.findall(r"tensor<([^>]*)>|\b(index)\b", signature)]
given = [word.removeprefix("--input=").split("=")[0] for word in inputs]
if given != [type.replace("?", "7") for type in types]:
    sys.exit(f"inputs {given} for {types}")
differs = "linalg.matmul" in program
print("result[0]: NOTHING CHECKED" if "NOTHING" in os.environ else "result[0]: MISMATCH" if differs else "result[0]: ok")
sys.exit(2 if differs or "NOTHING" in os.environ else 0)
