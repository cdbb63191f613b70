// RUN: tilewright-opt %s -tilewright-convert-to-nvvm | FileCheck %s

// One address, a predicate an element, no branch.
// CHECK-LABEL: llvm.func @FirstHalves
// CHECK-NOT: llvm.cond_br
// CHECK: %[[FROM:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
// CHECK: llvm.inline_asm
// CHECK-SAME: mov.b16 h1, 0; setp.gt.s32 p, $2, 1; @p ld.global.nc.b16 h1, [$1+2];
// CHECK-SAME: mov.b32 $0, {h0, h1};
// CHECK-SAME: "=r,l,r" %[[FROM]], %{{.*}} : (!llvm.ptr<1>, i32) -> i32
// CHECK: llvm.inline_asm has_side_effects
// CHECK-SAME: mov.b32 {h0, h1}, $0;
// CHECK-SAME: setp.gt.s32 p, $2, 1; @p st.global.b16 [$1+2], h1;
func.func private @FirstHalves(%a: memref<?xf16>, %b: memref<?xf16>, %i: index, %n: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %zero = arith.constant dense<0.0> : vector<2xf16>
  %m = vector.create_mask %n : vector<2xi1>
  %v = vector.maskedload %a[%i], %m, %zero : memref<?xf16>, vector<2xi1>, vector<2xf16> into vector<2xf16>
  vector.maskedstore %b[%i], %m, %v : memref<?xf16>, vector<2xi1>, vector<2xf16>
  return
}

// CHECK-LABEL: llvm.func @FirstBytes
// CHECK: llvm.inline_asm
// CHECK-SAME: @p ld.global.nc.u8 h3, [$1+3];
// CHECK-SAME: prmt.b32 h0, h0, h1, 0x1140; prmt.b32 h2, h2, h3, 0x1140; prmt.b32 $0, h0, h2, 0x5410;
// CHECK: llvm.inline_asm has_side_effects
// CHECK-SAME: shr.u32 h3, $0, 24;
// CHECK-SAME: @p st.global.u8 [$1+3], h3;
func.func private @FirstBytes(%a: memref<?xi8>, %b: memref<?xi8>, %i: index, %n: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %zero = arith.constant dense<0> : vector<4xi8>
  %m = vector.create_mask %n : vector<4xi1>
  %v = vector.maskedload %a[%i], %m, %zero : memref<?xi8>, vector<4xi1>, vector<4xi8> into vector<4xi8>
  vector.maskedstore %b[%i], %m, %v : memref<?xi8>, vector<4xi1>, vector<4xi8>
  return
}

// CHECK-LABEL: llvm.func @FirstFloats
// CHECK: llvm.inline_asm
// CHECK-SAME: mov.b32 $1, 0; setp.gt.s32 p, $3, 1; @p ld.global.nc.b32 $1, [$2+4]; }", "=r,=r,l,r"
// CHECK: llvm.inline_asm has_side_effects
// CHECK-SAME: @p st.global.b32 [$2+4], $1;
func.func private @FirstFloats(%a: memref<?xf32>, %b: memref<?xf32>, %i: index, %n: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %zero = arith.constant dense<0.0> : vector<2xf32>
  %m = vector.create_mask %n : vector<2xi1>
  %v = vector.maskedload %a[%i], %m, %zero : memref<?xf32>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  vector.maskedstore %b[%i], %m, %v : memref<?xf32>, vector<2xi1>, vector<2xf32>
  return
}

// A count that is known.
// CHECK-LABEL: llvm.func @FirstThree
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(3 : i32) : i32
// CHECK: llvm.inline_asm has_side_effects
// CHECK-SAME: setp.gt.s32 p, $3, 3; @p st.global.b16 [$2+6], h3;
// CHECK-SAME: %[[COUNT]] :
func.func private @FirstThree(%a: memref<?xf16>, %x: f16, %i: index)
    attributes {tilewright.kernel, tilewright.access = ["write"]} {
  %m = vector.constant_mask [3] : vector<4xi1>
  %v = vector.broadcast %x : f16 to vector<4xf16>
  vector.maskedstore %a[%i], %m, %v : memref<?xf16>, vector<4xi1>, vector<4xf16>
  return
}
