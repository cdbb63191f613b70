# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IREE as a contender of `perf/cpu/run`: iree-compile once, iree-benchmark-module (a process) for each turn.

Its seconds are the mean of a turn's calls, which is what that tool says; there is no median. The result of the first turn is
compared with NumPy's as a library's is.
"""

import json
import subprocess

import problems


class Iree:
    def __init__(self, folder, bin, threads):
        self.name, self.folder, self.bin = "iree", folder, bin
        self.device = ["--device=local-sync"] if threads == 1 else ["--device=local-task", f"--task_topology_group_count={threads}"]
        try:
            version = subprocess.run([bin / "iree-compile", "--version"], capture_output=True, text=True, check=True).stdout.split()
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(f"error: --iree: {error}") from None
        self.facts = {"version": next((word for word in version if word[:1].isdigit()), "")}
        self.right, self.refused = {}, set()

    def close(self):
        pass

    def run(self, tool, *arguments):
        done = subprocess.run([self.bin / tool, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"error: {tool}: {done.stderr.strip()}")
        return done.stdout

    def compile(self, stem, element, problem):
        stem.with_suffix(".mlir").write_text(problem.program(element))
        made = subprocess.run([self.bin / "iree-compile", "--iree-hal-target-device=local", "--iree-input-demote-f64-to-f32=false",
                               "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host",
                               stem.with_suffix(".mlir"), "-o", stem.with_suffix(".vmfb")], capture_output=True, check=False)
        if made.returncode:
            self.refused.add(stem)
        return made.returncode == 0

    def check(self, stem, element, problem, command):
        """Whether its result for random operands is right; they are written for the turns, too."""
        import numpy as np
        import libraries
        if isinstance(problem, problems.Product):
            held = libraries.Operands(element, "iree", problem)
            held.a.tofile(f"{stem}.0.bin")
            held.b.tofile(f"{stem}.1.bin")
        else:
            image = np.random.default_rng(1).standard_normal(problem.image, np.float32)
            image.tofile(f"{stem}.0.bin")
        self.run("iree-run-module", *command, f"--output=@{stem}.npy")
        result = np.load(f"{stem}.npy")
        if isinstance(problem, problems.Product):
            held.c = result
            return held.right()
        filters = np.array(problem.weights(), np.float32).reshape(problem.filter_shape)
        return libraries.is_convolved(result, image, filters, problem)

    def time(self, element, text, calls):
        problem = problems.parse(text)
        stem = self.folder / f"iree-{element}-{problems.file_name(text)}"
        if stem in self.refused or not stem.with_suffix(".vmfb").exists() and not self.compile(stem, element, problem):
            return None
        inputs = [f"--input={'x'.join(map(str, shape))}x{element}=@{stem}.{i}.bin" for i, shape in enumerate(problem.shapes())]
        command = [f"--module={stem}.vmfb", "--function=main", *self.device, *inputs]
        if stem not in self.right:
            self.right[stem] = self.check(stem, element, problem, command)
        text = self.run("iree-benchmark-module", *command, "--benchmark_format=json", f"--benchmark_min_time={max(calls, 3)}x")
        entry = json.loads(text)["benchmarks"][0]
        scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[entry["time_unit"]]
        return {"median": entry["real_time"] * scale, "ok": self.right[stem]}
