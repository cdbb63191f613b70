# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints steps of a recurrence of two numbers: x, y = y, x % y + y, as many as are asked for; an op for each part."""

import sys

steps = int(sys.argv[1])
print("func.func @steps(%x0: tensor<i64>, %y0: tensor<i64>) -> (tensor<i64>, tensor<i64>) {")
print("  %e = tensor.empty() : tensor<i64>")


def op(result, name, left, right):
    print(f"""  {result} = linalg.generic {{indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}}
      ins({left}, {right} : tensor<i64>, tensor<i64>) outs(%e : tensor<i64>) {{
  ^bb0(%a: i64, %b: i64, %c: i64):
    %v = {name} %a, %b : i64
    linalg.yield %v : i64
  }} -> tensor<i64>""")


for step in range(steps):
    op(f"%m{step}", "arith.maxsi", f"%x{step}", f"%y{step}")
    op(f"%x{step + 1}", "arith.xori", f"%y{step}", f"%m{step}")
    op(f"%y{step + 1}", "arith.addi", f"%m{step}", f"%x{step + 1}")
print(f"  return %x{steps}, %y{steps} : tensor<i64>, tensor<i64>\n}}")
