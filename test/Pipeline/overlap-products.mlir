// RUN: tilewright-opt %s -tilewright-overlap-products | FileCheck %s

// The product with the values runs one step behind that of the scores; a loop that may have
// no step is chosen by a branch.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Of few sums a thread has registers for powers that the next step casts.
// CHECK-LABEL: func.func private @k(
// CHECK: %[[K:[a-z0-9_]+]] = tilewright.ring : <2,
// CHECK: %[[V:[a-z0-9_]+]] = tilewright.ring : <2,
// CHECK: %[[ANY:[a-z0-9_]+]] = arith.cmpi slt, %c0, %[[END:[a-z0-9_]+]] : index
// CHECK: scf.if %[[ANY]]
// CHECK: tilewright.wait %[[K]][%c0]
// CHECK: tilewright.mma
// CHECK: tilewright.mma_wait 0(
// CHECK: tilewright.release %[[K]]
// CHECK: %[[FIRST:[a-z0-9_]+]] = math.exp2
// CHECK-NOT: arith.truncf
// CHECK: scf.for %{{.*}} = %c32{{[a-z0-9_]*}} to %[[END]] step %c32 iter_args(%[[ACC:[a-z0-9_]+]] = %{{[a-z0-9_]+}}, %[[AT:[a-z0-9_]+]] = %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} = %c0, %[[POWERS:[a-z0-9_]+]] = %[[FIRST]])
// CHECK: %[[CAST:[a-z0-9_]+]] = arith.truncf %[[POWERS]]
// CHECK: tilewright.wait %[[K]][%[[AT]]]
// CHECK: %[[S:[a-z0-9_]+]] = tilewright.mma
// CHECK: %[[SHRUNK:[a-z0-9_]+]] = arith.mulf %[[ACC]]
// CHECK: tilewright.wait %[[V]][%[[BEFORE:[a-z0-9_]+]]]
// CHECK: %[[O:[a-z0-9_]+]] = tilewright.mma %[[CAST]], %{{.*}}, %[[SHRUNK]]
// CHECK: tilewright.mma_wait 1(%[[S]]
// CHECK: tilewright.release %[[K]][%[[AT]]]
// CHECK: %[[E:[a-z0-9_]+]] = math.exp2
// CHECK-NOT: arith.truncf
// CHECK: %[[BOTH:[a-z0-9_]+]]:2 = tilewright.mma_wait 0(%[[O]], %[[E]]
// CHECK: tilewright.release %[[V]][%[[BEFORE]]]
// CHECK: scf.yield %[[BOTH]]#0, {{.*}}, %[[BOTH]]#1
// CHECK: arith.truncf
// CHECK: tilewright.wait %[[V]]
// CHECK: tilewright.mma
// CHECK: tilewright.mma_wait 0(
// CHECK: tilewright.release %[[V]]
// CHECK: } else {
func.func private @k(%end: index, %out: memref<64x64xf32>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %keys = tilewright.ring : !tilewright.ring<2, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
  %values = tilewright.ring : !tilewright.ring<2, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
  tilewright.warps [0, 4] {
    %zs = arith.constant dense<0.0> : vector<64x32xf32>
    %zo = arith.constant dense<0.0> : vector<64x64xf32>
    %half = arith.constant dense<0.5> : vector<64x64xf32>
    %q = arith.constant dense<1.0> : vector<64x64xf16>
    %r:2 = scf.for %j = %c0 to %end step %c32 iter_args(%acc = %zo, %at = %c0) -> (vector<64x64xf32>, index) {
      %k = tilewright.wait %keys[%at] : !tilewright.ring<2, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
      %s = tilewright.mma %q, %k, %zs {instruction = "wgmma.m64n32k16.f16.f32", maps = [#mk, #nk, #mn]}
          : vector<64x64xf16>, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>, vector<64x32xf32>
      %sd = tilewright.mma_wait 0 (%s : vector<64x32xf32>)
      tilewright.release %keys[%at] : !tilewright.ring<2, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
      %e = math.exp2 %sd : vector<64x32xf32>
      %shrunk = arith.mulf %acc, %half : vector<64x64xf32>
      %p = arith.truncf %e : vector<64x32xf32> to vector<64x32xf16>
      %v = tilewright.wait %values[%at] : !tilewright.ring<2, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
      %o = tilewright.mma %p, %v, %shrunk {instruction = "wgmma.m64n64k16.f16.f32", maps = [#mk, #kn, #mn]}
          : vector<64x32xf16>, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>, vector<64x64xf32>
      %od = tilewright.mma_wait 0 (%o : vector<64x64xf32>)
      tilewright.release %values[%at] : !tilewright.ring<2, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
      %next = arith.addi %at, %c1 : index
      scf.yield %od, %next : vector<64x64xf32>, index
    }
    vector.transfer_write %r#0, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
  }
  return
}

// Beside more they are cast behind the wait for the product of those before.
// CHECK-LABEL: func.func private @wide(
// CHECK: %[[K:[a-z0-9_]+]] = tilewright.ring : <2,
// CHECK: %[[V:[a-z0-9_]+]] = tilewright.ring : <2,
// CHECK: %[[ANY:[a-z0-9_]+]] = arith.cmpi slt, %c0, %[[END:[a-z0-9_]+]] : index
// CHECK: scf.if %[[ANY]]
// CHECK: tilewright.wait %[[K]][%c0]
// CHECK: tilewright.mma
// CHECK: tilewright.mma_wait 0(
// CHECK: tilewright.release %[[K]]
// CHECK: arith.truncf
// CHECK: scf.for %{{.*}} = %c32{{[a-z0-9_]*}} to %[[END]] step %c32 iter_args(%[[ACC:[a-z0-9_]+]] = %{{[a-z0-9_]+}}, %[[AT:[a-z0-9_]+]] = %{{[a-z0-9_]+}},
// CHECK: tilewright.wait %[[K]][%[[AT]]]
// CHECK: %[[S:[a-z0-9_]+]] = tilewright.mma
// CHECK: %[[SHRUNK:[a-z0-9_]+]] = arith.mulf %[[ACC]]
// CHECK: tilewright.wait %[[V]][%[[BEFORE:[a-z0-9_]+]]]
// CHECK: %[[O:[a-z0-9_]+]] = tilewright.mma {{.*}}, %[[SHRUNK]]
// CHECK: tilewright.mma_wait 1(%[[S]]
// CHECK: tilewright.release %[[K]][%[[AT]]]
// CHECK: %[[E:[a-z0-9_]+]] = math.exp2
// CHECK-NOT: arith.truncf
// CHECK: %[[BOTH:[a-z0-9_]+]]:2 = tilewright.mma_wait 0(%[[O]], %[[E]]
// CHECK: tilewright.release %[[V]][%[[BEFORE]]]
// CHECK: arith.truncf %[[BOTH]]#1
// CHECK: scf.yield %[[BOTH]]#0,
// CHECK: tilewright.wait %[[V]]
// CHECK: tilewright.mma
// CHECK: tilewright.mma_wait 0(
// CHECK: tilewright.release %[[V]]
// CHECK: } else {
func.func private @wide(%end: index, %out: memref<64x192xf32>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %keys = tilewright.ring : !tilewright.ring<2, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
  %values = tilewright.ring : !tilewright.ring<2, memref<32x192xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
  tilewright.warps [0, 4] {
    %zs = arith.constant dense<0.0> : vector<64x32xf32>
    %zo = arith.constant dense<0.0> : vector<64x192xf32>
    %half = arith.constant dense<0.5> : vector<64x192xf32>
    %q = arith.constant dense<1.0> : vector<64x64xf16>
    %r:2 = scf.for %j = %c0 to %end step %c32 iter_args(%acc = %zo, %at = %c0) -> (vector<64x192xf32>, index) {
      %k = tilewright.wait %keys[%at] : !tilewright.ring<2, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
      %s = tilewright.mma %q, %k, %zs {instruction = "wgmma.m64n32k16.f16.f32", maps = [#mk, #nk, #mn]}
          : vector<64x64xf16>, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>, vector<64x32xf32>
      %sd = tilewright.mma_wait 0 (%s : vector<64x32xf32>)
      tilewright.release %keys[%at] : !tilewright.ring<2, memref<32x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
      %e = math.exp2 %sd : vector<64x32xf32>
      %shrunk = arith.mulf %acc, %half : vector<64x192xf32>
      %p = arith.truncf %e : vector<64x32xf32> to vector<64x32xf16>
      %v = tilewright.wait %values[%at] : !tilewright.ring<2, memref<32x192xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
      %o = tilewright.mma %p, %v, %shrunk {instruction = "wgmma.m64n192k16.f16.f32", maps = [#mk, #kn, #mn]}
          : vector<64x32xf16>, memref<32x192xf16, #tilewright.shared<swizzle = [3, 3, 3]>>, vector<64x192xf32>
      %od = tilewright.mma_wait 0 (%o : vector<64x192xf32>)
      tilewright.release %values[%at] : !tilewright.ring<2, memref<32x192xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
      %next = arith.addi %at, %c1 : index
      scf.yield %od, %next : vector<64x192xf32>, index
    }
    vector.transfer_write %r#0, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x192xf32>, memref<64x192xf32>
  }
  return
}
