# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilers that live on (`tilewright-compile --serve`): many programs to a process, and each with an answer of its own."""

import json
import os
import re
import select
import subprocess
import time


class Compiler:
    """One process for some targets; one that dies or does not answer is ended, and the next program gets a new one."""

    def __init__(self, program, targets, timeout):
        self.command = [str(program), "--serve", f"--target={','.join(targets)}", f"--parent-pid={os.getpid()}"]
        self.timeout = timeout
        self.process, self.started = None, 0

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, "NO_COLOR": "1"})
        os.set_blocking(self.process.stderr.fileno(), False)
        self.started += 1

    def end(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def compile(self, source, artifact):
        """("compiled" | "refused" | "crash" | "timeout", the reason, seconds)"""
        artifact.unlink(missing_ok=True)
        start = time.monotonic()
        if not self.process:
            self.start()
        try:
            self.process.stdin.write(json.dumps({"input": str(source), "output": str(artifact)}).encode() + b"\n")
            self.process.stdin.flush()
            line = self.read_line(start + self.timeout)
        except BrokenPipeError:
            line = b""
        seconds = time.monotonic() - start
        if line is None:
            self.end()
            return "timeout", f"compiling takes more than {self.timeout} s", seconds
        if not line:
            self.process.wait()
            said = (self.process.stderr.read() or b"").decode(errors="replace").strip().splitlines()
            code = self.process.returncode
            self.end()
            return "crash", f"the compiler ends with {code}: {said[0] if said else 'no message'}", seconds
        self.process.stderr.read()
        reply = json.loads(line)
        if reply["ok"]:
            return "compiled", "", seconds
        found = re.search(r"error: (.*)", reply.get("diagnostics", ""))
        # A refusal says why, and where in the program.
        located = re.search(r":\d+:\d+: error: ", reply.get("diagnostics", ""))
        return ("refused" if located else "crash"), (found[1] if found else "no message"), seconds

    def read_line(self, deadline):
        """A line; empty where the process has ended, None after the deadline."""
        data = b""
        while not data.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                return None
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            if not part:
                return b""
            data += part
        return data


def general(reason):
    """A reason without the names and numbers of one program, to count by."""
    reason = re.sub(r"%\w+(#\d+)?", "%", reason)
    reason = re.sub(r"(tensor|memref|vector)<[^ ]*>", r"\1<>", reason)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "N", reason)[:160]
