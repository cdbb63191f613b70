#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiler that does what the input is called: good, hang, crash, memory, interrupt."""

import json
import os
import signal
import sys
import time

for line in sys.stdin:
    fault = json.loads(line)["input"]
    if fault == "hang":
        time.sleep(600)
    if fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "interrupt":
        os.kill(os.getpid(), signal.SIGTERM)
    if fault == "memory":
        sys.exit("tilewright-compile: error: more than the memory that --max-memory allows")
    print(json.dumps({"ok": True, "diagnostics": ""}), flush=True)
