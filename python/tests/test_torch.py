# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of PyTorch. Without torch in the environment only what is said then is tested; torch-mlir's Python is this one, or
that of TILEWRIGHT_ONNX_PYTHON."""

import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tilewright

ROOT = pathlib.Path(__file__).resolve().parents[2]
HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed: pip install torch torch-mlir")
needs_torch_mlir = pytest.mark.skipif(
    not HAS_TORCH or importlib.util.find_spec("torch_mlir") is None and "TILEWRIGHT_ONNX_PYTHON" not in os.environ,
    reason="torch or torch-mlir is not installed: pip install torch torch-mlir")


def network():
    import torch
    torch.manual_seed(1)

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(64, 128)
            self.norm = torch.nn.LayerNorm(128)
            self.second = torch.nn.Linear(128, 10)

        def forward(self, x, shift):
            return self.second(torch.nn.functional.gelu(self.norm(self.first(x)))) + shift, x.mean(dim=1)

    return Network().eval(), (torch.randn(3, 64), torch.randn(10))


def check(program, module, args):
    import torch
    with torch.no_grad():
        expected = module(*args)
    for got, wanted in zip(program(*(arg.numpy() for arg in args)), expected):
        np.testing.assert_allclose(np.asarray(got), wanted.numpy(), rtol=1e-4, atol=1e-5)


def test_the_wheel_has_the_extra():
    wanted = importlib.metadata.requires("tilewright")
    for package in ("torch", "torch-mlir"):
        assert any(line.startswith(package) and 'extra == "torch"' in line.replace("'", '"') for line in wanted), wanted


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(tilewright.UnavailableError, match=r"from_torch needs PyTorch: .*; pip install tilewright\[torch\]"):
        tilewright.from_torch(None)
    with pytest.raises(tilewright.InvalidArgumentError, match="via='tosa'; expected one of torch-mlir, onnx, or None"):
        tilewright.from_torch(None, via="tosa")
    with pytest.raises(tilewright.InvalidArgumentError, match="state=True is for via='torch-mlir' alone"):
        tilewright.from_torch(None, via="onnx", state=True)


@needs_torch_mlir
def test_programs_share_weights():
    import gc
    import torch
    module, args = network()
    more = (torch.randn(5, 64), args[1])
    first = tilewright.from_torch(module, args, target="cpu")
    before = os.stat(first.parameters)
    second = tilewright.from_torch(module, more, target="cpu", parameters=first)
    assert second.parameters == first.parameters and os.stat(second.parameters) == before
    check(first, module, args)
    # Another module's weights have names of their own where these are taken.
    other, _ = network()
    with torch.no_grad():
        other.first.weight += 1
    third = tilewright.from_torch(other, args, target="cpu", parameters=second)
    assert os.stat(third.parameters).st_size > before.st_size
    check(third, other, args)
    path = first.parameters
    del first, third
    gc.collect()
    check(second, module, more)
    del second
    gc.collect()
    assert not os.path.exists(path)


@needs_torch_mlir
def test_names_of_shared_weights():
    """A weight whose name is taken gets another, which the second program has as well."""
    import torch

    class Scaled(torch.nn.Module):
        def __init__(self, *names):
            super().__init__()
            for name in names:
                self.register_parameter(name, torch.nn.Parameter(torch.randn(64, 64)))

        def forward(self, x):
            return tuple(x * each for each in self.parameters())

    x, one, both = torch.randn(64, 64), Scaled("w"), Scaled("w", "w_1")
    first = tilewright.from_torch(one, (x,), target="cpu")
    second = tilewright.from_torch(both, (x,), target="cpu", parameters=first)
    for result, expected in zip(second(x.numpy()), both(x)):
        np.testing.assert_array_equal(np.asarray(result), expected.detach().numpy())


@needs_torch_mlir
def test_forked_children_and_other_threads():
    """A child's end leaves the parent's weights, and what other threads print while a module is exported is printed."""
    said = subprocess.run([sys.executable, "-c", """
import os, sys, threading
import numpy as np, tilewright, torch
program = tilewright.from_torch(torch.nn.Linear(64, 64), (torch.ones(2, 64),), target="cpu")
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
assert program(np.ones((2, 64), "float32"), device="cpu").shape == (2, 64)
true = sys.stdout
threads = [threading.Thread(target=lambda: tilewright.from_torch(torch.nn.Linear(8, 8), (torch.ones(2, 8),), target="cpu"))
           for _ in range(2)]
for thread in threads:
    thread.start()
count = 0
while any(thread.is_alive() for thread in threads):
    print("line", count := count + 1)
    threads[0].join(0.01)
assert sys.stdout is true
print("lines", count)
"""], capture_output=True, text=True, timeout=600, check=True).stdout.splitlines()
    assert said == [f"line {number}" for number in range(1, len(said))] + [f"lines {len(said) - 1}"]


@needs_torch_mlir
def test_module():
    module, args = network()
    program = tilewright.from_torch(module, args, target="cpu")
    assert program.main.signature == "main(x: tensor<3x64xf32>, shift: tensor<10xf32>) -> tensor<3x10xf32>, tensor<3xf32>"
    check(program, module, args)
    # Weights are in a file, by the names of the module.
    with open(program.parameters, "rb") as file:
        assert b'"first.weight":{"dtype":"F32","shape":[128,64]' in file.read(4096)


@needs_torch_mlir
def test_dynamic_shapes_and_exported_programs(tmp_path):
    import torch
    module, args = network()
    batch = torch.export.Dim("batch", min=2, max=64)
    shapes = {"x": {0: batch}, "shift": None}
    path = tmp_path / "weights.safetensors"
    program = tilewright.from_torch(torch.export.export(module, args, dynamic_shapes=shapes), target="cpu", parameters=path)
    assert program.parameters == str(path) and path.exists()
    for rows in (2, 7):
        check(program, module, (torch.randn(rows, 64), args[1]))


@needs_torch_mlir
def test_two_dims_of_any_size():
    """Layers over tokens, which torch.export joins with the batch, and products of heads."""
    import torch
    torch.manual_seed(2)

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.heads, self.shared, self.out = torch.nn.Linear(32, 32), torch.nn.Linear(32, 32), torch.nn.Linear(32, 32)

        def forward(self, x):
            batch, tokens, _ = x.shape
            q = self.heads(x).view(batch, tokens, 4, 8).transpose(1, 2)
            k, v = self.shared(x).view(batch, tokens, 2, 2, 8).permute(2, 0, 3, 1, 4)
            k, v = (y[:, :, None].expand(batch, 2, 2, tokens, 8).reshape(batch, 4, tokens, 8) for y in (k, v))
            weights = torch.softmax(torch.matmul(q, k.transpose(2, 3)) * 0.35, dim=-1)
            return (self.out(torch.matmul(weights, v).transpose(1, 2).reshape(batch, tokens, 32)),)

    module = Attention().eval()
    sizes = torch.export.Dim("batch", max=64), torch.export.Dim("tokens", max=64)
    program = tilewright.from_torch(module, (torch.randn(3, 5, 32),), dynamic_shapes={"x": dict(enumerate(sizes))}, via="torch-mlir",
                                    target=["cpu", "cuda:sm_80"], explain=True)
    for shape in ((3, 5, 32), (1, 1, 32), (2, 7, 32)):
        check(lambda *args: (program(*args),), module, (torch.randn(shape),))
    assert "one kernel for both contractions" in program.diagnostics


@needs_torch_mlir
@pytest.mark.parametrize("kind", ["f16 causal groups", "bf16 mask of floats", "f16 mask with rows that see nothing", "f32 scale"])
def test_scaled_dot_product_attention(kind):
    """One kernel for operands of their type, of any number of queries and keys, whichever options the call has."""
    import torch
    torch.manual_seed(3)
    dtype = {"f16": torch.float16, "bf1": torch.bfloat16, "f32": torch.float32}[kind[:3]]
    groups = 2 if "groups" in kind else 8

    class Attention(torch.nn.Module):
        def forward(self, q, k, v, mask):
            options = {"is_causal": True, "enable_gqa": True} if "causal" in kind else {"attn_mask": mask} if "mask" in kind else {"scale": 0.3}
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)

    def operands(batch, queries, keys):
        mask = torch.randn(batch, 1, queries, keys).to(dtype)
        if "nothing" in kind:
            mask = mask > 0
            mask[:, :, 1] = False
        return *(torch.randn(batch, heads, tokens, 32).to(dtype) for heads, tokens in ((8, queries), (groups, keys), (groups, keys))), mask

    batch, queries, keys = (torch.export.Dim(name, max=256) for name in ("batch", "queries", "keys"))
    shapes = {"q": {0: batch, 2: queries}, "k": {0: batch, 2: keys}, "v": {0: batch, 2: keys},
              "mask": {0: batch, 2: queries, 3: keys}}
    program = tilewright.from_torch(Attention(), operands(2, 33, 47), dynamic_shapes=shapes, via="torch-mlir",
                                    target=["cpu", "cuda:sm_80"], explain=True)
    assert ": 1 kernel\n" in program.diagnostics, program.diagnostics
    for shape in ((2, 33, 47), (1, 2, 2), (3, 65, 20)):
        args = operands(*shape)
        wanted = Attention()(*args).double()
        got = torch.from_dlpack(program(*args)).double()
        assert not torch.isnan(got).any()
        torch.testing.assert_close(got, wanted, rtol=0, atol={"f16": 2e-3, "bf1": 2e-2, "f32": 1e-5}[kind[:3]])


@needs_torch_mlir
def test_reciprocals_of_zero():
    import torch

    class Reciprocal(torch.nn.Module):
        def forward(self, x):
            return (1.0 / x,)

    program = tilewright.from_torch(Reciprocal(), (torch.ones(4),), via="torch-mlir", target="cpu")
    check(lambda *args: (program(*args),), Reciprocal(), (torch.tensor([0.0, 2.0, -0.0, 4.0]),))


@needs_torch_mlir
@pytest.mark.parametrize("shape, view", [
    ((3, 3, 8, 8), lambda x: x.view(x.shape[0], 3, 2, 4, 2, 4).permute(0, 2, 4, 1, 3, 5).reshape(x.shape[0], 4, 48)),
    ((2, 12, 6, 6), lambda x: x.view(x.shape[0] * 3, 4, 6, 6)),
    ((2, 5, 32), lambda x: x.view(x.shape[0] * x.shape[1], 4, 8)),
])
def test_views_in_several_steps(shape, view):
    import torch

    class View(torch.nn.Module):
        def forward(self, x):
            return (view(x) * 2,)

    module = View()
    sizes = {0: torch.export.Dim("batch", max=64)}
    if len(shape) == 3:
        sizes[1] = torch.export.Dim("tokens", max=64)
    program = tilewright.from_torch(module, (torch.randn(shape),), dynamic_shapes={"x": sizes}, via="torch-mlir", target="cpu")
    for batch in (shape[0], 1, 5):
        check(lambda *args: (program(*args),), module, (torch.randn((batch, *shape[1:])),))


@needs_torch_mlir
def test_constants_among_arguments_and_buffers_that_are_not_saved():
    import torch

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.arange(3.0), persistent=False)

        def forward(self, x, pair, scale=1, mode="sum", *, bias=None):
            y = x * scale + pair["a"] - pair["b"][0]
            return {"y": y + bias if mode == "sum" else y, "z": (x.sum() + self.table,)}

    x, a, b, bias = torch.randn(2, 3), torch.randn(3), torch.randn(3), torch.randn(3)
    args, kwargs = (x, {"a": a, "b": [b]}, 3, "sum"), {"bias": bias}
    program = tilewright.from_torch(Scaled(), args, kwargs, target="cpu")
    assert program.main.input_names == ["x", "pair_a", "pair_b_0", "bias"]
    wanted = Scaled()(*args, **kwargs)
    for got, expected in zip(program(x, a, b, bias), (wanted["y"], *wanted["z"])):
        np.testing.assert_allclose(np.asarray(got), expected.numpy(), rtol=1e-5, atol=1e-5)
    program = tilewright.from_torch(Scaled(), (x, {"a": a, "b": [b]}), {"mode": "none", "bias": None}, target="cpu")
    np.testing.assert_allclose(np.asarray(program(x, a, b)[0]), (x + a - b).numpy(), rtol=1e-5, atol=1e-5)


@needs_torch_mlir
@pytest.mark.parametrize("via", ["torch-mlir", "onnx"])
def test_what_writes_in_place(via):
    import torch
    if via == "onnx":
        pytest.importorskip("onnxscript", reason="onnxscript is not installed, which torch.onnx.export needs")

    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(3))

        def forward(self, x):
            self.calls.add_(1)
            return x + self.calls

    with pytest.raises(tilewright.CompileError, match="the module: it writes 'calls' in place, and a program has no state"):
        tilewright.from_torch(Counts(), (torch.ones(3),), via=via, target="cpu")


@needs_torch_mlir
def test_arguments_written_in_place():
    import torch

    class Cache(torch.nn.Module):
        def forward(self, x, at, cache):
            cache.index_copy_(1, at + torch.arange(x.shape[1]), x)
            return cache.sum(1), cache, x + 1

    x, cache, other = torch.randn(2, 1, 8), torch.randn(2, 5, 8), torch.zeros(2, 5, 8)
    program = tilewright.from_torch(Cache(), (x, torch.tensor(0), cache.clone()), via="torch-mlir", target="cpu")
    assert program.main.signature == ("main(x: tensor<2x1x8xf32>, at: tensor<i64>, cache: memref<2x5x8xf32>) "
                                      "-> tensor<2x8xf32>, tensor<2x5x8xf32>, tensor<2x1x8xf32>")
    for at in (torch.tensor(3), torch.tensor(0)):
        held = cache.clone()
        expected = Cache()(x, at, held)
        got = program(x, at, cache)
        for one, wanted in zip((*got, cache), (*expected, held)):
            np.testing.assert_allclose(np.asarray(one), wanted.numpy(), rtol=1e-5, atol=1e-5)
    program(x, torch.tensor(4), other)
    assert bool((other[:, 4] == x[:, 0]).all()) and not bool(other[:, :4].any())


@needs_torch_mlir
def test_masks_of_transformers():
    """PyTorch's modules ask their elements whether they are causal."""
    import torch

    class Masked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
            self.encoder = torch.nn.TransformerEncoder(layer, 1)
            self.decoder = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(16, 2, 32, batch_first=True), 1)

        def forward(self, x, mask, padded):
            seen = self.encoder(x, mask=mask)
            return self.encoder(x, src_key_padding_mask=padded), self.decoder(x, seen, tgt_mask=mask)

    torch.manual_seed(1)
    module = Masked().eval()
    args = (torch.randn(2, 5, 16), torch.nn.Transformer.generate_square_subsequent_mask(5), torch.tensor([[False] * 5, [False] * 3 + [True] * 2]))
    program = tilewright.from_torch(module, args, via="torch-mlir", target="cpu")
    other = (args[0], torch.where(torch.rand(5, 5) < 0.3, -torch.inf, 0.0).fill_diagonal_(0.0), args[2].flip(0))
    assert torch.backends.mha.get_fastpath_enabled()
    for given in (args, other):
        torch.backends.mha.set_fastpath_enabled(False)  # which leaves out what is padded
        try:
            wanted = module(*given)
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
        for got, expected in zip(program(*given), wanted):
            np.testing.assert_allclose(np.asarray(got), expected.detach().numpy(), rtol=1e-4, atol=1e-5)


@needs_torch_mlir
def test_written_buffers_as_arguments():
    import torch

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(8)
            self.register_buffer("cache", torch.zeros(5, 8))
            self.register_buffer("scale", torch.full((8,), 0.5))
            self.register_buffer("calls", torch.tensor(0), persistent=False)

        def forward(self, x, at):
            self.calls += 1
            self.cache[at] = self.norm(x).sum(0)
            return self.cache.sum(0) * self.scale + self.calls

    module, x = Layer(), torch.randn(4, 8)
    program = tilewright.from_torch(module, (x, torch.tensor([0])), via="torch-mlir", target="cpu", state=True)
    held = {name.replace(".", "_"): buffer.clone() for name, buffer in module.named_buffers()}
    assert program.main.input_names[:2] == ["x", "at"] and sorted(program.main.input_names[2:]) == sorted(held.keys() - {"scale"})
    for at in (torch.tensor([3]), torch.tensor([1])):
        got = program(x, at, *(held[name] for name in program.main.input_names[2:]))
        with torch.no_grad():
            np.testing.assert_allclose(np.asarray(got), module(x, at).numpy(), rtol=1e-5, atol=1e-5)
    for name, buffer in module.named_buffers():
        np.testing.assert_allclose(held[name.replace(".", "_")].numpy(), buffer.numpy(), rtol=1e-5, atol=1e-5, err_msg=name)


@needs_torch_mlir
@pytest.mark.parametrize("arguments", [[], ["--target=cuda:sm_80", "--device=ptxsim", "--tokens=2"]])
def test_generation(arguments):
    pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    done = subprocess.run([sys.executable, ROOT / "examples/torch/generate.py", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "tokens agree with PyTorch's" in done.stdout


@needs_torch_mlir
def test_sizes_of_arguments():
    import torch

    class Step(torch.nn.Module):
        def forward(self, x, past, mask):
            keys = torch.cat([past, x.view(-1, 1, 2, 4).transpose(1, 2)], 2)
            return (keys.sum(3) * mask.view(-1, mask.shape[1])[:, None]).sum(2), keys

    batch, length = torch.export.Dim("batch"), torch.export.Dim("length")
    shapes = {"x": {0: batch}, "past": {0: batch, 2: length}, "mask": {0: batch, 1: length + 1}}
    program = tilewright.from_torch(Step(), (torch.ones(3, 8), torch.ones(3, 2, 5, 4), torch.ones(3, 6)), dynamic_shapes=shapes,
                                    via="torch-mlir", target="cpu")
    for size, past in ((3, 5), (1, 1), (1, 9), (4, 0)):
        args = torch.randn(size, 8), torch.randn(size, 2, past, 4), torch.randn(size, past + 1)
        for got, wanted in zip(program(*args), Step()(*args)):
            np.testing.assert_allclose(np.asarray(got), wanted.numpy(), rtol=1e-5, atol=1e-5)
    x, past, mask = torch.ones(2, 8), torch.ones(2, 2, 3, 4), torch.ones(2, 4)
    for args, reason in (((x[:1], past, mask), "dim 0 of past must be dim 0 of x"), ((x, past, mask[:1]), "dim 0 of mask must be dim 0 of x"),
                         ((x, past, mask[:, :3]), "dim 1 of mask must be dim 2 of past [+] 1")):
        with pytest.raises(tilewright.ProgramError, match=reason):
            program(*args)


@needs_torch
def test_what_is_no_module_or_cannot_be_exported(monkeypatch, tmp_path):
    import torch
    with pytest.raises(tilewright.InvalidArgumentError, match="takes a torch.nn.Module .* no int"):
        tilewright.from_torch(3)

    class Branches(torch.nn.Module):
        def forward(self, x):
            return x + 1 if x.sum() > 0 else x - 1

    with pytest.raises(tilewright.CompileError, match="torch.export: "):
        tilewright.from_torch(Branches(), (torch.ones(3),), target="cpu")
    monkeypatch.setenv("TILEWRIGHT_ONNX_PYTHON", str(tmp_path / "no-python"))
    module, args = network()
    with pytest.raises(tilewright.UnavailableError, match="^cannot run [^(]*$"):
        tilewright.from_torch(module, args, via="torch-mlir", target="cpu")
    with pytest.raises(tilewright.UnavailableError, match="^cannot run .* [(]nor by way of ONNX: "):
        tilewright.from_torch(module, args, target="cpu")


@needs_torch_mlir
def test_refused():
    import torch

    class Eigenvalues(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigvals(x)

    with pytest.raises(tilewright.CompileError, match="the module: .*eig"):
        tilewright.from_torch(Eigenvalues(), (torch.ones(3, 3),), via="torch-mlir", target="cpu")


@needs_torch_mlir
def test_by_onnx():
    pytest.importorskip("onnxscript", reason="onnxscript is not installed, which torch.onnx.export needs")
    module, args = network()
    check(tilewright.from_torch(module, args, via="onnx", target="cpu"), module, args)


@needs_torch
def test_by_onnx_where_the_other_python_has_no_torch(monkeypatch):
    pytest.importorskip("onnxscript", reason="onnxscript is not installed, which torch.onnx.export needs")
    python = pathlib.Path(__file__).parents[2] / "build/onnx-venv/bin/python"
    if not python.exists():
        pytest.skip("no Python with torch-mlir and without torch; test/onnx/run.py --install makes one")
    monkeypatch.setenv("TILEWRIGHT_ONNX_PYTHON", str(python))
    module, args = network()
    with pytest.raises(tilewright.UnavailableError, match=r"has no torch with torch-mlir: .*torch.*; pip install tilewright\[torch\]"):
        tilewright.from_torch(module, args, via="torch-mlir", target="cpu")
    check(tilewright.from_torch(module, args, target="cpu"), module, args)
