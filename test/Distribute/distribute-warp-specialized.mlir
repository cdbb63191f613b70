// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -lower-affine -canonicalize -cse | FileCheck %s

// A producer warp fills a ring of two stages in shared memory, four consumer
// warps sum it up. Layouts inside a region name the region's warps only;
// named barriers 1, 2 say "stage full", 3, 4 say "stage empty".
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {chip = "sm_80", subgroup = 32, access_bytes = 16}>} {
  // CHECK-LABEL: func.func private @ring
  // CHECK: tilewright.role if %{{.*}} meets 8 threads = 32 {
  // CHECK:   scf.for
  // CHECK:     tilewright.barrier 3 threads = 160
  // CHECK:     vector.load %{{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  // CHECK:     tilewright.barrier arrive 1 threads = 160
  // What the consumers' warps exchange, they exchange among themselves.
  // CHECK: tilewright.role if %{{.*}} meets 9 threads = 128 {
  // CHECK:   scf.for
  // CHECK:     tilewright.barrier 1 threads = 160
  // CHECK:     vector.load %{{.*}} #tilewright.shared>, vector<4xf32>
  // CHECK:     tilewright.barrier arrive 3 threads = 160
  func.func private @ring(%a: memref<4096xf32>, %out: memref<1xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 160, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %c512 = arith.constant 512 : index
    %c1024 = arith.constant 1024 : index
    %c4096 = arith.constant 4096 : index
    %pad = arith.constant 0.0 : f32
    %ring = memref.alloc() : memref<1024xf32, #tilewright.shared>
    tilewright.warps [4, 1] {
      scf.for %i = %c0 to %c4096 step %c1024 {
        tilewright.barrier 3 threads = 160
        %x = vector.transfer_read %a[%i], %pad {in_bounds = [true]} : memref<4096xf32>, vector<512xf32>
        vector.transfer_write %x, %ring[%c0] {in_bounds = [true]} : vector<512xf32>, memref<1024xf32, #tilewright.shared>
        tilewright.barrier arrive 1 threads = 160
        tilewright.barrier 4 threads = 160
        %j = arith.addi %i, %c512 : index
        %y = vector.transfer_read %a[%j], %pad {in_bounds = [true]} : memref<4096xf32>, vector<512xf32>
        vector.transfer_write %y, %ring[%c512] {in_bounds = [true]} : vector<512xf32>, memref<1024xf32, #tilewright.shared>
        tilewright.barrier arrive 2 threads = 160
      }
    }
    tilewright.warps [0, 4] {
      %zero = arith.constant dense<0.0> : vector<512xf32>
      tilewright.barrier arrive 3 threads = 160
      tilewright.barrier arrive 4 threads = 160
      %sum = scf.for %i = %c0 to %c4096 step %c1024 iter_args(%s = %zero) -> vector<512xf32> {
        tilewright.barrier 1 threads = 160
        %x = vector.transfer_read %ring[%c0], %pad {in_bounds = [true]} : memref<1024xf32, #tilewright.shared>, vector<512xf32>
        tilewright.barrier arrive 3 threads = 160
        %t = arith.addf %s, %x : vector<512xf32>
        tilewright.barrier 2 threads = 160
        %y = vector.transfer_read %ring[%c512], %pad {in_bounds = [true]} : memref<1024xf32, #tilewright.shared>, vector<512xf32>
        tilewright.barrier arrive 4 threads = 160
        %u = arith.addf %t, %y : vector<512xf32>
        scf.yield %u : vector<512xf32>
      }
      %acc = arith.constant 0.0 : f32
      %total = vector.multi_reduction <add>, %sum, %acc [0] : vector<512xf32> to f32
      memref.store %total, %out[%c0] : memref<1xf32>
    }
    return
  }
}
