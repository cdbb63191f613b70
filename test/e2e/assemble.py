# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks code that cannot run here: ptxas assembles every PTX text, spirv-val
validates every SPIR-V module. Equal texts are checked once; what these tools say is kept by
content in a cache folder.

A warning of ptxas is a problem as an error is, one that setmaxnreg is ignored (C7508) or that wgmma wait for each other (C7510)
among them; so are spills of kernels with a ring whose config nobody pinned, and setmaxnreg in a kernel that does not say how
many registers a thread begins with. Other kernels may spill, most of them variants for rows that begin anywhere: check() says how
many do.
"""

import hashlib
import json
import re
import subprocess

import artifact
from batches import parallel


def is_pinned(text, chip):
    """Whether a function's text pins configs of that chip's kernels: of all, or {"cuda:sm_90a" = ...}."""
    named = re.findall(r'"cuda:(\w+)" = #tilewright\.lowering_config', text)
    return chip in named if named else "lowering_config" in text


def programs_of(batches):
    """Yields (name, chip or "vulkan", bytes, whether its config is pinned) for the kernels of all artifacts."""
    for batch in batches:
        if batch.artifact is None:
            continue
        functions = sorted(batch.functions, key=lambda f: len(f.symbol), reverse=True)
        texts = {f.symbol: f.text() for f in functions}
        for name, data in artifact.sections(batch.artifact.read_bytes()).items():
            if name.endswith(".ptx"):
                data, chip = data.rstrip(b"\0"), name.split("/")[0].removeprefix("cuda_")
                entry = re.search(rb"\.entry (\w+)\(", data)[1].decode()
                symbol = next((f.symbol for f in functions if entry.startswith(f.symbol + "_")), None)
                yield f"{batch.name}/{name} {entry}", chip, data, symbol is not None and is_pinned(texts[symbol], chip)
            elif name.endswith(".spv"):
                yield f"{batch.name}/{name}", "vulkan", data, True


def read_ptxas(output):
    """(warnings, bytes of spills) of what `ptxas -v` prints."""
    warnings = [line.strip() for line in output.splitlines() if re.search(r"\bwarning\b|\(C\d{4}\)", line)]
    spills = sum(int(x) for x in re.findall(r"(\d+) bytes spill (?:stores|loads)", output))
    return warnings, spills


def problem_of(said, data, pinned):
    if said["problem"]:
        return said["problem"]
    if said["warnings"]:
        return "; ".join(said["warnings"])[:600]
    if said["spills"] and not pinned and b"mbarrier.init" in data:
        return f"{said['spills']} bytes of spills, and nobody pinned its config"
    if b"setmaxnreg" in data and not re.search(rb"^\.(minnctapersm|maxnreg)\b", data, re.MULTILINE):
        return "has setmaxnreg and neither .minnctapersm nor .maxnreg"
    return None


def check(batches, ptxas, spirv_val, folder, jobs):
    """Returns [(name, kind, problem or None)]; kind is ptxas or spirv-val."""
    folder.mkdir(parents=True, exist_ok=True)
    items = list(programs_of(batches))
    unique = {}
    for _, chip, data, _ in items:
        unique.setdefault((chip, hashlib.sha256(data).hexdigest()), data)

    def one(item):
        (chip, digest), data = item
        verdict = folder / f"{chip}-{digest[:32]}.json"
        if verdict.exists():
            return (chip, digest), json.loads(verdict.read_text())
        source = folder / f"{chip}-{digest[:32]}.{'spv' if chip == 'vulkan' else 'ptx'}"
        source.write_bytes(data)
        if chip == "vulkan":
            front = spirv_val if isinstance(spirv_val, list) else [spirv_val]
            command = [*front, "--target-env", "vulkan1.3", str(source)]
        else:
            command = [ptxas, "-v", f"-arch={chip}", "-o", "/dev/null", str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        output = done.stderr + done.stdout
        warnings, spills = read_ptxas(output) if chip != "vulkan" else ([], 0)
        said = {"problem": "" if done.returncode == 0 else output.strip()[:600] or "failed", "warnings": warnings, "spills": spills}
        if not (said["problem"] or warnings or spills):
            source.unlink()
        verdict.write_text(json.dumps(said))
        return (chip, digest), said

    found = dict(parallel(jobs, one, list(unique.items())))
    default = [found[chip, hashlib.sha256(data).hexdigest()] for _, chip, data, pinned in items if chip != "vulkan" and not pinned]
    print(f"spills: {sum(bool(said['spills']) for said in default)} of {len(default)} kernels whose configs nobody pinned", flush=True)

    return [(name, "spirv-val" if chip == "vulkan" else "ptxas",
             problem_of(found[chip, hashlib.sha256(data).hexdigest()], data, pinned))
            for name, chip, data, pinned in items]
