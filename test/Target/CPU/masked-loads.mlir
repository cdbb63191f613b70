// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && tilewright-compile %s --target=cpu:x86-64-v3 --emit=llvm -o %t
// RUN: FileCheck %s --input-file=%t/cpu_x86_64_v3/main_reduce_0.ll
// RUN: tilewright-compile %s --target=cpu:x86-64-v3,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=6x24xf32=1 --input=6xf32=0 | FileCheck %s --check-prefix=RIGHT

// Of the last tile's rows of 16 elements, 8 are there, and of its four rows two. Of a load of two registers under such a mask LLVM 22
// reads the half that is never there as if all of it were: each register has a load of its own, the other half none.
// CHECK-LABEL: define {{.*}} @main_reduce_0
// CHECK-NOT: call {{.*}}@llvm.masked.load.v16f32
// CHECK: call {{.*}}@llvm.masked.load.v8f32
// CHECK-NOT: call {{.*}}@llvm.masked.load.v16f32
// RIGHT: ok: 6xf32, all elements equal
func.func @main(%a: tensor<6x24xf32>, %c: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.reduce ins(%a : tensor<6x24xf32>) outs(%c : tensor<6xf32>) dimensions = [1]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [4, 16], thread = [4, 16]>}
    (%x: f32, %s: f32) {
      %t = arith.addf %x, %s : f32
      linalg.yield %t : f32
    }
  return %r : tensor<6xf32>
}
