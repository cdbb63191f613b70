// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-assign-layouts))" | FileCheck %s

// A tile of A that goes to shared memory transposed: two rows of m a thread and two
// lanes along k write without bank conflicts; four lanes along k would not.
// CHECK-LABEL: func.func private @Transposed(
// CHECK: vector.transfer_read {{.*}}tilewright.layouts = [#tilewright.layout<"regs=[4:1@1, 2:1@0] lanes=[2:4@1, 16:2@0] warps=[2:8@1, 4:32@0]">]
func.func private @Transposed(%a: memref<128x16xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<16x128xf32, strided<[132, 1]>, #tilewright.shared>
  %v = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true]} : memref<128x16xf32>, vector<128x16xf32>
  vector.transfer_write %v, %s[%c0, %c0] {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<128x16xf32>, memref<16x128xf32, strided<[132, 1]>, #tilewright.shared>
  return
}

// One that goes as it lies stays as it is read best.
// CHECK-LABEL: func.func private @Straight(
// CHECK: vector.transfer_read {{.*}}tilewright.layouts = [#tilewright.layout<"regs=[4:1@1, 2:8@0] lanes=[32:4@1] warps=[8:1@0]">]
func.func private @Straight(%b: memref<16x128xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<16x128xf32, #tilewright.shared>
  %v = vector.transfer_read %b[%c0, %c0], %zero {in_bounds = [true, true]} : memref<16x128xf32>, vector<16x128xf32>
  vector.transfer_write %v, %s[%c0, %c0] {in_bounds = [true, true]} : vector<16x128xf32>, memref<16x128xf32, #tilewright.shared>
  return
}

// Columns of bytes transposed onto rows of 64: eight lanes of k beside four of n, so that
// stores of four bytes meet rows 16 apart, which the fold keeps in banks of their own.
// CHECK-LABEL: func.func private @TurnedBytes(
// CHECK: vector.transfer_read {{.*}}tilewright.layouts = [#tilewright.layout<"regs=[16:1@1, 4:1@0] lanes=[4:16@1, 8:4@0] warps=[4:64@1, 2:32@0]">]
func.func private @TurnedBytes(%b: memref<64x256xi8>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i8
  %s = memref.alloc() : memref<256x64xi8, #tilewright.shared<swizzle = [3, 4, 3, 5]>>
  %v = vector.transfer_read %b[%c0, %c0], %zero {in_bounds = [true, true]} : memref<64x256xi8>, vector<64x256xi8>
  vector.transfer_write %v, %s[%c0, %c0] {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<64x256xi8>, memref<256x64xi8, #tilewright.shared<swizzle = [3, 4, 3, 5]>>
  return
}
