// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-print-layouts="rows=4 columns=8" -o /dev/null | FileCheck %s --strict-whitespace
// RUN: tilewright-opt %s -tilewright-print-layouts='layout="regs=[2:1@1] lanes=[4:2@1, 8:1@0]" rows=2' -o /dev/null | FileCheck %s --check-prefix=ONE
// RUN: tilewright-opt %s -tilewright-print-layouts='layout="shape=[2, 8] strides=[8, 1] bits=32 swizzle=1:4:1"' -o /dev/null | FileCheck %s --check-prefix=SHARED
// RUN: not tilewright-opt %s -tilewright-print-layouts='layout="regs=[2"' -o /dev/null 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not tilewright-opt %s -tilewright-print-layouts -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK:      kernel transpose
// CHECK:      %0 = vector.transfer_read : vector<64x64xf32>
// CHECK-NEXT: shape=[64, 64] regs=[4:1@1, 8:8@0] lanes=[16:4@1, 2:1@0] warps=[4:2@0]
// CHECK-NEXT: warp:lane/register
// CHECK-NEXT:    |      0      1      2      3      4      5      6      7 ...
// CHECK-NEXT:  0 |  0:0/0  0:0/1  0:0/2  0:0/3  0:1/0  0:1/1  0:1/2  0:1/3 ...
// CHECK-NEXT:  1 | 0:16/0 0:16/1 0:16/2 0:16/3 0:17/0 0:17/1 0:17/2 0:17/3 ...
// CHECK-NEXT:  2 |  1:0/0  1:0/1  1:0/2  1:0/3  1:1/0  1:1/1  1:1/2  1:1/3 ...
// CHECK:      %1 = vector.transpose
// CHECK:       0 |  0:0/0 0:16/0  1:0/0 1:16/0  2:0/0
// CHECK:      = tilewright.convert_layout

// CHECK:      kernel swizzled
// CHECK:      shared memory memref<8x32xf16, #tilewright.shared<swizzle = [2, 3, 3]>>, banks
// CHECK-NEXT:    0 |  0  0  1  1  2  2  3  3 ...
// CHECK-NEXT:    1 | 16 16 17 17 18 18 19 19 ...
// CHECK-NEXT:    2 |  4  4  5  5  6  6  7  7 ...
// CHECK-NEXT:    3 | 20 20 21 21 22 22 23 23 ...
// CHECK-NEXT:  ...

// Row 2 is moved by bit 7 of the offset, too.
// CHECK:      kernel folded
// CHECK:      shared memory memref<8x64xf16, #tilewright.shared<swizzle = [1, 3, 3, 4]>>, banks
// CHECK-NEXT:    0 |  0  0  1  1  2  2  3  3 ...
// CHECK-NEXT:    1 |  4  4  5  5  6  6  7  7 ...
// CHECK-NEXT:    2 |  4  4  5  5  6  6  7  7 ...
// CHECK-NEXT:    3 |  0  0  1  1  2  2  3  3 ...

// ONE:      0 | 0:0/0 0:0/1 0:1/0 0:1/1 0:2/0
// ONE-NEXT: 1 | 0:4/0 0:4/1 0:5/0
// SHARED: 0 1 2 3 4 5 6 7
// BAD: error: layout "regs=[2":
// NONE: error: {{.*}}has a vector without a layout; -tilewright-assign-layouts gives it one

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16}>} {
  func.func private @transpose(%a: memref<64x64xf32>, %out: memref<64x64xf32>)
      attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xf32>, vector<64x64xf32>
    %t = vector.transpose %v, [1, 0] : vector<64x64xf32> to vector<64x64xf32>
    vector.transfer_write %t, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
    return
  }

  func.func private @swizzled(%a: memref<8x32xf16>)
      attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f16
    %s = memref.alloc() : memref<8x32xf16, #tilewright.shared<swizzle = [2, 3, 3]>>
    %v = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<8x32xf16>, vector<8x32xf16>
    vector.transfer_write %v, %s[%c0, %c0] {in_bounds = [true, true]} : vector<8x32xf16>, memref<8x32xf16, #tilewright.shared<swizzle = [2, 3, 3]>>
    return
  }

  func.func private @folded(%a: memref<8x64xf16>)
      attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f16
    %s = memref.alloc() : memref<8x64xf16, #tilewright.shared<swizzle = [1, 3, 3, 4]>>
    %v = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<8x64xf16>, vector<8x64xf16>
    vector.transfer_write %v, %s[%c0, %c0] {in_bounds = [true, true]} : vector<8x64xf16>, memref<8x64xf16, #tilewright.shared<swizzle = [1, 3, 3, 4]>>
    return
  }
}
