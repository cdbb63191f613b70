// RUN: tilewright-opt %s -tilewright-tile -tilewright-vectorize | FileCheck %s

// Whether a row depends on the column is asked of each op once, however often others use it: of a chain of 40 whose links use
// the one before them twice there are 2^40 paths.
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
  // CHECK-LABEL: func.func private @SharedOps(
  // CHECK: vector.gather {{.*}}tilewright.gather_runs = array<i64: 1, 16>
  func.func private @SharedOps(%t: tensor<50x64xf32>, %i: tensor<40xi32>, %o: tensor<40x64xf32>) -> tensor<40x64xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<40xi32>) outs(%o : tensor<40x64xf32>)
        attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [4, 64], warps = [4, 1]>} {
    ^bb0(%a: i32, %out: f32):
      %r0 = arith.index_cast %a : i32 to index
      %r1 = arith.xori %r0, %r0 : index  %r2 = arith.xori %r1, %r1 : index  %r3 = arith.xori %r2, %r2 : index  %r4 = arith.xori %r3, %r3 : index
      %r5 = arith.xori %r4, %r4 : index  %r6 = arith.xori %r5, %r5 : index  %r7 = arith.xori %r6, %r6 : index  %r8 = arith.xori %r7, %r7 : index
      %r9 = arith.xori %r8, %r8 : index  %r10 = arith.xori %r9, %r9 : index  %r11 = arith.xori %r10, %r10 : index  %r12 = arith.xori %r11, %r11 : index
      %r13 = arith.xori %r12, %r12 : index  %r14 = arith.xori %r13, %r13 : index  %r15 = arith.xori %r14, %r14 : index  %r16 = arith.xori %r15, %r15 : index
      %r17 = arith.xori %r16, %r16 : index  %r18 = arith.xori %r17, %r17 : index  %r19 = arith.xori %r18, %r18 : index  %r20 = arith.xori %r19, %r19 : index
      %r21 = arith.xori %r20, %r20 : index  %r22 = arith.xori %r21, %r21 : index  %r23 = arith.xori %r22, %r22 : index  %r24 = arith.xori %r23, %r23 : index
      %r25 = arith.xori %r24, %r24 : index  %r26 = arith.xori %r25, %r25 : index  %r27 = arith.xori %r26, %r26 : index  %r28 = arith.xori %r27, %r27 : index
      %r29 = arith.xori %r28, %r28 : index  %r30 = arith.xori %r29, %r29 : index  %r31 = arith.xori %r30, %r30 : index  %r32 = arith.xori %r31, %r31 : index
      %r33 = arith.xori %r32, %r32 : index  %r34 = arith.xori %r33, %r33 : index  %r35 = arith.xori %r34, %r34 : index  %r36 = arith.xori %r35, %r35 : index
      %r37 = arith.xori %r36, %r36 : index  %r38 = arith.xori %r37, %r37 : index  %r39 = arith.xori %r38, %r38 : index  %r40 = arith.xori %r39, %r39 : index
      %column = linalg.index 1 : index
      %v = tensor.extract %t[%r40, %column] : tensor<50x64xf32>
      linalg.yield %v : f32
    } -> tensor<40x64xf32>
    return %r : tensor<40x64xf32>
  }

  // One of its ops depends on the column.
  // CHECK-LABEL: func.func private @SharedColumn(
  // CHECK-NOT: tilewright.gather_runs
  func.func private @SharedColumn(%t: tensor<50x64xf32>, %i: tensor<40xi32>, %o: tensor<40x64xf32>) -> tensor<40x64xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<40xi32>) outs(%o : tensor<40x64xf32>)
        attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [4, 64], warps = [4, 1]>} {
    ^bb0(%a: i32, %out: f32):
      %row = arith.index_cast %a : i32 to index
      %twice = arith.addi %row, %row : index
      %column = linalg.index 1 : index
      %moved = arith.addi %twice, %column : index
      %again = arith.xori %twice, %moved : index
      %v = tensor.extract %t[%again, %column] : tensor<50x64xf32>
      linalg.yield %v : f32
    } -> tensor<40x64xf32>
    return %r : tensor<40x64xf32>
  }
}
