// Of two results of one kernel one comes down to an operand as it is (x ^ (y ^ y)), and
// is written all the same.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cpu,vulkan,cuda:sm_80,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=8xi32=int:-9:9:1 --input=8xi32=int:-9:9:2 | FileCheck %s
// RUN: tilewright-run %t.tw --device=ptxsim --check=oracle --input=8xi32=int:-9:9:1 --input=8xi32=int:-9:9:2 | FileCheck %s

// CHECK: input[0]: ok: 8xi32, all elements equal
// CHECK: input[1]: ok: 8xi32, all elements equal
#id = affine_map<(i) -> (i)>
func.func @main(%x: memref<8xi32>, %y: memref<8xi32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : memref<8xi32>) outs(%y : memref<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %t = arith.xori %a, %o : i32
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : memref<8xi32>, memref<8xi32>) outs(%x : memref<8xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %t = arith.xori %a, %b : i32
    linalg.yield %t : i32
  }
  return
}
