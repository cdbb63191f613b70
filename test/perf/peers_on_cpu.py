# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of the suites that PyTorch has on the CPU, too, on small inputs: dims and values of their results.

python test/perf/peers_on_cpu.py
"""

import pathlib
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "perf/bench"), str(ROOT / "python/src")]

import places
import run as bench_run
import suite

#: Suite, peer, function and inputs.
CASES = (
    ("convolution", "cudnn_halves", "f16_small", "2x12x12x8xf16 3x3x8x16xf16"),
    ("convolution", "cudnn_halves", "f16_small_s2", "2x12x12x8xf16 3x3x8x16xf16"),
    ("convolution", "cudnn_halves", "f16_stem", "2x24x24x3xf16 7x7x3x8xf16"),
    ("dynamic", "torch_halves", "f16_images", "3x9x9x16xf16 3x3x16x24xf16"),
    ("quantized", "as_halves", "w4", "3x64xf16 64x40xi4 2x40xf16"),
    ("backward", "torch", "f16", " ".join(["2x48x32xf16"] * 5 + ["2x48xf32"])),
    ("backward", "torch", "f16_causal", " ".join(["2x48x32xf16"] * 5 + ["2x48xf32"])),
    ("memory", "torch", "rmsnorm_f16", "6x64xf16 64xf16"),
    ("memory", "torch", "groupnorm_f16", "2x4x8x16xf16 4x8xf16 4x8xf16"),
    ("attention", "sdpa", "f16_causal", "2x16x32xf16 2x16x32xf16 2x16x32xf16"),
)

device = types.SimpleNamespace(name="cpu", stream=lambda: None)
place, bad = places.TorchPlace(device), 0
for name, peer, function, texts in CASES:
    peers = suite.load_peers(ROOT / "perf/suites" / name)
    specs = []
    for seed, text in enumerate(texts.split(), 1):
        *dims, dtype = text.split("x")
        specs.append(suite.Input(tuple(map(int, dims)), dtype, seed))
    problem, inputs = suite.Problem(function, tuple(specs)), [place.random(x) for x in specs]
    if hasattr(peers, "inputs"):
        inputs = peers.inputs(function, *inputs)
    known = bench_run.references(peers, place, problem, inputs)
    calls, reports = bench_run.prepare_peers(place, {peer: peers.PEERS[peer]}, problem, [inputs], known)
    print(name, function, peer, reports[peer])
    bad += reports[peer].get("verdict") != "ok"
sys.exit(bad > 0)
