# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that measures, with made-up times: lucky_measure.py LUCKY FAST FILE DESCRIPTOR.

All take a microsecond; FAST 0.8 of it; LUCKY half of it in the first process, which is the one that makes FILE.
"""

import pathlib
import sys

from tilewright_sweep import measure

lucky, fast, file = sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
first = not file.exists()
file.touch()


def batch(self, call, length, **more):
    if call is self.calls.get(fast):
        return 0.8e-6
    return 0.5e-6 if first and call is self.calls.get(lucky) else 1e-6


measure.Measurer._batch = batch
measure.main()
