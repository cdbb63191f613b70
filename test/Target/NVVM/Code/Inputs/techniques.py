# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""techniques.py FOLDER: each technique of a product by warpgroups, switched off alone, changes the PTX in the way that is named
here, by numbers of instructions; by default a product has each where its guard holds, and lacks it where it does not.

tilewright-compile is on the PATH. A line for each technique: "stages: as named", or what is different.
"""

import json
import pathlib
import re
import subprocess
import sys

PRODUCT = """func.func @{name}(%a: tensor<{m}x{k}xbf16>, %b: tensor<{k}x{n}xbf16>) -> tensor<{m}x{n}xbf16> {{
  %zero = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<{m}x{n}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%sums : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %sum = linalg.matmul {pinned}
      ins(%a, %b : tensor<{m}x{k}xbf16>, tensor<{k}x{n}xbf16>) outs(%init : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %empty = tensor.empty() : tensor<{m}x{n}xbf16>
  %result = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%sum : tensor<{m}x{n}xf32>) outs(%empty : tensor<{m}x{n}xbf16>) {{
  ^bb0(%x: f32, %out: bf16):
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  }} -> tensor<{m}x{n}xbf16>
  return %result : tensor<{m}x{n}xbf16>
}}
"""

# Every technique. Tiles of 128 columns, so that results fit without copy engines, too.
EVERY = {"strategy": "warp_specialized", "block": "[128, 128, 64]", "warps": "[8, 1, 1]", "stages": "4", "promote": "[0, 1]",
         "mma": '"wgmma.m64n128k16.bf16.f32"', "raster": "3", "registers": "[40, 232]", "persistent": "true",
         "cluster": "[2, 1, 1]", "tma_store": "true"}

# What is counted, and the pattern of a line of PTX.
COUNTED = {
    "kernels": r"\.entry ",
    "threads": r"\.reqntid 384, 1, 1",
    "barriers of the ring": r"mbarrier\.init",
    "copies by TMA": r"cp\.async\.bulk\.tensor\.\dd\.shared",
    "multicast": r"multicast::cluster",
    "stores by TMA": r"cp\.async\.bulk\.tensor\.\dd\.global",
    "stmatrix": r"stmatrix\.",
    "stores": r"st\.global",
    "copies by threads": r"cp\.async\.c[ag]\.",
    "arrivals behind copies": r"cp\.async\.mbarrier\.arrive\.noinc",
    "fences between proxies": r"fence\.proxy\.async",
    "wgmma": r"wgmma\.mma_async",
    "mma": r"mma\.sync",
    "setmaxnreg": r"setmaxnreg\.",
    "blocks asked for": r"%nctaid",
    "waits for stores": r"cp\.async\.bulk\.wait_group\.read",
    "barriers of clusters": r"barrier\.cluster\.arrive",
    "arrivals elsewhere": r"mapa\.shared::cluster",
    "divisions": r"\b(div|rem)\.[us]32",
    "left operand along the sum": r"wgmma\.mma_async.*, 0, [01];",
    "atomics": r"\b(atom|red)\.(?!async)",
}

# technique: (fields of a config that differ from EVERY on either side; the one field that switches the technique off, None: without
# the field; {what is counted: (with, without)}). What is not named is as with it.
OFF = {
    "stages": ({}, {"stages": "2"}, {"barriers of the ring": (8, 4)}),
    # One of them has the rows of both, by two instructions. Registers are those of two.
    "consumer warpgroups": ({"registers": None}, {"warps": "[4, 1, 1]"},
                            {"threads": (1, 0), "wgmma": (4, 8), "left operand along the sum": (4, 8), "stmatrix": (8, 16), "stores by TMA": (2, 4),
                             "fences between proxies": (2, 4), "waits for stores": (3, 5)}),
    "registers": ({}, {"registers": None}, {"setmaxnreg": (2, 0)}),
    # Stores of one tile have their pieces to themselves, and nobody waits for the last stage that it empties.
    "persistent": ({}, {"persistent": None}, {"blocks asked for": (2, 0), "waits for stores": (3, 1), "arrivals elsewhere": (2, 1),
                                          "divisions": (2, 1)}),
    # The rows of a band, and what is left of them in the last one.
    "rasterization": ({}, {"raster": None}, {"divisions": (2, 0)}),
    "cluster": ({}, {"cluster": None}, {"multicast": (1, 0), "barriers of clusters": (2, 0), "arrivals elsewhere": (2, 0),
                                    "copies by TMA": (2, 3)}),
    "tma_store": ({}, {"tma_store": None}, {"stores by TMA": (2, 0), "stmatrix": (8, 0), "waits for stores": (3, 0), "stores": (0, 8),
                                         "fences between proxies": (2, 0)}),
    # One role walks over tiles, and copies in front of the loop and in it; its warps have all registers.
    "producer": ({"registers": None}, {"producer": "false"},
                 {"threads": (1, 0), "copies by TMA": (2, 4), "multicast": (1, 2), "blocks asked for": (2, 1), "divisions": (2, 1)}),
    # Threads copy to their own block: no clusters.
    "copies by TMA": ({"cluster": None}, {"tma_copy": "false"},
                      {"copies by TMA": (3, 0), "copies by threads": (0, 16), "arrivals behind copies": (0, 1),
                       "fences between proxies": (2, 3)}),
    # Another strategy, whose configs have other fields.
    "wgmma out of a ring": ({}, {"strategy": "matrix_unit", "block": "[128, 128, 32]", "warps": "[2, 2, 1]", "mma": '"mma.m16n8k16.bf16.f32"',
                       "registers": None, "persistent": None, "cluster": None, "tma_store": None},
                      {"threads": (1, 0), "barriers of the ring": (8, 0), "copies by TMA": (2, 0), "multicast": (1, 0),
                       "stores by TMA": (2, 0), "stmatrix": (8, 0), "stores": (0, 16), "copies by threads": (0, 32), "wgmma": (4, 0),
                       "fences between proxies": (2, 0),
                       "mma": (0, 64), "left operand along the sum": (4, 0), "setmaxnreg": (2, 0), "blocks asked for": (2, 0), "waits for stores": (3, 0),
                       "barriers of clusters": (2, 0), "arrivals elsewhere": (2, 0), "divisions": (2, 1)}),
    # Parts are added in a second kernel, in a fixed order.
    "one part of the sum": ({}, {"splits": "2"}, {"kernels": (1, 2), "stmatrix": (8, 0), "stores by TMA": (2, 4), "stores": (0, 1), "fences between proxies": (2, 4),
                                               "waits for stores": (3, 5)}),
    # Parts are those of the blocks of a cluster, each of which reads a slice from all, behind a barrier of theirs, and stores it.
    "a second kernel for parts": ({"splits": "2", "persistent": None, "tma_store": None}, {"cluster": "[2, 1, 2]"},
                                  {"kernels": (2, 1), "stores": (33, 8), "barriers of clusters": (2, 5), "arrivals elsewhere": (1, 3)}),
    # Blocks have steps of all tiles, and go to a place of their own with what they have of a tile.
    "whole tiles": ({"splits": "3"}, {"stream_k": "132"}, {"blocks asked for": (2, 0)}),
    # Columns are the rows of instructions, whose second operand is A.
    "operands in their order": ({"cluster": None, "tma_store": None}, {"warps": "[1, 8, 1]"}, {"left operand along the sum": (4, 0)}),
}

ANY = """func.func @gemm(%a: tensor<?x1024xbf16>, %b: tensor<1024x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {{
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %sum = linalg.matmul ins(%a, %b : tensor<?x1024xbf16>, tensor<1024x?xbf16>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %sum : tensor<?x?xf32>
}}
"""

# What no default config has: to do without copies by TMA is slower wherever there are some, and what stream-K takes with its second
# kernel only a sweep can tell.
NEVER = ["tma_copy = false", "stream_k"]
# Of default configs: sizes, what is there, what is not and why.
DEFAULTS = [
    ((8192, 8192, 8192), ["stages = 4", "warps = [8, 1, 1]", "raster = 8", "registers = [40, 232]", "persistent = true",
                          "cluster = [2, 1, 1]", "tma_store = true"], ["splits", "producer = false"]),
    # Nobody knows whether there are pairs of tiles, nor whether parts of the sum pay.
    ("any", ["persistent = true"], ["cluster", "splits", "producer = false"]),
    # One warpgroup: each thread has what it can use. Tiles of few columns are one for each multiprocessor.
    ((64, 4096, 4096), ["warps = [4, 1, 1]", "stages = 8", "tma_store = true"], ["registers", "splits", "cluster", "producer = false"]),
    # Columns as the instruction's rows.
    ((16, 4096, 4096), ["warps = [1, 4, 1]", "splits = 2, cluster = [1, 1, 2]"], ["persistent", "tma_store"]),
]


def compile_(folder, name, text, *more):
    source = folder / f"{name}.mlir"
    source.write_text(text)
    out = folder / f"{name}.ptx"
    done = subprocess.run(["tilewright-compile", source, "--target=cuda:sm_90a", "--emit=ptx", "-o", out, *more],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    return "".join(path.read_text() for path in (sorted(out.rglob("*.ptx")) if out.is_dir() else [out]))


def counts(folder, name, fields):
    config = ", ".join(f"{field} = {value}" for field, value in fields.items() if value is not None)
    pinned = f"{{tilewright.lowering_config = #tilewright.lowering_config<{config}>}}"
    ptx = compile_(folder, name.replace(" ", "-"), PRODUCT.format(name="gemm", m=1024, n=1024, k=1024, pinned=pinned))
    return {what: sum(bool(re.search(pattern, line)) for line in ptx.splitlines()) for what, pattern in COUNTED.items()}


def check_switches(folder):
    known = {}
    for name, (both, fields, named) in OFF.items():
        if len(fields) > 1 and "strategy" not in fields:
            print(f"{name}: switched off by {len(fields)} fields")
        base = json.dumps(both)
        if base not in known:
            known[base] = counts(folder, f"{name} with", {**EVERY, **both})
        without = counts(folder, name, {**EVERY, **both, **fields})
        changed = {what: (count, without[what]) for what, count in known[base].items() if count != without[what]}
        print(f"{name}: {'as named' if changed == named else f'changes {changed}, not {named}'}")


def check_defaults(folder):
    for sizes, there, missing in DEFAULTS:
        name = "default_" + "x".join(map(str, [sizes] if sizes == "any" else sizes))
        text = ANY if sizes == "any" else PRODUCT
        said = folder / f"{name}.json"
        ptx = compile_(folder, name, text.format(name="gemm", pinned="", **dict(zip("mnk", sizes))), "--explain=json", f"--explain-output={said}")
        lines = [line for kernel in json.loads(said.read_text())["kernels"] for line in kernel["lines"]]
        configs = [line for line in lines if line.startswith("config") and "warp_specialized" in line]
        wrong = [f"lacks {field}: {config}" for config in configs for field in there if field not in config]
        wrong += [f"has {field}: {config}" for config in configs for field in missing + NEVER if field in config]
        wrong += ["no copies by TMA"] * (not re.search(COUNTED["copies by TMA"], ptx))
        print(f"{name}: {'as named' if configs and not wrong else ', '.join(wrong) or 'not by warpgroups'}")


def main():
    folder = pathlib.Path(sys.argv[1])
    check_switches(folder)
    check_defaults(folder)


main()
