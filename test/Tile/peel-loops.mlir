// RUN: tilewright-opt %s -tilewright-peel-loops -split-input-file | FileCheck %s

#whole = affine_map<(d0)[s0] -> (8, -d0 + s0)>

module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1}>} {
// CHECK-LABEL: func.func private @WholeTilesFirst(
// CHECK-SAME: %[[N:.+]]: index,
func.func private @WholeTilesFirst(%n: index, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // CHECK: %[[SPLIT:.+]] = affine.apply
  // CHECK: %[[MAIN:.+]] = scf.for %{{.+}} to %[[SPLIT]] step
  // CHECK:   %[[C8:.+]] = arith.constant 8 : index
  // CHECK:   tensor.extract_slice %{{.+}}[%{{.+}}] [%[[C8]]] [1]
  // CHECK: scf.for %{{.+}} = %[[SPLIT]] to %[[N]] step %{{.+}} iter_args(%{{.+}} = %[[MAIN]])
  // CHECK:   %[[REST:.+]] = affine.apply
  // CHECK:   tensor.extract_slice %{{.+}}[%{{.+}}] [%[[REST]]] [1]
  %r = scf.for %i = %c0 to %n step %c8 iter_args(%t = %o) -> (tensor<?xf32>) {
    %s = affine.min #whole(%i)[%n]
    %x = tensor.extract_slice %t[%i] [%s] [1] : tensor<?xf32> to tensor<?xf32>
    %u = tensor.insert_slice %x into %t[%i] [%s] [1] : tensor<?xf32> into tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
}

// -----

#whole = affine_map<(d0)[s0] -> (8, -d0 + s0)>

// Lanes are masked one by one anyway.
module attributes {tilewright.target = #tilewright.target<"gpu", "nvvm", {subgroup = 32}>} {
// CHECK-LABEL: func.func private @KeepLoopsOfLanes(
func.func private @KeepLoopsOfLanes(%n: index, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // CHECK: scf.for
  // CHECK-NOT: scf.for
  // CHECK: return
  %r = scf.for %i = %c0 to %n step %c8 iter_args(%t = %o) -> (tensor<?xf32>) {
    %s = affine.min #whole(%i)[%n]
    %x = tensor.extract_slice %t[%i] [%s] [1] : tensor<?xf32> to tensor<?xf32>
    %u = tensor.insert_slice %x into %t[%i] [%s] [1] : tensor<?xf32> into tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
}
