# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Watches over the process that measures, and over the device: one task at a time, and what else goes on there."""

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


class WorkerDied(RuntimeError):
    """The process that measures crashed or hung; `how` and the candidate at which it did."""

    def __init__(self, how, at, text):
        super().__init__(text)
        self.how, self.at = how, at


class Worker:
    """measure.py in a process. `command`: what to run instead of it, with the descriptor for replies behind it."""

    def __init__(self, seconds, command=None):
        self.seconds = seconds
        self.command = command or [sys.executable, "-m", "tilewright_sweep.measure"]
        self.process, self.started = None, 0

    def _start(self):
        self.started += 1
        mine, theirs = os.pipe()
        self.said = tempfile.TemporaryFile()
        place = str(pathlib.Path(tilewright_sweep.__file__).parent.parent)
        paths = [place] + [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
        self.process = subprocess.Popen(
            [*self.command, str(theirs)],
            stdin=subprocess.PIPE,
            stdout=self.said,
            stderr=self.said,
            pass_fds=[theirs],
            bufsize=0,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        os.close(theirs)
        self.replies, self.rest = mine, b""

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None

    def ask(self, **request):
        """The reply; dies where none comes within the limit after a sign of life."""
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
        self.process.kill()
        code = self.process.wait()
        self.said.seek(0)
        said = self.said.read().decode(errors="replace").strip().split("\n")[-1]
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
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            os.close(self.replies)
            self.said.close()
        self.process = None


class DeviceLock:
    """Held while one task measures on a device, on this machine, whoever runs it."""

    def __init__(self, device, uuid, wait=False):
        name = re.sub(r"\W", "_", uuid or device)
        path = os.path.join(tempfile.gettempdir(), f"tilewright-device-{name}.lock")
        before = os.umask(0)
        try:
            self.file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
        finally:
            os.umask(before)
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            os.close(self.file)
            raise RuntimeError(f"{device} is being measured by another task ({path}); --wait waits for it") from None

    def close(self):
        os.close(self.file)


def _smi(*arguments):
    try:
        done = subprocess.run(["nvidia-smi", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""


def surroundings(device, uuid):
    """What a figure depends on beside the kernel: clocks, power, who else is there; members where they are known."""
    found = {"load": round(os.getloadavg()[0], 2)}
    if not device.startswith("cuda") or len(uuid) != 32:
        return found
    card = "GPU-" + "-".join([uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]])
    names = ["clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "clocks_throttle_reasons.active"]
    said = _smi(f"--id={card}", "--query-gpu=" + ",".join(names), "--format=csv,noheader,nounits").split(", ")
    if len(said) == len(names):
        found.update(zip(["sm_mhz", "memory_mhz", "watts", "celsius", "throttle"], said))
    others = [
        int(x) for x in _smi(f"--id={card}", "--query-compute-apps=pid", "--format=csv,noheader").split() if x.isdigit()
    ]
    if len(others) > 1:
        found["processes_on_device"] = len(others)
    return found
