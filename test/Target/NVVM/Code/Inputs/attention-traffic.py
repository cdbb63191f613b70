# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attention-traffic.py FOLDER: how often attention of 512 queries and as many keys moves each tensor, in sectors of 32 bytes."""

import collections
import json
import os
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
TENSOR = "tensor<2x512x128xf16>"
MAPS = ", ".join(f"affine_map<(h, i, j, d, e) -> (h, {x})>" for x in ("i, d", "j, d", "j, e", "i, e"))
CONFIGS = {"sm_80": 'block = [64, 64], warps = [4, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32"',
           "sm_90a": 'block = [128, 128], warps = [8, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", '
                     "registers = [40, 232], tma_store = true"}


def run(*command, **environment):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, env={**os.environ, **environment})
    return done if done.returncode == 0 else sys.exit(f"{command}:\n{done.stdout}{done.stderr}")


for arch, config in CONFIGS.items():
    for name, causal in (("plain", ""), ("causal", ', causal = "top_left"')):
        source, artifact, traffic = (folder / f"{arch}-{name}.{end}" for end in ("mlir", "tw", "json"))
        source.write_text(f"""func.func @f(%q: {TENSOR}, %k: {TENSOR}, %v: {TENSOR}) -> {TENSOR} {{
  %e = tensor.empty() : {TENSOR}
  %r = tilewright.attention ins(%q, %k, %v : {TENSOR}, {TENSOR}, {TENSOR}) outs(%e : {TENSOR}) {{indexing_maps = [{MAPS}],
    tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, {config}>{causal}}} -> {TENSOR}
  return %r : {TENSOR}
}}
""")
        run("tilewright-compile", source, f"--target=cuda:{arch}", "-o", artifact)
        run("tilewright-run", artifact, "--device=ptxsim", *(f"--input=2x512x128xf16=random:{seed}" for seed in (1, 2, 3)),
            PTXSIM_ARCH=arch.rstrip("a"), PTXSIM_CHECKS="off", PTXSIM_TRAFFIC=str(traffic))
        moved = collections.Counter()
        for row in map(json.loads, traffic.read_text().splitlines()):
            if row["memory"] == "global":
                moved[row["buffer"]] += row["sectors"] * 32
        once = 2 * 512 * 128 * 2
        # Buffers are in the order of the arguments.
        times = [moved[buffer] / once for buffer in sorted(moved)]
        print(f"{arch} {name}: " + ", ".join(f"{what} {count:g}" for what, count in
                                             zip(("queries", "keys", "values", "results"), times)))
