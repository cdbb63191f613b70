# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A chain of so many y = y * y + y, each of two ops on tensors of one number."""

import sys

print("func.func @main(%y0: tensor<f32>) -> tensor<f32> {\n  %e = tensor.empty() : tensor<f32>")
for i in range(int(sys.argv[1])):
    for name, left, result, body in (("mulf", f"%y{i}", f"%t{i}", i), ("addf", f"%t{i}", f"%y{i + 1}", i)):
        print(f"""  {result} = linalg.generic {{indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}}
      ins({left}, %y{i} : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.{name} %a, %b : f32
    linalg.yield %r : f32
  }} -> tensor<f32>""")
print(f"  return %y{sys.argv[1]} : tensor<f32>\n}}")
