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
    if os.getppid() != parent:  # it has ended before the request
        sys.exit(1)


if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
