// RUN: tilewright-opt %s -tilewright-assign-layouts | FileCheck %s

#acc = #tilewright.layout<"regs=[2:1@1, 2:8@0, 2:8@1] lanes=[4:2@1, 8:1@0] warps=[4:16@0]">
#target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, access_bytes = 16}>
module attributes {tilewright.target = #target} {
  // A slice lies as it is loaded, four f32 a thread; a residual of halves is read so, too, and narrower results are stored so: what
  // is combined with sums passes through no memory.
  // CHECK-LABEL: func.func private @Residual(
  // CHECK: tilewright.cluster_scatter {{.*}}tilewright.layouts = [#{{.*}}regs=[4:1@1]
  // CHECK: vector.transfer_read {{.*}}regs=[4:1@1]{{.*}}vector<32x16xf16>
  // CHECK-NOT: tilewright.convert_layout
  // CHECK: return
  func.func private @Residual(%a: memref<64x16xf32>, %r: memref<64x16xf16>, %out: memref<64x16xf16>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"],
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1, 1, 2)>, cluster = [1, 1, 2]>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %half = arith.constant 0.0 : f16
    %v = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true], tilewright.layouts = [#acc]} : memref<64x16xf32>, vector<64x16xf32>
    %s = tilewright.cluster_scatter %v along 0 loop 2 : vector<64x16xf32> -> vector<32x16xf32>
    %x = vector.transfer_read %r[%c0, %c0], %half {in_bounds = [true, true]} : memref<64x16xf16>, vector<32x16xf16>
    %w = arith.extf %x : vector<32x16xf16> to vector<32x16xf32>
    %t = arith.addf %s, %w : vector<32x16xf32>
    %n = arith.truncf %t : vector<32x16xf32> to vector<32x16xf16>
    vector.transfer_write %n, %out[%c0, %c0] {in_bounds = [true, true]} : vector<32x16xf16>, memref<64x16xf16>
    return
  }
}
