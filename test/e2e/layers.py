#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/decoder-layer.mlir against the oracle and NumPy, and small faults in it that must be found.

With weak weights, every element has an error bound of the oracle's, which holds. These add up over a layer, so with
weights that make attention decide the result the error against NumPy in f64, root mean square, is compared: it is at
most 1.25 times that of a NumPy layer that rounds to f16 wherever the program does. Versions with a fault in attention (a
mask off by one, a scale off by 0.8 %, a running result that is not rescaled) must exceed that.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

TOKENS, WIDTH, KEY_HEADS, GROUP, DEPTH, HIDDEN = 128, 512, 2, 4, 64, 1408
MOST = 1.25


def inputs(sharp):
    """In the order of the program's arguments. Sharp: scores have a deviation of about 3, and attention decides the
    result; else errors add up to so little that the oracle has a bound for each element."""
    random = np.random.default_rng(7)
    normal = lambda *shape, scale: (scale * random.standard_normal(shape)).astype(np.float16)
    gain = lambda: random.uniform(0.5, 1.5, WIDTH).astype(np.float16)
    angle = np.arange(TOKENS)[:, None] * 10000.0 ** (-np.arange(DEPTH // 2) / (DEPTH // 2))[None, :]
    weights = lambda rows, columns, scale: normal(rows, columns, scale=scale * rows ** -0.5)
    return [normal(TOKENS, WIDTH, scale=0.05 if sharp else 1), np.cos(angle).astype(np.float32),
            np.sin(angle).astype(np.float32), gain(),
            weights(WIDTH, KEY_HEADS * (GROUP + 2) * DEPTH, 1.7 if sharp else 0.2),
            weights(WIDTH, WIDTH, 1 if sharp else 0.03), gain(),
            *(weights(WIDTH, HIDDEN, 0.3 if sharp else 0.1) for _ in range(2)), weights(HIDDEN, WIDTH, 0.3)]


def layer(arguments, store):
    """The layer in f64; `store` is what rounds at each point where the program does."""
    x, cos, sin, gain0, w_qkv, w_out, gain1, w_gate, w_up, w_down = (a.astype(np.float64) for a in arguments)
    normalise = lambda t, gain: store(t / np.sqrt((t * t).mean(axis=1, keepdims=True) + 1e-5) * gain)
    heads = store(normalise(x, gain0) @ w_qkv).reshape(TOKENS, KEY_HEADS, GROUP + 2, 2, DEPTH // 2)
    a, b = heads[:, :, :-1, 0], heads[:, :, :-1, 1]
    c, s = cos[:, None, None], sin[:, None, None]
    turned = store(np.concatenate([a * c - b * s, b * c + a * s], axis=-1))
    scores = np.einsum("ihgd,jhd->hgij", turned[:, :, :GROUP], turned[:, :, GROUP]) / 8
    scores = np.where(np.tri(TOKENS, dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    values = heads[:, :, -1].reshape(TOKENS, KEY_HEADS, DEPTH)
    mixed = store(np.einsum("hgij,jhe->ihge", store(p / p.sum(axis=-1, keepdims=True)), values).reshape(TOKENS, WIDTH))
    y = store(x + mixed @ w_out)
    n1 = normalise(y, gain1)
    up = n1 @ w_gate
    up = store(store(up / (1 + np.exp(-up))) * (n1 @ w_up))
    return store(y + up @ w_down)


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
        result = self.out / "result.npy"
        result.unlink(missing_ok=True)
        done = subprocess.run([self.build / "bin/tilewright-run", artifact, f"--device={name}", *more,
                               f"--output=@{result}"], capture_output=True, text=True,
                              env={**os.environ, "PTXSIM_ARCH": arch or "sm_80"})
        if not result.exists():
            sys.exit(f"{artifact} on {device}: {done.stdout}{done.stderr}")
        return done, np.load(result).astype(np.float64)


def versions(tools, source):
    """Programs with one fault, by its name."""
    text = source.read_text()
    edits = {"mask": ('causal = "top_left"', "window = array<i64: -1, 1>"), "scale": ("scale = 0.125", "scale = 0.126")}
    for name, (old, new) in edits.items():
        assert text.count(old) == 1
        wrong = tools.out / f"{name}.mlir"
        wrong.write_text(text.replace(old, new))
        yield name, tools.compile(wrong, name, "cpu:x86-64-v3")
    # No version of the source forgets to rescale: the fault is planted between two stages.
    tools.compile(source, "stages", "cpu:x86-64-v3", f"--dump-stages={tools.out}")
    tiled = next(tools.out.glob("decoder-layer*.08-tile.mlir"))
    text = tiled.read_text()
    # Only attention is vectors so early.
    tile = re.search(r"tilewright\.mma .*(vector<\d+x\d+xf32>)$", text, flags=re.M).group(1)
    text, count = re.subn(rf"math.fma (%\d+), %\d+, (%\d+) : {re.escape(tile)}", rf"arith.addf \1, \2 : {tile}", text)
    assert count, "nothing rescales " + tile
    tiled.write_text(text)
    yield "rescale", tools.compile(tiled, "rescale", "cpu:x86-64-v3", "--start-at=vectorize")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--devices", default="cpu,vulkan,ptxsim@sm_80,ptxsim@sm_90")
    parser.add_argument("--no-faults", action="store_true", help="only the right program")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    out = options.build / "layers"
    out.mkdir(exist_ok=True)
    source = root / "examples/decoder-layer.mlir"
    tools = Tools(options.build.resolve(), out.resolve())
    sharp, weak = inputs(True), inputs(False)
    exact = layer(sharp, lambda t: t)
    allowed = MOST * rms(layer(sharp, lambda t: t.astype(np.float16).astype(np.float64)) - exact)
    sharp, weak = tools.store(sharp, "sharp"), tools.store(weak, "weak")
    right = tools.compile(source, "right", "cuda:sm_80,cuda:sm_90a,vulkan,cpu,cpu-reference")
    failed = 0
    for device in options.devices.split(","):
        done, _ = tools.run(right, device, "--check=oracle", *weak)
        checked = done.returncode == 0 and "NOT CHECKED" not in done.stdout
        error = rms(tools.run(right, device, *sharp)[1] - exact)
        good = checked and error <= allowed
        failed += not good
        print(f"{device}: {'ok' if good else 'FAILED'}, error {error:.3g} of {allowed:.3g} allowed", flush=True)
        if not checked:
            print(done.stdout + done.stderr)
    for name, artifact in () if options.no_faults else versions(tools, source):
        error = rms(tools.run(artifact, "cpu", *sharp)[1] - exact)
        failed += not error > allowed
        print(f"fault {name}: {'found' if error > allowed else 'NOT FOUND'}, error {error:.3g} of {allowed:.3g} allowed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
