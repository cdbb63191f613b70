// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-distribute),canonicalize,cse)' | FileCheck %s

#l = #tilewright.layout<"regs=[8:1@1] lanes=[4:8@1,8:1@0] warps=[]">

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, access_bytes = 16, masked_runs}>} {
// Rows of any length: inside, the five words around eight halves, moved to their
// place behind the branch; at an edge, and where the last word would hang over
// the end of %a, the first so many halves. What is written is masked alike.
// CHECK-LABEL: func.func private @Halves(
// CHECK: %[[R:.+]]:6 = scf.if %{{.+}} -> (i32, i32, i32, i32, i32, index) {
// CHECK: %[[PHASE:.+]] = arith.andi %[[FROM:.+]], %c1
// CHECK: %[[EVEN:.+]] = arith.subi %[[FROM]], %[[PHASE]]
// CHECK-COUNT-5: vector.load %arg0[%{{.+}}] {alignment = 4 : i64} : memref<?xf16>, vector<2xf16>
// CHECK: scf.yield {{.*}}, %[[PHASE]]
// CHECK: } else {
// CHECK: %[[MASK:.+]] = vector.create_mask %{{.+}} : vector<8xi1>
// CHECK: vector.maskedload %arg0[%{{.+}}], %[[MASK]], %{{.+}} : memref<?xf16>, vector<8xi1>, vector<8xf16>
// CHECK: scf.yield {{.*}}, %c0
// CHECK: %[[BITS:.+]] = arith.muli %[[R]]#5, %c16
// CHECK-COUNT-4: arith.shrui {{.*}} : i64
// CHECK: vector.store {{.*}} #tilewright.shared>, vector<8xf16>
func.func private @Halves(%a: memref<?x?xf16>, %r: index, %k: index)
    attributes {tilewright.kernel, tilewright.access = ["read"],
                tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %s = memref.alloc() : memref<8x32xf16, #tilewright.shared>
  %v = vector.transfer_read %a[%r, %k], %zero {tilewright.layouts = [#l]} : memref<?x?xf16>, vector<8x32xf16>
  vector.transfer_write %v, %s[%c0, %c0] {in_bounds = [true, true]} : vector<8x32xf16>, memref<8x32xf16, #tilewright.shared>
  return
}

// CHECK-LABEL: func.func private @Written(
// CHECK-NOT: scf.if
// CHECK: %[[INSIDE:.+]] = arith.minsi
// CHECK: %[[VALID:.+]] = arith.select %{{.+}}, %[[INSIDE]], %c0
// CHECK: %[[MASK:.+]] = vector.create_mask %[[VALID]] : vector<8xi1>
// CHECK: vector.maskedstore %arg0[%{{.+}}], %[[MASK]]
func.func private @Written(%o: memref<?x?xf16>, %x: f16, %r: index, %k: index)
    attributes {tilewright.kernel, tilewright.access = ["write"],
                tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %v = vector.broadcast %x {tilewright.layouts = [#l]} : f16 to vector<8x32xf16>
  vector.transfer_write %v, %o[%r, %k] : vector<8x32xf16>, memref<?x?xf16>
  return
}
}
