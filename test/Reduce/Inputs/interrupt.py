# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py LOG COMMAND…: interrupts a command, as a terminal does with all of its processes, once LOG has five lines."""

import os
import pathlib
import signal
import subprocess
import sys
import time

log, end = pathlib.Path(sys.argv[1]), time.monotonic() + 60
process = subprocess.Popen(sys.argv[2:], start_new_session=True)
while (not log.exists() or len(log.read_text().splitlines()) < 5) and time.monotonic() < end and process.poll() is None:
    time.sleep(0.01)
os.killpg(process.pid, signal.SIGINT)
print("exit code", process.wait(timeout=60))
