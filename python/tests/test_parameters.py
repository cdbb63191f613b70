# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose constants are in a parameter file, and how large constants of a text get there."""

import gc
import importlib.util
import json
import os
import pathlib

import numpy as np
import pytest
import tilewright

TEXT = """
module attributes {tilewright.parameters = "p.safetensors"} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %w = arith.constant dense_resource<"a.weight"> : tensor<8x8xf32>
    %e = tensor.empty() : tensor<4x8xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %r = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }
}
"""
X = np.arange(32, dtype=np.float32).reshape(4, 8)

# Works in torch-mlir's process, too, so it is no module of the package that has to be imported as one.
_spec = importlib.util.spec_from_file_location(
    "parameters", pathlib.Path(tilewright.__file__).parent / "_lowering/parameters.py")
parameters = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(parameters)


def weights(seed):
    return np.random.default_rng(seed).integers(-4, 4, (8, 8)).astype(np.float32)


def write(path, seed):
    parameters.write(path, {"a.weight": ("F32", [8, 8], weights(seed).tobytes())})
    return path


def read(path):
    data = pathlib.Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    return {name: data[8 + size:][slice(*entry["data_offsets"])] for name, entry in header.items()}, 8 + size, header


def test_compile_load_and_save(tmp_path):
    source = tmp_path / "model.mlir"
    source.write_text(TEXT)
    write(tmp_path / "p.safetensors", 1)
    write(tmp_path / "other.safetensors", 2)
    program = tilewright.compile(source, target=["cpu", "vulkan", "cuda:sm_80"])
    for device in ("cpu", "vulkan", "ptxsim"):
        np.testing.assert_array_equal(program(X, device=device), X @ weights(1))
    assert program.parameters == str(tmp_path / "p.safetensors")

    folder = tmp_path / "saved"
    folder.mkdir()
    program.save(folder / "model.tw")
    assert sorted(os.listdir(folder)) == ["model.tw", "p.safetensors"]
    loaded = tilewright.load(folder / "model.tw", verify_parameters=True)
    np.testing.assert_array_equal(loaded(X, device="cpu"), X @ weights(1))
    other = tilewright.load(folder / "model.tw", parameters=tmp_path / "other.safetensors")
    np.testing.assert_array_equal(other(X, device="cpu"), X @ weights(2))
    data = (folder / "model.tw").read_bytes()
    np.testing.assert_array_equal(tilewright.load(data, parameters=tmp_path)(X, device="cpu"), X @ weights(1))
    with pytest.raises(tilewright.InvalidArgumentError, match="has other values than the one that the program was compiled"):
        tilewright.load(folder / "model.tw", parameters=tmp_path / "other.safetensors", verify_parameters=True).on("cpu")
    os.unlink(folder / "p.safetensors")
    with pytest.raises(tilewright.NotFoundError, match="saved/p.safetensors': No such file"):
        tilewright.load(folder / "model.tw")(X, device="cpu")


def test_the_file_of_a_text_and_the_cache(tmp_path):
    path = write(tmp_path / "p.safetensors", 1)
    first = tilewright.compile(TEXT, target="cpu", parameters=path)
    np.testing.assert_array_equal(first(X), X @ weights(1))
    # The same name with other values: another artifact, since it has the hashes.
    write(path, 2)
    second = tilewright.compile(TEXT, target="cpu", parameters=path)
    np.testing.assert_array_equal(second(X), X @ weights(2))
    assert second.artifact != first.artifact
    # The first one has its file still.
    np.testing.assert_array_equal(first(X), X @ weights(1))
    with pytest.raises(tilewright.CompileError, match="--parameters: cannot read 'p.safetensors': No such file"):
        tilewright.compile(TEXT, target="cpu")


@pytest.mark.parametrize("line", ['module attributes {tilewright.parameters="p.safetensors"} {',
                                  'module attributes {"tilewright.parameters" = "p\\2Esafetensors"} {',
                                  '// set tilewright.parameters = "other.safetensors"\n'
                                  'module attributes {tilewright.parameters = "p.safetensors", a.b = "tilewright.parameters = \\"c\\""} {'])
def test_spellings_of_the_attribute(tmp_path, line):
    path, source = write(tmp_path / "p.safetensors", 1), tmp_path / "model.mlir"
    source.write_text(TEXT.replace('module attributes {tilewright.parameters = "p.safetensors"} {', line))
    for seed in (1, 2):  # the second time other weights are there
        write(path, seed)
        program = tilewright.compile(source, target="cpu")
        assert program.parameters == str(path)
        np.testing.assert_array_equal(program(X, device="cpu"), X @ weights(seed))
        program.save(tmp_path / "model.tw")
        tilewright.load(tmp_path / "model.tw", verify_parameters=True).on("cpu")


def mappings(path):
    """How many mappings of a file this process has."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        return sum(line.rstrip().endswith(os.fspath(path)) for line in file)


def test_programs_share_a_file(tmp_path):
    # One takes one tensor and returns it, the other both: each finds its own, in one mapping that goes with the last of them.
    path, other = tmp_path / "p.safetensors", np.arange(128, dtype=np.float32).reshape(8, 16)
    parameters.write(path, {"a.weight": ("F32", [8, 8], weights(1).tobytes()), "b": ("F32", [8, 16], other.tobytes())})
    returned = """
module attributes {tilewright.parameters = "p.safetensors"} {
  func.func @main() -> (tensor<8x16xf32>, tensor<8x8xf32>) {
    %b = arith.constant dense_resource<b> : tensor<8x16xf32>
    %a = arith.constant dense_resource<"a.weight"> : tensor<8x8xf32>
    return %b, %a : tensor<8x16xf32>, tensor<8x8xf32>
  }
}
"""
    targets = ["cpu", "vulkan", "cuda:sm_80"]
    first, second = (tilewright.compile(text, target=targets, parameters=path) for text in (TEXT, returned))
    overwrite = tilewright.compile("""
func.func @main(%m: memref<8x16xf32>) {
  %c = arith.constant 2.0 : f32
  linalg.fill ins(%c : f32) outs(%m : memref<8x16xf32>)
  return
}
""", target=targets)
    for device in ("cpu", "vulkan", "ptxsim"):
        np.testing.assert_array_equal(first(X, device=device), X @ weights(1))
        b, a = second(device=device)
        np.testing.assert_array_equal(a, weights(1))
        # Who got a weight as a result may write there: the file and the programs have theirs still.
        overwrite(b, device=device)
        np.testing.assert_array_equal(b, np.full((8, 16), 2))
        np.testing.assert_array_equal(second(device=device)[0], other)
        assert mappings(path) == 1
    del first
    gc.collect()
    assert mappings(path) == 1
    b, a = second(device="cpu")
    del second
    gc.collect()
    assert mappings(path) == 0
    np.testing.assert_array_equal(b, other)


def test_large_constants_leave_a_text(tmp_path):
    random = np.random.default_rng(1)
    big, odd = random.standard_normal((32, 64)).astype("<f4"), random.standard_normal(1025).astype("<f4")
    ids, small, few = np.arange(8192).astype("<i8"), np.arange(4).astype("<f4"), np.arange(1024).astype("<i8")
    ones = np.ones(2048, "<f4")
    entries = ",\n".join(f'      {name}: "0x08000000{array.tobytes().hex().upper()}"' for name, array in
                         (("_big", big), ("_small", small), ("_ones", ones)))
    text = f"""#map = affine_map<(d0) -> (d0)>
module @m attributes {{torch.x = 1 : i64}} {{
  func.func @main() -> tensor<32x64xf32> {{
    %0 = arith.constant dense_resource<_big> : tensor<32x64xf32>
    %1 = arith.constant dense_resource<_small> : tensor<4xf32>
    %2 = arith.constant dense<"0x{odd.tobytes().hex().upper()}"> : tensor<1025xf32>
    %3 = arith.constant dense<"0x{ids.tobytes().hex().upper()}"> : tensor<8192xi64>
    %4 = arith.constant dense_resource<_ones> : tensor<2048xf32>
    %5 = arith.constant dense<"0x{big.tobytes().hex().upper()}"> : tensor<32x64xf32>
    %6 = arith.constant dense<"0x{few.tobytes().hex().upper()}"> : tensor<1024xi64>
    return %0 : tensor<32x64xf32>
  }}
}}

{{-#
  dialect_resources: {{
    builtin: {{
{entries}
    }}
  }}
#-}}
"""
    result, tensors = parameters.take_out(text, "p.safetensors", {big.tobytes(): 'fc/"1'})
    # Positions, which the compiler sees through, stay longer than floats.
    assert f'dense<"0x{few.tobytes().hex().upper()}"> : tensor<1024xi64>' in result
    assert len(result) < 1200 + 2 * few.nbytes
    assert 'module @m attributes {tilewright.parameters = "p.safetensors", torch.x' in result
    # One tensor for one content; a value that is everywhere is written; what is small stays.
    assert result.count('dense_resource<"fc/_1"> : tensor<32x64xf32>') == 2
    assert 'dense<"0x0000803F"> : tensor<2048xf32>' in result
    assert "_small: \"0x08000000" in result and "_big" not in result
    assert {name: tensor[:2] for name, tensor in tensors.items()} == {
        "fc/_1": ("F32", [32, 64]), "constant": ("F32", [1025]), "constant_1": ("I64", [8192])}

    path = tmp_path / "p.safetensors"
    parameters.write(path, tensors)
    data, begin, header = read(path)
    assert data == {"fc/_1": big.tobytes(), "constant": odd.tobytes(), "constant_1": ids.tobytes()}
    # All but what has an odd size, which is last, can be used in place; there are no gaps.
    assert begin % 64 == 0
    assert all(header[name]["data_offsets"][0] % 64 == 0 for name in header)
    assert sum(len(part) for part in data.values()) + begin == path.stat().st_size
    result = result.replace(", torch.x = 1 : i64", "")
    program = tilewright.compile(result, target="cpu", parameters=path)
    np.testing.assert_array_equal(program(), big)


def test_a_text_without_large_constants_stays():
    text = "module {\n  func.func @main() -> tensor<2xf32> {\n    %0 = arith.constant dense<1.0> : tensor<2xf32>\n  }\n}\n"
    assert parameters.take_out(text, "p.safetensors") == (text, {})


def test_files_are_added_to(tmp_path):
    path, other = tmp_path / "p.safetensors", tmp_path / "q.safetensors"
    ones, twos = (np.full(300, value, np.float32).tobytes() for value in (1, 2))
    parameters.write(path, {"a": ("F32", [300], ones), "b": ("F32", [3, 100], ones)})
    before = os.stat(path)
    parameters.write(other, {"a": ("F32", [300], ones)})
    assert parameters.add_to(path, other) == {}
    assert os.stat(path).st_ino == before.st_ino  # as it was
    parameters.write(other, {"a": ("F32", [300], twos), "b": ("F32", [300], ones), "c": ("F32", [300], twos)})
    assert parameters.add_to(path, other) == {"a": "a_1", "b": "b_1"}
    assert parameters.add_to(path, other) == {"a": "a_1", "b": "b_1"}
    tensors, _, _ = read(path)
    assert tensors == {"a": ones, "b": ones, "a_1": twos, "b_1": ones, "c": twos}


def resident():
    """Bytes of this process in memory that are its own."""
    with open("/proc/self/smaps_rollup", encoding="utf-8") as file:
        return sum(int(line.split()[1]) << 10 for line in file if line.startswith("Anonymous:"))


def test_programs_share_what_is_computed_at_load(tmp_path):
    """Weights that a program packs when it is loaded are there once, for all programs of the file on a device."""
    path, size = tmp_path / "w.safetensors", 2048
    weight = np.random.default_rng(1).integers(-4, 4, (size, size)).astype(np.float32)
    parameters.write(path, {"w": ("F32", [size, size], weight.tobytes())})
    text = """
module attributes {tilewright.parameters = "w.safetensors"} {
  func.func @main(%x: tensor<ROWSx2048xf32>) -> tensor<ROWSx2048xf32> {
    %w = arith.constant dense_resource<"w"> : tensor<2048x2048xf32>
    %e = tensor.empty() : tensor<ROWSx2048xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<ROWSx2048xf32>) -> tensor<ROWSx2048xf32>
    %r = linalg.matmul ins(%x, %w : tensor<ROWSx2048xf32>, tensor<2048x2048xf32>) outs(%f : tensor<ROWSx2048xf32>) -> tensor<ROWSx2048xf32>
    return %r : tensor<ROWSx2048xf32>
  }
}
"""
    first, second = (tilewright.compile(text.replace("ROWS", str(rows)), target="cpu", parameters=path) for rows in (64, 96))
    tilewright.device("cpu")
    grown = []
    for program, rows in ((first, 64), (second, 96)):
        before = resident()
        program.on("cpu")
        grown.append(resident() - before)
        x = np.random.default_rng(2).integers(-4, 4, (rows, size)).astype(np.float32)
        np.testing.assert_array_equal(program(x, device="cpu"), x @ weight)
    assert grown[0] > 3 * size * size and grown[1] < size * size, grown
    del first
    gc.collect()
    x = np.ones((96, size), np.float32)
    np.testing.assert_array_equal(second(x, device="cpu"), x @ weight)
