# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that measures, which dies of a request: dying_measure.py REQUEST CRASHES MARK DESCRIPTOR.

Of "problem" or "time" the first process dies, which makes the file MARK. The candidate CRASHES makes it, too, and
crashes when it is timed; of "open" every process dies that finds it.
"""

import os
import pathlib
import signal
import sys

from tilewright_sweep import measure

request, crashes, mark = sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
opened, batch = measure.Measurer.open, measure.Measurer._batch


def open_device(self, asked):
    if request == "open" and mark.exists():
        os._exit(3)
    return opened(self, asked)


def dying_once(do):
    def once(self, asked):
        if not mark.exists():
            mark.touch()
            os._exit(3)
        return do(self, asked)

    return once


def one_batch(self, call, length, **more):
    if call is self.calls.get(crashes):
        mark.touch()
        os.kill(os.getpid(), signal.SIGSEGV)
    return batch(self, call, length, **more)


measure.Measurer.open, measure.Measurer._batch = open_device, one_batch
if request != "open":
    setattr(measure.Measurer, request, dying_once(getattr(measure.Measurer, request)))
measure.main()
