# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles an example for every target, runs it on every device, and prints a table.

    scripts/demo [--batch 256] [PROGRAM.mlir]

Inputs are random: dynamic dims become the batch, and weights are scaled by the
square root of their number of rows, as a trained network's are.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOLS = ROOT / "build/bin"
TARGETS = "cuda:sm_80,cuda:sm_90a,vulkan,cpu,cpu-reference"

sys.path.insert(0, str(ROOT / "test/e2e"))
import artifact  # noqa: E402


def run(*command):
    """Prints a command and runs it; ends the demo if it fails."""
    command = [str(c) for c in command]
    print("$", " ".join(shorten(c) for c in command), flush=True)
    if subprocess.run(command).returncode:
        sys.exit(f"demo: this failed: {' '.join(command)}")


def shorten(path):
    return path.replace(str(ROOT) + "/", "")


def random_inputs(function, batch):
    """What tilewright-run takes, by the types that the manifest states; integers are 0 and 1, which every tensor has as places."""
    inputs = []
    for i, type_ in enumerate(function["inputs"]):
        dtype, is_float = type_["dtype"], type_["dtype"].startswith(("f", "bf"))
        if type_["kind"] == "scalar":
            inputs.append(f"--input={dtype}={0.5 if is_float else 1}")
            continue
        shape = [batch if d < 0 else d for d in type_["shape"]]
        deviation = shape[0] ** -0.5 if len(shape) == 2 and i > 0 else 1
        values = f"random:{i}:{deviation:.6f}" if is_float else f"int:0:1:{i}"
        inputs.append(f"--input={''.join(f'{d}x' for d in shape)}{dtype}={values}")
    return inputs


def devices():
    """{name: reason why it cannot be used, or None}, as tilewright-run lists them."""
    listed = subprocess.run([TOOLS / "tilewright-run", "--list-devices"], capture_output=True, text=True, check=True)
    result = {}
    for line in listed.stdout.splitlines():
        name = line.split()[0]
        if name.split(":")[0] in ("cuda", "vulkan", "cpu", "ptxsim"):
            missing = "(not available:" in line
            result[name] = line.split("(not available:")[1].strip(" )") if missing else None
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", type=pathlib.Path, default=ROOT / "examples/mlp.mlir")
    parser.add_argument("--batch", type=int, default=256)
    options = parser.parse_args()
    out = ROOT / "build/demo"
    out.mkdir(parents=True, exist_ok=True)
    program = out / options.program.with_suffix(".tw").name

    run(TOOLS / "tilewright-compile", options.program, "-o", program, f"--target={TARGETS}")
    for kind in ("ptx", "spirv"):
        targets = ",".join(t for t in TARGETS.split(",") if t.startswith("cuda" if kind == "ptx" else "vulkan"))
        run(TOOLS / "tilewright-compile", options.program, "-o", out / kind, f"--emit={kind}", f"--target={targets}")
    function = artifact.manifest(program.read_bytes())["programs"][0]["functions"][0]
    inputs = random_inputs(function, options.batch)

    rows, failed = [], False
    for device, reason in devices().items():
        if reason:
            rows.append((device, "skipped", "", reason))
            continue
        report = out / f"{device.replace(':', '_')}.json"
        report.unlink(missing_ok=True)
        # How long a simulation takes says nothing of a GPU.
        more = ["--check=oracle"] + ([] if device.startswith("ptxsim") else ["--bench"])
        command = [TOOLS / "tilewright-run", program, f"--device={device}", f"--function={function['name']}", *inputs,
                   *more, f"--json={report}"]
        print("$", " ".join(shorten(str(c)) for c in command[:3]), "…", *more, flush=True)
        code = subprocess.run([str(c) for c in command]).returncode
        result = json.loads(report.read_text().splitlines()[-1]) if report.exists() else {}
        verdict = result.get("verdict", f"exit code {code}")
        failed |= verdict != "ok"
        median = result.get("median_s")
        rows.append((device, verdict, f"{median * 1e6:.0f} us" if median else "simulated" if device.startswith("ptxsim") else "", result.get("driver", "")))

    print(f"\n{'device':12}{'against oracle':18}{'median time':>14}  description")
    for device, verdict, time, description in rows:
        print(f"{device:12}{verdict:18}{time:>14}  {description}")
    print(f"\nartifact  {shorten(str(program))}\nPTX       {shorten(str(out / 'ptx'))}/"
          f"\nSPIR-V    {shorten(str(out / 'spirv'))}/")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
