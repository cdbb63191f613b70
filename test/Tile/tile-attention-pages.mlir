// RUN: tilewright-opt %s -tilewright-tile -canonicalize -cse | FileCheck %s

// A step reads the page that the table has for it, up to the sequence's last key; the loop
// ends there.

#q = affine_map<(b, h, i, j, d, e) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d, e) -> (j floordiv 32, j mod 32, h, d)>
#v = affine_map<(b, h, i, j, d, e) -> (j floordiv 32, j mod 32, h, e)>
#t = affine_map<(b, h, i, j, d, e) -> (b, j floordiv 32)>
#n = affine_map<(b, h, i, j, d, e) -> (b)>
#m = affine_map<(b, h, i, j, d, e) -> (b, j)>
#o = affine_map<(b, h, i, j, d, e) -> (b, h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func private @pages(
  // CHECK-SAME: %[[Q:.*]]: tensor<2x8x16x64xf16>, %[[K:.*]]: tensor<9x32x8x64xf16>, %[[V:.*]]: tensor<9x32x8x64xf16>, %[[T:.*]]: tensor<2x3xi64>, %[[N:.*]]: tensor<2xi32>
  // CHECK: %[[ID:.*]]:3 = tilewright.tile_id
  // CHECK: %[[LENGTH:.*]] = tensor.extract %[[N]][%[[ID]]#0]
  // CHECK: %[[KEYS:.*]] = arith.index_cast %[[LENGTH]]
  // CHECK: %[[ABOVE:.*]] = arith.maxsi %[[KEYS]], %c0
  // CHECK: %[[END:.*]] = arith.minsi %[[ABOVE]], %c96
  // CHECK: scf.for %[[J:.*]] = %c0 to %[[END]] step %c32
  // CHECK: %[[NUMBER:.*]] = arith.divui %[[J]], %c32
  // CHECK: %[[ENTRY:.*]] = tensor.extract %[[T]][%[[ID]]#0, %[[NUMBER]]]
  // CHECK: arith.maxsi %[[ENTRY]], %c-2147483648
  // CHECK: %[[CAST:.*]] = arith.index_cast
  // CHECK: %[[BELOW:.*]] = arith.minsi %[[CAST]], %c8
  // CHECK: %[[PAGE:.*]] = arith.maxsi %[[BELOW]], %c0
  // CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %c32
  // CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[FIRST]]
  // CHECK: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %c32
  // CHECK: %[[KS:.*]] = tensor.extract_slice %[[K]][%[[PAGE]], 0, %[[ID]]#1, 0] [1, %[[ROWS]], 1, 64]
  // CHECK: %[[VS:.*]] = tensor.extract_slice %[[V]][%[[PAGE]], 0, %[[ID]]#1, 0] [1, %[[ROWS]], 1, 64]
  // CHECK: %[[ROW:.*]] = arith.subi %[[J]], %[[FIRST]]
  // CHECK: vector.transfer_read %[[KS]][%c0, %[[ROW]], %c0, %c0], {{.*}} {in_bounds = [false, true]
  // CHECK: vector.transfer_read %[[VS]][%c0, %[[ROW]], %c0, %c0], {{.*}} {in_bounds = [false, true]
  func.func private @pages(%q: tensor<2x8x16x64xf16>, %k: tensor<9x32x8x64xf16>, %v: tensor<9x32x8x64xf16>, %t: tensor<2x3xi64>, %n: tensor<2xi32>, %out: tensor<2x8x16x64xf16>) -> tensor<2x8x16x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x8x16x64xf16>, tensor<9x32x8x64xf16>, tensor<9x32x8x64xf16>)
        table(%t : tensor<2x3xi64>) lengths(%n : tensor<2xi32>) outs(%out : tensor<2x8x16x64xf16>)
        {indexing_maps = [#q, #k, #v, #t, #n, #o], tilewright.lowering_config = #tilewright.lowering_config<strategy = attention,
          block = [16, 32], warps = [1, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x8x16x64xf16>
    return %o : tensor<2x8x16x64xf16>
  }

  // A step of two pages, the second of which may be behind the table's last one.
  // CHECK-LABEL: func.func private @several(
  // CHECK: scf.for %[[J:.*]] = %c0 to %{{.*}} step %c64
  // CHECK: %[[NUMBER:.*]] = arith.divui %[[J]], %c32
  // CHECK: %[[ONE:.*]] = arith.minui %[[NUMBER]], %c2
  // CHECK: tensor.extract %{{.*}}[%{{.*}}, %[[ONE]]]
  // CHECK: %[[K0:.*]] = vector.transfer_read {{.*}} vector<32x64xf16>
  // CHECK: %[[H:.*]] = vector.insert_strided_slice %[[K0]], %{{.*}} {offsets = [0, 0], strides = [1, 1]} : vector<32x64xf16> into vector<64x64xf16>
  // CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %c32
  // CHECK: arith.maxsi %{{.*}}, %c0
  // CHECK: %[[K1:.*]] = vector.transfer_read {{.*}} vector<32x64xf16>
  // CHECK: %[[KEYS:.*]] = vector.insert_strided_slice %[[K1]], %[[H]] {offsets = [32, 0], strides = [1, 1]}
  // CHECK: tilewright.mma %{{.*}}, %[[KEYS]]
  func.func private @several(%q: tensor<2x8x16x64xf16>, %k: tensor<9x32x8x64xf16>, %v: tensor<9x32x8x64xf16>, %t: tensor<2x3xi64>, %n: tensor<2xi32>, %out: tensor<2x8x16x64xf16>) -> tensor<2x8x16x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x8x16x64xf16>, tensor<9x32x8x64xf16>, tensor<9x32x8x64xf16>)
        table(%t : tensor<2x3xi64>) lengths(%n : tensor<2xi32>) outs(%out : tensor<2x8x16x64xf16>)
        {indexing_maps = [#q, #k, #v, #t, #n, #o], tilewright.lowering_config = #tilewright.lowering_config<strategy = attention,
          block = [16, 64], warps = [1, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x8x16x64xf16>
    return %o : tensor<2x8x16x64xf16>
  }

  // The mask counts keys, where the table counts pages.
  // CHECK-LABEL: func.func private @masked(
  // CHECK-SAME: %[[M:[^:]*]]: tensor<2x?xi1>
  // CHECK: %[[DIM:.*]] = tensor.dim %[[M]], %c1
  // CHECK: %[[LENGTH:.*]] = arith.index_cast
  // CHECK: %[[ABOVE:.*]] = arith.maxsi %[[LENGTH]], %c0
  // CHECK: %[[END:.*]] = arith.minsi %[[ABOVE]], %[[DIM]]
  // CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c32
  func.func private @masked(%q: tensor<2x8x16x64xf16>, %k: tensor<9x32x8x64xf16>, %v: tensor<9x32x8x64xf16>, %m: tensor<2x?xi1>, %t: tensor<2x?xi64>, %n: tensor<2xi32>, %out: tensor<2x8x16x64xf16>) -> tensor<2x8x16x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %v : tensor<2x8x16x64xf16>, tensor<9x32x8x64xf16>, tensor<9x32x8x64xf16>)
        mask(%m : tensor<2x?xi1>) table(%t : tensor<2x?xi64>) lengths(%n : tensor<2xi32>) outs(%out : tensor<2x8x16x64xf16>)
        {indexing_maps = [#q, #k, #v, #m, #t, #n, #o], tilewright.lowering_config = #tilewright.lowering_config<strategy = attention,
          block = [16, 32], warps = [1, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x8x16x64xf16>
    return %o : tensor<2x8x16x64xf16>
  }
}
