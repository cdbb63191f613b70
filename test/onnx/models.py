#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs the image classifiers that the package `onnx` has (its "light" models: real networks, weights made up).

    test/onnx/models.py                                  # all, whole on cpu; two of them with small images on ptxsim
    test/onnx/models.py --models squeezenet,vgg19
    test/onnx/models.py --record                         # writes models.tsv and its part of docs/onnx.md

A model is lowered by `python -m tilewright.onnx`'s way, compiled and run; the result is held against the one that the package has
for the same input, or, with small images, against the oracle. Packages as run.py installs them (`run.py --install`). Exit code 0:
all right, and compiled in no more than SECONDS of processor time; 1: not; 77: what it needs is not installed.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import time

import results
import run

ROOT = run.ROOT
MODELS = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet", "vgg19", "zfnet512")
#: Networks that take images of any size, and the side of those that a simulator gets.
SMALL = {"squeezenet": 40, "densenet121": 32}
# Processor time, on all threads together.
SECONDS = 30
LIMIT = 600


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--out", type=pathlib.Path, help="folder for everything written (BUILD/onnx-models)")
    parser.add_argument("--models", default=",".join(MODELS), help="comma list (%(default)s)")
    parser.add_argument("--devices", default="cpu,ptxsim@sm_80", help="comma list (%(default)s)")
    parser.add_argument("--record", action="store_true", help="write what was found to models.tsv and docs/onnx.md")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.out = (options.out or options.build / "onnx-models").resolve()
    options.install = False
    unknown = set(options.models.split(",")) - set(MODELS)
    if unknown:
        parser.error(f"no model '{min(unknown)}'; there are {', '.join(MODELS)}")
    return options


def prepare(options, name, side):
    """(text, input, expected result or None) of a model, in files; `side`: of smaller images."""
    import numpy as np
    import onnx
    from onnx import numpy_helper
    data = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
    model = onnx.load(data / f"light_{name}.onnx")
    held = {i.name for i in model.graph.initializer}
    image, = (i for i in model.graph.input if i.name not in held)
    dims = image.type.tensor_type.shape.dim
    if side:
        for dim in dims[2:]:
            dim.dim_value = side
        del model.graph.value_info[:]
        for output in model.graph.output:
            output.type.tensor_type.ClearField("shape")
    shape = [d.dim_value or 1 for d in dims]
    count = int(np.prod(shape))
    folder = options.out / (f"{name}-{side}" if side else name)
    folder.mkdir(parents=True, exist_ok=True)
    # The image that the package's own results are of.
    np.save(folder / "in.npy", (np.arange(count).reshape(shape) / count).astype(np.float32))
    expected = None
    if not side:
        expected = folder / "out.npy"
        np.save(expected, numpy_helper.to_array(onnx.load_tensor(data / f"light_{name}_output_0.pb")))
    onnx.save(model, folder / "model.onnx")
    text = folder / "model.mlir"
    done = subprocess.run([sys.executable, ROOT / "python/src/tilewright/_lowering/lower_onnx.py", folder / "model.onnx", text],
                          capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        raise RuntimeError("not lowered: " + (done.stdout or done.stderr).strip()[-200:])
    return text, folder / "in.npy", expected


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compiled(options, text, program, targets):
    """Processor time that it took."""
    before = processor_time()
    code, said = run.ended([options.build / "bin/tilewright-compile", text, "-o", program, f"--target={targets}"], LIMIT)
    if code != 0:
        raise RuntimeError("not compiled: " + (run.complaint(said, code) if code is not None else f"no end in {LIMIT} s"))
    return processor_time() - before


def kernels(options, text, target):
    """How many there are."""
    code, said = run.ended([options.build / "bin/tilewright-compile", text, "--stop-after=dispatch", f"--target={target}", "-o", "-"], LIMIT)
    return said.count("tilewright.kernel") if code == 0 else 0


def try_model(options, name, device):
    """[name, device, image, verdict, kernels, seconds to compile, seconds of the call]"""
    import numpy as np
    side = SMALL[name] if device != "cpu" else None
    target, environment = run.DEVICES[device]
    row = [name, device, f"{side} x {side}" if side else "whole"]
    try:
        text, image, expected = prepare(options, name, side)
        program, got = text.parent / f"{device}.tw", text.parent / f"{device}.npy"
        seconds = compiled(options, text, program, target)
        if not expected:
            # Not counted: it is no part of what a user compiles.
            compiled(options, text, program, f"{target},cpu-reference")
        start = time.monotonic()
        command = [options.build / "bin/tilewright-run", program, f"--device={device.split('@')[0]}", f"--input=@{image}"]
        command.append(f"--output=@{got}" if expected else "--check=oracle")
        code, said = run.ended(command, LIMIT, environment)
        if code != 0:
            raise RuntimeError(said.strip()[-200:] if code is not None else f"no end in {LIMIT} s")
        called = time.monotonic() - start
        verdict = "right"
        if expected:
            values, wanted = np.load(got), np.load(expected)
            if values.shape != wanted.shape or not np.allclose(values, wanted, rtol=1e-3, atol=1e-5):
                worst = np.abs(values.ravel() - wanted.ravel()).max()
                verdict = "wrong: NaN" if np.isnan(worst) else f"wrong: {worst:.3g} off"
        return [*row, verdict, str(kernels(options, text, target)), f"{seconds:.1f}", f"{called:.1f}"]
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return [*row, " ".join(str(error).split()), "", "", ""]


def main():
    options = arguments()
    python, why = run.environment(options)
    if python is None:
        print(f"test/onnx: {why.replace('--install', 'run.py --install')}", file=sys.stderr)
        return run.SKIPPED
    if pathlib.Path(sys.prefix).resolve() != python.parents[1].resolve():
        os.execv(python, [str(python), *sys.argv])
    rows, bad = [], 0
    for device in options.devices.split(","):
        for name in options.models.split(","):
            if device == "cpu" or name in SMALL:
                row = try_model(options, name, device)
                rows.append(row)
                bad += row[3] != "right" or float(row[5]) > SECONDS
                print("\t".join(row), flush=True)
    if options.record:
        results.write_models(rows)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
