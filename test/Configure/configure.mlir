// RUN: tilewright-opt %s -tilewright-configure=list-configs=true -split-input-file | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

module attributes {tilewright.target = #target} {

// CHECK-LABEL: func.func private @TileLargeContraction(
// CHECK-SAME: tilewright.configs = [#tilewright.lowering_config<strategy = simt_contraction, block = [{{64|128}}, {{64|128}},
// CHECK-SAME: tilewright.explain = ["strategy simt_contraction: root linalg.matmul multiplies and adds",
// CHECK-SAME: "config: #tilewright.lowering_config<
// CHECK-SAME: "refused #tilewright.lowering_config<{{.*}}: needs {{[0-9]+}} bytes of shared memory but test has 49152
// CHECK: linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [{{64|128}}, {{64|128}}, {{[0-9]+}}], warps = [{{[0-9]}}, {{[0-9]}}, 1], {{.*}}promote = [0, 1]>}
func.func private @TileLargeContraction(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %o: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%o : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %m : tensor<4096x4096xf32>
}

// CHECK-LABEL: func.func private @ShrinkTilesToProblem(
// CHECK: linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = skinny_contraction, block = [1, {{8|16}}, 8],
func.func private @ShrinkTilesToProblem(%a: tensor<1x7xf32>, %b: tensor<7x10xf32>, %o: tensor<1x10xf32>) -> tensor<1x10xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<1x7xf32>, tensor<7x10xf32>) outs(%o : tensor<1x10xf32>) -> tensor<1x10xf32>
  return %m : tensor<1x10xf32>
}

// Rows are whole runs of memory on both sides.
// CHECK-LABEL: func.func private @TileTransposeSquare(
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [{{32, 32|64, 64}}],
func.func private @TileTransposeSquare(%x: tensor<1024x512xf32>, %o: tensor<512x1024xf32>) -> tensor<512x1024xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x512xf32>) outs(%o : tensor<512x1024xf32>) {
  ^bb0(%0: f32, %1: f32):
    linalg.yield %0 : f32
  } -> tensor<512x1024xf32>
  return %r : tensor<512x1024xf32>
}

// CHECK-LABEL: func.func private @ReduceWholeShortRow(
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [{{[0-9]+}}, 16],
func.func private @ReduceWholeShortRow(%x: tensor<?x10xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x10xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A row that is read twice stays in the registers of one block, larger than others are.
// CHECK-LABEL: func.func private @HoldLongRow(
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 32768], warps = [1, 16]>
func.func private @HoldLongRow(%x: tensor<512x32768xf32>, %o: tensor<512xf32>) -> tensor<512xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x32768xf32>) outs(%z : tensor<512xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : tensor<512x32768xf32>, tensor<512xf32>) outs(%o : tensor<512xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %d = arith.subf %0, %1 : f32
    %s = arith.addf %2, %d : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  return %r : tensor<512xf32>
}

// CHECK-LABEL: func.func private @SayThatOneBlockReducesAll(
// CHECK-SAME: "one block does the whole reduction: 2048 elements a result are too few for a second kernel to pay"
func.func private @SayThatOneBlockReducesAll(%x: tensor<2048xf32>, %o: tensor<f32>) -> tensor<f32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<2048xf32>) outs(%o : tensor<f32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// The arrays speak of all loops but the one that counts parts; 16 bytes a
// thread, and enough of them.
// CHECK-LABEL: func.func private @ComputePartsOfVector(
// CHECK-SAME: "computes 256 parts of loop 0, multiples of 4096 long, one block each; a second kernel combines them"
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [{{2048|4096}}], warps = [{{[48]}}], splits = 256>
func.func private @ComputePartsOfVector(%x: tensor<?xf32>, %o: tensor<256xf32>) -> tensor<256xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<256xf32>) attrs = {tilewright.split = array<i64: 0, 4096>} {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  return %r : tensor<256xf32>
}

// CHECK-LABEL: func.func private @HonourPinned(
// CHECK-SAME: "config (pinned): #tilewright.lowering_config<strategy = streaming, block = [2, 64], warps = [1, 1]>"
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [2, 64], warps = [1, 1]>
func.func private @HonourPinned(%x: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [2, 64], warps = [1, 1]>} {
  ^bb0(%0: f32, %1: f32):
    %s = math.exp %0 : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
}

// -----

// Large operands are packed into panels, of which `block` has the length of a chunk of the sum: that of the columns, and that of rows
// which lie so far apart that they share sets of a cache.
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, l2_bytes = 1048576, thread_memory = 1048576}>} {
// CHECK-LABEL: func.func private @PackOperands(
// CHECK: linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [232, 192, 256], thread = [8, 48, 8], promote = [1]>}
func.func private @PackOperands(%a: tensor<457x512xf32>, %b: tensor<512x330xf32>, %o: tensor<457x330xf32>) -> tensor<457x330xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<457x512xf32>, tensor<512x330xf32>) outs(%o : tensor<457x330xf32>) -> tensor<457x330xf32>
  return %m : tensor<457x330xf32>
}
// CHECK-LABEL: func.func private @PackRows(
// CHECK: linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<{{.*}}promote = [0, 1]>}
func.func private @PackRows(%a: tensor<457x4096xf32>, %b: tensor<4096x330xf32>, %o: tensor<457x330xf32>) -> tensor<457x330xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<457x4096xf32>, tensor<4096x330xf32>) outs(%o : tensor<457x330xf32>) -> tensor<457x330xf32>
  return %m : tensor<457x330xf32>
}
// CHECK-LABEL: func.func private @ReadInPlace(
// CHECK-SAME: "operands are not packed into panels: the sum is 8 long"
func.func private @ReadInPlace(%a: tensor<457x8xf32>, %b: tensor<8x330xf32>, %o: tensor<457x330xf32>) -> tensor<457x330xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<457x8xf32>, tensor<8x330xf32>) outs(%o : tensor<457x330xf32>) -> tensor<457x330xf32>
  return %m : tensor<457x330xf32>
}
}

// -----

// Sums of the columns of a large matrix read eight rows of it at a time; those of two results all rows, of the columns of a tile.
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, l1_bytes = 32768, l2_bytes = 1048576, thread_memory = 1048576}>} {
// CHECK-LABEL: func.func private @SumColumns(
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [4096, 8], thread = [64, 1]>
func.func private @SumColumns(%x: tensor<1024x8192xf32>, %o: tensor<8192xf32>) -> tensor<8192xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1024x8192xf32>) outs(%o : tensor<8192xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<8192xf32>
  return %r : tensor<8192xf32>
}
// CHECK-LABEL: func.func private @SumColumnsTwice(
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [128, 1], thread = [128, 1]>
func.func private @SumColumnsTwice(%x: tensor<1024x8192xf32>, %o: tensor<8192xf32>, %p: tensor<8192xf32>) -> (tensor<8192xf32>, tensor<8192xf32>) attributes {tilewright.kernel} {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>, affine_map<(j, k) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1024x8192xf32>) outs(%o, %p : tensor<8192xf32>, tensor<8192xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.addf %0, %1 : f32
    %m = arith.maximumf %0, %2 : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<8192xf32>, tensor<8192xf32>)
  return %r#0, %r#1 : tensor<8192xf32>, tensor<8192xf32>
}
}

// -----

// On CPUs `thread` is the register tile.
#windows = affine_map<(f, y, x, c, r, s) -> (c, y, r, x, s)>
#filters = affine_map<(f, y, x, c, r, s) -> (f, c, r, s)>
#rows = affine_map<(f, y, x, c, r, s) -> (f, y, x)>
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64}>} {
// CHECK-LABEL: func.func private @TileRegisters(
// CHECK: linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 128, 1], thread = [8, 32, 1]>}
func.func private @TileRegisters(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}
// Vectors lie along the rows of the result, where it has channels first, too; never with a
// part of a register behind a whole one.
// CHECK-LABEL: func.func private @Channels(
// CHECK: linalg.generic {{.*}}thread = [8, 1, 32, 1, 1, 1]>
func.func private @Channels(%x: tensor<64x56x3x56x3xf32>, %w: tensor<64x64x3x3xf32>, %o: tensor<64x56x56xf32>) -> tensor<64x56x56xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#windows, #filters, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<64x56x3x56x3xf32>, tensor<64x64x3x3xf32>) outs(%o : tensor<64x56x56xf32>) {
    ^bb0(%v: f32, %y: f32, %acc: f32):
      %m = arith.mulf %v, %y : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<64x56x56xf32>
  return %r : tensor<64x56x56xf32>
}
// CHECK-LABEL: func.func private @PartOfRegister(
// CHECK: linalg.generic {{.*}}thread = [16, 1, 16, 1, 1, 1]>
func.func private @PartOfRegister(%x: tensor<64x28x3x28x3xf32>, %w: tensor<64x64x3x3xf32>, %o: tensor<64x28x28xf32>) -> tensor<64x28x28xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#windows, #filters, #rows], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<64x28x3x28x3xf32>, tensor<64x64x3x3xf32>) outs(%o : tensor<64x28x28xf32>) {
    ^bb0(%v: f32, %y: f32, %acc: f32):
      %m = arith.mulf %v, %y : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<64x28x28xf32>
  return %r : tensor<64x28x28xf32>
}
}
