// RUN: tilewright-opt %s -tilewright-read-runs | FileCheck %s

// Neighbours along a row, as long as the last of them is in it.
// CHECK-LABEL: @Rows
// CHECK-SAME: (%[[T:.*]]: memref<?x1024xf32>, %{{.*}}, %[[ROW:.*]]: index, %[[K:.*]]: index)
// CHECK: %[[LESS:.*]] = arith.cmpi sle, %[[K]], %c1023{{.*}} : index
// CHECK: %[[ROOM:.*]] = arith.subi %c1023{{.*}}, %[[K]] : index
// CHECK: %[[FITS:.*]] = arith.cmpi uge, %[[ROOM]], %c15{{.*}} : index
// CHECK: %[[INSIDE:.*]] = arith.andi %[[LESS]], %[[FITS]] : i1
// CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[K]] : index
// CHECK: %[[V:.*]] = scf.if %[[INSIDE]] -> (vector<16xf32>)
// CHECK:   %[[M:.*]] = memref.reinterpret_cast %[[T]] to offset: [%[[FIRST]]], sizes: [16], strides: [1]
// CHECK:   vector.load %[[M]]
// CHECK: else
// CHECK:   vector.gather
// CHECK: vector.store %[[V]]
func.func private @Rows(%t: memref<?x1024xf32>, %r: memref<16xf32>, %row: index, %k: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %last = arith.constant dense<1023> : vector<16xindex>
  %columns = arith.constant dense<1024> : vector<16xindex>
  %all = arith.constant dense<true> : vector<16xi1>
  %none = arith.constant dense<0.0> : vector<16xf32>
  %step = vector.step : vector<16xindex>
  %from = vector.broadcast %k : index to vector<16xindex>
  %at = arith.addi %from, %step : vector<16xindex>
  %held = arith.minsi %at, %last : vector<16xindex>
  %number = vector.broadcast %row : index to vector<16xindex>
  %begin = arith.muli %number, %columns : vector<16xindex>
  %place = arith.addi %begin, %held : vector<16xindex>
  %v = vector.gather %t[%c0, %c0] [%place], %all, %none : memref<?x1024xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.store %v, %r[%c0] : memref<16xf32>, vector<16xf32>
  return
}

// Backwards, counted in 32 bits, in which nothing may wrap around; under a condition for all lanes.
// CHECK-LABEL: @Reversed
// CHECK-SAME: %[[ANY:[^:]*]]: i1, %{{[^:]*}}: i32)
// CHECK: %[[FIRST:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[FITS:.*]] = arith.cmpi sge, %[[FIRST]], %c-2147483633{{.*}} : index
// CHECK: %[[BOTH:.*]] = arith.andi %[[FITS]], %[[ANY]] : i1
// CHECK: scf.if %[[BOTH]]
// CHECK:   %[[BEGIN:.*]] = arith.subi %[[FIRST]], %c15{{.*}} : index
// CHECK:   memref.reinterpret_cast %{{.*}} to offset: [%[[BEGIN]]], sizes: [16]
// CHECK:   %[[V:.*]] = vector.load
// CHECK:   vector.shuffle %[[V]], %[[V]] [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
func.func private @Reversed(%t: memref<4096xf16>, %r: memref<16xf16>, %any: i1, %k: i32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %last = arith.constant dense<4095> : vector<16xi32>
  %none = arith.constant dense<0.0> : vector<16xf16>
  %step = vector.step : vector<16xindex>
  %lane = arith.index_cast %step : vector<16xindex> to vector<16xi32>
  %from = vector.broadcast %k : i32 to vector<16xi32>
  %at = arith.addi %from, %lane : vector<16xi32>
  %back = arith.subi %last, %at : vector<16xi32>
  %place = arith.index_cast %back : vector<16xi32> to vector<16xindex>
  %mask = vector.broadcast %any : i1 to vector<16xi1>
  %v = vector.gather %t[%c0] [%place], %mask, %none : memref<4096xf16>, vector<16xindex>, vector<16xi1>, vector<16xf16> into vector<16xf16>
  vector.store %v, %r[%c0] : memref<16xf16>, vector<16xf16>
  return
}

// The same element in all lanes is read once.
// CHECK-LABEL: @Same
// CHECK-NOT: vector.gather
// CHECK: %[[X:.*]] = memref.load
// CHECK: vector.broadcast %[[X]] : f32 to vector<16xf32>
func.func private @Same(%t: memref<8x4xf32>, %r: memref<16xf32>, %k: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %all = arith.constant dense<true> : vector<16xi1>
  %none = arith.constant dense<0.0> : vector<16xf32>
  %place = vector.broadcast %k : index to vector<16xindex>
  %v = vector.gather %t[%c0, %c0] [%place], %all, %none : memref<8x4xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.store %v, %r[%c0] : memref<16xf32>, vector<16xf32>
  return
}

// Places that were read, or that lie further apart, and lanes with masks of their own.
// CHECK-LABEL: @Others
// CHECK-NOT: vector.load
// CHECK-COUNT-3: vector.gather
// CHECK: return
func.func private @Others(%t: memref<4096xf32>, %places: vector<16xi32>, %mask: vector<16xi1>, %r: memref<3x16xf32>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %all = arith.constant dense<true> : vector<16xi1>
  %two = arith.constant dense<2> : vector<16xindex>
  %none = arith.constant dense<0.0> : vector<16xf32>
  %step = vector.step : vector<16xindex>
  %apart = arith.muli %step, %two : vector<16xindex>
  %read = arith.index_cast %places : vector<16xi32> to vector<16xindex>
  %0 = vector.gather %t[%c0] [%read], %all, %none : memref<4096xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.store %0, %r[%c0, %c0] : memref<3x16xf32>, vector<16xf32>
  %1 = vector.gather %t[%c0] [%apart], %all, %none : memref<4096xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.store %1, %r[%c1, %c0] : memref<3x16xf32>, vector<16xf32>
  %2 = vector.gather %t[%c0] [%step], %mask, %none : memref<4096xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.store %2, %r[%c2, %c0] : memref<3x16xf32>, vector<16xf32>
  return
}

// Each row of a tile has a number that was read.
// CHECK-LABEL: @Tile
// CHECK: %[[NUMBERS:.*]] = vector.transfer_read
// CHECK-COUNT-2: scf.if
// CHECK: vector.store
func.func private @Tile(%t: memref<100x16xf32>, %numbers: memref<2xindex>, %r: memref<2x16xf32>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %last = arith.constant dense<15> : vector<2x16xindex>
  %columns = arith.constant dense<16> : vector<2x16xindex>
  %all = arith.constant dense<true> : vector<2x16xi1>
  %none = arith.constant dense<0.0> : vector<2x16xf32>
  %number = vector.transfer_read %numbers[%c0], %c0 {in_bounds = [true, true], permutation_map = affine_map<(d0) -> (d0, 0)>} : memref<2xindex>, vector<2x16xindex>
  %step = vector.step : vector<16xindex>
  %at = vector.broadcast %step : vector<16xindex> to vector<2x16xindex>
  %held = arith.minsi %at, %last : vector<2x16xindex>
  %begin = arith.muli %number, %columns : vector<2x16xindex>
  %place = arith.addi %begin, %held : vector<2x16xindex>
  %v = vector.gather %t[%c0, %c0] [%place], %all, %none : memref<100x16xf32>, vector<2x16xindex>, vector<2x16xi1>, vector<2x16xf32> into vector<2x16xf32>
  vector.store %v, %r[%c0, %c0] : memref<2x16xf32>, vector<2x16xf32>
  return
}
