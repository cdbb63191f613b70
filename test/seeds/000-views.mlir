// Strided views of memrefs, in and out of kernels without a copy: a window of an argument by a transposed window of another one,
// added onto every second row of a third.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80,vulkan,cpu,cpu-reference -o %t.tw --explain 2>&1 | FileCheck %s
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=40x64xf32=int:-3:3 --input=64x40xf32=int:-3:3 --input=48x32xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=ptxsim --check=oracle --input=40x64xf32=int:-3:3 --input=64x40xf32=int:-3:3 --input=48x32xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t.tw --device=vulkan --check=oracle --input=40x64xf32=int:-3:3 --input=64x40xf32=int:-3:3 --input=48x32xf32=int:-3:3 | FileCheck %s --check-prefix=RIGHT

// CHECK: @windows({{.*}}): 1 kernel
// RIGHT: ok
func.func @windows(%a: memref<40x64xf32>, %b: memref<64x40xf32>, %c: memref<48x32xf32>) {
  %rows = memref.subview %a[3, 8] [24, 32] [1, 1] : memref<40x64xf32> to memref<24x32xf32, strided<[64, 1], offset: 200>>
  %part = memref.subview %b[5, 4] [32, 32] [1, 1] : memref<64x40xf32> to memref<32x32xf32, strided<[40, 1], offset: 204>>
  %turned = memref.transpose %part (i, j) -> (j, i) : memref<32x32xf32, strided<[40, 1], offset: 204>> to memref<32x32xf32, strided<[1, 40], offset: 204>>
  %every = memref.subview %c[0, 0] [24, 32] [2, 1] : memref<48x32xf32> to memref<24x32xf32, strided<[64, 1]>>
  linalg.matmul ins(%rows, %turned : memref<24x32xf32, strided<[64, 1], offset: 200>>, memref<32x32xf32, strided<[1, 40], offset: 204>>)
      outs(%every : memref<24x32xf32, strided<[64, 1]>>)
  return
}
