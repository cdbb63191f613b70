// RUN: tilewright-opt %s -tilewright-configure -tilewright-tile -tilewright-bufferize -canonicalize | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {index_bits = 32 : i64, max_threads = 1024 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func private @look_back(
  // CHECK-SAME: threads = 256
  // CHECK-SAME: block = [1, 4096, 1], warps = [8, 1, 1]
  // One thread takes the tile's number.
  // CHECK: scf.forall (%{{.*}}) in (256)
  // CHECK: %[[TAKEN:.*]] = tilewright.take_number %arg2[%c0{{.*}}]
  // CHECK: memref.store %[[TAKEN]], %[[NUMBER:.*]][%c0
  // CHECK: gpu.barrier
  // CHECK: memref.load %[[NUMBER]]
  // The tile: sixteen loads of a thread before the first one is stored.
  // CHECK: scf.forall
  // CHECK-COUNT-16: memref.load %arg0
  // CHECK: gpu.barrier
  // A tile's value is there before its state says so.
  // CHECK: memref.store %{{.*}}, %arg3
  // CHECK: tilewright.publish %c1_i32{{.*}}, %arg2
  // CHECK: scf.while
  // CHECK: tilewright.observe %arg2
  // CHECK: memref.load %arg3
  // CHECK: gpu.barrier
  // The group's last tile.
  // CHECK: memref.store %{{.*}}, %arg3
  // CHECK: tilewright.publish %c1_i32{{.*}}, %arg2
  // The groups before.
  // CHECK: scf.while
  // CHECK: tilewright.observe %arg2
  // CHECK: memref.load %arg3
  // CHECK: gpu.barrier
  // CHECK: tilewright.publish %c2_i32{{.*}}, %arg2
  // CHECK: gpu.barrier
  // CHECK: memref.store %{{.*}}, %arg1
  func.func private @look_back(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>, %s: tensor<?xi32>, %v: tensor<?xf32>) -> (tensor<4x?x1xf32>, tensor<?xi32>, tensor<?xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write", "readwrite", "write"]} {
    %n = arith.constant 4096 : index
    %r:3 = tilewright.scan ins(%x : tensor<4x?x1xf32>) chunk(%n) outs(%e : tensor<4x?x1xf32>) scratch(%s, %v : tensor<?xi32>, tensor<?xf32>) {dim = 1 : i64, look_back} combine {
    ^bb0(%sum: f32, %next: f32):
      %c = arith.addf %sum, %next : f32
      tilewright.combined %c : f32
    } -> tensor<4x?x1xf32>, tensor<?xi32>, tensor<?xf32>
    return %r#0, %r#1, %r#2 : tensor<4x?x1xf32>, tensor<?xi32>, tensor<?xf32>
  }

  // Columns: 16 elements of one of 32, in eight parts, which three steps combine. What the threads of columns have written is published
  // behind a barrier; all threads read what others have.
  // CHECK-LABEL: func.func private @columns(
  // CHECK-SAME: block = [1, 128, 32], warps = [8, 1, 1]
  // CHECK-COUNT-16: memref.load %arg0
  // CHECK: memref.store %{{.*}}, %arg3
  // CHECK: gpu.barrier
  // CHECK: tilewright.publish %c1_i32{{.*}}, %arg2
  // CHECK: tilewright.observe %arg2
  // CHECK-NOT: memref.load %arg3
  // CHECK: gpu.barrier
  // CHECK: memref.load %arg3
  // CHECK: gpu.barrier
  // CHECK: memref.store %{{.*}}, %arg3
  // CHECK: gpu.barrier
  // CHECK: tilewright.publish %c1_i32{{.*}}, %arg2
  // CHECK: tilewright.observe %arg2
  // CHECK: gpu.barrier
  // CHECK: memref.load %arg3
  // CHECK: gpu.barrier
  // CHECK: tilewright.publish %c2_i32{{.*}}, %arg2
  // CHECK: memref.store %{{.*}}, %arg1
  func.func private @columns(%x: tensor<4x?x64xf32>, %e: tensor<4x?x64xf32>, %s: tensor<?xi32>, %v: tensor<?xf32>) -> (tensor<4x?x64xf32>, tensor<?xi32>, tensor<?xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write", "readwrite", "write"]} {
    %n = arith.constant 128 : index
    %r:3 = tilewright.scan ins(%x : tensor<4x?x64xf32>) chunk(%n) outs(%e : tensor<4x?x64xf32>) scratch(%s, %v : tensor<?xi32>, tensor<?xf32>) {dim = 1 : i64, look_back} combine {
    ^bb0(%sum: f32, %next: f32):
      %c = arith.addf %sum, %next : f32
      tilewright.combined %c : f32
    } -> tensor<4x?x64xf32>, tensor<?xi32>, tensor<?xf32>
    return %r#0, %r#1, %r#2 : tensor<4x?x64xf32>, tensor<?xi32>, tensor<?xf32>
  }
}
