// Neighbours in memory that one access reads, beyond the tensor: each is the nearest element inside, the first or the last.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80,vulkan,cpu -o %t.tw
// RUN: tilewright-run %t.tw --device=ptxsim --print --input="16xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16" --input="16xi32=0 1 -7 100 -100 2 0 0 0 0 0 0 0 0 0 0" | FileCheck %s
// RUN: tilewright-run %t.tw --device=cpu --print --input="16xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16" --input="16xi32=0 1 -7 100 -100 2 0 0 0 0 0 0 0 0 0 0" | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_80 --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// CHECK: 16x64xf32=
// CHECK-SAME: [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16]
// CHECK-SAME: [9 10 11 12 13 14 15 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16]
// CHECK-SAME: [1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2 3 4 5 6 7 8]
// CHECK-SAME: [16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16]
// CHECK-SAME: [1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1]
// CHECK-SAME: [16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16]
// PTX: ld.global{{.*}}.v2
func.func @main(%table: tensor<16xf32>, %rows: tensor<16xi32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<16x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<16xi32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%row: i32, %o: f32):
    %eight = arith.constant 8 : index
    %i = arith.index_cast %row : i32 to index
    %first = arith.muli %i, %eight : index
    %j = linalg.index 1 : index
    %at = arith.addi %first, %j : index
    %x = tensor.extract %table[%at] : tensor<16xf32>
    linalg.yield %x : f32
  } -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}
