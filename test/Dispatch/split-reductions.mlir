// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-split-reductions))" -split-input-file | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
#i = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

module attributes {tilewright.target = #target} {

// Partial results start from the neutral element, the combination from what the
// reduction started from.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[P:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[NONE:.*]] = affine_map<(d0) -> ()>
// CHECK-LABEL: func.func @SplitDynamicVector(
// CHECK-SAME: %[[X0:.*]]: tensor<?xf32>, %[[INIT:.*]]: tensor<f32>)
// CHECK: %[[E:.*]] = tensor.empty() : tensor<256xf32>
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[Z:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[E]]
// CHECK: %[[PARTS:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[P]]], iterator_types = ["reduction", "parallel"]} ins(%[[X0]] : tensor<?xf32>) outs(%[[Z]] : tensor<256xf32>) attrs = {tilewright.split = array<i64: 0, 4096>}
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[NONE]]], iterator_types = ["reduction"]} ins(%[[PARTS]] : tensor<256xf32>) outs(%[[INIT]] : tensor<f32>)
// CHECK-NOT: arith.mulf
// CHECK: arith.addf
// CHECK: return %[[R]]
func.func @SplitDynamicVector(%x: tensor<?xf32>, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) {
  ^bb0(%0: f32, %1: f32):
    %q = arith.mulf %0, %0 : f32
    %s = arith.addf %q, %1 : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Another order of additions may wrap: no promise is kept.
// CHECK-LABEL: func.func @SplitFewRows(
// CHECK: arith.constant 0 : i32
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]{{.*}}outs({{.*}} : tensor<4x25xi32>) attrs = {tilewright.split = array<i64: 1, 4096>}
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: arith.addi %{{.*}}, %{{[a-z0-9_]+}} : i32
func.func @SplitFewRows(%x: tensor<4x100003xi32>, %init: tensor<4xi32>) -> tensor<4xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x100003xi32>) outs(%init : tensor<4xi32>) {
  ^bb0(%0: i32, %1: i32):
    %s = arith.addi %0, %1 overflow<nsw> : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @LeaveShortVector(
// CHECK-NOT: tilewright.split
func.func @LeaveShortVector(%x: tensor<4096xf32>, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<4096xf32>) outs(%init : tensor<f32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// A sum and a maximum in one op share its parts; columns of 64 bytes are read
// whole.
// CHECK-LABEL: func.func @SplitTwoResults(
// CHECK: linalg.fill {{.*}} -> tensor<16x256xf32>
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<16x256xf32>, tensor<16x256xf32>) attrs = {tilewright.split = array<i64: 1, 256>}
// CHECK: linalg.generic
// CHECK: %[[S:.*]] = arith.addf
// CHECK: %[[M:.*]] = arith.maximumf
// CHECK: linalg.yield %[[S]], %[[M]]
func.func @SplitTwoResults(%x: tensor<1000000x16xf32>, %s0: tensor<16xf32>, %m0: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1000000x16xf32>) outs(%s0, %m0 : tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.addf %0, %1 : f32
    %m = arith.maximumf %0, %2 : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}

// The number of rows decides, and is known on the host only.
// CHECK-LABEL: func.func @ChooseAtRunTime(
// CHECK: %[[ROWS:.*]] = tensor.dim %{{.*}}, %c0
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %{{.*}}, %c17
// CHECK: %[[LONG:.*]] = arith.cmpi sge, %{{.*}}, %c65536
// CHECK: %[[BOTH:.*]] = arith.andi %[[FEW]], %[[LONG]]
// CHECK: %[[R:.*]] = scf.if %[[BOTH]] -> (tensor<?xf32>)
// CHECK: linalg.generic {{.*}}outs({{.*}} : tensor<?x64xf32>) attrs = {tilewright.split = array<i64: 1, 1024>}
// CHECK: linalg.generic
// CHECK: } else {
// CHECK: linalg.generic
// CHECK-NOT: tilewright.split
// CHECK: return %[[R]]
func.func @ChooseAtRunTime(%x: tensor<?x?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// With somebody to fuse with, one kernel is better.
// CHECK-LABEL: func.func @FuseRather(
// CHECK-NOT: scf.if
// CHECK: return
func.func @FuseRather(%x: tensor<?x?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %q = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%r : tensor<?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = math.sqrt %0 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %q : tensor<?xf32>
}

// A pinned config decides: parts are whole steps of its own.
// CHECK-LABEL: func.func @HonourPinned(
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<7xf32>) attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [96], warps = [1], thread = [1], splits = 7>, tilewright.split = array<i64: 0, 96>}
// CHECK: linalg.generic
func.func @HonourPinned(%x: tensor<4096xf32>, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<4096xf32>) outs(%init : tensor<f32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [96], warps = [1], thread = [1], splits = 7>} {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
}

// -----

// Rows that are read again, with what was reduced of them: few of them are one kernel, which reads and writes half of what
// kernels of parts do; one that is longer than any block works through is in parts.
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
module attributes {tilewright.target = #target} {
// CHECK-LABEL: func.func @RowsReadAgain(
// CHECK-NOT: tilewright.split
// CHECK: return
func.func @RowsReadAgain(%x: tensor<40x131072xf32>, %init: tensor<40xf32>, %out: tensor<40x131072xf32>) -> tensor<40x131072xf32> {
  %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<40x131072xf32>) outs(%init : tensor<40xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<40xf32>
  %q = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<40x131072xf32>, tensor<40xf32>) outs(%out : tensor<40x131072xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.divf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<40x131072xf32>
  return %q : tensor<40x131072xf32>
}
// CHECK-LABEL: func.func @OneLongRow(
// CHECK: tilewright.split
func.func @OneLongRow(%x: tensor<1x16777216xf32>, %init: tensor<1xf32>, %out: tensor<1x16777216xf32>) -> tensor<1x16777216xf32> {
  %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x16777216xf32>) outs(%init : tensor<1xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  %q = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<1x16777216xf32>, tensor<1xf32>) outs(%out : tensor<1x16777216xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.divf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<1x16777216xf32>
  return %q : tensor<1x16777216xf32>
}
}
