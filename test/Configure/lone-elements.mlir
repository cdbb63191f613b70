// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

// Bytes in rows of unknown length are read one by one, and each waits in a register of its own: 384 rows and columns of
// 64 by 256 threads are 96 beside 128 sums. In rows of 64 they come as words.

#target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k32.s8.s32"]}>
module attributes {tilewright.target = #target} {
  func.func private @Lone(%x: tensor<512x?xi8>, %y: tensor<512x?xi8>, %o: tensor<512x512xi32>) -> tensor<512x512xi32> attributes {tilewright.kernel} {
    // expected-error @below {{the pinned lowering config does not fit: needs 280 registers per thread but cuda:sm_80 has 255}}
    %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [256, 128, 64], warps = [4, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k32.s8.s32">}
        ins(%x, %y : tensor<512x?xi8>, tensor<512x?xi8>) outs(%o : tensor<512x512xi32>) {
    ^bb0(%0: i8, %1: i8, %2: i32):
      %3 = arith.extsi %0 : i8 to i32
      %4 = arith.extsi %1 : i8 to i32
      %5 = arith.muli %3, %4 : i32
      %6 = arith.addi %2, %5 : i32
      linalg.yield %6 : i32
    } -> tensor<512x512xi32>
    return %m : tensor<512x512xi32>
  }
}

// -----

#target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k32.s8.s32"]}>
module attributes {tilewright.target = #target} {
  func.func private @Words(%x: tensor<512x64xi8>, %y: tensor<512x64xi8>, %o: tensor<512x512xi32>) -> tensor<512x512xi32> attributes {tilewright.kernel} {
    %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [256, 128, 64], warps = [4, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k32.s8.s32">}
        ins(%x, %y : tensor<512x64xi8>, tensor<512x64xi8>) outs(%o : tensor<512x512xi32>) {
    ^bb0(%0: i8, %1: i8, %2: i32):
      %3 = arith.extsi %0 : i8 to i32
      %4 = arith.extsi %1 : i8 to i32
      %5 = arith.muli %3, %4 : i32
      %6 = arith.addi %2, %5 : i32
      linalg.yield %6 : i32
    } -> tensor<512x512xi32>
    return %m : tensor<512x512xi32>
  }
}

// -----

// A reduction of bytes holds them widened.
#target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, async_copy}>
module attributes {tilewright.target = #target} {
  func.func private @Bytes(%x: tensor<512x4096xi8>, %o: tensor<512xi32>) -> tensor<512xi32> attributes {tilewright.kernel} {
    // expected-error @below {{the pinned lowering config does not fit: needs 268 registers per thread but cuda:sm_80 has 255}}
    %m = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [16, 512], warps = [1, 1]>}
        ins(%x : tensor<512x4096xi8>) outs(%o : tensor<512xi32>) {
    ^bb0(%0: i8, %1: i32):
      %2 = arith.extsi %0 : i8 to i32
      %3 = arith.addi %1, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<512xi32>
    return %m : tensor<512xi32>
  }
}
