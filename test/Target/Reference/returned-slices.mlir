// RUN: tilewright-compile %s --target=cpu,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=6x2xi32=1,2,3,4,5,6,7,8,9,10,11,12 --input=i64=3 --print | FileCheck %s
// RUN: tilewright-compile %s --emit=loops -o - | FileCheck %s --check-prefix=LOOPS

// Every second row, by the oracle, too, which hands out dense buffers.
// CHECK: 3x2xi32=[1 2][5 6][9 10]
// CHECK: ok
// LOOPS-LABEL: func.func @slice
// LOOPS: %[[DENSE:.*]] = memref.alloc
// LOOPS: affine.store {{.*}}, %[[DENSE]][
// LOOPS: return %[[DENSE]]
func.func @slice(%arg0: tensor<?x?xi32>, %rows: index) -> tensor<?x?xi32> {
  %one = arith.constant 1 : index
  %columns = tensor.dim %arg0, %one : tensor<?x?xi32>
  %slice = tensor.extract_slice %arg0[0, 0] [%rows, %columns] [2, 1] : tensor<?x?xi32> to tensor<?x?xi32>
  return %slice : tensor<?x?xi32>
}
