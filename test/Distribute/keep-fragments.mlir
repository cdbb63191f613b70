// RUN: tilewright-opt %s -split-input-file -tilewright-keep-fragments | FileCheck %s

#launch = #tilewright.launch<threads = 16, subgroup = 8, tiles = affine_map<() -> (1)>>
#config = #tilewright.lowering_config<strategy = matrix_unit, block = [16, 16, 16], warps = [2, 1, 1], promote = [0, 1], mma = "coopmat.m8n8k8.f16.f32">
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
module attributes {tilewright.target = #tilewright.target<"vulkan:1.3", "spirv", {subgroup = 8, mma = ["coopmat.m8n8k8.f16.f32", "coopmat.m8n8k8.f16.f16", "coopmat.m8n8k8.s8.s32"]}>} {

// A chain without coordinates is one body, bools in between included; what it takes
// of memory is read into fragments. Another accumulator type begins with a
// conversion of whole matrices.
// CHECK-LABEL: func.func private @chain
// CHECK-SAME: tilewright.explain = ["operand 0 is read into fragments", "the result stays in fragments, which are written to operand 1"]
// CHECK: %[[N:.*]] = tilewright.mma
// CHECK: %[[C:.*]] = vector.transfer_read %arg0[{{.*}}tilewright.layouts = [#tilewright.layout<"{{.*}}opaque=acc
// CHECK: %[[M:.*]] = tilewright.map_fragments %[[N]], %[[C]] : (vector<16x16xf32>, vector<16x16xf32>) -> vector<16x16xf32> attributes {tilewright.layouts = [#tilewright.layout<"{{.*}}opaque=acc
// CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK: %[[Q:.*]] = arith.cmpf ogt, %[[S]], %{{.*}} : f32
// CHECK: %[[W:.*]] = arith.mulf %[[S]], %arg2 : f32
// CHECK: %[[R:.*]] = arith.select %[[Q]], %[[S]], %[[W]] : f32
// CHECK: tilewright.yield %[[R]] : f32
// CHECK: %[[H:.*]] = arith.truncf %[[M]] {tilewright.layouts = [#tilewright.layout<"{{.*}}opaque=acc
// CHECK: vector.transfer_write %[[H]], %arg1{{.*}}tilewright.layouts = [#tilewright.layout<"{{.*}}opaque=acc
func.func private @chain(%c: memref<16x16xf32>, %out: memref<16x16xf16>, %slope: f32)
    attributes {tilewright.kernel, tilewright.explain = [], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %i = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %sa = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
  %n = tilewright.mma %sa, %sa, %zero {instruction = "coopmat.m8n8k8.f16.f32", maps = #maps}
      : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, vector<16x16xf32>
  %r = vector.transfer_read %c[%i, %i], %pad {in_bounds = [true, true]} : memref<16x16xf32>, vector<16x16xf32>
  %s = arith.addf %n, %r : vector<16x16xf32>
  %positive = arith.cmpf ogt, %s, %zero : vector<16x16xf32>
  %slopes = vector.broadcast %slope : f32 to vector<16x16xf32>
  %small = arith.mulf %s, %slopes : vector<16x16xf32>
  %t = arith.select %positive, %s, %small : vector<16x16xi1>, vector<16x16xf32>
  %h = arith.truncf %t : vector<16x16xf32> to vector<16x16xf16>
  vector.transfer_write %h, %out[%i, %i] {in_bounds = [true, true]} : vector<16x16xf16>, memref<16x16xf16>
  return
}

// Tiles that may be clipped are told from whole ones, for the first value and for
// the result, where rows are known to be aligned.
// CHECK-LABEL: func.func private @clipped
// CHECK-SAME: "operand 0 is read into fragments where the tile is whole; clipped tiles go through shared memory"
// CHECK-SAME: "the result stays in fragments, which are written to operand 0 where the tile is whole; clipped tiles go through shared memory"
// CHECK: %[[END:.*]] = arith.addi %arg1, %c16
// CHECK: %[[ROWS:.*]] = memref.dim %arg0, %c0
// CHECK: arith.cmpi sle, %[[END]], %[[ROWS]]
// CHECK: %[[WHOLE:.*]] = arith.andi
// CHECK: %[[C:.*]] = scf.if %[[WHOLE]] -> (vector<16x16xf32>) {
// CHECK: vector.transfer_read {{.*}}in_bounds = [true, true], tilewright.layouts = [#tilewright.layout<"{{.*}}opaque=acc
// CHECK: } else {
// CHECK: tilewright.convert_layout %{{.*}} to <"{{.*}}opaque=acc
// CHECK: tilewright.mma %{{.*}}, %{{.*}}, %[[C]]
// CHECK: scf.if
// CHECK: vector.transfer_write {{.*}}in_bounds = [true, true], tilewright.layouts
// CHECK: } else {
// CHECK: %[[P:.*]] = tilewright.convert_layout %{{.*}} from <"{{.*}}opaque=acc
// CHECK: vector.transfer_write %[[P]], %arg0[%arg1, %{{.*}}] : vector
func.func private @clipped(%out: memref<?x?xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.explain = [], tilewright.divisible = array<i64: 0, 1, 4>, tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %j = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %sa = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
  %c = vector.transfer_read %out[%i, %j], %pad : memref<?x?xf32>, vector<16x16xf32>
  %n = tilewright.mma %sa, %sa, %c {instruction = "coopmat.m8n8k8.f16.f32", maps = #maps}
      : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, vector<16x16xf32>
  vector.transfer_write %n, %out[%i, %j] : vector<16x16xf32>, memref<?x?xf32>
  return
}

// CHECK-LABEL: func.func private @unaligned
// CHECK-SAME: tilewright.explain = ["the result leaves its fragments through shared memory: rows of operand 0 are not known to begin at multiples of 16 bytes"]
// CHECK-NOT: scf.if
// CHECK: return
func.func private @unaligned(%out: memref<16x30xf32>)
    attributes {tilewright.kernel, tilewright.explain = [], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %i = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %sa = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
  %n = tilewright.mma %sa, %sa, %zero {instruction = "coopmat.m8n8k8.f16.f32", maps = #maps}
      : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, vector<16x16xf32>
  vector.transfer_write %n, %out[%i, %i] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x30xf32>
  return
}

// A bias has coordinates; what is in front of it stays.
// CHECK-LABEL: func.func private @bias
// CHECK-SAME: tilewright.explain = ["the result leaves its fragments through shared memory: arith.addf takes what is no fragment (operand 0 is broadcast along rows or columns)"]
// CHECK: tilewright.map_fragments
// CHECK: arith.addf {{.*}} : vector<16x16xf32>
func.func private @bias(%bias: memref<16xf32>, %out: memref<16x16xf32>)
    attributes {tilewright.kernel, tilewright.explain = [], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %i = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %sa = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
  %n = tilewright.mma %sa, %sa, %zero {instruction = "coopmat.m8n8k8.f16.f32", maps = #maps}
      : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, vector<16x16xf32>
  %m = arith.maximumf %n, %zero : vector<16x16xf32>
  %b = vector.transfer_read %bias[%i], %pad {permutation_map = affine_map<(d0) -> (0, d0)>, in_bounds = [true, true]} : memref<16xf32>, vector<16x16xf32>
  %s = arith.addf %m, %b : vector<16x16xf32>
  vector.transfer_write %s, %out[%i, %i] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
  return
}

// A running result that is scaled by rows stays in fragments, though it is the last of
// several products (a step along k each) that the loop carries.
// CHECK-LABEL: func.func private @rescaled
// CHECK-SAME: tilewright.explain = ["the result stays in fragments, which are written to operand 1"]
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}}) -> (vector<16x16xf32>)
// CHECK: %[[F:.*]] = vector.broadcast %{{.*}} : vector<16x1xf32> to vector<16x16xf32>
// CHECK: %[[R:.*]] = tilewright.map_fragments %[[C]], %[[F]] : (vector<16x16xf32>, vector<16x16xf32>) -> vector<16x16xf32>
// CHECK: tilewright.mma %{{.*}}, %{{.*}}, %[[R]]
// CHECK-NOT: convert_layout
func.func private @rescaled(%factors: memref<16xf32>, %out: memref<16x16xf32>, %steps: index)
    attributes {tilewright.kernel, tilewright.explain = [], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %i = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %sa = memref.alloc() : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>
  %sum = scf.for %step = %i to %steps step %one iter_args(%c = %zero) -> (vector<16x16xf32>) {
    %f = vector.transfer_read %factors[%i], %pad {in_bounds = [true]} : memref<16xf32>, vector<16xf32>
    %column = vector.shape_cast %f : vector<16xf32> to vector<16x1xf32>
    %wide = vector.broadcast %column : vector<16x1xf32> to vector<16x16xf32>
    %r = arith.mulf %c, %wide : vector<16x16xf32>
    %n = tilewright.mma %sa, %sa, %r {instruction = "coopmat.m8n8k8.f16.f32", maps = #maps}
        : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, vector<16x16xf32>
    %m = tilewright.mma %sa, %sa, %n {instruction = "coopmat.m8n8k8.f16.f32", maps = #maps}
        : memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, memref<16x16xf16, strided<[24, 1]>, #tilewright.shared>, vector<16x16xf32>
    scf.yield %m : vector<16x16xf32>
  }
  vector.transfer_write %sum, %out[%i, %i] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
  return
}

// Sums of bytes are scaled as floats, whole; bytes are no accumulators, so what
// makes them is done by threads.
// CHECK-LABEL: func.func private @bytes
// CHECK-SAME: tilewright.explain = ["the result leaves its fragments through shared memory: the target has no accumulator of i8 in the product's shape"]
// CHECK: %[[F:.*]] = arith.sitofp %{{.*}} {tilewright.layouts = {{.*}} : vector<16x16xi32> to vector<16x16xf32>
// CHECK: tilewright.map_fragments %[[F]]
// CHECK: arith.fptosi %{{.*}} {tilewright.layouts = {{.*}} : vector<16x16xf32> to vector<16x16xi32>
// CHECK: arith.trunci %{{.*}} : vector<16x16xi32> to vector<16x16xi8>
func.func private @bytes(%out: memref<16x16xi8>)
    attributes {tilewright.kernel, tilewright.explain = [], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %i = arith.constant 0 : index
  %zero = arith.constant dense<0> : vector<16x16xi32>
  %half = arith.constant dense<0.5> : vector<16x16xf32>
  %sa = memref.alloc() : memref<16x16xi8, strided<[32, 1]>, #tilewright.shared>
  %n = tilewright.mma %sa, %sa, %zero {instruction = "coopmat.m8n8k8.s8.s32", maps = #maps}
      : memref<16x16xi8, strided<[32, 1]>, #tilewright.shared>, memref<16x16xi8, strided<[32, 1]>, #tilewright.shared>, vector<16x16xi32>
  %f = arith.sitofp %n : vector<16x16xi32> to vector<16x16xf32>
  %s = arith.mulf %f, %half : vector<16x16xf32>
  %k = arith.fptosi %s : vector<16x16xf32> to vector<16x16xi32>
  %t = arith.trunci %k : vector<16x16xi32> to vector<16x16xi8>
  vector.transfer_write %t, %out[%i, %i] {in_bounds = [true, true]} : vector<16x16xi8>, memref<16x16xi8>
  return
}
}

// -----

#launch = #tilewright.launch<threads = 16, subgroup = 8, tiles = affine_map<() -> (1)>>
#config = #tilewright.lowering_config<strategy = matrix_unit, block = [16, 16, 16], warps = [2, 1, 1], promote = [0, 1], mma = "coopmat.m8n8k8.s8.s32">
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]

// With no fragments of f32 beside those of i32, floats are inside of the body.
module attributes {tilewright.target = #tilewright.target<"vulkan:1.3", "spirv", {subgroup = 8, mma = ["coopmat.m8n8k8.s8.s32"]}>} {
// CHECK-LABEL: func.func private @inside
// CHECK: tilewright.map_fragments %{{.*}} : (vector<16x16xi32>) -> vector<16x16xi32>
// CHECK: arith.sitofp %{{.*}} : i32 to f32
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.fptosi %{{.*}} : f32 to i32
// CHECK: tilewright.yield %{{.*}} : i32
func.func private @inside(%out: memref<16x16xi32>)
    attributes {tilewright.kernel, tilewright.explain = [], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %i = arith.constant 0 : index
  %zero = arith.constant dense<0> : vector<16x16xi32>
  %half = arith.constant dense<0.5> : vector<16x16xf32>
  %sa = memref.alloc() : memref<16x16xi8, strided<[32, 1]>, #tilewright.shared>
  %n = tilewright.mma %sa, %sa, %zero {instruction = "coopmat.m8n8k8.s8.s32", maps = #maps}
      : memref<16x16xi8, strided<[32, 1]>, #tilewright.shared>, memref<16x16xi8, strided<[32, 1]>, #tilewright.shared>, vector<16x16xi32>
  %f = arith.sitofp %n : vector<16x16xi32> to vector<16x16xf32>
  %s = arith.mulf %f, %half : vector<16x16xf32>
  %k = arith.fptosi %s : vector<16x16xf32> to vector<16x16xi32>
  vector.transfer_write %k, %out[%i, %i] {in_bounds = [true, true]} : vector<16x16xi32>, memref<16x16xi32>
  return
}
}
