# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks code that cannot run here: ptxas assembles every PTX text, spirv-val
validates every SPIR-V module. Equal texts are checked once; what these tools say is kept by
content in a cache folder.

A warning of ptxas is a problem as an error is, one that setmaxnreg is ignored (C7508) or that wgmma wait for each other (C7510)
among them; so are spills of kernels with a ring or wgmma whose config nobody pinned, and wgmma, rings and setmaxnreg in a kernel
that does not say how many registers a thread begins with. Other kernels may spill, most of them variants for rows that begin
anywhere: check() says how many do, and which for sm_90a.
"""

import hashlib
import json
import re
import subprocess

import artifact
from batches import parallel

ENTRY = re.compile(rb"\.entry (\w+)\(")


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
                entry = ENTRY.search(data)[1].decode()
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
    if said["spills"] and not pinned and (b"wgmma.mma_async" in data or b"mbarrier.init" in data):
        return f"{said['spills']} bytes of spills, and nobody pinned its config"
    of_roles = [name for name in (b"setmaxnreg", b"wgmma.mma_async", b"mbarrier.init") if name in data]
    if of_roles and not re.search(rb"^\.(minnctapersm|maxnreg)\b", data, re.MULTILINE):
        return f"has {of_roles[0].decode()} and neither .minnctapersm nor .maxnreg"
    return None


def by_entry(output):
    """What `ptxas -v` prints of several files, by entry; None if there is more in it than spills, which names no entry."""
    first, *rest = re.split(r"Compiling entry function '(\w+)'", output)
    return None if read_ptxas(output)[0] or read_ptxas(first)[1] else {name: read_ptxas(said)[1] for name, said in zip(rest[::2], rest[1::2])}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stderr + done.stdout


def assemble_all(ptxas, chip, sources):
    """Yields (source, verdict) for sources of one chip, [(path, entry)] with different entries. The program takes longer to
    start than for most kernels: all at once, and one by one where there is something to say."""
    command = [ptxas, "-v", f"-arch={chip}", "-o", "/dev/null"]
    code, output = run([*command, *(str(path) for path, _ in sources)])
    spills = by_entry(output) if code == 0 else None
    if spills is not None and spills.keys() == {entry for _, entry in sources}:
        for path, entry in sources:
            yield path, {"problem": "", "warnings": [], "spills": spills[entry]}
    else:
        for path, _ in sources:
            code, output = run([*command, str(path)])
            warnings, spilled = read_ptxas(output)
            yield path, {"problem": "" if code == 0 else output.strip()[:600] or "failed", "warnings": warnings, "spills": spilled}


def validate(spirv_val, path):
    front = spirv_val if isinstance(spirv_val, list) else [spirv_val]
    code, output = run([*front, "--target-env", "vulkan1.3", str(path)])
    return {"problem": "" if code == 0 else output.strip()[:600] or "failed", "warnings": [], "spills": 0}


def in_jobs(unique, at_once=16):
    """[(chip, [(digest, bytes)])]: texts of one chip whose entries differ; one of those of Vulkan."""
    jobs, open_jobs = [], {}
    for (chip, digest), data in unique.items():
        entry = ENTRY.search(data)[1] if chip != "vulkan" else None
        members, entries = open_jobs.get(chip, ([], set()))
        if chip == "vulkan" or len(members) == at_once or entry in entries or not members:
            members, entries = [], set()
            jobs.append((chip, members))
            open_jobs[chip] = members, entries
        members.append((digest, data))
        entries.add(entry)
    return jobs


def check(batches, ptxas, spirv_val, folder, jobs):
    """Returns [(name, kind, problem or None)]; kind is ptxas or spirv-val."""
    folder.mkdir(parents=True, exist_ok=True)
    items = list(programs_of(batches))
    found, unique = {}, {}
    for _, chip, data, _ in items:
        key = chip, hashlib.sha256(data).hexdigest()
        kept = folder / f"{chip}-{key[1][:32]}.json"
        if kept.exists():
            found[key] = json.loads(kept.read_text())
        else:
            unique.setdefault(key, data)

    def work(job):
        chip, members = job
        paths = {}
        for digest, data in members:
            path = folder / f"{chip}-{digest[:32]}.{'spv' if chip == 'vulkan' else 'ptx'}"
            path.write_bytes(data)
            paths[path] = chip, digest
        if chip == "vulkan":
            said = [(path, validate(spirv_val, path)) for path in paths]
        else:
            said = assemble_all(ptxas, chip, [(path, ENTRY.search(data)[1].decode()) for path, (_, data) in zip(paths, members)])
        for path, verdict in said:
            if not any(verdict.values()):
                path.unlink()
            path.with_suffix(".json").write_text(json.dumps(verdict))
            found[paths[path]] = verdict

    parallel(jobs, work, in_jobs(unique))
    default = [found[chip, hashlib.sha256(data).hexdigest()] for _, chip, data, pinned in items if chip != "vulkan" and not pinned]
    print(f"spills: {sum(bool(said['spills']) for said in default)} of {len(default)} kernels whose configs nobody pinned", flush=True)
    for name, chip, data, pinned in items:
        if chip == "sm_90a" and not pinned and (spills := found[chip, hashlib.sha256(data).hexdigest()]["spills"]):
            print(f"  {spills} bytes: {name}", flush=True)

    return [(name, "spirv-val" if chip == "vulkan" else "ptxas",
             problem_of(found[chip, hashlib.sha256(data).hexdigest()], data, pinned))
            for name, chip, data, pinned in items]
