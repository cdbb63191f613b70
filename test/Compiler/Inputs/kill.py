# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kill.py FILE COMMAND...: runs the command until its child has written its process id to FILE, kills the command,
and says whether the child ends as well."""

import os
import subprocess
import sys
import time


def wait(condition):
    for _ in range(300):
        if condition():
            return True
        time.sleep(0.1)
    return False


def is_running(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def read(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


note = sys.argv[1]
if os.path.exists(note):
    os.remove(note)
with subprocess.Popen(sys.argv[2:]) as command:
    if not wait(lambda: read(note)):
        command.kill()
        sys.exit("the child never started")
    child = read(note)
    command.kill()
    command.wait()
if wait(lambda: not is_running(child)):
    print("the child ended")
else:
    os.kill(int(child), 9)
    print("the child goes on")
