# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attention-traffic.py FOLDER: how often attention of 512 keys moves each tensor, in sectors of 32 bytes."""

import collections
import json
import math
import os
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
HEADS, KEYS, DEPTH = 2, 512, 128
# Dims of the queries and the result beside the heads, their loops, attributes; one query of each of 16 heads that share keys.
PROGRAMS = {"plain": ([512], "i", ""), "causal": ([512], "i", ', causal = "top_left"'),
            "grouped decode": ([16, 1], "g, i", ', causal = "bottom_right"')}
CONFIGS = {"sm_80": 'block = [64, 64], warps = [4, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32"',
           "sm_90a": 'block = [128, 128], warps = [8, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", '
                     "registers = [40, 232], tma_store = true"}


def run(*command, **environment):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, env={**os.environ, **environment})
    return done if done.returncode == 0 else sys.exit(f"{command}:\n{done.stdout}{done.stderr}")


def times_moved(arch, rows, loops, attributes):
    """Of queries, keys, values and results: bytes in sectors over those of the tensor."""
    source, artifact, traffic = (folder / f"case.{end}" for end in ("mlir", "tw", "json"))
    traffic.unlink(missing_ok=True)
    shapes = ["x".join(map(str, [HEADS, *dims, DEPTH])) for dims in (rows, [KEYS], [KEYS])]
    q, k, v = (f"tensor<{shape}xf16>" for shape in shapes)
    ins = loops.replace("i", "i, j, d, e")
    maps = ", ".join(f"affine_map<(h, {ins}) -> (h, {x})>" for x in (f"{loops}, d", "j, d", "j, e", f"{loops}, e"))
    source.write_text(f"""func.func @f(%q: {q}, %k: {k}, %v: {v}) -> {q} {{
  %e = tensor.empty() : {q}
  %r = tilewright.attention ins(%q, %k, %v : {q}, {k}, {v}) outs(%e : {q}) {{indexing_maps = [{maps}]{attributes}}} -> {q}
  return %r : {q}
}}
""")
    run("tilewright-compile", source, f"--target=cuda:{arch}", "-o", artifact)
    run("tilewright-run", artifact, "--device=ptxsim", *(f"--input={shape}xf16=random:{seed}" for seed, shape in enumerate(shapes)),
        PTXSIM_ARCH=arch.rstrip("a"), PTXSIM_CHECKS="off", PTXSIM_TRAFFIC=str(traffic))
    moved = collections.Counter()
    for row in map(json.loads, traffic.read_text().splitlines()):
        if row["memory"] == "global":
            moved[row["buffer"]] += row["sectors"] * 32
    sizes = [2 * math.prod(map(int, shape.split("x"))) for shape in (*shapes, shapes[0])]
    # Buffers are in the order of the arguments.
    return [moved[buffer] / size for buffer, size in zip(sorted(moved), sizes)]


for arch, config in CONFIGS.items():
    for name, (rows, loops, attributes) in PROGRAMS.items():
        if len(rows) == 1:
            attributes += f", tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, {config}>"
        print(f"{arch} {name}: " + ", ".join(f"{what} {count:g}" for what, count in
                                             zip(("queries", "keys", "values", "results"), times_moved(arch, rows, loops, attributes))))
