// The reference, too, takes and returns tensors of indices as those of i64.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cpu,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --function=squares --device=cpu --check=oracle --input=8xi64=int:-9:9:1 | FileCheck %s
// RUN: tilewright-run %t.tw --function=sums --device=cpu --check=oracle --input=8xi64=int:-9:9:1 --input=i64=3 | FileCheck %s

// CHECK: result[0]: ok: 8xi64, all elements equal
#id = affine_map<(i) -> (i)>
func.func @squares(%x: tensor<8xindex>) -> tensor<8xindex> {
  %e = tensor.empty() : tensor<8xindex>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xindex>) outs(%e : tensor<8xindex>) {
  ^bb0(%a: index, %o: index):
    %m = arith.muli %a, %a : index
    linalg.yield %m : index
  } -> tensor<8xindex>
  return %r : tensor<8xindex>
}

// With a call, and of dynamic size.
func.func private @add(%x: tensor<?xindex>, %n: index) -> tensor<?xindex> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xindex>
  %e = tensor.empty(%d) : tensor<?xindex>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xindex>) outs(%e : tensor<?xindex>) {
  ^bb0(%a: index, %o: index):
    %i = linalg.index 0 : index
    %s = arith.addi %a, %i : index
    %m = arith.addi %s, %n : index
    linalg.yield %m : index
  } -> tensor<?xindex>
  return %r : tensor<?xindex>
}
func.func @sums(%x: tensor<?xindex>, %n: index) -> tensor<?xindex> {
  %r = func.call @add(%x, %n) : (tensor<?xindex>, index) -> tensor<?xindex>
  return %r : tensor<?xindex>
}
