# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tilewright-compile as a server: a process that compiles many candidates, with limits that end it.

A process that is over its time or memory, or that crashes, is replaced; what it worked on has failed, and nothing else.
"""

import hashlib
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys

from tilewright_sweep import processes


#: How a process ends that is over its limits: of what it worked on nothing is known.
LIMITS = ("timeout", "memory")


class CompilerError(RuntimeError):
    """There is no compiler, or it cannot be asked."""


def find_compiler():
    """TILEWRIGHT_COMPILE, the one of the package tilewright, beside the command, on PATH, or in a build folder above."""
    here = pathlib.Path(__file__).resolve()
    candidates = [
        os.environ.get("TILEWRIGHT_COMPILE"),
        here.parents[1] / "tilewright/bin/tilewright-compile",
        pathlib.Path(sys.argv[0]).resolve().parent / "tilewright-compile",
        shutil.which("tilewright-compile"),
    ]
    candidates += [folder / "build/bin/tilewright-compile" for folder in list(here.parents)[2:4]]
    for path in candidates:
        if path and os.access(str(path), os.X_OK):
            return str(path)
    raise CompilerError("there is no tilewright-compile: TILEWRIGHT_COMPILE does not name it, and it is not on PATH")


def identify(path):
    """{"version", "sha256"} of a compiler: who wrote the artifacts."""
    said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")[0]
    return {"version": said, "sha256": hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()}


class Server:
    """One process. `ask` may be called again after any failure."""

    def __init__(self, path, target, options=(), seconds=60.0, memory="4G"):
        self.command = [
            path,
            "--serve",
            f"--target={target}",
            "--serial",
            f"--max-memory={memory}",
            f"--parent-pid={os.getpid()}",
            *options,
        ]
        self.seconds, self.process, self.started = seconds, None, 0

    def _start(self):
        self.process = processes.start(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.started += 1

    def ask(self, request):
        """The reply; `ok` is False, and `ended` says how, where the process did not live to give one. Raises Interrupted
        where somebody ended it."""
        if not self.process or self.process.poll() is not None:
            self.close()
            self._start()
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            return self._ended("crash")
        data = b""
        while not data.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], self.seconds)
            if not ready:
                return self._ended("timeout", f"took more than {self.seconds:g} s")
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                return self._ended("crash")
            data += part
        return json.loads(data)

    def _ended(self, how, why=""):
        try:
            code = processes.outcome(self.process, 0 if how == "timeout" else processes.PATIENCE)
            said = self.process.stderr.read().decode(errors="replace").strip()
        finally:
            self.close()
        if how == "crash" and code == 1 and re.search("out of memory|of memory \\(--max-memory\\)", said):
            how = "memory"
        text = why or said or (f"ended by signal {-code}" if code < 0 else f"ended with status {code}")
        return {"ok": False, "ended": how, "diagnostics": f"error: tilewright-compile {text}"}

    def close(self):
        if self.process:
            processes.end(self.process)
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                pipe.close()
        self.process = None

    def __del__(self):
        """Threads of a pool end without saying so."""
        self.close()
