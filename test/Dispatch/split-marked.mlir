// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-split-marked,canonicalize,cse))" | FileCheck %s

#k = affine_map<(k) -> (k)>
#none = affine_map<(k) -> ()>
// CHECK-DAG: #[[$STEP:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$PART:.+]] = affine_map<(d0, d1) -> (d1)>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {

// 64 parts, of every 64th element, begin with the identity; the few parts are combined one by one, from what the results begin with.
// CHECK-LABEL: func.func @Static(
// CHECK-SAME: %[[RE:.+]]: tensor<2048xi32>, %[[IM:.+]]: tensor<2048xi32>, %[[A:.+]]: tensor<i32>, %[[B:.+]]: tensor<i32>)
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : i32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : i32
// CHECK-DAG: %[[XS:.+]] = tensor.expand_shape %[[RE]] {{\[}}[0, 1]] output_shape [32, 64] : tensor<2048xi32> into tensor<32x64xi32>
// CHECK-DAG: %[[YS:.+]] = tensor.expand_shape %[[IM]]
// CHECK-DAG: %[[ONES:.+]] = linalg.fill ins(%[[ONE]] : i32)
// CHECK-DAG: %[[ZEROS:.+]] = linalg.fill ins(%[[ZERO]] : i32)
// CHECK: %[[P:.+]]:2 = linalg.generic {indexing_maps = [#[[$STEP]], #[[$STEP]], #[[$PART]], #[[$PART]]], iterator_types = ["reduction", "parallel"]} ins(%[[XS]], %[[YS]] : {{.*}}) outs(%[[ONES]], %[[ZEROS]] :
// CHECK: %[[R:.+]]:2 = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[P]]#0, %[[P]]#1 : tensor<64xi32>, tensor<64xi32>) outs(%[[A]], %[[B]] :
// CHECK-NOT: tilewright.associative
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @Static(%re: tensor<2048xi32>, %im: tensor<2048xi32>, %a: tensor<i32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %r:2 = linalg.generic {indexing_maps = [#k, #k, #none, #none], iterator_types = ["reduction"]} ins(%re, %im : tensor<2048xi32>, tensor<2048xi32>) outs(%a, %b : tensor<i32>, tensor<i32>)
      attrs = {tilewright.associative = [1 : i32, 0 : i32]} {
  ^bb0(%x: i32, %y: i32, %p: i32, %q: i32):
    %xp = arith.muli %x, %p : i32
    %yq = arith.muli %y, %q : i32
    %xq = arith.muli %x, %q : i32
    %yp = arith.muli %y, %p : i32
    %s = arith.subi %xp, %yq : i32
    %t = arith.addi %xq, %yp : i32
    linalg.yield %s, %t : i32, i32
  } -> (tensor<i32>, tensor<i32>)
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// Of a length that is not known, the elements behind the last whole step are what the first parts begin with. What is computed of
// the elements, their places too, is computed in the bodies.
// CHECK-LABEL: func.func @Dynamic(
// CHECK-SAME: %[[X:.+]]: tensor<?xf32>
// CHECK: %[[N:.+]] = tensor.dim %[[X]]
// CHECK: %[[STEPS:.+]] = arith.divui %[[N]], %[[PARTS:.+]] : index
// CHECK: %[[WHOLE:.+]] = arith.muli %[[STEPS]], %[[PARTS]] : index
// CHECK: %[[LEFT:.+]] = arith.subi %[[N]], %[[WHOLE]] : index
// CHECK: tensor.extract_slice %[[X]][0] [%[[WHOLE]]] [1]
// CHECK: tensor.expand_shape
// CHECK: %[[BEHIND:.+]] = tensor.extract_slice %[[X]][%[[WHOLE]]] [%[[LEFT]]] [1]
// CHECK: tensor.pad %[[BEHIND]]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK: %[[J:.+]] = linalg.index 0
// CHECK: arith.addi %[[WHOLE]], %[[J]]
// CHECK: %[[IN:.+]] = arith.cmpi ult, %[[J]], %[[LEFT]]
// CHECK: arith.select %[[IN]]
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]
// CHECK: %[[S:.+]] = linalg.index 0
// CHECK: arith.muli %[[S]], %[[PARTS]]
func.func @Dynamic(%x: tensor<?xf32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = tensor.empty(%n) : tensor<?xi32>
  %l:2 = linalg.generic {indexing_maps = [#k, #k, #k], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e, %f : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%in: f32, %o0: f32, %o1: i32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    linalg.yield %in, %j : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  %r:2 = linalg.generic {indexing_maps = [#k, #k, #none, #none], iterator_types = ["reduction"]} ins(%l#0, %l#1 : tensor<?xf32>, tensor<?xi32>) outs(%a, %b : tensor<f32>, tensor<i32>)
      attrs = {tilewright.associative = [0xFF800000 : f32, 2147483647 : i32]} {
  ^bb0(%v: f32, %p: i32, %best: f32, %place: i32):
    %g = arith.cmpf ogt, %v, %best : f32
    %q = arith.cmpf oeq, %v, %best : f32
    %s = arith.cmpi slt, %p, %place : i32
    %t = arith.andi %q, %s : i1
    %c = arith.ori %g, %t : i1
    %y = arith.select %c, %v, %best : f32
    %z = arith.select %c, %p, %place : i32
    linalg.yield %y, %z : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}

// Without a mark, and of few terms, nothing changes.
// CHECK-LABEL: func.func @Few(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @Few(%x: tensor<40xf32>, %y: tensor<40xf32>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = linalg.generic {indexing_maps = [#k, #k, #none, #none], iterator_types = ["reduction"]} ins(%x, %y : tensor<40xf32>, tensor<40xf32>) outs(%a, %b : tensor<f32>, tensor<f32>)
      attrs = {tilewright.associative = [1.0 : f32, 0.0 : f32]} {
  ^bb0(%p: f32, %q: f32, %s: f32, %t: f32):
    %u = arith.mulf %p, %s : f32
    %v = arith.mulf %p, %t : f32
    %w = arith.addf %v, %q : f32
    linalg.yield %u, %w : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}
}
