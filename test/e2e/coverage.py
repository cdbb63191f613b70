#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler emits for the generated cases, as PTX instructions by number.

    test/e2e/coverage.py --build build [--out build/e2e]

Reads the artifacts that run.py left, and loads the PTX of each GPU that ptxsim can
be. Exit code 1 if an instruction or a modifier is not implemented, with its line.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import artifact

HERE = pathlib.Path(__file__).resolve().parent
CHIPS = ("sm_80", "sm_90a")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build")
    parser.add_argument("--out", type=pathlib.Path, help="folder that run.py wrote to (BUILD/e2e)")
    options = parser.parse_args()
    out = options.out or options.build / "e2e"
    texts = set()
    for path in sorted(out.glob("modules/*.tw")):
        for name, data in artifact.sections(path.read_bytes()).items():
            if name.endswith(".ptx") and name.split("/")[0].removeprefix("cuda_") in CHIPS:
                texts.add(data.rstrip(b"\0"))
    if not texts:
        print(f"no artifacts with PTX in {out}/modules; run run.py first")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, text in enumerate(sorted(texts)):
            paths.append(pathlib.Path(folder) / f"{number}.ptx")
            paths[-1].write_bytes(text)
        print(f"{len(paths)} PTX texts", flush=True)
        # The names go through a file: there can be more than fit a command line.
        names = pathlib.Path(folder) / "names"
        names.write_text("\n".join(map(str, paths)))
        return subprocess.run([options.build / "bin/ptxsim-coverage", f"@{names}"]).returncode


if __name__ == "__main__":
    sys.exit(main())
