// RUN: tilewright-opt %s -tilewright-identify-loaded | FileCheck %s
// RUN: tilewright-opt %s -tilewright-identify-loaded | sed 's/@first/@second/g; s/@copy/@other/g' | FileCheck %s
// RUN: sed 's/tilewright.fp = "old"/tilewright.fp = "new"/; s/"w"/"v"/' %s > %t.mlir
// RUN: tilewright-opt %t.mlir -tilewright-identify-loaded -o %t.new.mlir
// RUN: tilewright-opt %s -tilewright-identify-loaded -o %t.old.mlir
// RUN: not diff %t.old.mlir %t.new.mlir

// Two functions compute the same, by kernels of other names; a third result comes from another parameter, a fourth by another kernel.
// CHECK: func.func private @{{.*}}.at_load() -> (tensor<4x8xf32> {tilewright.identity = "[[SAME:[0-9a-f]+]]"}, tensor<4x8xf32> {tilewright.identity = "[[OTHER:[0-9a-f]+]]"})
// CHECK-NOT: "[[OTHER]]"
// CHECK: func.func private @third.at_load() -> (tensor<4x8xf32> {tilewright.identity = "[[SAME]]"}, tensor<4x8xf32> {tilewright.identity = "{{[0-9a-f]+}}"})
// CHECK-NOT: "[[SAME]]"
module attributes {tilewright.fp = "old", tilewright.parameters = "p.safetensors"} {
  func.func private @first.at_load() -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {tilewright.at_load} {
    %w = arith.constant dense_resource<"w"> : tensor<8x4xf32>
    %u = arith.constant dense_resource<"u"> : tensor<8x4xf32>
    %e = tensor.empty() : tensor<4x8xf32>
    %t = tilewright.dispatch @copy_0(%w : tensor<8x4xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %s = tilewright.dispatch @copy_0(%u : tensor<8x4xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %t, %s : tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.func private @third.at_load() -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {tilewright.at_load} {
    %e = tensor.empty() : tensor<4x8xf32>
    %w = arith.constant dense_resource<"w"> : tensor<8x4xf32>
    %t = tilewright.dispatch @copy_1(%w : tensor<8x4xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %s = tilewright.dispatch @negate_2(%w : tensor<8x4xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %t, %s : tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.func private @copy_0(%x: tensor<8x4xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {tilewright.access = ["read", "write"], tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<8x4xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }
  func.func private @copy_1(%y: tensor<8x4xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {tilewright.access = ["read", "write"], tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%y : tensor<8x4xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }
  func.func private @negate_2(%x: tensor<8x4xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {tilewright.access = ["read", "write"], tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<8x4xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
    } -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }
}
