// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && tilewright-compile %s --target=cpu:x86-64-v4 --emit=llvm -o %t
// RUN: FileCheck %s --input-file=%t/cpu_x86_64_v4/main_elementwise_0.ll
// RUN: tilewright-compile %s --target=cpu,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=25x35xi64=int:-1000000000:1000000000 | FileCheck %s --check-prefix=RIGHT

// The last column of 25 is stored alone. As a masked store of what is narrowed, LLVM 22 stores 8 bytes, seven of them over
// the next row.
// CHECK-NOT: <i1 true, i1 false, i1 false
// CHECK: extractelement <8 x i8> %{{.*}}, i64 0
// CHECK-NOT: <i1 true, i1 false, i1 false
// RIGHT: ok: 35x25xi8, all elements equal
func.func @main(%a: tensor<25x35xi64>) -> tensor<35x25xi8> {
  %e = tensor.empty() : tensor<35x25xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<25x35xi64>) outs(%e : tensor<35x25xi8>) {
  ^bb0(%x: i64, %o: i8):
    %t = arith.trunci %x : i64 to i8
    linalg.yield %t : i8
  } -> tensor<35x25xi8>
  return %r : tensor<35x25xi8>
}
