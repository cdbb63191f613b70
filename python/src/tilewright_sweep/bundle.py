# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A bundle: one file with everything to measure, which Python runs on a machine that has no compiler.

    python3 sweep.twb run --device=cuda -o results.jsonl

It is a zip file:

    __main__.py, tilewright_sweep/    the measuring side of this package
    bundle.json                       the plan, with what became of each candidate
    artifacts/SHA.tw                  each of them once, and what measures the device's ceilings
    references/NAME.tw                the oracle's program of each problem
    runtime/                          libtilewright.so, and the simulator
    runtime/needs/                    libraries that it needs and that are not on every machine
"""

import fcntl
import io
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

from tilewright_sweep import ceilings
from tilewright_sweep import compiler as compilers
from tilewright_sweep.build import write_whole

#: Workers of an executor import this, too, under another name.
MAIN = """import sys

if __name__ == "__main__":
    from tilewright_sweep.cli import main

    sys.exit(main())
"""

#: What is written has no times of its own, so that the same input is the same file.
_TIME = (2020, 1, 1, 0, 0, 0)


class BundleError(RuntimeError):
    pass


def find_runtime():
    """TILEWRIGHT_LIBRARY, that of the package tilewright, of a build folder above, or where the command is installed."""
    here = pathlib.Path(__file__).resolve()
    candidates = [os.environ.get("TILEWRIGHT_LIBRARY"), here.parents[1] / "tilewright/libtilewright.so.0.1"]
    candidates += [folder / "build/lib/libtilewright.so" for folder in list(here.parents)[2:4]]
    prefix = list(pathlib.Path(sys.argv[0]).resolve().parents)[1:2]
    candidates += [library for folder in prefix for library in sorted(folder.glob("lib/**/libtilewright.so.0.1"))]
    for path in candidates:
        if path and pathlib.Path(path).exists():
            return pathlib.Path(path)
    raise BundleError("there is no libtilewright.so; TILEWRIGHT_LIBRARY can name it")


#: What every Linux with a C++ program has; the rest of what the library needs travels with it.
_SYSTEM = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "libstdc++.", "libgcc_s.", "ld-linux", "linux-vdso")


def needed_by(library):
    """Paths of the shared libraries that a library needs and that a machine may lack."""
    said = subprocess.run(["ldd", str(library)], stdout=subprocess.PIPE, check=True).stdout.decode()
    found = re.findall(r"^\s*(\S+) => (/\S+)", said, re.M)
    return [pathlib.Path(path) for name, path in found if not name.startswith(_SYSTEM)]


def add_file(archive, name, data, mode=0o644):
    info = zipfile.ZipInfo(name, _TIME)
    info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
    archive.writestr(info, data)


def _references(plan, folder):
    """The oracle's program of each problem: bytes by name."""
    path, made = compilers.find_compiler(), {}
    server = compilers.Server(path, "cpu-reference", [o for o in plan["options"] if not o.startswith("--require")])
    with tempfile.TemporaryDirectory() as scratch:
        for problem in plan["problems"]:
            output = pathlib.Path(scratch) / "out.tw"
            reply = server.ask({"input": str(folder / "problems" / f"{problem['name']}.mlir"), "output": str(output)})
            if not reply["ok"]:
                raise BundleError(f"the reference of {problem['name']}: {reply['diagnostics'].strip()}")
            made[problem["name"]] = output.read_bytes()
    server.close()
    return made


def write_bundle(output, plan, folder, entries, predicted=None):
    """Its size; `entries`: what build gave; `predicted`: of artifacts, what predict.artifact says."""
    folder, here = pathlib.Path(folder), pathlib.Path(__file__).resolve().parent
    runtime = find_runtime()
    candidates = [
        {**c, **{k: entries[c["id"]].get(k) for k in ("ok", "artifact", "diagnostics", "ended")}}
        for c in plan["candidates"]
        if c["id"] in entries
    ]
    for c in candidates:
        if predicted and c["artifact"] in predicted:
            c["predicted"] = predicted[c["artifact"]]
    problems = {c["problem"] for c in candidates}
    plan = {**plan, "candidates": candidates, "problems": [p for p in plan["problems"] if p["name"] in problems]}
    plan["ceilings"] = ceilings.compile_all(plan, folder)
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        add_file(archive, "__main__.py", MAIN)
        for module in sorted([*here.glob("**/*.py"), *here.glob("**/*.json")]):
            add_file(archive, f"tilewright_sweep/{module.relative_to(here)}", module.read_bytes())
        add_file(archive, "bundle.json", json.dumps(plan, indent=1, sort_keys=True))
        for name in sorted({c["artifact"] for c in candidates + plan["ceilings"] if c["artifact"]}):
            add_file(archive, f"artifacts/{name}.tw", (folder / "cache" / f"{name}.tw").read_bytes())
        for name, data in sorted(_references(plan, folder).items()):
            add_file(archive, f"references/{name}.tw", data)
        add_file(archive, "runtime/libtilewright.so", runtime.read_bytes(), 0o755)
        for library in needed_by(runtime):
            add_file(archive, f"runtime/needs/{library.name}", library.read_bytes(), 0o755)
        simulators = [runtime.parent / place for place in ("ptxsim/libcuda.so.1", "tilewright/ptxsim/libcuda.so.1")]
        for simulator in [s for s in simulators if s.exists()][:1]:
            add_file(archive, "runtime/ptxsim/libcuda.so.1", simulator.read_bytes(), 0o755)
    write_whole(pathlib.Path(output), memory.getvalue())
    return len(memory.getvalue())


def is_bundle(path):
    """Whether a file is one, without unpacking it."""
    if not zipfile.is_zipfile(str(path)):
        return False
    with zipfile.ZipFile(str(path)) as archive:
        return "bundle.json" in archive.namelist()


_SCRATCH, _OWNER = "tilewright-sweep-", ".owner"


def _own(folder):
    """A file in the folder that is locked as long as it is open: its process lives."""
    part = folder / f"{_OWNER}.part"
    held = open(str(part), "w")
    fcntl.flock(held, fcntl.LOCK_EX)
    part.rename(folder / _OWNER)  # none that is not locked is seen
    return held


def _remove_ownerless():
    """Folders of processes that were killed. Whoever else sees the folder may have other process ids: locks tell."""
    for owner in pathlib.Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*/{_OWNER}"):
        try:
            file = os.open(str(owner), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue  # another user's, or gone by now
        try:
            about = os.fstat(file)
            if stat.S_ISREG(about.st_mode) and about.st_uid == os.getuid():
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(str(owner.parent), ignore_errors=True)
        except OSError:
            pass  # it lives
        finally:
            os.close(file)


class Bundle:
    """A bundle that is open, its files in a temporary folder while it is."""

    def __init__(self, path):
        _remove_ownerless()
        self.scratch = tempfile.TemporaryDirectory(prefix=_SCRATCH)
        self.folder = pathlib.Path(self.scratch.name)
        self.owner = _own(self.folder)
        try:
            with zipfile.ZipFile(str(path)) as archive:
                archive.extractall(self.scratch.name)
            self.plan = json.loads((self.folder / "bundle.json").read_text())
        except BaseException as error:
            self.close()
            if isinstance(error, (zipfile.BadZipFile, KeyError, ValueError, FileNotFoundError)):
                raise BundleError(f"{path} is no bundle: {error}") from error
            raise

    def artifact(self, candidate):
        return self.folder / "artifacts" / f"{candidate['artifact']}.tw"

    def reference(self, problem):
        return self.folder / "references" / f"{problem['name']}.tw"

    def library(self):
        """TILEWRIGHT_LIBRARY, else the one that travelled."""
        named = os.environ.get("TILEWRIGHT_LIBRARY")
        return pathlib.Path(named) if named else self.folder / "runtime/libtilewright.so"

    def close(self):
        self.scratch.cleanup()
        self.owner.close()
