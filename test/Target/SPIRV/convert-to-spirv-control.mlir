// RUN: tilewright-opt %s -tilewright-convert-to-spirv | FileCheck %s

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
module attributes {tilewright.target = #tilewright.target<"vulkan:1.2", "spirv", {version = "1.2", subgroup = 8}>} {

// CHECK-LABEL: spirv.module @CarriesValuesThroughLoops
// CHECK-SAME: #spirv.vce<v1.5, [Shader], []>
// CHECK: %[[R:.*]]:3 = spirv.mlir.loop -> f32, f32, f32 {
// CHECK:   spirv.Branch ^[[HEADER:.*]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, f32, f32, f32)
// CHECK: ^[[HEADER]](%[[I:.*]]: i32, %[[X:.*]]: f32, %[[V0:.*]]: f32, %[[V1:.*]]: f32):
// CHECK:   %[[MORE:.*]] = spirv.SLessThan %[[I]], %{{.*}} : i32
// CHECK:   spirv.BranchConditional %[[MORE]], ^[[BODY:.*]], ^[[MERGE:.*]]
// CHECK: ^[[BODY]]:
// CHECK:   %[[SUM:.*]] = spirv.FAdd %[[X]], %{{.*}} {no_contraction} : f32
// CHECK:   spirv.Branch ^[[NEXT:.*]](%[[V1]], %[[SUM]], %[[V0]] : f32, f32, f32)
// CHECK: ^[[NEXT]](%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32):
// CHECK:   %[[STEP:.*]] = spirv.IAdd %[[I]]
// CHECK:   spirv.Branch ^[[HEADER]](%[[STEP]], %[[A]], %[[B]], %[[C]] :
// CHECK: ^[[MERGE]]:
// CHECK:   spirv.mlir.merge %[[X]], %[[V0]], %[[V1]] : f32, f32, f32
// CHECK: spirv.Store "StorageBuffer" %{{.*}}, %[[R]]#0 : f32
func.func private @CarriesValuesThroughLoops(%o: memref<?xf32>, %n: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %v = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  %r, %w = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %u = %v) -> (f32, vector<2xf32>) {
    %u0 = vector.extract %u[0] : f32 from vector<2xf32>
    %u1 = vector.extract %u[1] : f32 from vector<2xf32>
    %y = arith.addf %x, %u0 : f32
    %t = vector.from_elements %y, %u0 : vector<2xf32>
    scf.yield %u1, %t : f32, vector<2xf32>
  }
  memref.store %r, %o[%c0] : memref<?xf32>
  return
}

// CHECK-LABEL: spirv.module @SelectsValues
// CHECK: %[[R:.*]] = spirv.mlir.selection -> f32 {
// CHECK:   spirv.BranchConditional %{{.*}}, ^[[THEN:.*]], ^[[ELSE:.*]]
// CHECK: ^[[THEN]]:
// CHECK:   spirv.Branch ^[[MERGE:.*]](%{{.*}} : f32)
// CHECK: ^[[ELSE]]:
// CHECK:   spirv.Branch ^[[MERGE]](%{{.*}} : f32)
// CHECK: ^[[MERGE]](%[[X:.*]]: f32):
// CHECK:   spirv.mlir.merge %[[X]] : f32
func.func private @SelectsValues(%o: memref<?xf32>, %i: index, %c: i1)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %zero = arith.constant 0.0 : f32
  %r = scf.if %c -> f32 {
    %x = memref.load %o[%i] : memref<?xf32>
    scf.yield %x : f32
  } else {
    scf.yield %zero : f32
  }
  memref.store %r, %o[%i] : memref<?xf32>
  return
}

// The test of a while loop has a block of its own.
// CHECK-LABEL: spirv.module @TestsWhileLoops
// CHECK: spirv.mlir.loop -> i32 {
// CHECK: ^[[HEADER:.*]](%[[V:.*]]: i32):
// CHECK:   spirv.Branch ^[[TEST:.*]]
// CHECK: ^[[TEST]]:
// CHECK:   spirv.SLessThan %[[V]]
// CHECK:   spirv.BranchConditional %{{.*}}, ^{{.*}}, ^[[MERGE:.*]]
// CHECK: ^[[MERGE]]:
// CHECK:   spirv.mlir.merge %[[V]] : i32
func.func private @TestsWhileLoops(%o: memref<?xi32>, %i: index, %n: i32)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %one = arith.constant 1 : i32
  %r = scf.while (%v = %one) : (i32) -> i32 {
    %more = arith.cmpi slt, %v, %n : i32
    scf.condition(%more) %v : i32
  } do {
  ^bb0(%v: i32):
    %w = arith.addi %v, %v : i32
    scf.yield %w : i32
  }
  memref.store %r, %o[%i] : memref<?xi32>
  return
}

// Lane and subgroup are built-ins; nothing derives them from the invocation.
// CHECK-LABEL: spirv.module @Shuffles
// CHECK-SAME: [Shader, Float16, Int16, GroupNonUniform, GroupNonUniformShuffle, StorageBuffer16BitAccess]
// CHECK-NOT: built_in("LocalInvocation
// CHECK: built_in("SubgroupLocalInvocationId")
// CHECK: built_in("SubgroupId")
// CHECK: spirv.GroupNonUniformShuffleXor <Subgroup> %{{.*}}, %{{.*}} : f32, i32
// CHECK: %[[BITS:.*]] = spirv.Bitcast %{{.*}} : f16 to i16
// CHECK: %[[WORD:.*]] = spirv.UConvert %[[BITS]] : i16 to i32
// CHECK: spirv.GroupNonUniformShuffle <Subgroup> %[[WORD]], %{{.*}} : i32, i32
func.func private @Shuffles(%a: memref<?xf32>, %h: memref<?xf16>)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %lane = gpu.lane_id
  %sg = gpu.subgroup_id : index
  %width = arith.constant 8 : i32
  %four = arith.constant 4 : i32
  %x = memref.load %a[%lane] : memref<?xf32>
  %y, %p = gpu.shuffle xor %x, %four, %width : f32
  memref.store %y, %a[%sg] : memref<?xf32>
  %u = memref.load %h[%lane] : memref<?xf16>
  %w, %q = gpu.shuffle idx %u, %four, %width : f16
  memref.store %w, %h[%sg] : memref<?xf16>
  return
}
}
