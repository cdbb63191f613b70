// RUN: tilewright-opt %s -tilewright-tile -tilewright-vectorize -canonicalize -cse | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-DAG: #[[$BROADCAST:.+]] = affine_map<(d0) -> (0, d0)>
// CHECK-DAG: #[[$TURNED:.+]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$A:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$B:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$C:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {tilewright.target = #target} {

// CHECK-LABEL: func.func private @BroadcastInRead(
func.func private @BroadcastInRead(%x: tensor<?x512xf32>, %b: tensor<512xf32>, %o: tensor<?x512xf32>) -> tensor<?x512xf32> attributes {tilewright.kernel} {
  // CHECK: vector.transfer_read %{{.+}} {in_bounds = [false, true]} : tensor<?x512xf32>, vector<8x128xf32>
  // CHECK: vector.transfer_read %{{.+}} {in_bounds = [true, true], permutation_map = #[[$BROADCAST]]} : tensor<512xf32>, vector<8x128xf32>
  // CHECK: arith.addf {{.+}} : vector<8x128xf32>
  // CHECK: vector.transfer_write {{.+}} {in_bounds = [false, true]} : vector<8x128xf32>, tensor<?x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<?x512xf32>, tensor<512xf32>) outs(%o : tensor<?x512xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [8, 128], warps = [4, 1], thread = [1, 4]>} {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?x512xf32>
  return %r : tensor<?x512xf32>
}

// CHECK-LABEL: func.func private @TransposeInRead(
func.func private @TransposeInRead(%x: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  // CHECK: %[[V:.+]] = vector.transfer_read %{{.+}} {permutation_map = #[[$TURNED]]} : tensor<?x?xf32>, vector<32x32xf32>
  // CHECK: vector.transfer_write %[[V]], %{{.+}} : vector<32x32xf32>, tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [32, 32], warps = [4, 1], thread = [1, 4]>} {
  ^bb0(%0: f32, %1: f32):
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Integer operands are extended by the product; the accumulator is carried.
// CHECK-LABEL: func.func private @Contract(
func.func private @Contract(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %o: tensor<?x?xi32>) -> tensor<?x?xi32> attributes {tilewright.kernel} {
  // CHECK: %[[ZERO:.+]] = arith.constant dense<0> : vector<16x16xi32>
  // CHECK: scf.for {{.+}} iter_args(%[[ACC:.+]] = %[[ZERO]]) -> (vector<16x16xi32>)
  // CHECK:   %[[VA:.+]] = vector.transfer_read {{.+}} : tensor<?x?xi8>, vector<16x8xi8>
  // CHECK:   %[[VB:.+]] = vector.transfer_read {{.+}} : tensor<?x?xi8>, vector<8x16xi8>
  // CHECK:   tilewright.mma %[[VA]], %[[VB]], %[[ACC]] {maps = [#[[$A]], #[[$B]], #[[$C]]], signedness = ["signed", "signed"]} : vector<16x8xi8>, vector<8x16xi8>, vector<16x16xi32>
  %c = arith.constant 0 : i32
  %z = linalg.fill ins(%c : i32) outs(%o : tensor<?x?xi32>) -> tensor<?x?xi32>
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 16, 8], warps = [1, 1, 1], thread = [2, 4, 1]>}
      ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%z : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %m : tensor<?x?xi32>
}

// What a fused producer makes of lanes outside must not reach the sum.
// CHECK-LABEL: func.func private @MaskComputedOperand(
func.func private @MaskComputedOperand(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %e: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  // CHECK: scf.for
  // CHECK:   %[[E:.+]] = math.exp %{{.+}} : vector<16x8xf32>
  // CHECK:   %[[M:.+]] = vector.create_mask %c16, %{{.+}} : vector<16x8xi1>
  // CHECK:   %[[S:.+]] = arith.select %[[M]], %[[E]], %{{.+}}
  // CHECK:   tilewright.mma %[[S]],
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = math.exp %0 : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 16, 8], warps = [1, 1, 1], thread = [2, 4, 1]>}
      ins(%p, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}

// Memory that is only reduced is padded with the neutral element.
// CHECK-LABEL: func.func private @PadReduction(
func.func private @PadReduction(%x: tensor<?x?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  // CHECK: %[[PAD:.+]] = arith.constant 0xFF800000 : f32
  // CHECK: %[[INIT:.+]] = vector.transfer_read %{{.+}} : tensor<?xf32>, vector<4xf32>
  // CHECK: scf.for {{.+}} iter_args(%[[ACC:.+]] = %[[INIT]])
  // CHECK:   %[[V:.+]] = vector.transfer_read %{{.+}}, %[[PAD]] : tensor<?x?xf32>, vector<4x128xf32>
  // CHECK:   vector.multi_reduction <maximumf>, %[[V]], %[[ACC]] [1]
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%o : tensor<?xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [4, 128], warps = [4, 1], thread = [1, 4]>} {
  ^bb0(%0: f32, %1: f32):
    %s = arith.maximumf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// The divisor of a body (guard-divisions.mlir) is guarded in lanes outside, too: no mask.
// CHECK-LABEL: func.func private @GuardDivision(
func.func private @GuardDivision(%x: tensor<?xi32>, %y: tensor<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> attributes {tilewright.kernel} {
  // CHECK-DAG: %[[ONE:.+]] = arith.constant dense<1> : vector<128xi32>
  // CHECK: %[[B:.+]] = vector.transfer_read %arg1
  // CHECK-NOT: create_mask
  // CHECK: %[[C:.+]] = arith.cmpi eq, %[[B]]
  // CHECK: %[[D:.+]] = arith.select %[[C]], %[[ONE]], %[[B]]
  // CHECK: arith.divui %{{.+}}, %[[D]]
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [128], warps = [1], thread = [4]>} {
  ^bb0(%0: i32, %1: i32, %2: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c = arith.cmpi eq, %1, %zero : i32
    %d = arith.select %c, %one, %1 : i32
    %s = arith.divui %0, %d : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// CHECK-LABEL: func.func private @CoordinatesOfTile(
func.func private @CoordinatesOfTile(%o: tensor<?xi32>) -> tensor<?xi32> attributes {tilewright.kernel} {
  // CHECK: %[[STEP:.+]] = vector.step : vector<128xindex>
  // CHECK: arith.addi %{{.+}}, %{{.+}} : vector<128xindex>
  // CHECK: arith.index_cast %{{.+}} : vector<128xindex> to vector<128xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%o : tensor<?xi32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [128], warps = [1], thread = [4]>} {
  ^bb0(%0: i32):
    %i = linalg.index 0 : index
    %s = arith.index_cast %i : index to i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// CHECK-LABEL: func.func private @ScalarsOfRankZero(
func.func private @ScalarsOfRankZero(%x: tensor<f32>, %o: tensor<f32>) -> tensor<f32> attributes {tilewright.kernel} {
  // CHECK: %[[V:.+]] = tensor.extract %{{.+}}[] : tensor<f32>
  // CHECK: %[[E:.+]] = math.exp %[[V]] : f32
  // CHECK: tensor.insert %[[E]] into %{{.+}}[] : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%x : tensor<f32>) outs(%o : tensor<f32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming>} {
  ^bb0(%0: f32, %1: f32):
    %s = math.exp %0 : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// The multiply-add of a sum of products is one operation: the product says so. What
// is computed by another op is rounded first.
// CHECK-LABEL: func.func private @SumOfProducts(
func.func private @SumOfProducts(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  // CHECK: scf.for
  // CHECK:   %[[Q:.+]] = arith.mulf %{{.+}}, %{{.+}} : vector<4x128xf32>
  // CHECK:   %[[P:.+]] = arith.mulf %[[Q]], %[[Q]] fastmath<contract> : vector<4x128xf32>
  // CHECK:   %[[T:.+]] = arith.select %{{.+}}, %[[P]]
  // CHECK:   vector.multi_reduction <add>, %[[T]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.mulf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%q : tensor<?x?xf32>) outs(%o : tensor<?xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [4, 128], warps = [4, 1], thread = [1, 4]>} {
  ^bb0(%0: f32, %1: f32):
    %p = arith.mulf %0, %0 : f32
    %s = arith.addf %1, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
}
