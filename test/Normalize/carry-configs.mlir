// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-carry-configs,tilewright-generalize,tilewright-fold-relayouts,tilewright-carry-configs{put-down=true}))' | FileCheck %s

// A config of two loops is for the product without its loop of one iteration.
// CHECK-LABEL: func @listed
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK-SAME: block = [32, 256]
func.func @listed(%a: tensor<1x64xf32>, %b: tensor<64x32xf32>, %c: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = skinny_contraction, block = [32, 256]>}
    ins(%a, %b : tensor<1x64xf32>, tensor<64x32xf32>) outs(%c : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// One of three keeps all loops.
// CHECK-LABEL: func @written
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: block = [1, 32, 16]
func.func @written(%a: tensor<1x64xf32>, %b: tensor<64x32xf32>, %c: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [1, 32, 16]>}
    ins(%a, %b : tensor<1x64xf32>, tensor<64x32xf32>) outs(%c : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}
