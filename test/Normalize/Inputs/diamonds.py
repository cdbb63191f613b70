# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""diamonds.py KIND COUNT: a chain of so many y = y * y + y, behind

    matmul    a product of 8 images of 4 rows
    index     a cast of integers to indices, which are cast back behind it
    zero      nothing: scalars in the body of a product, which its right operand is subtracted by
"""

import sys

kind, count = sys.argv[1], int(sys.argv[2])


def chain(source, element, shape, maps, kinds):
    """Ops on tensors of `shape`, from %y0 on."""
    float_ = "f" if element[0] == "f" else "i"
    for i in range(count):
        for name, left, result in ((f"mul{float_}", f"%y{i}", f"%t{i}"), (f"add{float_}", f"%t{i}", f"%y{i + 1}")):
            print(f"""  {result} = linalg.generic {{indexing_maps = [{maps}, {maps}, {maps}], iterator_types = [{kinds}]}}
      ins({left}, %y{i} : {shape}, {shape}) outs(%e : {shape}) {{
  ^bb0(%a: {element}, %b: {element}, %o: {element}):
    %r = arith.{name} %a, %b : {element}
    linalg.yield %r : {element}
  }} -> {shape}""")


P, R = '"parallel"', '"reduction"'
if kind == "matmul":
    print("""func.func @main(%x: tensor<6x8x32xf32>, %w: tensor<32x16xf32>, %z: tensor<6x8x16xf32>, %e: tensor<6x8x16xf32>) -> tensor<6x8x16xf32> {
  %y0 = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
                        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<6x8x32xf32>, tensor<32x16xf32>) outs(%z : tensor<6x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x8x16xf32>""")
    chain("%y0", "f32", "tensor<6x8x16xf32>", "affine_map<(b, m, n) -> (b, m, n)>", f"{P}, {P}, {P}")
    print(f"  return %y{count} : tensor<6x8x16xf32>\n}}")
elif kind == "index":
    cast = """linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins({0} : tensor<8x{1}>) outs({2} : tensor<8x{3}>) {{
  ^bb0(%a: {1}, %o: {3}):
    %c = arith.index_cast %a : {1} to {3}
    linalg.yield %c : {3}
  }} -> tensor<8x{3}>"""
    print("func.func @main(%x: tensor<8xi64>, %f: tensor<8xi64>) -> tensor<8xi64> {\n  %e = tensor.empty() : tensor<8xindex>")
    print("  %y0 = " + cast.format("%x", "i64", "%e", "index"))
    chain("%y0", "index", "tensor<8xindex>", "affine_map<(i) -> (i)>", P)
    print("  %r = " + cast.format(f"%y{count}", "index", "%f", "i64") + "\n  return %r : tensor<8xi64>\n}")
else:
    print("""func.func @main(%x: tensor<64x64xi8>, %w: tensor<64x64xi8>, %y0: i32, %o: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x64xi8>, tensor<64x64xi8>) outs(%o : tensor<64x64xi32>) {
  ^bb0(%p: i8, %q: i8, %s: i32):""")
    for i in range(count):
        print(f"    %t{i} = arith.muli %y{i}, %y{i} : i32\n    %y{i + 1} = arith.addi %t{i}, %y{i} : i32")
    print(f"""    %a = arith.extsi %p : i8 to i32
    %b = arith.extsi %q : i8 to i32
    %c = arith.subi %b, %y{count} : i32
    %d = arith.muli %a, %c : i32
    %t = arith.addi %s, %d : i32
    linalg.yield %t : i32
  }} -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}}""")
