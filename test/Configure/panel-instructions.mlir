// RUN: tilewright-opt %s -split-input-file -tilewright-configure | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cpu:x86-64-v4", "cpu", {access_bytes = 64 : i64, chip = "x86-64-v4", l1_bytes = 49152 : i64,
    l2_bytes = 2097152 : i64, max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64,
    vector_bytes = 64 : i64, panel_mma = ["amx.m16n16k64.s8.s32", "dot.m1n16k4.s8.s32", "dot.m1n16k4.u8.s32"]}>} {
  // CHECK-LABEL: @Tiles
  // CHECK: thread = [32, 32, 64], {{.*}}mma = "amx.m16n16k64.s8.s32"
  func.func private @Tiles(%a: tensor<256x256xi8>, %b: tensor<256x256xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32>
      attributes {tilewright.kernel} {
    %r = linalg.matmul ins(%a, %b : tensor<256x256xi8>, tensor<256x256xi8>) outs(%c : tensor<256x256xi32>) -> tensor<256x256xi32>
    return %r : tensor<256x256xi32>
  }

  // A sum that has no two steps of tiles has several of words.
  // CHECK-LABEL: @Words
  // CHECK: thread = [8, 32, 32], {{.*}}mma = "dot.m1n16k4.s8.s32"
  func.func private @Words(%a: tensor<256x64xi8>, %b: tensor<64x256xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32>
      attributes {tilewright.kernel} {
    %r = linalg.matmul ins(%a, %b : tensor<256x64xi8>, tensor<64x256xi8>) outs(%c : tensor<256x256xi32>) -> tensor<256x256xi32>
    return %r : tensor<256x256xi32>
  }

  // Tiles of enough dot products under way, though narrower ones would leave fewer columns empty; steps of four words where eight
  // would leave half of the last one empty.
  // CHECK-LABEL: @Ragged
  // CHECK: thread = [8, 32, 16], {{.*}}mma = "dot.m1n16k4.u8.s32"
  func.func private @Ragged(%a: tensor<457x100xi8>, %b: tensor<100x330xi8>, %c: tensor<457x330xi32>) -> tensor<457x330xi32>
      attributes {tilewright.kernel} {
    %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<457x100xi8>, tensor<100x330xi8>)
        outs(%c : tensor<457x330xi32>) -> tensor<457x330xi32>
    return %r : tensor<457x330xi32>
  }

  // CHECK-LABEL: @OtherTypes
  // CHECK-NOT: mma =
  func.func private @OtherTypes(%a: tensor<256x256xi16>, %b: tensor<256x256xi16>, %c: tensor<256x256xi32>) -> tensor<256x256xi32>
      attributes {tilewright.kernel} {
    %r = linalg.matmul ins(%a, %b : tensor<256x256xi16>, tensor<256x256xi16>) outs(%c : tensor<256x256xi32>) -> tensor<256x256xi32>
    return %r : tensor<256x256xi32>
  }
}
