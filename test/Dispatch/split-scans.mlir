// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-split-scans))" -split-input-file | FileCheck %s

// Without a target, and where blocks are not promised to go on, in chunks.
// CHECK-LABEL: @chunks
// CHECK: %[[T:.*]] = tilewright.scan ins(%arg0 : {{.*}}) chunk(%c64{{.*}}) outs(%{{.*}} : tensor<1x79x1xf32>) {dim = 1 : i64, totals}
// CHECK: %[[P:.*]] = tilewright.scan ins(%[[T]] : tensor<1x79x1xf32>) outs(%{{.*}}) {dim = 1 : i64}
// CHECK: tilewright.scan ins(%arg0 : {{.*}}) init(%[[P]] : {{.*}}) chunk(%c64{{.*}}) outs(%{{.*}}) {carried, dim = 1 : i64}
func.func @chunks(%x: tensor<1x5000x1xf32>, %e: tensor<1x5000x1xf32>) -> tensor<1x5000x1xf32> {
  %r = tilewright.scan ins(%x : tensor<1x5000x1xf32>) outs(%e : tensor<1x5000x1xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<1x5000x1xf32>
  return %r : tensor<1x5000x1xf32>
}

// The host decides.
// CHECK-LABEL: @dynamic
// CHECK: %[[LONG:.*]] = arith.andi
// CHECK: scf.if %[[LONG]]
// CHECK: tilewright.scan {{.*}} chunk(%[[N:.*]]) outs(%{{.*}}) {dim = 1 : i64, reverse, totals}
// CHECK: %[[P:.*]] = tilewright.scan {{.*}} init(%{{.*}} : tensor<1x1xf32>) outs(%{{.*}}) {dim = 1 : i64, exclusive}
// CHECK: tilewright.scan {{.*}} init(%[[P]] : {{.*}}) chunk(%[[N]]) outs(%{{.*}}) {dim = 1 : i64, exclusive, reverse}
// CHECK: } else {
// CHECK: tilewright.scan {{.*}} init(%{{.*}} : tensor<1x1xf32>) outs(%{{.*}}) {dim = 1 : i64, exclusive, reverse}
func.func @dynamic(%x: tensor<1x?x1xf32>, %e: tensor<1x?x1xf32>, %s: tensor<1x1xf32>) -> tensor<1x?x1xf32> {
  %r = tilewright.scan ins(%x : tensor<1x?x1xf32>) init(%s : tensor<1x1xf32>) outs(%e : tensor<1x?x1xf32>) {dim = 1 : i64, exclusive, reverse} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<1x?x1xf32>
  return %r : tensor<1x?x1xf32>
}

// CHECK-LABEL: @short
// CHECK: %[[R:.*]] = tilewright.scan ins(%arg0 : tensor<4x100x3xf32>) outs(%arg1 : {{.*}}) {dim = 1 : i64} combine
// CHECK: return %[[R]]
func.func @short(%x: tensor<4x100x3xf32>, %e: tensor<4x100x3xf32>) -> tensor<4x100x3xf32> {
  %r = tilewright.scan ins(%x : tensor<4x100x3xf32>) outs(%e : tensor<4x100x3xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<4x100x3xf32>
  return %r : tensor<4x100x3xf32>
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, forward_progress}>} {

// In one pass: 2 x 33 tiles, in 2 x 2 groups.
// CHECK-LABEL: @lookBack
// CHECK: %[[E:.*]] = tensor.empty() : tensor<71xi32>
// CHECK: %[[STATES:.*]] = linalg.fill ins(%c0_i32 : i32) outs(%[[E]] : tensor<71xi32>)
// CHECK: %[[VALUES:.*]] = tensor.empty() : tensor<74xf32>
// CHECK: %[[R:.*]]:3 = tilewright.scan ins(%arg0 : {{.*}}) init(%arg2 : tensor<2x1xf32>) chunk(%c4096{{.*}}) outs(%{{.*}} : tensor<2x131073x1xf32>) scratch(%[[STATES]], %[[VALUES]] : tensor<71xi32>, tensor<74xf32>) {dim = 1 : i64, exclusive, look_back, reverse}
// CHECK: return %[[R]]#0
func.func @lookBack(%x: tensor<2x131073x1xf32>, %e: tensor<2x131073x1xf32>, %s: tensor<2x1xf32>) -> tensor<2x131073x1xf32> {
  %r = tilewright.scan ins(%x : tensor<2x131073x1xf32>) init(%s : tensor<2x1xf32>) outs(%e : tensor<2x131073x1xf32>) {dim = 1 : i64, exclusive, reverse} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<2x131073x1xf32>
  return %r : tensor<2x131073x1xf32>
}

// Rows of any number: each has blocks of its own.
// CHECK-LABEL: @rows
// CHECK: %[[LONG:.*]] = arith.cmpi ugt, %{{.*}}, %c256
// CHECK: scf.if %[[LONG]]
// CHECK: look_back
// CHECK: } else {
// CHECK: tilewright.scan {{.*}} outs(%{{.*}}) {dim = 1 : i64} combine
func.func @rows(%x: tensor<?x?x1xf32>, %e: tensor<?x?x1xf32>) -> tensor<?x?x1xf32> {
  %r = tilewright.scan ins(%x : tensor<?x?x1xf32>) outs(%e : tensor<?x?x1xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<?x?x1xf32>
  return %r : tensor<?x?x1xf32>
}

// Scans side by side: tiles of four columns, of which three are there. 64 threads a column have 16 elements each; five tiles, a group.
// CHECK-LABEL: @columns
// CHECK: tensor.empty() : tensor<7xi32>
// CHECK: %[[VALUES:.*]] = tensor.empty() : tensor<28xf32>
// CHECK: tilewright.scan {{.*}} chunk(%c1024{{.*}}) outs(%{{.*}} : tensor<1x5000x3xf32>) scratch(%{{.*}}, %[[VALUES]] : {{.*}}) {dim = 1 : i64, look_back}
func.func @columns(%x: tensor<1x5000x3xf32>, %e: tensor<1x5000x3xf32>) -> tensor<1x5000x3xf32> {
  %r = tilewright.scan ins(%x : tensor<1x5000x3xf32>) outs(%e : tensor<1x5000x3xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<1x5000x3xf32>
  return %r : tensor<1x5000x3xf32>
}

// Two blocks of 32 columns.
// CHECK-LABEL: @columnBlocks
// CHECK: tensor.empty() : tensor<85xi32>
// CHECK: tensor.empty() : tensor<2816xf32>
// CHECK: chunk(%c128{{.*}}) {{.*}} {dim = 1 : i64, look_back}
func.func @columnBlocks(%x: tensor<1x5000x40xf32>, %e: tensor<1x5000x40xf32>) -> tensor<1x5000x40xf32> {
  %r = tilewright.scan ins(%x : tensor<1x5000x40xf32>) outs(%e : tensor<1x5000x40xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<1x5000x40xf32>
  return %r : tensor<1x5000x40xf32>
}

// As many scans as fill a machine have a thread each, and so neighbours of neighbouring threads.
// CHECK-LABEL: @manyColumns
// CHECK-NOT: look_back
// CHECK-NOT: totals
func.func @manyColumns(%x: tensor<1x5000x4096xf32>, %e: tensor<1x5000x4096xf32>) -> tensor<1x5000x4096xf32> {
  %r = tilewright.scan ins(%x : tensor<1x5000x4096xf32>) outs(%e : tensor<1x5000x4096xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<1x5000x4096xf32>
  return %r : tensor<1x5000x4096xf32>
}

// How many lie side by side is not known: three kernels.
// CHECK-LABEL: @unknownColumns
// CHECK-NOT: look_back
// CHECK: totals
func.func @unknownColumns(%x: tensor<1x5000x?xf32>, %e: tensor<1x5000x?xf32>) -> tensor<1x5000x?xf32> {
  %r = tilewright.scan ins(%x : tensor<1x5000x?xf32>) outs(%e : tensor<1x5000x?xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<1x5000x?xf32>
  return %r : tensor<1x5000x?xf32>
}
}

// -----

// Threads of a CPU scan rows side by side from eight rows on; of another inner dim, scans are split as ever.
module attributes {tilewright.target = #tilewright.target<"test", "cpu", {subgroup = 1}>} {
// CHECK-LABEL: @rows_of_cpu
// CHECK-NOT: chunk(
// CHECK: return
func.func @rows_of_cpu(%x: tensor<8x5000x1xf32>, %e: tensor<8x5000x1xf32>) -> tensor<8x5000x1xf32> {
  %r = tilewright.scan ins(%x : tensor<8x5000x1xf32>) outs(%e : tensor<8x5000x1xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<8x5000x1xf32>
  return %r : tensor<8x5000x1xf32>
}
// CHECK-LABEL: @columns_of_cpu
// CHECK: tilewright.scan {{.*}} totals
func.func @columns_of_cpu(%x: tensor<8x5000x4xf32>, %e: tensor<8x5000x4xf32>) -> tensor<8x5000x4xf32> {
  %r = tilewright.scan ins(%x : tensor<8x5000x4xf32>) outs(%e : tensor<8x5000x4xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<8x5000x4xf32>
  return %r : tensor<8x5000x4xf32>
}
}
