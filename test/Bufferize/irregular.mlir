// RUN: tilewright-opt %s -tilewright-configure -tilewright-tile -tilewright-bufferize -canonicalize | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {index_bits = 32 : i64, max_threads = 1024 : i64, subgroup = 32 : i64}>} {
  // Each update has a place of its own.
  // CHECK-LABEL: func.func private @unique(
  // CHECK-SAME: threads = 128
  // CHECK-SAME: block = [2, 64], warps = [4, 1]
  // CHECK: scf.forall (%[[T:.*]]) in (128)
  // CHECK: %[[P:.*]] = memref.load %arg1[%[[N:.*]], %{{.*}}] : memref<?x1xi64>
  // CHECK: arith.cmpi ult, %[[P]], %c50{{.*}} : i64
  // CHECK: %[[AT:.*]] = arith.index_cast %[[P]]
  // CHECK: %[[V:.*]] = memref.load %arg0[%[[N]], %[[C:.*]]]
  // CHECK-NEXT: memref.store %[[V]], %arg2[%[[AT]], %[[C]]]
  func.func private @unique(%u: tensor<?x64xf32>, %i: tensor<?x1xi64>, %t: tensor<50x64xf32>) -> tensor<50x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
    %r = tilewright.scatter ins(%u, %i : tensor<?x64xf32>, tensor<?x1xi64>) outs(%t : tensor<50x64xf32>) {dims = array<i64: 0>, unique} -> tensor<50x64xf32>
    return %r : tensor<50x64xf32>
  }

  // A thread has a range of places, and goes through all updates.
  // CHECK-LABEL: func.func private @ordered(
  // CHECK-SAME: splits = 256
  // CHECK: scf.forall
  // CHECK: scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step
  // CHECK: memref.load %arg1[%[[N]], %{{.*}}] : memref<?x1xi32>
  // CHECK: scf.if
  // CHECK: %[[NEW:.*]] = memref.load %arg0
  // CHECK: %[[OLD:.*]] = memref.load %arg2
  // CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[NEW]]
  // CHECK: memref.store %[[SUM]], %arg2
  func.func private @ordered(%u: tensor<?x64xf32>, %i: tensor<?x1xi32>, %t: tensor<50x64xf32>) -> tensor<50x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
    %r = tilewright.scatter ins(%u, %i : tensor<?x64xf32>, tensor<?x1xi32>) outs(%t : tensor<50x64xf32>) {dims = array<i64: 0>} combine {
    ^bb0(%new: f32, %old: f32):
      %c = arith.addf %old, %new : f32
      tilewright.combined %c : f32
    } -> tensor<50x64xf32>
    return %r : tensor<50x64xf32>
  }

  // CHECK-LABEL: func.func private @scan(
  // CHECK-SAME: block = [1, 128, 1]
  // CHECK: scf.forall
  // CHECK: %[[TOTAL:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
  // CHECK: arith.addf %[[SUM]]
  // CHECK: memref.store %[[TOTAL]], %arg2
  func.func private @scan(%x: tensor<4x?x1xf32>, %n: index, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %r = tilewright.scan ins(%x : tensor<4x?x1xf32>) chunk(%n) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, totals} combine {
    ^bb0(%sum: f32, %next: f32):
      %c = arith.addf %sum, %next : f32
      tilewright.combined %c : f32
    } -> tensor<4x?x1xf32>
    return %r : tensor<4x?x1xf32>
  }

  // A thread inserts the elements of a run one by one.
  // CHECK-LABEL: func.func private @runs(
  // CHECK-SAME: block = [4, 32, 1]
  // CHECK: scf.forall
  // CHECK: scf.for
  // CHECK: %[[V:.*]] = memref.load %arg0
  // CHECK: %[[P:.*]] = scf.while
  // CHECK: %[[O:.*]] = memref.load %arg1
  // CHECK: arith.cmpf ult, %[[V]], %[[O]]
  // CHECK: arith.cmpf ord, %[[V]], %[[V]]
  // CHECK: } do {
  // CHECK: memref.store
  // CHECK: memref.store %[[V]], %arg1[%{{.*}}, %[[P]], %{{.*}}]
  func.func private @runs(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %r = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, runs} -> tensor<4x?x1xf32>
    return %r : tensor<4x?x1xf32>
  }

  // One iteration is one thread's: a loop of it would be folded away.
  // CHECK-LABEL: func.func private @one_run(
  // CHECK-SAME: block = [1, 1, 1]
  // CHECK: scf.forall (%[[T:.*]]) in (128)
  // CHECK-NEXT: arith.cmpi ult, %[[T]], %c1
  // CHECK-NEXT: scf.if
  // CHECK: memref.store
  func.func private @one_run(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %r = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, runs,
        tilewright.lowering_config = #tilewright.lowering_config<strategy = irregular, block = [1, 1, 1], warps = [4, 1, 1]>} -> tensor<4x?x1xf32>
    return %r : tensor<4x?x1xf32>
  }

  // And then a block merges its runs, to and fro, with barriers between.
  // CHECK-LABEL: func.func private @block(
  // CHECK-SAME: block = [1, 128, 1]
  // CHECK: scf.forall
  // CHECK: gpu.barrier
  // CHECK-NEXT: scf.forall
  // CHECK: scf.for
  // CHECK: memref.load %arg1
  // CHECK: memref.store %{{.*}}, %arg2
  // CHECK: gpu.barrier
  // CHECK-NEXT: scf.forall
  // CHECK: scf.for
  // CHECK: memref.load %arg2
  // CHECK: memref.store %{{.*}}, %arg1
  // CHECK: scf.if
  // CHECK-COUNT-2: gpu.barrier
  // CHECK-NOT: gpu.barrier
  func.func private @block(%x: tensor<1x?x1xf32>, %e: tensor<1x?x1xf32>, %s: tensor<1x?x1xf32>) -> (tensor<1x?x1xf32>, tensor<1x?x1xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write", "write"]} {
    %r:2 = tilewright.sort ins(%x : tensor<1x?x1xf32>) outs(%e, %s : tensor<1x?x1xf32>, tensor<1x?x1xf32>) {dim = 1 : i64, runs}
      -> tensor<1x?x1xf32>, tensor<1x?x1xf32>
    return %r#0, %r#1 : tensor<1x?x1xf32>, tensor<1x?x1xf32>
  }

  // A thread searches where its chunk begins in both runs, and merges; by a comparison
  // of the program's.
  // CHECK-LABEL: func.func private @merges(
  // CHECK: %[[START:.*]]:2 = scf.while
  // CHECK: } do {
  // CHECK: %[[L:.*]] = memref.load %arg0
  // CHECK: %[[R:.*]] = memref.load %arg0
  // CHECK: arith.cmpi ugt, %[[R]], %[[L]] : i16
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[START]]#0, %{{.*}} = %{{.*}}) -> (index, index)
  // CHECK: memref.store %{{.*}}, %arg3
  // CHECK: memref.store %{{.*}}, %arg4
  func.func private @merges(%x: tensor<4x?x1xi16>, %y: tensor<4x?x1xf32>, %n: index, %e: tensor<4x?x1xi16>, %f: tensor<4x?x1xf32>)
      -> (tensor<4x?x1xi16>, tensor<4x?x1xf32>) attributes {tilewright.kernel, tilewright.access = ["read", "read", "write", "write"]} {
    %r:2 = tilewright.sort ins(%x, %y : tensor<4x?x1xi16>, tensor<4x?x1xf32>) width(%n) outs(%e, %f : tensor<4x?x1xi16>, tensor<4x?x1xf32>) {dim = 1 : i64} compare {
    ^bb0(%a: i16, %b: i16, %c: f32, %d: f32):
      %before = arith.cmpi ugt, %a, %b : i16
      tilewright.combined %before : i1
    } -> tensor<4x?x1xi16>, tensor<4x?x1xf32>
    return %r#0, %r#1 : tensor<4x?x1xi16>, tensor<4x?x1xf32>
  }
}
