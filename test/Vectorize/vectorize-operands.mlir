// RUN: tilewright-opt %s -tilewright-vectorize | FileCheck %s

// An accumulator is loaded in front of its loop, of however many operands: what is known of
// them is in a table that grows, with these just then.
// CHECK-LABEL: func.func private @k(
// CHECK: %[[ACC:.*]] = vector.transfer_read %arg2[%{{.*}}, %{{.*}}]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ACC]])
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1 : i64}>} {
  func.func private @k(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>, %c: tensor<8x8xf32>,
    %x0: tensor<8x8xf32>, %x1: tensor<8x8xf32>, %x2: tensor<8x8xf32>, %x3: tensor<8x8xf32>, %x4: tensor<8x8xf32>, %x5: tensor<8x8xf32>,
    %x6: tensor<8x8xf32>, %x7: tensor<8x8xf32>, %x8: tensor<8x8xf32>, %x9: tensor<8x8xf32>, %x10: tensor<8x8xf32>, %x11: tensor<8x8xf32>,
    %x12: tensor<8x8xf32>, %x13: tensor<8x8xf32>, %x14: tensor<8x8xf32>, %x15: tensor<8x8xf32>, %x16: tensor<8x8xf32>, %x17: tensor<8x8xf32>,
    %x18: tensor<8x8xf32>, %x19: tensor<8x8xf32>, %x20: tensor<8x8xf32>, %x21: tensor<8x8xf32>, %x22: tensor<8x8xf32>, %x23: tensor<8x8xf32>,
    %x24: tensor<8x8xf32>, %x25: tensor<8x8xf32>, %x26: tensor<8x8xf32>, %x27: tensor<8x8xf32>, %x28: tensor<8x8xf32>, %x29: tensor<8x8xf32>,
    %x30: tensor<8x8xf32>, %x31: tensor<8x8xf32>, %x32: tensor<8x8xf32>, %x33: tensor<8x8xf32>, %x34: tensor<8x8xf32>, %x35: tensor<8x8xf32>,
    %x36: tensor<8x8xf32>, %x37: tensor<8x8xf32>, %x38: tensor<8x8xf32>, %x39: tensor<8x8xf32>, %x40: tensor<8x8xf32>, %x41: tensor<8x8xf32>,
    %o: tensor<8x8xf32>) -> tensor<8x8xf32>
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 1, subgroup = 1, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %s = tensor.extract_slice %c[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> to tensor<8x8xf32>
    %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %s) -> (tensor<8x8xf32>) {
      %p = tensor.extract_slice %a[0, %k] [8, 1] [1, 1] : tensor<8x4xf32> to tensor<8x1xf32>
      %q = tensor.extract_slice %b[%k, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
      %m = linalg.matmul {tilewright.tile_sizes = array<i64: 8, 8, 1>} ins(%p, %q : tensor<8x1xf32>, tensor<1x8xf32>) outs(%acc : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %m : tensor<8x8xf32>
    }
    %w = tensor.insert_slice %r into %o[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<8x8xf32>
    return %w : tensor<8x8xf32>
  }

}
