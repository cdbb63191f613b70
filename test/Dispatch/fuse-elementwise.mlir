// RUN: tilewright-opt %s -tilewright-fuse-elementwise | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#none = affine_map<(i, j) -> ()>
#number = affine_map<() -> ()>

// CHECK-LABEL: func @ChainBecomesOneOp
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.negf
// CHECK: math.exp
// CHECK-NOT: linalg.generic
func.func @ChainBecomesOneOp(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func @ProducerOfReductionJoinsItsBody
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
func.func @ProducerOfReductionJoinsItsBody(%x: tensor<4x8xf32>, %acc: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %a : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<4x8xf32>) outs(%acc : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %b, %a : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// A value per row is not computed again for every element of the row.
// CHECK-LABEL: func @RowValueIsNotRecomputed
// CHECK-COUNT-2: linalg.generic
func.func @RowValueIsNotRecomputed(%x: tensor<4x8xf32>, %s: tensor<4xf32>) -> tensor<4x8xf32> {
  %er = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%er : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.rsqrt %a : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %v = arith.mulf %a, %c : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// One number for two ops, which compute it by themselves.
// CHECK-LABEL: func @EachReaderComputesANumber
// CHECK-NOT: iterator_types = []
// CHECK-COUNT-2: math.powf
func.func @EachReaderComputesANumber(%t: tensor<f32>, %x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %base = arith.constant 0.9 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [#number, #number], iterator_types = []} ins(%t : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %p = math.powf %base, %a : f32
    %v = arith.subf %one, %p : f32
    linalg.yield %v : f32
  } -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n : tensor<4x8xf32>, tensor<f32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%a: f32, %d: f32, %b: f32):
    %v = arith.divf %a, %d : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %n : tensor<4x8xf32>, tensor<f32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%a: f32, %d: f32, %b: f32):
    %v = arith.divf %a, %d : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %r, %s : tensor<4x8xf32>, tensor<4x8xf32>
}

// Numbers of rows and columns, which both masks read, and the masks themselves: all that reads them
// computes them. A tensor that one of them returns is there besides.
// CHECK-LABEL: func.func @of_coordinates(
// CHECK-COUNT-1: linalg.generic {{.*}}iterator_types = ["parallel"]} outs(
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{[^,]*}} : tensor<?x8x8xf32>)
// CHECK: linalg.index 1
// CHECK: linalg.index 2
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]} ins(%{{[^,]*}} : tensor<?x8x8xf32>)
// CHECK: linalg.index 1
// CHECK: linalg.index 2
// CHECK-NOT: linalg.generic
func.func @of_coordinates(%x: tensor<?x8x8xf32>, %o: tensor<?x8xf32>, %p: tensor<?x8x8xf32>, %n: tensor<8xi64>) -> (tensor<8xi64>, tensor<?x8xf32>, tensor<?x8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %count = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%n : tensor<8xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i64
    linalg.yield %c : i64
  } -> tensor<8xi64>
  %mask = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%count, %count : tensor<8xi64>, tensor<8xi64>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: i64, %b: i64, %out: f32):
    %c = arith.cmpi slt, %a, %b : i64
    %s = arith.select %c, %low, %zero : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %max = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %mask : tensor<?x8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<?x8xf32>) {
  ^bb0(%a: f32, %m: f32, %acc: f32):
    %s = arith.addf %a, %m : f32
    %t = arith.maximumf %s, %acc : f32
    linalg.yield %t : f32
  } -> tensor<?x8xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %mask : tensor<?x8x8xf32>, tensor<8x8xf32>) outs(%p : tensor<?x8x8xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %s = arith.addf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x8x8xf32>
  return %count, %max, %sum : tensor<8xi64>, tensor<?x8xf32>, tensor<?x8x8xf32>
}

// A gain that each row needs is converted by all of them; one that is rounded first, or comes from a reduction, is not.
// CHECK-LABEL: func @GainIsConvertedByItsReader
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.extf
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @GainIsConvertedByItsReader(%x: tensor<4x8xf32>, %s: tensor<4xf16>) -> tensor<4x8xf32> {
  %one = arith.constant 1.0 : f32
  %er = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%s : tensor<4xf16>) outs(%er : tensor<4xf32>) {
  ^bb0(%a: f16, %b: f32):
    %w = arith.extf %a : f16 to f32
    %v = arith.addf %w, %one : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %v = arith.mulf %a, %c : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func @NarrowerGain
// CHECK-COUNT-2: linalg.generic
func.func @NarrowerGain(%x: tensor<4x8xf16>, %s: tensor<4xf32>) -> tensor<4x8xf16> {
  %er = tensor.empty() : tensor<4xf16>
  %e = tensor.empty() : tensor<4x8xf16>
  %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%er : tensor<4xf16>) {
  ^bb0(%a: f32, %b: f16):
    %v = arith.truncf %a : f32 to f16
    linalg.yield %v : f16
  } -> tensor<4xf16>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n : tensor<4x8xf16>, tensor<4xf16>) outs(%e : tensor<4x8xf16>) {
  ^bb0(%a: f16, %c: f16, %b: f16):
    %v = arith.mulf %a, %c : f16
    linalg.yield %v : f16
  } -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}

// CHECK-LABEL: func @MeanStaysPerRow
// CHECK-COUNT-3: linalg.generic
func.func @MeanStaysPerRow(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %part = arith.constant 0.125 : f32
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %b, %a : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%er : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %part : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %v = arith.subf %a, %c : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Numbers of more bits than what they become (positions), where one elementwise op reads them.
// CHECK-LABEL: func @Positions
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @Positions(%p: tensor<4xi64>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %er = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4xi64>) outs(%er : tensor<4xf32>) {
  ^bb0(%a: i64, %b: f32):
    %v = arith.sitofp %a : i64 to f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %v = arith.mulf %a, %c : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Column numbers stay where they are, as the reduction has no other operand of that size; they keep nothing in front of
// them from the reduction.
// CHECK-LABEL: func @Columns
// CHECK: linalg.index
// CHECK: linalg.generic
// CHECK-SAME: "reduction"
// CHECK: arith.extf
func.func @Columns(%x: tensor<64xf16>) -> tensor<64xf32> {
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<64xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<64xf16>) outs(%e1 : tensor<64xf32>) {
  ^bb0(%a: f16, %o: f32):
    %s = arith.extf %a : f16 to f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %e2 = tensor.empty() : tensor<64x128xf32>
  %q = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e2 : tensor<64x128xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i32
    %s = arith.sitofp %i : i32 to f32
    linalg.yield %s : f32
  } -> tensor<64x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#row, #id, #row], iterator_types = ["parallel", "reduction"]} ins(%p, %q : tensor<64xf32>, tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.addf %a, %b : f32
    %s = arith.maximumf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
