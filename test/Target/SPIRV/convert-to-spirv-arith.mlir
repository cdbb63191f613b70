// RUN: tilewright-opt %s -tilewright-convert-to-spirv | FileCheck %s

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
module attributes {tilewright.target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>} {

// CHECK-LABEL: spirv.module @FusesOnlyFma
// CHECK: spirv.FMul %{{.*}} {no_contraction} : f32
// CHECK: spirv.FAdd %{{.*}} {no_contraction} : f32
// CHECK: spirv.GL.Fma %{{.*}} {no_contraction} : f32
// CHECK: spirv.FMul %{{.*}}, %{{[^ ]*}} : f32
func.func private @FusesOnlyFma(%o: memref<?xf32>, %i: index, %x: f32)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %m = arith.mulf %x, %x : f32
  %s = arith.addf %m, %x : f32
  %f = math.fma %s, %x, %x : f32
  %c = arith.mulf %f, %x fastmath<contract> : f32
  memref.store %c, %o[%i] : memref<?xf32>
  return
}

// relu is one comparison, and gives NaN for NaN.
// CHECK-LABEL: spirv.module @ComparesOnceWithConstants
// CHECK: %[[C:.*]] = spirv.FUnordGreaterThan %[[X:.*]], %[[ZERO:.*]] : f32
// CHECK-NEXT: spirv.Select %[[C]], %[[X]], %[[ZERO]]
// CHECK-NOT: IsNan
func.func private @ComparesOnceWithConstants(%o: memref<?xf32>, %i: index, %x: f32)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %zero = arith.constant 0.0 : f32
  %r = arith.maximumf %x, %zero : f32
  memref.store %r, %o[%i] : memref<?xf32>
  return
}

// CHECK-LABEL: spirv.module @ComparesWords
// CHECK: spirv.SLessThanEqual %{{.*}}, %cst2_i32{{[_0-9]*}} : i32
func.func private @ComparesWords(%o: memref<?xi64>, %i: index, %x: i32, %y: i64)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %zero = arith.constant 0 : i64
  %two = arith.constant 2 : i64
  %w = arith.extsi %x : i32 to i64
  %c = arith.cmpi sle, %w, %two : i64
  %r = arith.select %c, %y, %zero : i64
  memref.store %r, %o[%i] : memref<?xi64>
  return
}

// CHECK-LABEL: spirv.module @PropagatesNaN
// CHECK: spirv.FUnordLessThan
// CHECK: spirv.IsNan
// CHECK: spirv.BitwiseOr
// CHECK: spirv.FOrdEqual
func.func private @PropagatesNaN(%o: memref<?xf32>, %i: index, %x: f32, %y: f32)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %r = arith.minimumf %x, %y : f32
  memref.store %r, %o[%i] : memref<?xf32>
  return
}

// bf16 is i16 in memory and f32 in arithmetic.
// CHECK-LABEL: spirv.module @ComputesBF16InF32
// CHECK: !spirv.rtarray<i16, stride=2>
// CHECK: spirv.UConvert %{{.*}} : i16 to i32
// CHECK: spirv.ShiftLeftLogical
// CHECK: spirv.FAdd %{{.*}} : f32
// CHECK: spirv.IsNan
// CHECK: spirv.UConvert %{{.*}} : i32 to i16
func.func private @ComputesBF16InF32(%o: memref<?xbf16>, %i: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %x = memref.load %o[%i] : memref<?xbf16>
  %r = arith.addf %x, %x : bf16
  memref.store %r, %o[%i] : memref<?xbf16>
  return
}

// Indices have 32 bits, and a signed remainder avoids OpSRem.
// CHECK-LABEL: spirv.module @ComputesIndices
// CHECK: spirv.UDiv %{{.*}} : i32
// CHECK: %[[Q:.*]] = spirv.SDiv %[[A:.*]], %[[B:.*]] : i32
// CHECK: %[[P:.*]] = spirv.IMul %[[Q]], %[[B]]
// CHECK: spirv.ISub %[[A]], %[[P]]
// CHECK-NOT: SRem
// CHECK: spirv.SConvert %{{.*}} : i32 to i64
func.func private @ComputesIndices(%o: memref<?xi64>, %i: index, %j: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %d = arith.divui %i, %j : index
  %r = arith.remsi %d, %j : index
  %v = arith.index_cast %r : index to i64
  memref.store %v, %o[%i] : memref<?xi64>
  return
}

// CHECK-LABEL: spirv.module @StoresBoolsAsBytes
// CHECK: !spirv.rtarray<i8, stride=1>
// CHECK: spirv.INotEqual %{{.*}} : i8
// CHECK: spirv.LogicalAnd
// CHECK: spirv.Select %{{.*}} : i1, i8
func.func private @StoresBoolsAsBytes(%o: memref<?xi1>, %i: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %x = memref.load %o[%i] : memref<?xi1>
  %true = arith.cmpi eq, %i, %i : index
  %r = arith.andi %x, %true : i1
  memref.store %r, %o[%i] : memref<?xi1>
  return
}

// One bit is -1 or 1: shifted by 1 nothing is left of it, divided it is itself.
// CHECK-LABEL: spirv.module @ComputesBits
// CHECK: %[[NOT:.*]] = spirv.LogicalNot %[[Y:.*]] : i1
// CHECK-NEXT: %[[LEFT:.*]] = spirv.LogicalAnd %[[X:.*]], %[[NOT]] : i1
// CHECK-NEXT: %[[SUM:.*]] = spirv.LogicalOr %[[LEFT]], %[[X]] : i1
// CHECK-NEXT: %[[ZEROS:.*]] = spirv.LogicalNot %[[SUM]] : i1
// CHECK-NEXT: spirv.LogicalAnd %[[ZEROS]], %[[X]] : i1
func.func private @ComputesBits(%o: memref<?xi1>, %i: index, %j: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %x = memref.load %o[%i] : memref<?xi1>
  %y = memref.load %o[%j] : memref<?xi1>
  %l = arith.shli %x, %y : i1
  %d = arith.divui %x, %y : i1
  %s = arith.ori %l, %d : i1
  %z = math.ctlz %s : i1
  %a = math.absi %x : i1
  %r = arith.andi %z, %a : i1
  memref.store %r, %o[%i] : memref<?xi1>
  return
}
}
