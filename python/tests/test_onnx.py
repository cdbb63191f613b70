# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models in ONNX's format: the command, from_onnx, the extra of the wheel, and what goes wrong there.

torch-mlir is not in the environment of these tests: it is that of build/onnx-venv (`test/onnx/run.py --install`) or of
TILEWRIGHT_ONNX_PYTHON. Without either, what needs it is skipped.
"""

import gc
import importlib.metadata
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tilewright

ROOT = pathlib.Path(__file__).parents[2]
CLASSIFY = ROOT / "examples/onnx/classify.py"
LOWERING = os.environ.get("TILEWRIGHT_ONNX_PYTHON") or str(ROOT / "build/onnx-venv/bin/python")
needs_torch_mlir = pytest.mark.skipif(
    not (os.path.exists(LOWERING) and CLASSIFY.exists()), reason="no Python with torch-mlir; test/onnx/run.py --install makes one")


def command(*arguments, python=LOWERING):
    return subprocess.run([sys.executable, "-m", "tilewright.onnx", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "TILEWRIGHT_ONNX_PYTHON": python})


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    subprocess.run([LOWERING, CLASSIFY, "--save", path], check=True)
    return path


def test_the_wheel_has_the_extra():
    wanted = importlib.metadata.requires("tilewright")
    for package in ("onnx", "torch-mlir"):
        assert any(line.startswith(package) and 'extra == "onnx"' in line.replace("'", '"') for line in wanted), wanted


def test_help():
    done = command("--help")
    assert done.returncode == 0
    assert "a file of ONNX" in done.stdout


def test_without_torch_mlir(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"")
    done = command(path, python=str(tmp_path / "no-python"))
    assert done.returncode == 1
    assert "cannot run" in done.stderr and "Traceback" not in done.stderr


def test_no_such_file(tmp_path):
    done = command(tmp_path / "missing.onnx", "-o", tmp_path / "out.mlir")
    assert done.returncode == 1
    assert "tilewright.onnx: error: " in done.stderr and "missing.onnx" in done.stderr
    assert not (tmp_path / "out.mlir").exists()


@needs_torch_mlir
def test_command(model, tmp_path):
    target = tmp_path / "model.mlir"
    done = command(model, "-o", target)
    assert done.returncode == 0, done.stderr
    text = target.read_text()
    assert "func.func @main(%image: tensor<1x3x16x16xf32>) -> tensor<1x10xf32>" in text
    # Its one large constant is beside it, by its name.
    assert 'tilewright.parameters = "model.safetensors"' in text and 'dense_resource<"w2">' in text
    assert sorted(tmp_path.iterdir()) == [target, tmp_path / "model.safetensors"]
    # Without -o the text goes to standard output, with all constants.
    whole = command(model).stdout
    assert command(model, "-o", tmp_path / "whole.mlir", "--inline").returncode == 0
    assert (tmp_path / "whole.mlir").read_text() == whole and "dense_resource" not in whole
    assert not (tmp_path / "whole.safetensors").exists()
    named = tmp_path / "named.safetensors"
    assert command(model, "-o", target, "--parameters", named).returncode == 0
    assert 'tilewright.parameters = "named.safetensors"' in target.read_text() and named.exists()
    image = np.random.default_rng(1).standard_normal((1, 3, 16, 16)).astype(np.float32)
    scores = [np.asarray(tilewright.compile(path, target="cpu")(image)) for path in (target, tmp_path / "whole.mlir")]
    np.testing.assert_array_equal(*scores)


@needs_torch_mlir
def test_what_is_no_model(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not a model")
    done = command(path, "-o", tmp_path / "model.mlir")
    assert done.returncode == 1
    assert "tilewright.onnx: error: " in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "model.mlir").exists()


@needs_torch_mlir
def test_from_onnx(model, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_ONNX_PYTHON", LOWERING)
    for source in (str(model), model, model.read_bytes()):
        program = tilewright.from_onnx(source, target="cpu")
        assert list(program.functions) == ["main"]
    # The parameter file is there as long as the program.
    file = program.parameters
    assert os.path.exists(file)
    scores = np.asarray(program(np.ones((1, 3, 16, 16), np.float32)))
    assert scores.shape == (1, 10)
    assert abs(scores.sum() - 1) < 1e-5
    del program
    gc.collect()
    assert not os.path.exists(file)


@needs_torch_mlir
def test_example(model, tmp_path):
    # The example by the Python that has both: the package in a folder in front of torch-mlir's environment.
    package = pathlib.Path(tilewright.__file__).parents[1]
    done = subprocess.run([LOWERING, CLASSIFY], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(package)})
    assert done.returncode == 0, done.stderr
    assert "scores agree with ONNX's evaluator" in done.stdout


@needs_torch_mlir
@pytest.mark.parametrize("name, device, target", [
    *((name, device, target) for name in ("resnet", "bert", "llama") for device, target in (("cpu", "cpu"), ("ptxsim", "cuda:sm_80"))),
    ("bert", "vulkan", "vulkan")])
def test_larger_examples(name, device, target):
    package = pathlib.Path(tilewright.__file__).parents[1]
    done = subprocess.run([LOWERING, CLASSIFY.parent / "models.py", name, "--target", target, "--device", device],
                          capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(package)})
    assert done.returncode == 0, done.stderr
    assert f"{name}: 1x" in done.stdout and " agrees with ONNX" in done.stdout
