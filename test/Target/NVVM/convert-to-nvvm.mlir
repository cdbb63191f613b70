// RUN: tilewright-opt %s -tilewright-convert-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @Parameters(
// CHECK-SAME: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}
// CHECK-SAME: %{{.*}}: i32, %{{.*}}: i32)
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>
func.func private @Parameters(%a: memref<?xf16>, %b: memref<?xf16>, %n: index, %h: f16)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"],
                tilewright.launch = #tilewright.launch<threads = 64, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  // CHECK: llvm.trunc %{{.*}} : i32 to i16
  // CHECK: llvm.bitcast %{{.*}} : i16 to f16
  // CHECK: llvm.getelementptr inbounds %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
  memref.store %h, %b[%n] : memref<?xf16>
  return
}

// CHECK-LABEL: llvm.func @WideIndices(%{{.*}}: !llvm.ptr<1>
// CHECK-SAME: i64)
func.func private @WideIndices(%a: memref<?xf32>, %n: index)
    attributes {tilewright.kernel, tilewright.access = ["read"], tilewright.index_bits = 64 : i64} {
  // CHECK: nvvm.read.ptx.sreg.ctaid.x : i32
  // CHECK: llvm.zext %{{.*}} : i32 to i64
  %b = gpu.block_id x
  %i = arith.addi %b, %n : index
  %z = arith.constant 0.0 : f32
  memref.store %z, %a[%i] : memref<?xf32>
  return
}

// CHECK-LABEL: llvm.func @LanesAndWarps
func.func private @LanesAndWarps(%a: memref<?xf32>)
    attributes {tilewright.kernel, tilewright.access = ["write"],
                tilewright.launch = #tilewright.launch<threads = 64, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  // CHECK: nvvm.read.ptx.sreg.tid.x range <i32, 0, 64> : i32
  // CHECK: llvm.and
  // CHECK: llvm.lshr
  %l = gpu.lane_id
  %w = gpu.subgroup_id : index
  %i = arith.addi %l, %w : index
  %z = arith.constant 0.0 : f32
  memref.store %z, %a[%i] : memref<?xf32>
  return
}

// CHECK-LABEL: llvm.func @Booleans
func.func private @Booleans(%a: memref<?xi1>, %i: index)
    attributes {tilewright.kernel, tilewright.access = ["readwrite"]} {
  // CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
  // CHECK: llvm.trunc %{{.*}} : i8 to i1
  // CHECK: llvm.zext %{{.*}} : i1 to i8
  %v = memref.load %a[%i] : memref<?xi1>
  memref.store %v, %a[%i] : memref<?xi1>
  return
}

// CHECK-LABEL: llvm.func @BetweenBlocks(
func.func private @BetweenBlocks(%s: memref<?xi32>, %i: index)
    attributes {tilewright.kernel, tilewright.access = ["readwrite"]} {
  // CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("device") monotonic
  %n = tilewright.take_number %s[%i] : memref<?xi32>
  // CHECK: llvm.store %{{.*}}, %{{.*}} atomic syncscope("device") release {alignment = 4 : i64}
  tilewright.publish %n, %s[%i] : memref<?xi32>
  // CHECK: llvm.load %{{.*}} atomic syncscope("device") acquire {alignment = 4 : i64}
  %o = tilewright.observe %s[%i] : memref<?xi32>
  tilewright.publish %o, %s[%i] : memref<?xi32>
  return
}
