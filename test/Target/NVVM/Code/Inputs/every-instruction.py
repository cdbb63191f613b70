# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""every-instruction.py TARGET OUT [REGEX] < what --list-instructions says: writes a product for each
matrix instruction of TARGET, with a config that pins it. Sizes are no multiples of a tile.
The arguments to run each with go to OUT, a line each. REGEX chooses among the names. Instructions of warpgroups (wgmma.) have a
step of 128 bytes along the sum, in a ring of three stages; every other one is in persistent blocks."""

import re
import sys

M, N = 33, 26
TYPES = {"f16": "f16", "bf16": "bf16", "tf32": "f32", "f64": "f64", "s8": "i8", "u8": "i8", "s4": "i4", "u4": "i4",
         "e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "f32": "f32", "s32": "i32"}
# Sums stay exact: f16 counts to 2048 without a gap.
RANGES = {"f16": "-3:3", "bf16": "-9:9", "tf32": "-9:9", "f64": "-99:99", "s8": "-128:127", "u8": "-128:127", "s4": "-8:7",
          "u4": "-8:7", "e4m3": "-3:3", "e5m2": "-3:3"}


def extended(value, kind, acc):
    to = TYPES[acc]
    if TYPES[kind] == to:
        return value, ""
    op = "arith.extf" if to[0] == "f" else "arith.extui" if kind[0] == "u" else "arith.extsi"
    return f"%e{value[1:]}", f"    %e{value[1:]} = {op} {value} : {TYPES[kind]} to {to}\n"


def warps_config(name, m, n, k):
    return (f"strategy = matrix_unit, block = [{2 * m}, {2 * n}, {2 * k}], warps = [2, 1, 1], stages = 2, promote = [0, 1], "
            f'mma = "{name}"')


def warpgroup_config(name, n, k, number):
    return (f"strategy = warp_specialized, block = [64, {n}, {4 * k}], warps = [4, 1, 1], stages = 3, promote = [0, 1], "
            f'mma = "{name}"{", persistent = true" if number % 2 else ""}')


def product(name, number):
    kind, shape, *types = name.split(".")
    m, n, k = map(int, re.match(r"m(\d+)n(\d+)k(\d+)", shape).groups())
    if len(types) == 2:
        types.insert(0, types[0])
    a, b, acc = types
    function = name.replace(".", "_")
    rows, columns, depth = M, N, 3 * k - 2
    config = warps_config(name, m, n, k)
    if kind == "wgmma":
        # Rows in memory are multiples of 16 bytes. Five steps, the last one in part.
        rows, columns, depth = m + 9, n + 10, 17 * k + k // 2
        config = warpgroup_config(name, n, k, number)
    ta, tb = f"tensor<{rows}x{depth}x{TYPES[a]}>", f"tensor<{columns}x{depth}x{TYPES[b]}>"
    tc = f"tensor<{rows}x{columns}x{TYPES[acc]}>"
    x, extend_x = extended("%x", a, acc)
    y, extend_y = extended("%y", b, acc)
    mul, add = ("arith.muli", "arith.addi") if acc == "s32" else ("arith.mulf", "arith.addf")
    text = f"""func.func @{function}(%a: {ta}, %b: {tb}, %c: {tc}) -> {tc} {{
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"],
      tilewright.lowering_config = #tilewright.lowering_config<{config}>}}
      ins(%a, %b : {ta}, {tb}) outs(%c : {tc}) {{
  ^bb0(%x: {TYPES[a]}, %y: {TYPES[b]}, %s: {TYPES[acc]}):
{extend_x}{extend_y}    %p = {mul} {x}, {y} : {TYPES[acc]}
    %t = {add} %s, %p : {TYPES[acc]}
    linalg.yield %t : {TYPES[acc]}
  }} -> {tc}
  return %r : {tc}
}}
"""
    # The sums of f16 stay below 2048, too.
    ranges = ["-2:2" if kind == "wgmma" and acc == "f16" else RANGES[t] for t in (a, b)]
    inputs = (f"--input={rows}x{depth}x{TYPES[a]}=int:{ranges[0]}:1 --input={columns}x{depth}x{TYPES[b]}=int:{ranges[1]}:2 "
              f"--input={rows}x{columns}x{TYPES[acc]}=int:-9:9:3")
    return text, f"--function={function} {inputs}"


def main():
    target, out, *chosen = sys.argv[1:]
    names = [line.split()[1] for line in sys.stdin if line.split()[0] == target]
    names = [name for name in names if not chosen or re.search(chosen[0], name)]
    with open(out, "w") as runs:
        for number, name in enumerate(names):
            text, arguments = product(name, number)
            print(text)
            print(arguments, file=runs)


main()
