# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that measures, with two candidates that do not come back: faulty_measure.py CRASHES HANGS DESCRIPTOR."""

import os
import signal
import sys
import time

from tilewright_sweep import measure

crashes, hangs = sys.argv.pop(1), sys.argv.pop(1)
checked, timed = measure.Measurer.check, measure.Measurer._batch


def check(self, request):
    if request["id"] == crashes:
        os.kill(os.getpid(), signal.SIGSEGV)
    reply = checked(self, request)
    if request["id"] == hangs:
        self.hanging = self.calls[hangs]
    return reply


def batch(self, call, length, **more):
    if call is getattr(self, "hanging", None):
        time.sleep(600)
    return timed(self, call, length, **more)


measure.Measurer.check, measure.Measurer._batch = check, batch
measure.main()
