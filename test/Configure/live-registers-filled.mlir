// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// Registers that no further block would need are filled: 32 of a thread, in blocks of several warps.

#target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16}>
#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>
module attributes {tilewright.target = #target} {
  // In a loop that ends where only the launch knows.
  // CHECK-LABEL: @SumOfOpenRows
  // CHECK-SAME: registers = 32
  func.func private @SumOfOpenRows(%x: tensor<?x?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [2, 512], warps = [2, 4]>}
        ins(%x : tensor<?x?xf32>) outs(%o : tensor<?xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %1, %0 : f32
      linalg.yield %2 : f32
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  }

  // By elements that are made of bits side by side.
  // CHECK-LABEL: @ToFloat8
  // CHECK-SAME: registers = 32
  func.func private @ToFloat8(%x: tensor<4096x4096xi8>, %o: tensor<4096x4096xf8E5M2>) -> tensor<4096x4096xf8E5M2> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [64, 32], warps = [4, 1]>}
        ins(%x : tensor<4096x4096xi8>) outs(%o : tensor<4096x4096xf8E5M2>) {
    ^bb0(%0: i8, %1: f8E5M2):
      %2 = arith.sitofp %0 : i8 to f8E5M2
      linalg.yield %2 : f8E5M2
    } -> tensor<4096x4096xf8E5M2>
    return %r : tensor<4096x4096xf8E5M2>
  }

  // Threads lie over what is written: of a row that is repeated, each has four neighbours.
  // CHECK-LABEL: @RepeatRow
  // CHECK-SAME: registers = 16
  func.func private @RepeatRow(%x: tensor<4096xf32>, %o: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [#column, #all], iterator_types = ["parallel", "parallel"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [64, 32], warps = [4, 1]>}
        ins(%x : tensor<4096xf32>) outs(%o : tensor<4096x4096xf32>) {
    ^bb0(%0: f32, %1: f32):
      linalg.yield %0 : f32
    } -> tensor<4096x4096xf32>
    return %r : tensor<4096x4096xf32>
  }

  // What is written at edges has an address for each access, a number of elements, and the constant once.
  // CHECK-LABEL: @FillOpen
  // CHECK-SAME: registers = 22
  func.func private @FillOpen(%o: tensor<?x?xf64>) -> tensor<?x?xf64> attributes {tilewright.kernel} {
    %one = arith.constant 1.0 : f64
    %r = linalg.fill {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [16, 32], warps = [2, 1]>}
        ins(%one : f64) outs(%o : tensor<?x?xf64>) -> tensor<?x?xf64>
    return %r : tensor<?x?xf64>
  }
}
