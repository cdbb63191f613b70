// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {

// All of the few rows, a tile of the larger operand; warps along the sum.
// CHECK-LABEL: func.func private @FewRows(
// CHECK-SAME: "strategy skinny_contraction: root linalg.matmul multiplies few rows or columns: threads share each sum"
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = skinny_contraction, block = [4, 32, 128], warps = [1, 1, 8]>
func.func private @FewRows(%a: tensor<4x4096xf32>, %b: tensor<4096x4096xf32>, %o: tensor<4x4096xf32>) -> tensor<4x4096xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<4x4096xf32>, tensor<4096x4096xf32>) outs(%o : tensor<4x4096xf32>) -> tensor<4x4096xf32>
  return %m : tensor<4x4096xf32>
}

// CHECK-LABEL: func.func private @MatrixTimesVector(
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = skinny_contraction, block = [{{[0-9]+, [0-9]+}}], warps = [{{[0-9], [0-9]}}]>
func.func private @MatrixTimesVector(%a: tensor<?x4096xf32>, %b: tensor<4096xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  %m = linalg.matvec ins(%a, %b : tensor<?x4096xf32>, tensor<4096xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %m : tensor<?xf32>
}

// Narrow types have many elements in 16 bytes: fewer a thread, so that the sums
// stay in registers.
// CHECK-LABEL: func.func private @ManySumsOfNarrowTypes(
// CHECK: strategy = skinny_contraction
func.func private @ManySumsOfNarrowTypes(%a: tensor<64x512xi8>, %b: tensor<16x512xi8>, %o: tensor<64x16xi32>) -> tensor<64x16xi32> attributes {tilewright.kernel} {
  %m = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<64x512xi8>, tensor<16x512xi8>) outs(%o : tensor<64x16xi32>) -> tensor<64x16xi32>
  return %m : tensor<64x16xi32>
}

// Either strategy can be pinned.
// CHECK-LABEL: func.func private @PinOther(
// CHECK-SAME: "strategy simt_contraction
func.func private @PinOther(%a: tensor<4x64xf32>, %b: tensor<64x64xf32>, %o: tensor<4x64xf32>) -> tensor<4x64xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 32, 8], warps = [1, 1, 1], promote = [0, 1]>}
      ins(%a, %b : tensor<4x64xf32>, tensor<64x64xf32>) outs(%o : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %m : tensor<4x64xf32>
}

// 17 rows reuse enough.
// CHECK-LABEL: func.func private @ManyRows(
// CHECK-SAME: "strategy simt_contraction
func.func private @ManyRows(%a: tensor<17x64xf32>, %b: tensor<64x64xf32>, %o: tensor<17x64xf32>) -> tensor<17x64xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<17x64xf32>, tensor<64x64xf32>) outs(%o : tensor<17x64xf32>) -> tensor<17x64xf32>
  return %m : tensor<17x64xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @NotAProduct(%x: tensor<64x64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel} {
  // expected-error @below {{the pinned lowering config does not fit: strategy skinny_contraction does not serve this kernel here; reduction does}}
  %r = linalg.reduce { arith.addf } ins(%x : tensor<64x64xf32>) outs(%o : tensor<64xf32>) dimensions = [1]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = skinny_contraction, block = [4, 64]>}
  return %r : tensor<64xf32>
}
}
