// The products of a dual product share the loop over the sum, and read a tile of the operand that they share once.
// RUN: tilewright-opt %s -tilewright-tile -cse | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, mma = ["mma.m16n8k16.f16.f32"], async_copy, load_matrices}>
#config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 32, 32], warps = [2, 2, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">

module attributes {tilewright.target = #target} {

// CHECK-LABEL: func.func private @Dual(
// CHECK-SAME: %[[X:.*]]: tensor<?x512xf16>, %[[W:.*]]: tensor<512x256xf16>, %[[V:.*]]: tensor<512x256xf16>
// CHECK: %[[Z:.*]] = linalg.fill
// CHECK: %[[R:.*]]:2 = scf.for %[[K:.*]] = {{.*}} iter_args(%[[G:.*]] = %[[Z]], %[[U:.*]] = %[[Z]])
// CHECK:   %[[A:.*]] = tensor.extract_slice %[[X]][%{{.*}}, %[[K]]] [%{{.*}}, 32]
// CHECK:   %[[B:.*]] = tensor.extract_slice %[[W]][%[[K]], %{{.*}}] [32, 32]
// CHECK:   %[[GN:.*]] = linalg.matmul {{.*}} ins(%[[A]], %[[B]] : {{.*}} outs(%[[G]] :
// CHECK:   %[[C:.*]] = tensor.extract_slice %[[V]][%[[K]], %{{.*}}] [32, 32]
// CHECK:   %[[UN:.*]] = linalg.matmul {{.*}} ins(%[[A]], %[[C]] : {{.*}} outs(%[[U]] :
// CHECK:   scf.yield %[[GN]], %[[UN]]
// CHECK-NOT: scf.for
// CHECK: linalg.exp {{.*}} ins(%[[R]]#0 :
// CHECK: linalg.mul {{.*}} ins(%{{.*}}, %[[R]]#1 :
func.func private @Dual(%x: tensor<?x512xf16>, %w: tensor<512x256xf16>, %v: tensor<512x256xf16>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xf16>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = linalg.fill ins(%zero : f32) outs(%o : tensor<?x256xf32>) -> tensor<?x256xf32>
  %g = linalg.matmul ins(%x, %w : tensor<?x512xf16>, tensor<512x256xf16>) outs(%z : tensor<?x256xf32>) -> tensor<?x256xf32>
  %s = linalg.exp ins(%g : tensor<?x256xf32>) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %u = linalg.matmul {tilewright.lowering_config = #config} ins(%x, %v : tensor<?x512xf16>, tensor<512x256xf16>) outs(%y : tensor<?x256xf32>) -> tensor<?x256xf32>
  %r = linalg.mul ins(%s, %u : tensor<?x256xf32>, tensor<?x256xf32>) outs(%o : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
}
