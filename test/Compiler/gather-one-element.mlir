// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gather whose loops all have one iteration reads a scalar, at a coordinate that is an operand or known.
//
// RUN: tilewright-compile %s --target=cpu,vulkan,cuda:sm_80,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --function=operand --device=cpu --check=oracle --input=3xi64=int:-9:9:1 --input=1xi64=1 | FileCheck %s
// RUN: tilewright-run %t.tw --function=operand --device=ptxsim --check=oracle --input=3xi64=int:-9:9:1 --input=1xi64=1 | FileCheck %s
// RUN: tilewright-run %t.tw --function=known --device=ptxsim --check=oracle --input=3xi64=int:-9:9:1 | FileCheck %s
// CHECK: ok

#map = affine_map<(d0) -> (d0)>

func.func @operand(%table: tensor<3xi64>, %at: tensor<1xi64>) -> tensor<1xi64> {
  %e = tensor.empty() : tensor<1xi64>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%at : tensor<1xi64>) outs(%e : tensor<1xi64>) {
    ^bb0(%in: i64, %out: i64):
      %i = arith.index_cast %in : i64 to index
      %v = tensor.extract %table[%i] : tensor<3xi64>
      linalg.yield %v : i64
  } -> tensor<1xi64>
  return %r : tensor<1xi64>
}

func.func @known(%table: tensor<3xi64>) -> tensor<1xi64> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<1xi64>
  %r = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e : tensor<1xi64>) {
    ^bb0(%out: i64):
      %v = tensor.extract %table[%c2] : tensor<3xi64>
      linalg.yield %v : i64
  } -> tensor<1xi64>
  return %r : tensor<1xi64>
}
