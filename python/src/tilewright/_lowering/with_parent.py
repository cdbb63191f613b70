# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process of a front end ends with the one that started it, even if that is killed.

    python with_parent.py PID SCRIPT ARGUMENTS...

runs the script. The request is made before its imports, which take seconds.
"""

import ctypes
import os
import runpy
import signal
import sys


def end_with_parent(parent):
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (AttributeError, OSError):
        return  # no Linux
    # It may have ended before the request. Another process than it starts this one where Python is a script.
    if os.getppid() != parent and not _is_running(parent):
        sys.exit(1)


def _is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
