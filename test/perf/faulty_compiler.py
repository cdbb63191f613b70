#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiler that does what the input is called: good, hang, crash, memory, words, interrupt."""

import json
import os
import pathlib
import signal
import sys
import time

for line in sys.stdin:
    request = json.loads(line)
    fault = request["input"]
    if fault == "hang":
        time.sleep(600)
    if fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "interrupt":
        os.kill(os.getpid(), signal.SIGTERM)
    if fault == "memory":
        sys.exit("tilewright-compile: error: stopped, because it took more than 1 MiB of memory (--max-memory)")
    if fault == "words":
        sys.exit("tilewright-compile: error: a memory that it does not know")
    if "output" in request:
        pathlib.Path(request["output"]).write_bytes(b"an artifact")
    print(json.dumps({"ok": True, "diagnostics": ""}), flush=True)
