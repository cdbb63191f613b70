# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks code that cannot run here: ptxas assembles every PTX text, spirv-val
validates every SPIR-V module. Equal texts are checked once; verdicts are kept by
content in a cache folder.
"""

import hashlib
import subprocess

import artifact
from batches import parallel


def programs_of(batches):
    """Yields (name, chip or "vulkan", bytes) for the kernels of all artifacts."""
    for batch in batches:
        if batch.artifact is None:
            continue
        for name, data in artifact.sections(batch.artifact.read_bytes()).items():
            if name.endswith(".ptx"):
                yield f"{batch.name}/{name}", name.split("/")[0].removeprefix("cuda_"), data.rstrip(b"\0")
            elif name.endswith(".spv"):
                yield f"{batch.name}/{name}", "vulkan", data


def check(batches, ptxas, spirv_val, folder, jobs):
    """Returns [(name, kind, problem or None)]; kind is ptxas or spirv-val."""
    folder.mkdir(parents=True, exist_ok=True)
    items = [(name, chip, data) for name, chip, data in programs_of(batches)]
    unique = {}
    for name, chip, data in items:
        unique.setdefault((chip, hashlib.sha256(data).hexdigest()), data)

    def one(item):
        (chip, digest), data = item
        verdict = folder / f"{chip}-{digest[:32]}.verdict"
        if verdict.exists():
            return (chip, digest), verdict.read_text()
        source = folder / f"{chip}-{digest[:32]}.{'spv' if chip == 'vulkan' else 'ptx'}"
        source.write_bytes(data)
        if chip == "vulkan":
            front = spirv_val if isinstance(spirv_val, list) else [spirv_val]
            command = [*front, "--target-env", "vulkan1.3", str(source)]
        else:
            command = [ptxas, f"-arch={chip}", "-o", "/dev/null", str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        problem = "" if done.returncode == 0 else (done.stderr + done.stdout).strip()[:600] or "failed"
        if not problem:
            source.unlink()
        verdict.write_text(problem)
        return (chip, digest), problem

    problems = dict(parallel(jobs, one, list(unique.items())))
    result = []
    for name, chip, data in items:
        problem = problems[chip, hashlib.sha256(data).hexdigest()]
        result.append((name, "spirv-val" if chip == "vulkan" else "ptxas", problem or None))
    return result
