# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Watches over the process that measures, and over the device: one task at a time."""

import fcntl
import json
import os
import pathlib
import re
import select
import subprocess
import sys
import tempfile
import time

import tilewright_sweep
from tilewright_sweep import processes


class WorkerDied(RuntimeError):
    """The process that measures crashed or hung; `how` and the candidate at which it did."""

    def __init__(self, how, at, text):
        super().__init__(text)
        self.how, self.at = how, at


class DeviceBusy(RuntimeError):
    """Another task holds it."""


class Worker:
    """measure.py in a process. `command`: what to run instead of it, with the descriptor for replies behind it."""

    def __init__(self, seconds, command=None):
        self.seconds = seconds
        self.command = command or [sys.executable, "-m", "tilewright_sweep.measure"]
        self.process, self.started = None, 0

    def _start(self):
        self.started += 1
        place = str(pathlib.Path(tilewright_sweep.__file__).parent.parent)
        paths = [place] + [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
        mine, theirs = os.pipe()
        self.said = tempfile.TemporaryFile()
        try:
            self.process = processes.start(
                [*self.command, str(theirs)],
                stdin=subprocess.PIPE,
                stdout=self.said,
                stderr=self.said,
                pass_fds=[theirs],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )
        except BaseException:
            os.close(mine)
            self.said.close()
            raise
        finally:
            os.close(theirs)
        self.replies, self.rest = mine, b""

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None

    def ask(self, **request):
        """The reply; dies where none comes within the limit after a sign of life, and raises Interrupted where somebody
        ended the process."""
        if not self.alive:
            self.close()
            self._start()
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            raise self._died("crash", None) from None
        self.at, end = request.get("id"), time.monotonic() + self.seconds
        while True:
            line, newline, rest = self.rest.partition(b"\n")
            if newline:
                self.rest = rest
                reply = json.loads(line)
                if "ok" in reply:
                    return reply
                self.at, end = reply["now"] or self.at, time.monotonic() + self.seconds
                continue
            ready, _, _ = select.select([self.replies], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise self._died("timeout", self.at)
            part = os.read(self.replies, 1 << 16)
            if not part:
                raise self._died("crash", self.at)
            self.rest += part

    def _died(self, how, at):
        try:
            code = processes.outcome(self.process, 0 if how == "timeout" else processes.PATIENCE)
            self.said.seek(0)
            said = self.said.read().decode(errors="replace").strip().split("\n")[-1]
        finally:
            self.close()
        text = (
            f"no sign of life for {self.seconds:g} s"
            if how == "timeout"
            else (f"ended by signal {-code}" if code < 0 else f"ended with status {code}")
            + (f": {said}" if said else "")
        )
        return WorkerDied(how, at, text)

    def close(self):
        if self.process:
            processes.end(self.process)
            self.process.stdin.close()
            os.close(self.replies)
            self.said.close()
        self.process = None


def processors_of(device):
    """The set of "cpu@0,4-7"; None where the name has none."""
    name, at, text = device.partition("@")
    if not at:
        return None
    found = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if name != "cpu" or not match:
            raise ValueError(f"processors are cpu@0,4-7, not '{device}'")
        found |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    allowed = os.sched_getaffinity(0)
    if not found or found - allowed:
        raise ValueError(f"{device}: this process may run on {', '.join(map(str, sorted(allowed)))}")
    return found


def _open_for_all(path):
    """A file that every user of the machine may open. Linux refuses O_CREAT for what another user has made in /tmp."""
    while True:
        try:
            return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            pass
        try:
            made = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            continue
        os.fchmod(made, 0o666)
        return made


class DeviceLock:
    """Held while one task measures on a device, on this machine, whoever runs it. Of CPUs each processor is one. A simulator is
    its process's own, and measures nothing: there is nothing to hold."""

    def __init__(self, device, uuid, wait=False):
        family = re.split("[:@]", device)[0]
        names = [] if family == "ptxsim" else [uuid or device]
        if family == "cpu":
            # In order, so that two that wait do not wait for each other.
            names = [f"cpu {number}" for number in sorted(processors_of(device) or os.sched_getaffinity(0))]
        self.files = []
        try:
            for name in names:
                self._take(device, re.sub(r"\W", "_", name), wait)
        except BaseException:
            self.close()
            raise

    def _take(self, device, name, wait):
        path = os.path.join(tempfile.gettempdir(), f"tilewright-device-{name}.lock")
        self.files.append(_open_for_all(path))
        try:
            fcntl.flock(self.files[-1], fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            raise DeviceBusy(f"{device} is being measured by another task ({path}); --wait waits for it") from None

    def close(self):
        while self.files:
            os.close(self.files.pop())
