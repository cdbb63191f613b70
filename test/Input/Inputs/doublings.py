# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A loop over elements whose places are so many doublings of 0 added to the loop."""

import sys

count = int(sys.argv[1])
print("""func.func @main(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %k0 = arith.subi %i, %i : index""")
for i in range(count):
    print(f"    %k{i + 1} = arith.addi %k{i}, %k{i} : index")
print(f"""    %p = arith.addi %k{count}, %i : index
    %v = memref.load %a[%p] : memref<8xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %a[%p] : memref<8xf32>
  }}
  return
}}""")
