// RUN: tilewright-opt %s -tilewright-print-code=target=cpu:x86-64-v3 -o /dev/null | FileCheck %s

// A register tile of 4 x 16: two loads of B, four broadcasts of A, eight fused
// multiply-adds, and no branch, where the tile lies inside.

// CHECK-LABEL: mm.body:
// CHECK: vmovups {{.*}}, %ymm
// CHECK: vmovups {{.*}}, %ymm
// CHECK: vbroadcastss {{-?[0-9]*}}(%r{{.*}}, %ymm
// CHECK-NEXT: vfmadd
// CHECK-NEXT: vfmadd
// CHECK-NEXT: vbroadcastss {{-?[0-9]*}}(%r
// CHECK-NEXT: vfmadd
// CHECK-NEXT: vfmadd
// CHECK-NEXT: vbroadcastss {{-?[0-9]*}}(%r
// CHECK-NEXT: vfmadd
// CHECK-NEXT: vfmadd
// CHECK-NEXT: vbroadcastss {{-?[0-9]*}}(%r
// CHECK-NEXT: vfmadd
// CHECK-NEXT: vfmadd
// CHECK-NOT: {{^}}.LBB
// CHECK: j{{[a-z]+}} .LBB
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {}>} {
  func.func private @mm(%a: memref<?x512xf32>, %b: memref<512x256xf32>, %c: memref<?x256xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c512 = arith.constant 512 : index
    %nt = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %init = arith.constant dense<0.0> : vector<4x16xf32>
    %m = memref.dim %c, %c0 : memref<?x256xf32>
    %mt = affine.apply affine_map<()[s0] -> (s0 ceildiv 4)>()[%m]
    %ti, %tj = tilewright.tile_id(%mt, %nt) : index, index
    %i = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%ti]
    %j = affine.apply affine_map<()[s0] -> (s0 * 16)>()[%tj]
    %r = scf.for %p = %c0 to %c512 step %c1 iter_args(%acc = %init) -> vector<4x16xf32> {
      %va = vector.transfer_read %a[%i, %p], %zero {in_bounds = [false, true]} : memref<?x512xf32>, vector<4x1xf32>
      %vb = vector.transfer_read %b[%p, %j], %zero {in_bounds = [true, true]} : memref<512x256xf32>, vector<1x16xf32>
      %s = tilewright.mma %va, %vb, %acc {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
          : vector<4x1xf32>, vector<1x16xf32>, vector<4x16xf32>
      scf.yield %s : vector<4x16xf32>
    }
    vector.transfer_write %r, %c[%i, %j] {in_bounds = [false, true]} : vector<4x16xf32>, memref<?x256xf32>
    return
  }
}
