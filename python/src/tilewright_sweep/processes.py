# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The processes that compile and measure: what an interrupt does to them.

Each is a session of its own, so Ctrl-C on the terminal reaches this process alone. Where it is interrupted it kills
all of them and starts no more; what they worked on is no verdict about a candidate.
"""

import signal
import subprocess
import threading

#: Between the end of a process's answers and its own: longer than a system takes to write nothing down.
PATIENCE = 2.0

#: Whoever holds it may be interrupted, and end all.
_lock, _alive, _over = threading.RLock(), set(), False


class Interrupted(Exception):
    """Somebody ended the process, or this one: what it worked on is to be done again."""


def check():
    """Of whoever waits for something else than a process: raises Interrupted behind `end_all`."""
    if _over:
        raise Interrupted("interrupted: nothing is started any more")


def start(command, **options):
    with _lock:
        check()
        process = subprocess.Popen(command, start_new_session=True, bufsize=0, **options)
        _alive.add(process)
        if _over:  # this thread was interrupted meanwhile
            _kill(process)
    return process


def _kill(process):
    try:
        process.kill()
    except ProcessLookupError:
        pass  # Python before 3.9: it came to its end, and somebody else waits for it


def end(process):
    """Kills it; its return code."""
    _kill(process)
    code = process.wait()
    with _lock:
        _alive.discard(process)
    return code


def outcome(process, patience=PATIENCE):
    """The return code of a process that answers no more, its own where it comes to its end within `patience` seconds."""
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        pass
    code = end(process)
    if _over or code in (-signal.SIGINT, -signal.SIGTERM):
        raise Interrupted(f"{process.args[0]} was interrupted")
    return code


def end_all():
    """Whoever waits for one of them gets Interrupted, and so does whoever starts one, until `resume`."""
    global _over
    with _lock:
        _over = True
        for process in list(_alive):
            _kill(process)


def resume():
    global _over
    with _lock:
        _over = False
