// RUN: tilewright-opt %s -tilewright-unroll-vectors | FileCheck %s

#rows = affine_map<(m, n, k) -> (k floordiv 4, m, k mod 4)>
#columns = affine_map<(m, n, k) -> (k floordiv 4, n, k mod 4)>
#acc = affine_map<(m, n, k) -> (m, n)>

// One word of the sum, two rows, one vector of columns. The unsigned operand comes first.
// CHECK-LABEL: @MixedSigns
// CHECK: %[[B:.*]] = vector.load {{.*}} vector<64xi8>
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[B]], %{{.*}}) : (vector<16xi32>, vector<64xi8>, vector<64xi8>)
// CHECK-NOT: call_intrinsic
func.func private @MixedSigns(%a: memref<1x2x4xi8>, %b: memref<1x16x4xi8>, %o: memref<2x16xi32>, %c: vector<2x16xi32>)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %r = tilewright.mma %a, %b, %c {instruction = "dot.m1n16k4.s8.u8.s32", signedness = ["signed", "unsigned"], maps = [#rows, #columns, #acc]}
     : memref<1x2x4xi8>, memref<1x16x4xi8>, vector<2x16xi32>
  vector.transfer_write %r, %o[%c0, %c0] {in_bounds = [true, true]} : vector<2x16xi32>, memref<2x16xi32>
  return
}
