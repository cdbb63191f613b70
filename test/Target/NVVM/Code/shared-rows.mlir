// A softmax of rows that four blocks share, of the length that the default shares: each element is loaded and stored once,
// blocks store what they have reduced in each other's memory, and no register is spilled.
//
// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90 --emit=ptx -o %t/softmax.ptx
// RUN: FileCheck %s --input-file %t/softmax.ptx
// RUN: %ptxas -arch=sm_90 -v %t/softmax.ptx -o %t/softmax.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK: .entry
// CHECK: barrier.cluster.arrive.aligned
// CHECK-COUNT-8: ld.global{{.*}}.v4
// CHECK-NOT: ld.global
// CHECK: barrier.cluster.wait.aligned
// CHECK: mapa.shared::cluster.u64
// CHECK-COUNT-4: st.shared::cluster.b32
// CHECK: barrier.cluster.arrive.aligned
// CHECK-NEXT: barrier.cluster.wait.aligned
// CHECK-COUNT-4: st.shared::cluster.b32
// CHECK: barrier.cluster.arrive.aligned
// CHECK-NEXT: barrier.cluster.wait.aligned
// CHECK-COUNT-8: st.global{{.*}}.v4
// CHECK-NOT: st.global
// CHECK-NOT: barrier.cluster
// CHECK: ret

// PTXAS-NOT: warning
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

func.func @softmax(%x: tensor<512x65536xf32>) -> tensor<512x65536xf32> {
  %e = tensor.empty() : tensor<512x65536xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<512x65536xf32>) outs(%e : tensor<512x65536xf32>) -> tensor<512x65536xf32>
  return %r : tensor<512x65536xf32>
}
