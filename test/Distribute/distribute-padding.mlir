// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

// A padded operand: rows in front of the source, and behind it, are not touched.
// CHECK-LABEL: func private @rows
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?xf32>
// CHECK-NOT: tilewright.padding
// CHECK-DAG: %[[FILL:.*]] = arith.constant 7.000000e+00 : f32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[FRONT:.*]] = arith.cmpi sge
// CHECK: %[[BEHIND:.*]] = arith.cmpi sge
// CHECK: %[[IN:.*]] = arith.andi %[[FRONT]], %[[BEHIND]]
// CHECK: %[[AT:.*]] = arith.select %[[IN]], %{{.*}}, %[[C0]] : index
// CHECK: vector.load %[[X]][%[[AT]]] {alignment = 16 : i64}
// CHECK: arith.select %[[IN]], %{{.*}}, %[[FILL]] : f32

// How many rows there are is an argument: there may be none to read instead.
// CHECK-LABEL: func private @dynamic
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<?xf32>
// CHECK: scf.if
// CHECK-NEXT: vector.load %[[X]]

// Along rows: runs that are inside altogether are read at once.
// CHECK-LABEL: func private @columns
// CHECK: scf.if
// CHECK-NEXT: vector.load {{.*}} vector<4xf32>
// CHECK: } else {
// CHECK: memref.load
#rows = affine_set<(i, j) : (i - 1 >= 0, 8 - i >= 0)>
#some = affine_set<(i, j)[n] : (i - 1 >= 0, n - i >= 0)>
#columns = affine_set<(i, j) : (j - 4 >= 0)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64, access_bytes = 16 : i64}>} {
  func.func private @rows(%x: memref<10x16xf32, strided<[16, 1], offset: ?>>, %o: memref<8x16xf32>) attributes {
      tilewright.kernel, tilewright.access = ["read", "write"], tilewright.aligned = array<i64: 0>,
      tilewright.padding = [{fill = 7.0 : f32, inside = #rows, symbols = array<i64>}, unit],
      tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true]} : memref<10x16xf32, strided<[16, 1], offset: ?>>, vector<8x16xf32>
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, memref<8x16xf32>
    return
  }
  func.func private @dynamic(%x: memref<10x16xf32, strided<[16, 1], offset: ?>>, %o: memref<8x16xf32>, %n: index) attributes {
      tilewright.kernel, tilewright.access = ["read", "write"], tilewright.aligned = array<i64: 0>,
      tilewright.padding = [{fill = 7.0 : f32, inside = #some, symbols = array<i64: 2>}, unit],
      tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true]} : memref<10x16xf32, strided<[16, 1], offset: ?>>, vector<8x16xf32>
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, memref<8x16xf32>
    return
  }
  func.func private @columns(%x: memref<10x16xf32, strided<[16, 1], offset: ?>>, %o: memref<8x16xf32>) attributes {
      tilewright.kernel, tilewright.access = ["read", "write"], tilewright.aligned = array<i64: 0>,
      tilewright.padding = [{fill = 7.0 : f32, inside = #columns, symbols = array<i64>}, unit],
      tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true]} : memref<10x16xf32, strided<[16, 1], offset: ?>>, vector<8x16xf32>
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, memref<8x16xf32>
    return
  }
}
