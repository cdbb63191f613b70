#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of examples/ against the oracle and NumPy, and small faults in them that must be found.

`transformer-layer` has as many heads of keys as of queries; `decoder-layer` rotary embedding, heads that share keys, and a
gated network; `decoder-layer-norm` is that with layer norms for norms by the root mean square.

With weak weights, every element has an error bound of the oracle's, which holds. These add up over a layer, so with
weights that make attention decide the result the error against NumPy in f64, root mean square, is compared: it is at
most 1.25 times that of a NumPy layer that rounds to f16 wherever the program does. Versions with a fault (in attention a
mask off by one, a scale off by 0.8 %, a running result that is not rescaled; in a norm a scale off by 0.8 %, a mean that is
not taken off) must exceed that.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

TOKENS, WIDTH, KEY_HEADS, GROUP, DEPTH, HIDDEN, WIDE = 128, 512, 2, 4, 64, 1408, 2048
LEAST = 1e-5
MOST = 1.25


class Layer:
    """Inputs in the order of the program's arguments; sharp: scores have a deviation of about 3, and attention decides the
    result; else errors add up to so little that the oracle has a bound for each element."""
    faults = {"norm scale": ("arith.constant 0.001953125 : f32", "arith.constant 0.0019844 : f32")}
    elsewhere = ()  # devices that another layer tries

    def __init__(self, source):
        self.source = source

    def text(self):
        return self.source.read_text()

    def inputs(self, sharp):
        random = np.random.default_rng(7)
        normal = lambda *shape, scale: (scale * random.standard_normal(shape)).astype(np.float16)
        gain = lambda: random.uniform(0.5, 1.5, WIDTH).astype(np.float16)
        weights = lambda rows, columns, scale: normal(rows, columns, scale=scale * rows ** -0.5)
        return self.arguments(normal(TOKENS, WIDTH, scale=0.05 if sharp else 1), gain, weights, sharp)

    def normalise(self, t, gain, store):
        return store(t / np.sqrt((t * t).mean(axis=1, keepdims=True) + LEAST) * gain)


def attend(q, k, v, store):
    """Causal; heads of keys by heads of queries that share them."""
    scores = np.einsum("ihgd,jhd->hgij", q, k) / 8
    scores = np.where(np.tri(TOKENS, dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return store(np.einsum("hgij,jhe->ihge", store(p / p.sum(axis=-1, keepdims=True)), v).reshape(TOKENS, WIDTH))


class Decoder(Layer):
    faults = {**Layer.faults, "mask": ('causal = "top_left"', "window = array<i64: -1, 1>"),
              "scale": ("scale = 0.125", "scale = 0.126")}

    def arguments(self, x, gain, weights, sharp):
        angle = np.arange(TOKENS)[:, None] * 10000.0 ** (-np.arange(DEPTH // 2) / (DEPTH // 2))[None, :]
        return [x, np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32), gain(),
                weights(WIDTH, KEY_HEADS * (GROUP + 2) * DEPTH, 1.7 if sharp else 0.2),
                weights(WIDTH, WIDTH, 1 if sharp else 0.03), gain(),
                *(weights(WIDTH, HIDDEN, 0.3 if sharp else 0.1) for _ in range(2)), weights(HIDDEN, WIDTH, 0.3)]

    def run(self, arguments, store):
        """The layer in f64; `store` is what rounds at each point where the program does."""
        x, cos, sin, gain0, w_qkv, w_out, gain1, w_gate, w_up, w_down = (a.astype(np.float64) for a in arguments)
        heads = store(self.normalise(x, gain0, store) @ w_qkv).reshape(TOKENS, KEY_HEADS, GROUP + 2, 2, DEPTH // 2)
        a, b = heads[:, :, :-1, 0], heads[:, :, :-1, 1]
        c, s = cos[:, None, None], sin[:, None, None]
        turned = store(np.concatenate([a * c - b * s, b * c + a * s], axis=-1))
        values = heads[:, :, -1].reshape(TOKENS, KEY_HEADS, DEPTH)
        y = store(x + attend(turned[:, :, :GROUP], turned[:, :, GROUP], values, store) @ w_out)
        n1 = self.normalise(y, gain1, store)
        up = n1 @ w_gate
        up = store(store(up / (1 + np.exp(-up))) * (n1 @ w_up))
        return store(y + up @ w_down)


# What makes a norm by the root mean square one of what is left without the mean.
MEAN = """  %mean_sum = linalg.generic {indexing_maps = [#ij, #i_of_ij], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<128x512xf16>) outs(%z : tensor<128xf32>) {
  ^bb0(%a: f16, %sum: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<128xf32>
"""


class LayerNormDecoder(Decoder):
    elsewhere = ("ptxsim@sm_90",)
    faults = {"norm scale": Layer.faults["norm scale"], "mean": ("arith.constant 0.00195312500 : f32", "arith.constant 0.0 : f32")}

    def text(self):
        """Both ops of the norm read the mean, too."""
        text = super().text()

        def edit(old, new):
            nonlocal text
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        part = "%mean_part = arith.constant 0.00195312500 : f32\n"
        edit("  %squares = linalg.generic {indexing_maps = [#ij, #i_of_ij], ",
             MEAN + "  %mean_e = tensor.empty() : tensor<128xf32>\n"
             "  %mean = linalg.generic {indexing_maps = [#i, #i], iterator_types = [\"parallel\"]}\n"
             "      ins(%mean_sum : tensor<128xf32>) outs(%mean_e : tensor<128xf32>) {\n  ^bb0(%sum: f32, %out: f32):\n"
             f"    {part}    %0 = arith.mulf %sum, %mean_part : f32\n    linalg.yield %0 : f32\n  }} -> tensor<128xf32>\n"
             "  %squares = linalg.generic {indexing_maps = [#ij, #i_of_ij, #i_of_ij], ")
        edit("ins(%x : tensor<128x512xf16>) outs(%z : tensor<128xf32>) {\n  ^bb0(%a: f16, %sum: f32):\n"
             "    %0 = arith.extf %a : f16 to f32\n    %1 = arith.mulf %0, %0 : f32\n",
             "ins(%x, %mean : tensor<128x512xf16>, tensor<128xf32>) outs(%z : tensor<128xf32>) {\n"
             "  ^bb0(%a: f16, %mid: f32, %sum: f32):\n    %w = arith.extf %a : f16 to f32\n"
             "    %0 = arith.subf %w, %mid : f32\n    %1 = arith.mulf %0, %0 : f32\n")
        edit("{indexing_maps = [#ij, #i_of_ij, #j_of_ij, #ij], iterator_types = [\"parallel\", \"parallel\"]}\n"
             "      ins(%x, %squares, %gain : tensor<128x512xf16>, tensor<128xf32>, tensor<512xf16>)",
             "{indexing_maps = [#ij, #i_of_ij, #i_of_ij, #j_of_ij, #ij], iterator_types = [\"parallel\", \"parallel\"]}\n"
             "      ins(%x, %squares, %mean, %gain : tensor<128x512xf16>, tensor<128xf32>, tensor<128xf32>, tensor<512xf16>)")
        edit("^bb0(%a: f16, %sum: f32, %g: f16, %out: f16):", "^bb0(%a: f16, %sum: f32, %mid: f32, %g: f16, %out: f16):")
        edit("    %3 = arith.extf %a : f16 to f32\n    %4 = arith.extf %g : f16 to f32\n",
             "    %w = arith.extf %a : f16 to f32\n    %3 = arith.subf %w, %mid : f32\n    %4 = arith.extf %g : f16 to f32\n")
        return text.replace("#i_of_ij =", "#i = affine_map<(i) -> (i)>\n#i_of_ij =", 1)

    def arguments(self, x, *rest):
        return super().arguments(x + x.std() / 2, *rest)

    def normalise(self, t, gain, store):
        return super().normalise(t - t.mean(axis=1, keepdims=True), gain, store)


class Transformer(Layer):
    faults = {**Layer.faults, "mask": ("arith.cmpi ule, %j, %i", "arith.cmpi ult, %j, %i"),
              "scale": ("arith.constant 0.125", "arith.constant 0.126")}

    def arguments(self, x, gain, weights, sharp):
        return [x, gain(), weights(WIDTH, 3 * WIDTH, 1.7 if sharp else 0.2), weights(WIDTH, WIDTH, 1 if sharp else 0.03), gain(),
                weights(WIDTH, WIDE, 0.3 if sharp else 0.1), weights(WIDE, WIDTH, 0.3)]

    def run(self, arguments, store):
        x, gain0, w_qkv, w_out, gain1, w_up, w_down = (a.astype(np.float64) for a in arguments)
        qkv = store(self.normalise(x, gain0, store) @ w_qkv).reshape(TOKENS, 3, WIDTH // DEPTH, DEPTH)
        y = store(x + attend(qkv[:, 0, :, None], qkv[:, 1], qkv[:, 2], store) @ w_out)
        up = self.normalise(y, gain1, store) @ w_up
        return store(y + store(up / (1 + np.exp(-up))) @ w_down)


def rms(error):
    return float(np.sqrt(np.mean(error * error)))


class Tools:
    def __init__(self, build, out):
        self.build, self.out = build, out

    def store(self, data, name):
        """The options that give `data` to a run."""
        files = [self.out / f"{name}-{number}.npy" for number in range(len(data))]
        for file, value in zip(files, data):
            np.save(file, value)
        return [f"--input=@{file}" for file in files]

    def compile(self, source, name, targets, *more):
        artifact = self.out / f"{name}.tw"
        subprocess.run([self.build / "bin/tilewright-compile", source, f"--target={targets}", "-o", artifact, *more],
                       check=True)
        return artifact

    def run(self, artifact, device, *more):
        """What it said, and its result."""
        name, _, arch = device.partition("@")
        command = [self.build / "bin/tilewright-run"]
        if name == "vulkan-newer":
            name, command = "vulkan", [self.build / "newer-vulkan/run", "--validate", *command]
        result = self.out / "result.npy"
        result.unlink(missing_ok=True)
        done = subprocess.run([*command, artifact, f"--device={name}", *more,
                               f"--output=@{result}"], capture_output=True, text=True,
                              env={**os.environ, "PTXSIM_ARCH": arch or "sm_80"})
        if not result.exists():
            sys.exit(f"{artifact} on {device}: {done.stdout}{done.stderr}")
        return done, np.load(result).astype(np.float64)


def versions(tools, layer, name, source):
    """Programs with one fault, by its name."""
    text = source.read_text()
    for fault, (old, new) in layer.faults.items():
        assert text.count(old) == 1, old
        wrong = tools.out / f"{name}-{fault.replace(' ', '-')}.mlir"
        wrong.write_text(text.replace(old, new))
        yield fault, tools.compile(wrong, wrong.stem, "cpu:x86-64-v3")
    if "scale" not in layer.faults:
        return
    # No version of the source forgets to rescale: the fault is planted between two stages.
    stages = tools.out / f"{name}-stages"
    stages.mkdir(exist_ok=True)
    tools.compile(source, f"{name}-stages", "cpu:x86-64-v3", f"--dump-stages={stages}")
    tiled = next(stages.glob("*.08-tile.mlir"))
    text = tiled.read_text()
    # Only attention is vectors so early.
    tile = re.search(r"tilewright\.mma .*(vector<\d+x\d+xf32>)$", text, flags=re.M).group(1)
    text, count = re.subn(rf"math.fma (%\d+), %\d+, (%\d+) : {re.escape(tile)}", rf"arith.addf \1, \2 : {tile}", text)
    assert count, "nothing rescales " + tile
    tiled.write_text(text)
    yield "rescale", tools.compile(tiled, f"{name}-rescale", "cpu:x86-64-v3", "--start-at=vectorize")


def check(tools, layer, name, targets, devices, faults):
    """How many runs are not as they must be."""
    source = tools.out / f"{name}.mlir"
    source.write_text(layer.text())
    sharp, weak = layer.inputs(True), layer.inputs(False)
    exact = layer.run(sharp, lambda t: t)
    allowed = MOST * rms(layer.run(sharp, lambda t: t.astype(np.float16).astype(np.float64)) - exact)
    sharp, weak = tools.store(sharp, f"{name}-sharp"), tools.store(weak, f"{name}-weak")
    right = tools.compile(source, name, f"{targets},cpu-reference")
    failed = 0
    for device in [device for device in devices if device not in layer.elsewhere]:
        done, _ = tools.run(right, device, "--check=oracle", *weak)
        checked = done.returncode == 0 and "NOT CHECKED" not in done.stdout
        error = rms(tools.run(right, device, *sharp)[1] - exact)
        good = checked and error <= allowed
        failed += not good
        print(f"{name} on {device}: {'ok' if good else 'FAILED'}, error {error:.3g} of {allowed:.3g} allowed", flush=True)
        if not checked:
            print(done.stdout + done.stderr)
    for fault, artifact in versions(tools, layer, name, source) if faults else ():
        error = rms(tools.run(artifact, "cpu", *sharp)[1] - exact)
        failed += not error > allowed
        print(f"{name}, fault {fault}: {'found' if error > allowed else 'NOT FOUND'}, error {error:.3g} of {allowed:.3g} allowed",
              flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--targets", default="cuda:sm_80,cuda:sm_90a,vulkan,cpu")
    parser.add_argument("--devices", default="cpu,vulkan,ptxsim@sm_80,ptxsim@sm_90",
                        help="vulkan-newer@coopmat: the Vulkan of scripts/newer-vulkan, for a target with cooperative matrices")
    parser.add_argument("--layers", default="transformer-layer,decoder-layer,decoder-layer-norm")
    parser.add_argument("--no-faults", action="store_true", help="only the right programs")
    options = parser.parse_args()
    examples = pathlib.Path(__file__).resolve().parents[2] / "examples"
    out = options.build / "layers"
    out.mkdir(exist_ok=True)
    tools = Tools(options.build.resolve(), out.resolve())
    layers = {"transformer-layer": Transformer(examples / "transformer-layer.mlir"),
              "decoder-layer": Decoder(examples / "decoder-layer.mlir"),
              "decoder-layer-norm": LayerNormDecoder(examples / "decoder-layer.mlir")}
    return 1 if sum(check(tools, layers[name], name, options.targets, options.devices.split(","), not options.no_faults)
                    for name in options.layers.split(",")) else 0


if __name__ == "__main__":
    sys.exit(main())
