// RUN: tilewright-opt %s -tilewright-print-code -o /dev/null | FileCheck %s

// 16-byte accesses on global memory, 32-bit index arithmetic, no contraction.

#t = #tilewright.target<"cuda:sm_80", "nvvm", {chip = "sm_80"}>
#l = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<()[s0] -> (s0 ceildiv 512)>, dims = [0, 0]>
module attributes {tilewright.target = #t} {
  // CHECK-LABEL: // kernel scale: ptx, dynamic shared memory 0
  // CHECK: .version 7.0
  // CHECK: .target sm_80
  // CHECK: .visible .entry scale(
  // CHECK: .param .u64 .ptr .global .align 16
  // CHECK: .param .u64 .ptr .global .align 16
  // CHECK: .param .u32
  // CHECK: .reqntid 128
  // CHECK: ld.global.nc.v4.{{[bf]}}32
  // CHECK: mul.rn.f32
  // CHECK: add.rn.f32
  // CHECK-NOT: fma
  // CHECK: st.global.v4.{{[bf]}}32
  func.func private @scale(%x: memref<?xf32>, %y: memref<?xf32>, %n: index)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
                  tilewright.scalars = [#tilewright.dim<0, 0>],
                  tilewright.launch = #l} {
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c512 = arith.constant 512 : index
    %two = arith.constant 2.0 : f32
    %b = gpu.block_id x
    %lane = gpu.lane_id
    %warp = gpu.subgroup_id : index
    %t0 = arith.muli %warp, %c32 : index
    %t = arith.addi %t0, %lane : index
    %e = arith.muli %t, %c4 : index
    %base = arith.muli %b, %c512 : index
    %i = arith.addi %base, %e : index
    %in = arith.cmpi slt, %i, %n : index
    scf.if %in {
      %v = vector.load %x[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
      %v0 = vector.extract %v[0] : f32 from vector<4xf32>
      %v1 = vector.extract %v[1] : f32 from vector<4xf32>
      %v2 = vector.extract %v[2] : f32 from vector<4xf32>
      %v3 = vector.extract %v[3] : f32 from vector<4xf32>
      %m0 = arith.mulf %v0, %two : f32
      %m1 = arith.mulf %v1, %two : f32
      %m2 = arith.mulf %v2, %v1 : f32
      %m3 = arith.mulf %v3, %v3 : f32
      %a0 = arith.addf %m0, %v1 : f32
      %a1 = arith.addf %m1, %v1 : f32
      %a2 = arith.addf %m2, %v1 : f32
      %a3 = arith.addf %m3, %v1 : f32
      %r = vector.from_elements %a0, %a1, %a2, %a3 : vector<4xf32>
      vector.store %r, %y[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
    }
    return
  }
}
