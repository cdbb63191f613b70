# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the file for a GPU that is borrowed: all that is asked of it, compiled here, and run there by Python.

    tilewright-sweep bundle --sweep=sweep.twb -o on-gpu.twb        # here
    python3 on-gpu.twb session --device=cuda                       # there, see session.py
    perf/report.py results perf/results/NAME                       # here again

It holds the generated end-to-end cases with their oracle, the suites to time beside their peers, sweeps, the runtime as
it is built here, and its sources for a machine on which that does not run.
"""

import json
import pathlib
import shutil
import subprocess
import tempfile
import zipfile

from tilewright_sweep import bundle
from tilewright_sweep.build import write_whole

ROOT = pathlib.Path(__file__).resolve().parents[3]
MOST_BYTES = 60 << 20
TOOLS = ("tilewright-run", "tilewright-cts", "tilewright-e2e")
#: Headers that may not be there: those that this machine's build found.
HEADERS = (
    ("JSON", "nlohmann"),
    ("CLI11", "CLI"),
    ("VULKAN", "vulkan/vk_platform.h"),
    ("VULKAN", "vulkan/vulkan_core.h"),
    ("VULKAN", "vk_video"),
)


def _copy(source, target):
    """A file or a folder, without what Python leaves in it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(str(source), str(target), ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(str(source), str(target))


def _cases(folder, targets, pattern, python):
    """The end-to-end cases, compiled; not how they came to be."""
    subprocess.run(
        [
            python,
            str(ROOT / "test/e2e/run.py"),
            "--build",
            str(ROOT / "build"),
            "--out",
            str(folder / "cases"),
            "--filter",
            pattern,
            "--targets",
            f"{targets},cpu-reference",
            "--all",
            "--compile-only",
        ],
        check=True,
    )
    modules = folder / "cases/modules"
    for path in [*modules.glob("*.mlir"), *modules.glob("*.second.tw")]:
        path.unlink()
    shutil.rmtree(str(folder / "cases/code"), ignore_errors=True)


def _suites(folder, targets, places):
    for source in places:
        name, target = source.name, folder / "suites" / source.name
        print(f"suite {name}", flush=True)
        for file in ("problems.txt", "peers.py"):
            _copy(source / file, target / file)
        subprocess.run(
            [
                str(ROOT / "build/bin/tilewright-compile"),
                str(source / f"{name}.mlir"),
                f"--target={targets.replace('vulkan', 'vulkan+coopmat')}",
                "-o",
                str(target / f"{name}.tw"),
            ],
            check=True,
        )


def _ladder(folder, size, python):
    """The ladder of products for Hopper (perf/ladder), compiled."""
    print("ladder", flush=True)
    subprocess.run(
        [python, str(ROOT / "perf/ladder/make.py"), "-o", str(folder / "ladder"), f"--size={size}"],
        check=True,
    )


def _runtime(folder):
    """Built, and its sources with the headers that they need."""
    library = bundle.find_runtime()
    for tool in TOOLS:
        _copy(ROOT / "build/bin" / tool, folder / "built/bin" / tool)
    _copy(library.resolve(), folder / "built/lib/libtilewright.so")
    for needed in bundle.needed_by(library):
        _copy(needed, folder / "built/lib/needs" / needed.name)
    for source, target in (
        ("gpu-runtime", "gpu-runtime"),
        ("tools/Common", "tools/Common"),
        ("tools/tilewright-run", "tools/tilewright-run"),
        ("test/e2e/runner", "test/e2e/runner"),
        ("perf/bench", "bench"),
        ("LICENSE", "LICENSE"),
        ("NOTICE", "NOTICE"),
    ):
        _copy(ROOT / source, folder / target)
    shutil.move(str(folder / "gpu-runtime/ptxsim"), str(folder / "confirm"))
    shutil.rmtree(str(folder / "confirm/test/others"), ignore_errors=True)
    cache = dict(line.split("=", 1) for line in (ROOT / "build/CMakeCache.txt").read_text().splitlines() if "=" in line)
    for library_name, header in HEADERS:
        _copy(pathlib.Path(cache[f"TILEWRIGHT_{library_name}_INCLUDE:PATH"]) / header, folder / "include" / header)


def make(output, targets, suites, pattern, sweeps, python, ladder="full"):
    """Writes the file; its size in bytes."""
    if not (ROOT / "test/e2e/run.py").exists():
        raise bundle.BundleError(
            "a bundle for a session is made from the sources of Tilewright, and these are not there"
        )
    known = ROOT / "perf/suites"
    places = [known / name if (known / name).is_dir() else pathlib.Path(name) for name in suites]
    places = places or sorted(path.parent for path in known.glob("*/peers.py"))
    for place in places:
        if not (place / "peers.py").exists():
            raise bundle.BundleError(f"{place} is no suite: it has no peers.py")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        _cases(folder, targets, pattern, python)
        _suites(folder, targets, places)
        if "cuda:sm_90a" in targets:
            _ladder(folder, ladder, python)
        _runtime(folder)
        for sweep in map(pathlib.Path, sweeps):
            if not bundle.is_bundle(sweep):
                raise bundle.BundleError(f"{sweep} is no bundle of tilewright-sweep compile")
            _copy(sweep, folder / "sweeps" / sweep.name)
        _copy(pathlib.Path(__file__).resolve().parent, folder / "tilewright_sweep")
        (folder / "__main__.py").write_text(bundle.MAIN)
        said = {"schema": 1, "targets": targets, "suites": [place.name for place in places]}
        (folder / "session.json").write_text(json.dumps(said) + "\n")
        packed = folder / "packed"
        with zipfile.ZipFile(str(packed), "w") as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path != packed:
                    bundle.add_file(
                        archive, str(path.relative_to(folder)), path.read_bytes(), path.stat().st_mode & 0o777
                    )
        data = packed.read_bytes()
    if len(data) > MOST_BYTES:
        raise bundle.BundleError(
            f"the bundle has {len(data) >> 20} MiB, more than {MOST_BYTES >> 20}; give narrower --cases"
        )
    write_whole(pathlib.Path(output), data)
    return len(data)
