// Products of types that the target has a matrix instruction for run on it, with
// whole instruction tiles for any size; others do not.

// RUN: tilewright-compile %s --target=cuda:sm_80 --stop-after=configure -o - | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_80 --emit=ptx -o %t
// RUN: cat %t/cuda_sm_80/large_matmul_0.ptx | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: func.func private @large_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [{{64|128}}, {{[0-9]+}}, {{[0-9]+}}]
// CHECK-SAME: promote = [0, 1], mma = "mma.m16n8k16.f16.f32"
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @large(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16>)
                     outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

// CHECK-LABEL: func.func private @small_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [{{16|32}}, {{8|16|32}}, 16]
func.func @small(%a: tensor<17x5xf16>, %b: tensor<5x19xf16>, %c: tensor<17x19xf32>) -> tensor<17x19xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<17x5xf16>, tensor<5x19xf16>)
                     outs(%c : tensor<17x19xf32>) -> tensor<17x19xf32>
  return %r : tensor<17x19xf32>
}

// CHECK-LABEL: func.func private @floats_matmul_0
// CHECK-SAME: "not on matrix units: matrix instruction 'mma.m16n8k8.tf32.f32' is for other types, and f32 is rounded for it with --fp=tf32 only"
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction
func.func @floats(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>)
                     outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// One row: not the types stand against it.
// CHECK-LABEL: func.func private @row_matmul_0
// CHECK-SAME: "not on matrix units: matrix instructions need an m, an n and a k loop"
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = skinny_contraction
func.func @row(%a: tensor<1x1024xf16>, %b: tensor<1024x1024xf16>, %c: tensor<1x1024xf32>) -> tensor<1x1024xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1x1024xf16>, tensor<1024x1024xf16>)
                     outs(%c : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  return %r : tensor<1x1024xf32>
}

// Bytes are extended as the op says: linalg.matmul's are signed.
// CHECK-LABEL: func.func private @bytes_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, {{.*}}mma = "mma.m16n8k32.s8.s32"
func.func @bytes(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>)
                     outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}
