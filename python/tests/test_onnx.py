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


SORT = """func.func @main(%arg0: tensor<2x90xKIND>) -> (tensor<2x90xKIND>, tensor<2x90xi64>) {
    %0 = tensor.empty() : tensor<2x90xi64>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<2x90xi64>) {
    ^bb0(%out: i64):
      %3 = linalg.index 1 : index
      %4 = arith.index_cast %3 : index to i64
      linalg.yield %4 : i64
    } -> tensor<2x90xi64>
    %2:2 = tm_tensor.sort dimension(1) outs(%arg0, %1 : tensor<2x90xKIND>, tensor<2x90xi64>) {
    ^bb0(%arg1: KIND, %arg2: KIND, %arg3: i64, %arg4: i64):
      %3 = arith.COMPARED, %arg1, %arg2 : KIND
      tm_tensor.yield %3 : i1
    } -> tensor<2x90xKIND>, tensor<2x90xi64>
    return %2#0, %2#1 : tensor<2x90xKIND>, tensor<2x90xi64>
}
"""


def rewritten(text):
    scripts = pathlib.Path(tilewright.__file__).parent / "_lowering"
    return subprocess.run([sys.executable, "-c", "import sys, irregular; print(irregular.rewrite(sys.stdin.read()))"], input=text, cwd=scripts,
                          capture_output=True, text=True)


@pytest.mark.parametrize("kind,compared,key", [
    ("f32", "cmpf oge", lambda x: -x), ("i32", "cmpi sle", lambda x: x), ("i32", "cmpi uge", lambda x: -x.astype(np.uint32).astype(np.int64))])
def test_sorts_of_torch_mlir(kind, compared, key):
    text = rewritten(SORT.replace("KIND", kind).replace("COMPARED", compared)).stdout
    assert "tilewright.sort" in text
    x = np.random.default_rng(2).integers(-9, 9, (2, 90)).astype(np.float32 if kind == "f32" else np.int32)
    values, places = map(np.asarray, tilewright.compile(text, target="cpu")(x))
    expected = np.argsort(key(x), axis=1, kind="stable")
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, 1))


TOPK = """func.func @main(%arg0: tensor<2x90xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xi64>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
    %2:2 = tm_tensor.topk dimension(1) ins(%arg0 : tensor<2x90xf32>) outs(%arg1, %arg2 : tensor<2x3xf32>, tensor<2x3xi64>) {
    ^bb0(%arg3: f32, %arg4: f32):
BODY
      tm_tensor.yield %7 : i1
    } -> tensor<2x3xf32>, tensor<2x3xi64>
    return %2#0, %2#1 : tensor<2x3xf32>, tensor<2x3xi64>
}
"""
NAN_LAST = """      %3 = arith.cmpf une, %arg4, %arg4 : f32
      %4 = arith.cmpf oeq, %arg3, %arg3 : f32
      %5 = arith.cmpf olt, %arg3, %arg4 : f32
      %6 = arith.andi %3, %4 : i1
      %7 = arith.ori %6, %5 : i1"""


@pytest.mark.parametrize("body,sign", [("      %7 = arith.cmpf ogt, %arg3, %arg4 : f32", -1), (NAN_LAST, 1)])
def test_topk_of_torch_mlir(body, sign):
    text = rewritten(TOPK.replace("BODY", body)).stdout
    assert "tilewright.top_k" in text
    x = np.random.default_rng(2).integers(-9, 9, (2, 90)).astype(np.float32)
    if sign > 0:
        x[:, 7] = np.nan
    values, places = map(np.asarray, tilewright.compile(text, target="cpu")(x, np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int64)))
    expected = np.argsort(sign * x, axis=1, kind="stable")[:, :3]
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, 1))


def test_topk_in_an_order_of_its_own():
    done = rewritten(TOPK.replace("BODY", "      %5 = math.absf %arg3 : f32\n      %7 = arith.cmpf ogt, %5, %arg4 : f32"))
    assert done.returncode and "compares in another order" in done.stderr


SCATTER = """func.func @main(%arg0: tensor<3x1x4xf32>, %arg1: tensor<3x1xi64>, %arg2: tensor<5x4xf32>) -> tensor<5x4xf32> {
    %0 = tm_tensor.scatter {dimension_map = array<i64DIMS>} unique_indices(true) ins(%arg0, %arg1 : tensor<3x1x4xf32>, tensor<3x1xi64>) outs(%arg2 : tensor<5x4xf32>) {
    ^bb0(%arg3: f32, %arg4: f32):
      tm_tensor.yield %arg3 : f32
    } -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
}
"""


def test_scatters_of_torch_mlir():
    """Updates with windows of one element in the dim that is indexed; larger ones and scatters without dims are refused."""
    text = rewritten(SCATTER.replace("DIMS", ": 0")).stdout
    rows, x = np.arange(12, dtype=np.float32).reshape(3, 1, 4), np.zeros((5, 4), np.float32)
    result = np.asarray(tilewright.compile(text, target="cpu")(rows, np.array([[4], [0], [1]]), x))
    x[[4, 0, 1]] = rows[:, 0]
    np.testing.assert_array_equal(result, x)
    assert "windows of more than one element" in rewritten(SCATTER.replace("DIMS", ": 0").replace("3x1x4xf32", "3x2x4xf32")).stderr
    assert "into a tensor without dims" in rewritten(SCATTER.replace("DIMS", "")).stderr


EXTREMUM = """      %3 = arith.cmpf COMPARED, %in, %in_0 : f32
      %4 = arith.select %3, SELECTED : f32
      linalg.yield %4REST : f32
"""


@pytest.mark.parametrize("compared, selected, expected", [
    ("ogt", "%in, %in_0", "maximumf"), ("olt", "%in, %in_0", "minimumf"), ("ult", "%in_0, %in", "maximumf"), ("ugt", "%in_0, %in", "minimumf"),
    ("ugt", "%in, %in_0", None), ("ogt", "%in_0, %in", None)])
def test_extrema_of_torch_mlir(compared, selected, expected):
    """Those that lose a NaN, and whose comparison is for them alone, keep it."""
    scripts = pathlib.Path(tilewright.__file__).parent / "_lowering"
    text = EXTREMUM.replace("COMPARED", compared).replace("SELECTED", selected)
    for rest in ("", ", %3"):
        before = text.replace("REST", rest)
        after = subprocess.run([sys.executable, "-c", "import sys, spelling; print(spelling.with_nan(sys.stdin.read()), end='')"],
                               input=before, cwd=scripts, capture_output=True, text=True).stdout
        assert after == before if rest or not expected else f"      %4 = arith.{expected} %in, %in_0 : f32\n" in after and "cmpf" not in after


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


CACHE = """
import sys
import onnx
from onnx import TensorProto, helper
tensor = lambda name, kind, *dims: helper.make_tensor_value_info(name, kind, dims)
nodes = [helper.make_node("ScatterND", ["past", "at", "new"], ["present"]), helper.make_node("MatMul", ["present", "x"], ["seen"])]
graph = helper.make_graph(nodes, "step", [tensor("past", TensorProto.FLOAT, 8, 4), tensor("new", TensorProto.FLOAT, 1, 4),
    tensor("at", TensorProto.INT64, 1, 1), tensor("x", TensorProto.FLOAT, 4, 3)],
    [tensor("seen", TensorProto.FLOAT, 8, 3), tensor("present", TensorProto.FLOAT, 8, 4)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), sys.argv[1])
"""


@needs_torch_mlir
def test_a_cache_that_is_given_away(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_ONNX_PYTHON", LOWERING)
    path = tmp_path / "step.onnx"
    subprocess.run([LOWERING, "-c", CACHE, path], check=True)
    program = tilewright.from_onnx(path, donate={"past": 1}, target="cpu")
    assert program.main.signature == "main(past: memref<8x4xf32>, new: tensor<1x4xf32>, at: tensor<1x1xi64>, x: tensor<4x3xf32>) -> tensor<8x3xf32>"
    random = np.random.default_rng(1)
    past, new, x = (random.standard_normal(shape).astype(np.float32) for shape in ((8, 4), (1, 4), (4, 3)))
    expected = past.copy()
    expected[5] = new
    np.testing.assert_allclose(np.asarray(program(past, new, np.array([[5]]), x)), expected @ x, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(past, expected)
    done = command(path, "-o", tmp_path / "step.mlir", "--donate", "past=1")
    assert done.returncode == 0 and "%past: tensor<8x4xf32> {tf.aliasing_output = 1 : i32}" in (tmp_path / "step.mlir").read_text()
    with pytest.raises(tilewright.InvalidArgumentError, match="donate: 'main' has no tensor 'future' among its arguments"):
        tilewright.from_onnx(path, donate={"future": 1}, target="cpu")
    with pytest.raises(tilewright.CompileError, match="argument 1 has 'tf.aliasing_output' = 1 : i32, and is of type"):
        tilewright.from_onnx(path, donate={"new": 1}, target="cpu")


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


GELU = """
import sys
import onnx
from onnx import TensorProto, helper
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [40]) for name in "xy")
graph = helper.make_graph([helper.make_node("Gelu", ["x"], ["y"], approximate="tanh")], "gelu", [x], [y])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), sys.argv[1])
"""


@needs_torch_mlir
def test_gelu_by_tanh(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_ONNX_PYTHON", LOWERING)
    path = tmp_path / "gelu.onnx"
    subprocess.run([LOWERING, "-c", GELU, path], check=True)
    x = np.linspace(-4, 4, 40, dtype=np.float32)
    wide = x.astype(np.float64)
    expected = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    np.testing.assert_allclose(np.asarray(tilewright.from_onnx(path, target="cpu")(x)), expected, rtol=1e-5, atol=1e-6)
