// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

// One load for each register; only a mask that may be false needs a branch.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16}>} {
  // CHECK-LABEL: func.func private @gather
  // CHECK-SAME: (%[[T:.*]]: memref<?xf32>, %[[O:.*]]: memref<?xf32>
  // CHECK-NOT: scf.if
  // CHECK: memref.load %[[T]]
  // CHECK: scf.if
  // CHECK-NEXT: memref.load %[[T]]
  func.func private @gather(%t: memref<50x64xf32>, %o: memref<128xf32>, %any: i1)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %zeros = arith.constant dense<0.0> : vector<128xf32>
    %true = arith.constant dense<true> : vector<128xi1>
    %i = vector.step : vector<128xindex>
    %v = vector.gather %t[%c0, %c0] [%i], %true, %zeros : memref<50x64xf32>, vector<128xindex>, vector<128xi1>, vector<128xf32> into vector<128xf32>
    %m = vector.broadcast %any : i1 to vector<128xi1>
    %j = arith.addi %i, %i : vector<128xindex>
    %w = vector.gather %t[%c0, %c0] [%j], %m, %zeros : memref<50x64xf32>, vector<128xindex>, vector<128xi1>, vector<128xf32> into vector<128xf32>
    %s = arith.addf %v, %w : vector<128xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<128xf32>, memref<128xf32>
    return
  }

  // Neighbours in memory are one load, from a multiple of its length on.
  // CHECK-LABEL: func.func private @gather_rows
  // CHECK-SAME: (%[[T:[a-z0-9]+]]: memref<?xf32>
  // CHECK-NOT: memref.load
  // CHECK: %[[P:.*]] = arith.andi %{{.*}}, %c-4 : index
  // CHECK: vector.load %[[T]][%[[P]]] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  // CHECK-NOT: memref.load
  func.func private @gather_rows(%t: memref<50x64xf32>, %o: memref<128xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %zeros = arith.constant dense<0.0> : vector<128xf32>
    %true = arith.constant dense<true> : vector<128xi1>
    %i = vector.step : vector<128xindex>
    %v = vector.gather %t[%c0, %c0] [%i], %true, %zeros {tilewright.gather_runs = array<i64: 0, 16>} : memref<50x64xf32>, vector<128xindex>, vector<128xi1>, vector<128xf32> into vector<128xf32>
    vector.transfer_write %v, %o[%c0] {in_bounds = [true]} : vector<128xf32>, memref<128xf32>
    return
  }

  // Outside of the tensor all have the place of one, which is the last of its neighbours or the first.
  // CHECK-LABEL: func.func private @gather_clamped_rows
  // CHECK-SAME: (%[[T:[a-z0-9]+]]: memref<?xf32>, %{{[a-z0-9]+}}: memref<?xf32>, %[[X:[a-z0-9]+]]: index
  // CHECK: %[[LOADED:.*]] = vector.load %[[T]][%{{.*}}] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  // CHECK: %[[V0:.*]] = vector.extract %[[LOADED]][0]
  // CHECK: %[[V1:.*]] = vector.extract %[[LOADED]][1]
  // CHECK: %[[V3:.*]] = vector.extract %[[LOADED]][3]
  // CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[F:.*]], %{{.*}} : index
  // CHECK: %[[BIT:.*]] = arith.andi %[[F]], %c1
  // CHECK: %[[ODD:.*]] = arith.cmpi eq, %[[BIT]], %c1
  // CHECK: %[[E:.*]] = arith.select %[[ODD]], %[[V3]], %[[V0]] : f32
  // CHECK: arith.select %[[ONE]], %[[E]], %[[V0]] : f32
  // CHECK: arith.select %[[ONE]], %[[E]], %[[V1]] : f32
  // CHECK-NOT: memref.load
  func.func private @gather_clamped_rows(%t: memref<50x64xf32>, %o: memref<128xf32>, %x: index)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %zeros = arith.constant dense<0.0> : vector<128xf32>
    %true = arith.constant dense<true> : vector<128xi1>
    %last = arith.constant dense<3199> : vector<128xindex>
    %i = vector.step : vector<128xindex>
    %y = vector.broadcast %x : index to vector<128xindex>
    %j = arith.addi %i, %y : vector<128xindex>
    %k = arith.minui %j, %last : vector<128xindex>
    %v = vector.gather %t[%c0, %c0] [%k], %true, %zeros {tilewright.gather_outside, tilewright.gather_runs = array<i64: 0, 16>} : memref<50x64xf32>, vector<128xindex>, vector<128xi1>, vector<128xf32> into vector<128xf32>
    vector.transfer_write %v, %o[%c0] {in_bounds = [true]} : vector<128xf32>, memref<128xf32>
    return
  }
}
