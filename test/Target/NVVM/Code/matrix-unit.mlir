// RUN: rm -rf %t && tilewright-compile %s -o %t --target=cuda:sm_80 --emit=ptx
// RUN: FileCheck %s < %t/cuda_sm_80/halves_matmul_0.ptx
// RUN: FileCheck %s < %t/cuda_sm_80/turned_matmul_0.ptx --check-prefix=TURNED

// Stages are filled ahead, 16 bytes at a time and without registers. In the loop one
// wait and one barrier; fragments by ldmatrix, four 8x8 matrices each, B's columns
// transposed, those of the next stage in front of the last products of this one.
// CHECK-LABEL: .entry halves_matmul_0(
// CHECK: .minnctapersm 1
// CHECK-NOT: {{ld.local|ld.shared|ld.global.nc|st.shared}}
// CHECK: cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16, 16;
// CHECK: cp.async.wait_group
// CHECK-NEXT: {{bar.sync|barrier.sync}}
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: $L__BB0_{{.*}}:
// CHECK: cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16, %{{.*}};
// CHECK: cp.async.commit_group
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: cp.async.wait_group
// CHECK-NEXT: {{bar.sync|barrier.sync}}
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT: {{ld.local|ld.shared|st.shared|bar.sync|barrier.sync}}
// CHECK: st.global
// CHECK-NOT: {{bar.sync|barrier.sync}}
// CHECK: ret;
func.func @halves(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %o: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%o : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// B's rows along k: nothing to transpose.
// TURNED-LABEL: .entry turned_
// TURNED-NOT: ldmatrix{{.*}}trans
// TURNED: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// TURNED-NOT: ldmatrix{{.*}}trans
func.func @turned(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
