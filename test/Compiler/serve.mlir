// Many compilations in one process: a line in, a line out, whatever the line.
// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t
// RUN: echo '{"id": 1, "input": "%s", "list": true}' > %t/requests
// RUN: echo '{"id": 2, "input": "%s", "output": "%t/a.tw", "configs": {"f_matmul_0": {"cuda": "#tilewright.lowering_config<strategy = simt_contraction, block = [16, 16, 8], warps = [1, 2, 1], promote = [0, 1]>"}}}' >> %t/requests
// RUN: echo '{"id": 3, "input": "%s", "output": "%t/b.tw", "configs": {"g": {"cuda": "#tilewright.lowering_config<strategy = streaming>"}}}' >> %t/requests
// RUN: echo 'no request' >> %t/requests
// RUN: echo '{"id": 4, "input": "%s", "output": "%t/c.tw"}' >> %t/requests
// RUN: tilewright-compile --serve --target=cuda:sm_80 < %t/requests | FileCheck %s
// The same bytes as by a process of its own.
// RUN: tilewright-compile %s --target=cuda:sm_80 -o %t/d.tw && cmp %t/c.tw %t/d.tw

// CHECK:      "configs":["#tilewright.lowering_config<strategy = simt_contraction
// CHECK-SAME: "explain":["strategy simt_contraction
// CHECK-SAME: "kernel":"f_matmul_0","problem":{"layout":"ac,cb->ab","op":"mulf,addf","types":"f32,f32,f32->f32"},"program":"cuda_sm_80","refused":{"registers":[[#]]},"shape":[64,-1,96]
// CHECK-NEXT: {"diagnostics":"","id":2,"ok":true,"seconds":
// CHECK-NEXT: {"diagnostics":"{{.*}}error: a lowering config is given for kernel 'g'{{.*}}","id":3,"ok":false
// CHECK-NEXT: {"diagnostics":"error: {{.*}}Invalid JSON{{.*}}","ok":false
// CHECK-NEXT: {"diagnostics":"","id":4,"ok":true
func.func @f(%a: tensor<64x96xf32>, %b: tensor<96x?xf32>, %o: tensor<64x?xf32>) -> tensor<64x?xf32> {
  %m = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x?xf32>) outs(%o : tensor<64x?xf32>) -> tensor<64x?xf32>
  return %m : tensor<64x?xf32>
}
