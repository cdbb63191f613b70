# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX, held against JAX itself, and modules of StableHLO. Without jax and iree-base-compiler only what is said then is
tested."""

import importlib.metadata
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import tilewright

ROOT = pathlib.Path(__file__).parents[2]
HAS_JAX = all(importlib.util.find_spec(name) is not None for name in ("jax", "iree"))
needs_jax = pytest.mark.skipif(not HAS_JAX, reason="jax or iree-base-compiler is not installed; python/requirements-jax.txt has the versions")
NAMES = []
if HAS_JAX:
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    from jax_functions import FUNCTIONS
    NAMES = list(FUNCTIONS)

#: Also run as PTX: one for each way in which IREE's ops become ours, and what is usual.
SIMULATED = ["mlp", "attention", "attention_narrow", "convolution_channels_last", "scatter_add", "sorts", "largest", "running", "fourier_real", "random_numbers",
             "gradient", "conversions_beyond_the_range", "unsigned_numbers", "scatter_of_windows", "pads"]


def leaves(value):
    return [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(value)]


def check(program, function, arguments, device, **bounds):
    expected = leaves(jax.jit(function)(*arguments))
    got = program(*leaves(arguments), device=device)
    got = got if isinstance(got, tuple) else (got,)
    assert len(got) == len(expected)
    for one, wanted in zip(got, expected):
        one = np.asarray(one)
        assert one.shape == wanted.shape
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(one, wanted, **{"rtol": 1e-4, "atol": 2e-5, **bounds})
        else:
            np.testing.assert_array_equal(one.astype(wanted.dtype), wanted)


def test_the_wheel_has_the_extras():
    wanted = [line.replace("'", '"') for line in importlib.metadata.requires("tilewright")]
    for package, extra in (("jax", "jax"), ("iree-base-compiler", "jax"), ("iree-base-compiler", "stablehlo")):
        assert any(line.startswith(package) and f'extra == "{extra}"' in line for line in wanted), wanted


def test_without_jax(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(tilewright.UnavailableError, match=r"from_jax needs JAX: .*; pip install tilewright\[jax\]"):
        tilewright.from_jax(abs)


def test_without_iree(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_STABLEHLO_PYTHON", str(tmp_path / "no-python"))
    with pytest.raises(tilewright.UnavailableError, match="cannot run .*no-python"):
        tilewright.from_stablehlo(b"module {}")
    with pytest.raises(FileNotFoundError, match="missing.mlir"):
        tilewright.from_stablehlo(tmp_path / "missing.mlir")


@needs_jax
@pytest.mark.parametrize("name", NAMES)
def test_function(name):
    function, arguments = FUNCTIONS[name]
    simulated, bounds = name in SIMULATED, {"atol": 0.02} if "narrow" in name else {}
    program = tilewright.from_jax(function, arguments, target=["cpu", "cuda:sm_80"] if simulated else "cpu")
    for device in ["cpu", "ptxsim"] if simulated else ["cpu"]:
        check(program, function, arguments, device, **bounds)


@needs_jax
def test_attention_is_one_kernel():
    function, arguments = FUNCTIONS["attention"]
    for arguments in (arguments, [argument.astype(jnp.bfloat16) for argument in arguments]):
        said = tilewright.from_jax(function, arguments, target="cuda:sm_80", explain=True).diagnostics
        assert re.search(r"@main\(.*: 1 kernel$", said, re.M) and "one kernel for both contractions" in said, said


@needs_jax
@pytest.mark.parametrize("arguments", [[], ["--target=cuda:sm_80", "--device=ptxsim", "--steps=2"]])
def test_training(arguments):
    done = subprocess.run([sys.executable, ROOT / "examples/jax/train.py", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "losses agree with JAX's" in done.stdout


@needs_jax
def test_names_and_constants(tmp_path):
    table = np.arange(4096, dtype=np.float32).reshape(64, 64)

    def scaled(params, *, x):
        return params["scale"] * (x @ table)

    program = tilewright.from_jax(scaled, ({"scale": np.float32(0.5)},), {"x": np.ones((2, 64), np.float32)}, target="cpu",
                                  parameters=tmp_path / "weights.safetensors")
    assert program.main.signature == "main(params_scale: tensor<f32>, x: tensor<2x64xf32>) -> tensor<2x64xf32>"
    np.testing.assert_allclose(program(np.float32(0.5), x=np.ones((2, 64), np.float32)), 0.5 * np.ones((2, 64)) @ table, rtol=1e-5)
    # Large constants are in a file.
    assert (tmp_path / "weights.safetensors").stat().st_size > table.nbytes


@needs_jax
def test_dims_of_any_size():
    def normalized(x, w):
        return jax.nn.softmax(x @ w, axis=-1) + x.mean(0)[:8]

    rows, = jax.export.symbolic_shape("rows")
    shapes = jax.ShapeDtypeStruct((rows, 16), jnp.float32), jax.ShapeDtypeStruct((16, 8), jnp.float32)
    exported = jax.export.export(jax.jit(normalized))(*shapes)
    for program, names in ((tilewright.from_jax(normalized, shapes, target="cpu"), "xw"),
                           (tilewright.from_jax(exported, target="cpu"), ("arg0", "arg1"))):
        x, w = names
        assert program.main.signature == f"main({x}: tensor<?x16xf32>, {w}: tensor<16x8xf32>) -> tensor<?x8xf32>"
        for count in (1, 5):
            arguments = np.random.default_rng(count).standard_normal((count, 16)).astype(np.float32), np.ones((16, 8), np.float32)
            check(program, normalized, arguments, "cpu")
    with pytest.raises(tilewright.Error, match="[Ii]nput shapes do not match"):
        program(np.ones((0, 16), np.float32), np.ones((16, 8), np.float32))


@needs_jax
def test_scatters_of_any_size():
    def scattered(x, places, columns, rows, elements):
        return x.at[places].add(rows), x.at[places, columns].add(elements), jax.nn.softmax(x, axis=-1)

    n, b, c = jax.export.symbolic_shape("n, b, c")
    shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in (((n, 4), jnp.float32), ((b, c), jnp.int32), ((b, c), jnp.int32),
                                                                      ((b, c, 4), jnp.float32), ((b, c), jnp.float32))]
    program = tilewright.from_jax(scattered, shapes, target=["cpu", "cuda:sm_80"])
    for sizes in ((20, 5, 6), (3, 1, 7)):
        random = np.random.default_rng(sizes[0])
        count, *batch = sizes
        arguments = (random.standard_normal((count, 4)).astype(np.float32), random.integers(0, count, batch, np.int32),
                     random.integers(0, 4, batch, np.int32), random.standard_normal((*batch, 4)).astype(np.float32),
                     random.standard_normal(batch).astype(np.float32))
        for device in ("cpu", "ptxsim"):
            check(program, scattered, arguments, device)


@needs_jax
def test_a_cache_that_is_given_away():
    """A step of a decoder: keys and values get a row where they are, and are attended to."""
    def step(keys, values, key, value, query, at):
        keys, values = (jax.lax.dynamic_update_slice(old, new[:, None], (0, at, 0)) for old, new in ((keys, key), (values, value)))
        scores = jnp.einsum("hd,hnd->hn", query, keys) / 4 + jnp.where(jnp.arange(keys.shape[1]) <= at, 0, -jnp.inf)
        return keys, values, jnp.einsum("hn,hnd->hd", jax.nn.softmax(scores, axis=-1), values)

    random = np.random.default_rng(7)
    caches = [random.standard_normal((2, 24, 16)).astype(np.float32) for _ in range(2)]
    rows = [random.standard_normal((2, 16)).astype(np.float32) for _ in range(3)]
    program = tilewright.from_jax(jax.jit(step, donate_argnums=(0, 1)), (*caches, *rows, np.int32(0)), target=["cpu", "cuda:sm_80"], explain=True)
    assert program.main.signature.startswith("main(keys: memref<2x24x16xf32>, values: memref<2x24x16xf32>, key: tensor<2x16xf32>"), program.main.signature
    assert program.main.signature.endswith("-> tensor<2x16xf32>")
    # A row of each is written, and no kernel writes all of them.
    assert len(re.findall(r"write 2x(?:1x)?16xf32 %inserted_slice", program.diagnostics)) == 4 and "write 2x24x16" not in program.diagnostics, program.diagnostics
    for device in ("cpu", "ptxsim"):
        now, expected = [cache.copy() for cache in caches], caches
        for at in (0, 5, 23):
            *expected, attended = step(*expected, *rows, at)
            got = program(*now, *rows, np.array(at, np.int32), device=device)
            np.testing.assert_allclose(np.asarray(got), attended, rtol=1e-4, atol=2e-5)
            for cache, wanted in zip(now, expected):
                np.testing.assert_array_equal(cache, wanted)


@needs_jax
def test_a_step_of_adam():
    """1 - b ** t is part of the kernels that divide by it."""
    def adam(weights, means, squares, gradient, t):
        means, squares = 0.9 * means + 0.1 * gradient, 0.999 * squares + 0.001 * gradient**2
        return weights - 0.01 * (means / (1 - 0.9**t)) / (jnp.sqrt(squares / (1 - 0.999**t)) + 1e-8), means, squares

    arguments = *(np.random.default_rng(n).random((40, 30), np.float32) for n in range(4)), np.float32(3)
    program = tilewright.from_jax(adam, arguments, target="cpu", explain=True)
    assert re.search(r"@main\(.*: 1 kernel$", program.diagnostics, re.M), program.diagnostics
    check(program, adam, arguments, "cpu")


@needs_jax
def test_a_norm_of_groups():
    """The gain of each channel is in the kernel of the norm, behind a reshape of groups to channels."""
    def group_norm(x, gain, bias):
        groups = x.reshape(x.shape[0], 8, -1)
        centred = groups - groups.mean(-1, keepdims=True)
        normal = (centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)).reshape(x.shape)
        return normal * gain[:, None] + bias[:, None]

    arguments = [np.random.default_rng(3).standard_normal(shape).astype(np.float32) for shape in ((4, 32, 100), (32,), (32,))]
    program = tilewright.from_jax(group_norm, arguments, target=["cpu", "cuda:sm_80"], explain=True)
    assert len(re.findall(r"@main\(.*: 1 kernel$", program.diagnostics, re.M)) == 2, program.diagnostics
    for device in ("cpu", "ptxsim"):
        check(program, group_norm, arguments, device)


@needs_jax
def test_arguments_that_are_not_used():
    def first(x, y):
        return x + 1
    ones = np.ones(3, np.float32), np.ones(5, np.float32)
    assert tilewright.from_jax(first, ones, target="cpu").main.input_names == ["x", "y"]
    assert tilewright.from_jax(jax.jit(first), ones, target="cpu").main.input_names == ["x"]


@needs_jax
def test_refusals():
    with pytest.raises(tilewright.CompileError, match=r"op stablehlo.custom_call of 'lapack_spotrf_ffi': that function is of another library"):
        tilewright.from_jax(jnp.linalg.cholesky, (np.eye(3, dtype=np.float32),))
    with pytest.raises(tilewright.CompileError, match="jax.export: .*shape"):
        tilewright.from_jax(lambda x, y: x @ y, (np.ones((2, 3)), np.ones((2, 3))))
    with pytest.raises(tilewright.CompileError, match="the module: a complex result: return its real and"):
        tilewright.from_jax(lambda x: x * 2j, (np.ones(3, np.float32),), target="cpu")
    with pytest.raises(tilewright.CompileError, match="the module: a complex argument: pass its real and"):
        tilewright.from_jax(jnp.abs, (np.ones(3, np.complex64),), target="cpu")
    with pytest.raises(tilewright.CompileError, match="op stablehlo.tanh of complex numbers is not lowered: compute its real and"):
        tilewright.from_jax(lambda x: jnp.real(jnp.tanh(jax.lax.complex(x, x))), (np.ones(3, np.float32),), target="cpu")
    with pytest.raises(tilewright.InvalidArgumentError, match="takes a function or a jax.export.Exported, no int"):
        tilewright.from_jax(3)
    with pytest.raises(tilewright.CompileError, match="the module: it is not read as StableHLO"):
        tilewright.from_stablehlo(b"module {")
    with pytest.raises(tilewright.CompileError, match="has not lowered it within 0.001 s"):
        tilewright.from_jax(jnp.sin, (np.ones(3, np.float32),), timeout=0.001)


@needs_jax
def test_the_command(tmp_path):
    def product(x):
        return x @ x + jnp.arange(4096.0).reshape(64, 64)
    exported = jax.export.export(jax.jit(product))(jax.ShapeDtypeStruct((64, 64), jnp.float32))
    texts = []
    for name, data in (("text.mlir", str(exported.mlir_module()).encode()), ("portable.mlirbc", exported.mlir_module_serialized)):
        (tmp_path / name).write_bytes(data)
        lowered = tmp_path / f"lowered-{name}"
        done = subprocess.run([sys.executable, "-m", "tilewright.stablehlo", tmp_path / name, "-o", lowered], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        texts.append(lowered.read_text())
        check(tilewright.from_stablehlo(tmp_path / name, target="cpu"), product, (np.eye(64, dtype=np.float32),), "cpu")
    assert all("linalg.matmul" in text for text in texts)
    done = subprocess.run([sys.executable, "-m", "tilewright.stablehlo", "--wrong"], capture_output=True, text=True)
    assert done.returncode == 2 and "unrecognized arguments: --wrong" in done.stderr and "usage: python -m tilewright.stablehlo" in done.stderr
    (tmp_path / "wrong.mlir").write_text("nothing")
    done = subprocess.run([sys.executable, "-m", "tilewright.stablehlo", tmp_path / "wrong.mlir"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("tilewright.stablehlo: error: ") and "Traceback" not in done.stderr
