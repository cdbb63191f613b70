# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that hang, or whose error takes the whole context along, cost one attempt each and not the run.

    attempts = Attempts(results_path)
    with attempts.of(place, "gemm", "f16_64"):      # raises runtime.Error where this one lost the device before
        call(stream)

A call gets the seconds of places.PATIENCE. Where the device does not answer after an error, no
work of this process runs on it any more: DeviceLost, upon which the process ends with the exit code LOST, and whoever
started it does so again. What was under way stands in RESULTS.attempts, lines of JSON beside the results, and is not
tried again. A process that died without a word (it crashed, or was killed because its time was over) left what it had
begun; that is tried once more.
"""

import contextlib
import os
import pathlib
import sys

from tilewright_sweep import journal, runtime

#: Exit code: the device is lost; started again, the run goes on behind what lost it.
LOST = 3


class DeviceLost(Exception):
    """The device answers this process no longer."""


class Attempts:
    def __init__(self, results):
        self.path = results.with_name(results.name + ".attempts")
        #: Why what may not be tried again, by its words.
        self.lost = {}
        begun, died = None, set()
        for line in journal.read_records(self.path):
            words = tuple(line["of"])
            begun = words if line["is"] == "begun" else None
            if line["is"] == "lost":
                self.lost[words] = line["why"]
            if line["is"] == "died":
                died.add(words)
        if begun in died:
            self._lose(begun, "the process died at it twice")
        elif begun:
            self._write("died", begun)

    def _write(self, is_, words, **more):
        journal.append(self.path, {"is": is_, "of": words, **more})

    def _lose(self, words, why):
        self.lost[words] = why
        self._write("lost", words, why=why)

    @contextlib.contextmanager
    def of(self, place, *words):
        """Of what is done within, one attempt in all runs together may lose the device."""
        if words in self.lost:
            raise runtime.Error(f"not tried again, it lost the device: {self.lost[words]}")
        self._write("begun", words)
        try:
            yield
        except RuntimeError as error:
            if not place.answers():
                self._lose(words, str(error).split("\n")[0])
                raise DeviceLost(f"{' '.join(words)}: {self.lost[words]}") from error
            raise
        finally:
            if words not in self.lost:
                self._write("over", words)


def run(main):
    """Runs main() and ends the process with its exit code. At once where the device is lost: what is still running would make an
    orderly end wait for it."""
    try:
        sys.exit(main())
    except DeviceLost as error:
        print(f"the device is lost, run again to go on: {error}", flush=True)
        sys.stderr.flush()
        os._exit(LOST)
    except (runtime.Error, OSError) as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: error: {error}")
