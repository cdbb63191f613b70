// Numbers of rows far out of range, of more bits than a GPU's indices have: brought into range, they are the first row and the last.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80,vulkan,cpu,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=ptxsim --check=oracle --input=5xf32=int:-9:9 --input=40xi64=int:-1099511627776:1099511627776
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=5xf32=int:-9:9 --input=40xi64=int:-1099511627776:1099511627776
// RUN: tilewright-run %t.tw --device=ptxsim --print --input="5xf32=1 2 3 4 5" \
// RUN:   --input="4xi64=1099511627777 -1099511627775 4294967298 3" | FileCheck %s

// CHECK: 5 1 5 4
#map = affine_map<(d0) -> (d0)>
func.func @main(%table: tensor<?xf32>, %rows: tensor<?xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %rows, %c0 : tensor<?xi64>
  %size = tensor.dim %table, %c0 : tensor<?xf32>
  %last = arith.subi %size, %c1 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%rows : tensor<?xi64>) outs(%e : tensor<?xf32>) {
  ^bb0(%row: i64, %o: f32):
    %i = arith.index_cast %row : i64 to index
    %j = arith.maxsi %i, %c0 : index
    %k = arith.minsi %j, %last : index
    %x = tensor.extract %table[%k] : tensor<?xf32>
    linalg.yield %x : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
