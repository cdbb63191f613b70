// What no structured op says, beside structured ops: rows that indices name (a gather), a border of zeros (padding) and rows that are
// added where indices say (a scatter). Gather and padding are read where they lie, by the kernel of what reads them.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80,vulkan,cpu,cpu-reference -o %t.tw --explain 2>&1 | FileCheck %s
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=30x16xf32=int:-3:3 --input=12x1xi32=int:0:29 --input=14x18xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=ptxsim --check=oracle --input=30x16xf32=int:-3:3 --input=12x1xi32=int:0:29 --input=14x18xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=vulkan --check=oracle --input=30x16xf32=int:-3:3 --input=12x1xi32=int:0:29 --input=14x18xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT

// CHECK: @rows({{.*}}): 2 kernels
// RIGHT: ok

#id = affine_map<(i, j) -> (i, j)>
func.func @rows(%table: tensor<30x16xf32>, %at: tensor<12x1xi32>, %border: tensor<14x18xf32>) -> tensor<30x16xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<12x16xf32>
  %inner = tensor.extract_slice %border[2, 2] [10, 14] [1, 1] : tensor<14x18xf32> to tensor<10x14xf32>
  %padded = tensor.pad %inner low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<10x14xf32> to tensor<12x16xf32>
  %picked = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%padded : tensor<12x16xf32>) outs(%e : tensor<12x16xf32>) {
  ^bb0(%p: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %n = tensor.extract %at[%i, %c0] : tensor<12x1xi32>
    %row = arith.index_cast %n : i32 to index
    %x = tensor.extract %table[%row, %j] : tensor<30x16xf32>
    %s = arith.addf %x, %p : f32
    linalg.yield %s : f32
  } -> tensor<12x16xf32>
  %r = tilewright.scatter ins(%picked, %at : tensor<12x16xf32>, tensor<12x1xi32>) outs(%table : tensor<30x16xf32>) {dims = array<i64: 0>} combine {
  ^bb0(%new: f32, %old: f32):
    %s = arith.addf %old, %new : f32
    tilewright.combined %s : f32
  } -> tensor<30x16xf32>
  return %r : tensor<30x16xf32>
}
