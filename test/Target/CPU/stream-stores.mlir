// RUN: tilewright-opt %s -tilewright-stream-stores=bytes=4096 | FileCheck %s

// Whole cache lines of a result of 4 KiB, which the cache has, pass it by; half of one does not.
// CHECK-LABEL: @Large
// CHECK: vector.store {{.*}} {nontemporal = true} : memref<1024xf32>, vector<16xf32>
// CHECK: vector.store
// CHECK-NOT: nontemporal
// CHECK: return
func.func private @Large(%r: memref<1024xf32>, %v: vector<16xf32>, %w: vector<8xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.access = ["write"],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [1], thread = [1]>} {
  vector.store %v, %r[%i] : memref<1024xf32>, vector<16xf32>
  vector.store %w, %r[%i] : memref<1024xf32>, vector<8xf32>
  return
}

// A quarter of the cache does, too, if all that is read and written is more than it.
// CHECK-LABEL: @QuarterOfMore
// CHECK: nontemporal
// CHECK-LABEL: @QuarterOfLess
// CHECK-NOT: nontemporal
// CHECK-LABEL: @LessThanQuarter
// CHECK-NOT: nontemporal
func.func private @QuarterOfMore(%x: memref<768xf32>, %r: memref<256xf32>, %v: vector<16xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [1], thread = [1]>} {
  vector.store %v, %r[%i] : memref<256xf32>, vector<16xf32>
  return
}

func.func private @QuarterOfLess(%x: memref<767xf32>, %r: memref<256xf32>, %v: vector<16xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [1], thread = [1]>} {
  vector.store %v, %r[%i] : memref<256xf32>, vector<16xf32>
  return
}

func.func private @LessThanQuarter(%x: memref<1024xf32>, %r: memref<255xf32>, %v: vector<16xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [1], thread = [1]>} {
  vector.store %v, %r[%i] : memref<255xf32>, vector<16xf32>
  return
}

// What is small stays in caches, and what the kernel reads again.
// CHECK-LABEL: @Small
// CHECK-NOT: nontemporal
// CHECK-LABEL: @ReadsAgain
// CHECK-NOT: nontemporal
func.func private @Small(%r: memref<1023xf32>, %v: vector<16xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.access = ["write"],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [1], thread = [1]>} {
  vector.store %v, %r[%i] : memref<1023xf32>, vector<16xf32>
  return
}

func.func private @ReadsAgain(%r: memref<1024xf32>, %i: index, %j: index)
    attributes {tilewright.kernel, tilewright.access = ["write"],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1], thread = [1]>} {
  %v = vector.load %r[%j] : memref<1024xf32>, vector<16xf32>
  vector.store %v, %r[%i] : memref<1024xf32>, vector<16xf32>
  return
}

// Sums of products are written again and again.
// CHECK-LABEL: @Product
// CHECK-NOT: nontemporal
func.func private @Product(%r: memref<1024xf32>, %v: vector<16xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.access = ["write"],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [1], thread = [1]>} {
  vector.store %v, %r[%i] : memref<1024xf32>, vector<16xf32>
  return
}

// CHECK-LABEL: @Dynamic
// CHECK-SAME: %[[R:.*]]: memref<?x16xf32>, %[[N:[a-z0-9]+]]: index
// CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %{{.*}} : index
// CHECK: %[[PART:.*]] = arith.cmpi sge, %[[BYTES]], %{{.*}} : index
// CHECK: %[[ALL:.*]] = arith.cmpi sge, %[[BYTES]], %{{.*}} : index
// CHECK: %[[LARGE:.*]] = arith.andi %[[PART]], %[[ALL]]
// CHECK: scf.if %[[LARGE]]
// CHECK-NEXT: vector.store {{.*}} {nontemporal = true}
// CHECK: else
// CHECK-NEXT: vector.store {{.*}}] : memref
func.func private @Dynamic(%r: memref<?x16xf32>, %n: index, %v: vector<16xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.access = ["write"], tilewright.scalars = [#tilewright.dim<0, 0>],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [1], thread = [1]>} {
  %c0 = arith.constant 0 : index
  vector.store %v, %r[%i, %c0] : memref<?x16xf32>, vector<16xf32>
  return
}
