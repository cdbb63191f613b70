// RUN: tilewright-opt %s -split-input-file -tilewright-configure | FileCheck %s

// Registers of a thread are the values that it holds at once, and addresses: 16 elements of each of two operands are 32
// words beside three addresses; ptxas loads them one after the other, as far as registers go that 64 blocks of 32 have.

#target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16}>
#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
module attributes {tilewright.target = #target} {
  // CHECK-LABEL: @Add
  // CHECK-SAME: registers = 32
  func.func private @Add(%x: tensor<8192x8192xf32>, %y: tensor<8192x8192xf32>, %o: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [32, 32], warps = [2, 1]>}
        ins(%x, %y : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%o : tensor<8192x8192xf32>) {
    ^bb0(%0: f32, %1: f32, %2: f32):
      %3 = arith.addf %0, %1 : f32
      linalg.yield %3 : f32
    } -> tensor<8192x8192xf32>
    return %r : tensor<8192x8192xf32>
  }

  // 8 of each.
  // CHECK-LABEL: @AddFew
  // CHECK-SAME: registers = 26
  func.func private @AddFew(%x: tensor<8192x8192xf32>, %y: tensor<8192x8192xf32>, %o: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [16, 32], warps = [2, 1]>}
        ins(%x, %y : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%o : tensor<8192x8192xf32>) {
    ^bb0(%0: f32, %1: f32, %2: f32):
      %3 = arith.addf %0, %1 : f32
      linalg.yield %3 : f32
    } -> tensor<8192x8192xf32>
    return %r : tensor<8192x8192xf32>
  }

  // Rows in steps of a loop: a sum for each of 32 elements of a step, and the loads of the next one.
  // CHECK-LABEL: @Walked
  // CHECK-SAME: registers = 72
  func.func private @Walked(%x: tensor<8192x32768xf32>, %o: tensor<8192xf32>) -> tensor<8192xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [16, 512], warps = [2, 4]>}
        ins(%x : tensor<8192x32768xf32>) outs(%o : tensor<8192xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %1, %0 : f32
      linalg.yield %2 : f32
    } -> tensor<8192xf32>
    return %r : tensor<8192xf32>
  }

  // A row that is needed again: 32 elements, the sums of 8 warps, two addresses.
  // CHECK-LABEL: @Held
  // CHECK-SAME: registers = 48
  func.func private @Held(%x: tensor<8192x8192xf32>, %o: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8192xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
    %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 8192], warps = [1, 8]>}
        ins(%x : tensor<8192x8192xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %1, %0 : f32
      linalg.yield %2 : f32
    } -> tensor<8192xf32>
    %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<8192x8192xf32>, tensor<8192xf32>) outs(%o : tensor<8192x8192xf32>) {
    ^bb0(%0: f32, %1: f32, %2: f32):
      %3 = arith.subf %0, %1 : f32
      linalg.yield %3 : f32
    } -> tensor<8192x8192xf32>
    return %r : tensor<8192x8192xf32>
  }

  // Exact quotients: code that is called for what is not ordinary has registers of its own, half of the quotients, too.
  // CHECK-LABEL: @Divided
  // CHECK-SAME: registers = 63
  func.func private @Divided(%x: tensor<8192x8192xf32>, %o: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8192xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
    %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 8192], warps = [1, 8]>}
        ins(%x : tensor<8192x8192xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %1, %0 : f32
      linalg.yield %2 : f32
    } -> tensor<8192xf32>
    %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<8192x8192xf32>, tensor<8192xf32>) outs(%o : tensor<8192x8192xf32>) {
    ^bb0(%0: f32, %1: f32, %2: f32):
      %3 = arith.divf %0, %1 : f32
      linalg.yield %3 : f32
    } -> tensor<8192x8192xf32>
    return %r : tensor<8192x8192xf32>
  }
}
