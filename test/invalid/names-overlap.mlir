// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: error: 'linalg.add' op %front and %back are overlapping parts of one memref, read and written
func.func @f(%m: memref<10xf32>, %x: memref<8xf32>) {
  %front = memref.subview %m[0] [8] [1] : memref<10xf32> to memref<8xf32, strided<[1]>>
  %back = memref.subview %m[2] [8] [1] : memref<10xf32> to memref<8xf32, strided<[1], offset: 2>>
  linalg.add ins(%front, %x : memref<8xf32, strided<[1]>>, memref<8xf32>) outs(%back : memref<8xf32, strided<[1], offset: 2>>)
  return
}
