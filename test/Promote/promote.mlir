// RUN: tilewright-opt %s -tilewright-promote | FileCheck %s

// CHECK-LABEL: @matmul
// CHECK: %[[SA:.*]] = memref.alloc() : memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>
// CHECK: vector.transfer_write {{.*}}permutation_map = #{{.*}} : vector<64x16xf32>, memref<16x64xf32, strided<{{.*}}>, #tilewright.shared>
// CHECK: %[[SB:.*]] = memref.alloc() : memref<16x64xf32, #tilewright.shared>
// CHECK: vector.transfer_write {{.*}}, %[[SB]]
// CHECK: tilewright.mma %[[SA]], %[[SB]]
func.func private @matmul(%a: vector<64x16xf32>, %b: vector<16x64xf32>, %c: vector<64x64xf32>) -> vector<64x64xf32>
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, promote = [0, 1]>} {
  %n = tilewright.mma %a, %b, %c {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
     : vector<64x16xf32>, vector<16x64xf32>, vector<64x64xf32>
  return %n : vector<64x64xf32>
}

// Opaque fragments are read by rows or by columns: memory's order stays.
// CHECK-LABEL: @opaque
// CHECK: memref.alloc() : memref<16x32xi8, strided<[48, 1]>, #tilewright.shared>
// CHECK: vector.transfer_write %{{[^}]*}} {in_bounds = [true, true]} : vector<16x32xi8>
// CHECK: memref.alloc() : memref<32x16xi8, strided<[32, 1]>, #tilewright.shared>
func.func private @opaque(%a: vector<16x32xi8>, %b: vector<32x16xi8>, %c: vector<16x16xi32>) -> vector<16x16xi32>
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, promote = [0, 1]>} {
  %n = tilewright.mma %a, %b, %c {instruction = "coopmat.m16n16k32.s8.s32",
      maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
     : vector<16x32xi8>, vector<32x16xi8>, vector<16x16xi32>
  return %n : vector<16x16xi32>
}
