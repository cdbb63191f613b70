// RUN: tilewright-opt %s -tilewright-convert-to-spirv | FileCheck %s

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
module attributes {tilewright.target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8, float_controls}>} {

// One binding under two types is aliased; one that is only read is NonWritable.
// CHECK-LABEL: spirv.module @AliasesBindings Logical GLSL450
// CHECK-SAME: #spirv.vce<v1.6, [Shader, GroupNonUniform, SignedZeroInfNanPreserve, RoundingModeRTE], []>
// CHECK: @arg0_4xf32 bind(0, 0) {aliased, non_writable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<vector<4xf32>, stride=16> [0])>, StorageBuffer>
// CHECK: @arg0 bind(0, 0) {aliased, non_writable} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
// CHECK: @arg1_4xf32 bind(0, 1) {restrict}
// CHECK: @scalars : !spirv.ptr<!spirv.struct<(i32 [0])>, PushConstant>
// CHECK: spirv.func @AliasesBindings() "None" attributes {tilewright.kernel, tilewright.launch
// CHECK: %[[I:.*]] = spirv.Load "PushConstant"
// CHECK: %[[CHUNK:.*]] = spirv.ShiftRightArithmetic %[[I]],
// CHECK: spirv.AccessChain %{{.*}}[%{{.*}}, %[[CHUNK]]] : {{.*}} -> !spirv.ptr<vector<4xf32>, StorageBuffer>
// CHECK: %[[V:.*]] = spirv.Load "StorageBuffer" %{{.*}} : vector<4xf32>
// A vector that is only moved is not taken apart.
// CHECK: spirv.Store "StorageBuffer" %{{.*}}, %[[V]] : vector<4xf32>
// CHECK: spirv.AccessChain %{{.*}}[%{{.*}}, %[[I]]] : {{.*}} -> !spirv.ptr<f32, StorageBuffer>
// CHECK: spirv.EntryPoint "GLCompute" @AliasesBindings, @arg0_4xf32, @arg0, @arg1_4xf32, @arg2, @scalars, @SubgroupLocalInvocationId
// CHECK: spirv.ExecutionMode @AliasesBindings "LocalSize", 64, 1, 1
// CHECK: spirv.ExecutionMode @AliasesBindings "SignedZeroInfNanPreserve", 32
// CHECK: spirv.ExecutionMode @AliasesBindings "RoundingModeRTE", 32
func.func private @AliasesBindings(%a: memref<?xf32>, %o: memref<?xf32>, %s: memref<?xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %lane = gpu.lane_id
  %v = vector.load %a[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
  vector.store %v, %o[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
  %x = memref.load %a[%i] : memref<?xf32>
  memref.store %x, %s[%lane] : memref<?xf32>
  return
}

// Numbers of chunks: what is a multiple needs no division, and constants stay.
// CHECK-LABEL: spirv.module @DividesIndices
// CHECK-DAG: %[[C5:.*]] = spirv.Constant 5 : i32
// CHECK-DAG: %[[C2:.*]] = spirv.Constant 2 : i32
// CHECK: %[[I:.*]] = spirv.Load "PushConstant"
// CHECK: %[[LANES:.*]] = spirv.IMul %{{.*}}, %[[C2]] : i32
// CHECK: %[[REST:.*]] = spirv.ShiftRightArithmetic %[[I]], %[[C2]]
// CHECK: %[[SUM:.*]] = spirv.IAdd %[[LANES]], %[[REST]]
// CHECK: %[[CHUNK:.*]] = spirv.IAdd %[[SUM]], %[[C5]]
// CHECK: spirv.AccessChain %{{.*}}[%{{.*}}, %[[CHUNK]]]
func.func private @DividesIndices(%a: memref<?xf32>, %o: memref<?xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %c8 = arith.constant 8 : index
  %c20 = arith.constant 20 : index
  %lane = gpu.lane_id
  %l = arith.muli %lane, %c8 : index
  %s = arith.addi %l, %i : index
  %t = arith.addi %s, %c20 : index
  %v = vector.load %a[%t] {alignment = 16} : memref<?xf32>, vector<4xf32>
  vector.store %v, %o[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
  return
}

// Types of 16 bits are moved 16 bytes at a time as words.
// CHECK-LABEL: spirv.module @LoadsEightHalves
// CHECK: @arg0_4xi32 bind(0, 0)
// CHECK: %[[V:.*]] = spirv.Load "StorageBuffer" %{{.*}} : vector<4xi32>
// CHECK: %[[W:.*]] = spirv.CompositeExtract %[[V]][2 : i32] : vector<4xi32>
// CHECK: %[[H:.*]] = spirv.Bitcast %[[W]] : i32 to vector<2xf16>
// CHECK: %[[X:.*]] = spirv.CompositeExtract %[[H]][1 : i32] : vector<2xf16>
// CHECK: spirv.Store "StorageBuffer" %{{.*}}, %[[X]] : f16
func.func private @LoadsEightHalves(%a: memref<?xf16>, %o: memref<?xf16>, %i: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %v = vector.load %a[%i] {alignment = 16} : memref<?xf16>, vector<8xf16>
  %x = vector.extract %v[5] : f16 from vector<8xf16>
  memref.store %x, %o[%i] : memref<?xf16>
  return
}

// Without its alignment a vector is accessed by elements.
// CHECK-LABEL: spirv.module @SplitsUnalignedVectors
// CHECK-NOT: vector<
// CHECK-COUNT-4: spirv.Load "StorageBuffer" %{{.*}} : f32
func.func private @SplitsUnalignedVectors(%a: memref<?xf32>, %o: memref<?xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %v = vector.load %a[%i] : memref<?xf32>, vector<4xf32>
  vector.store %v, %o[%i] {alignment = 4} : memref<?xf32>, vector<4xf32>
  return
}

// Shared memory is one array of what it is accessed in; scalars are components.
// CHECK-LABEL: spirv.module @ChunksSharedMemory
// CHECK: spirv.GlobalVariable @shared0 : !spirv.ptr<!spirv.array<16 x vector<4xf32>>, Workgroup>
// CHECK: spirv.GlobalVariable @shared1 : !spirv.ptr<!spirv.array<64 x i8>, Workgroup>
// CHECK: spirv.Store "Workgroup" %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory>
// CHECK: %[[COMPONENT:.*]] = spirv.BitwiseAnd %[[I:.*]], %{{.*}} : i32
// CHECK: %[[CHUNK:.*]] = spirv.ShiftRightLogical %[[I]]
// CHECK: spirv.AccessChain %{{.*}}[%[[CHUNK]], %[[COMPONENT]]] : {{.*}} -> !spirv.ptr<f32, Workgroup>
func.func private @ChunksSharedMemory(%a: memref<?xf32>, %o: memref<?xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  %s = memref.alloc() : memref<64xf32, #tilewright.shared>
  %t = memref.alloc() : memref<64xi1, #tilewright.shared>
  %true = arith.constant true
  memref.store %true, %t[%i] : memref<64xi1, #tilewright.shared>
  %v = vector.load %a[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
  vector.store %v, %s[%i] {alignment = 16} : memref<64xf32, #tilewright.shared>, vector<4xf32>
  gpu.barrier
  %x = memref.load %s[%i] : memref<64xf32, #tilewright.shared>
  memref.store %x, %o[%i] : memref<?xf32>
  return
}

// More than 128 bytes of scalars do not fit push constants.
// CHECK-LABEL: spirv.module @PassesScalarsInUniformBuffer
// CHECK: spirv.GlobalVariable @scalars bind(1, 0) : !spirv.ptr<!spirv.struct<(i64 [0], i32 [8], f32 [12], i64 [16], {{.*}}>, Uniform>
func.func private @PassesScalarsInUniformBuffer(%o: memref<?xi64>, %a: i64, %b: i8, %c: f32,
    %d0: i64, %d1: i64, %d2: i64, %d3: i64, %d4: i64, %d5: i64, %d6: i64, %d7: i64,
    %d8: i64, %d9: i64, %da: i64, %db: i64, %dc: i64, %dd: i64, %de: i64, %i: index)
    attributes {tilewright.kernel, tilewright.launch = #launch} {
  memref.store %de, %o[%i] : memref<?xi64>
  return
}

// CHECK-LABEL: spirv.module @IndexesWith64Bits
// CHECK: struct<(i64 [0])>, PushConstant>
// CHECK: spirv.IAdd %{{.*}}, %{{.*}} : i64
func.func private @IndexesWith64Bits(%o: memref<?xf32>, %i: index)
    attributes {tilewright.kernel, tilewright.launch = #launch, tilewright.index_bits = 64 : i64} {
  %j = arith.addi %i, %i : index
  %x = memref.load %o[%j] : memref<?xf32>
  memref.store %x, %o[%i] : memref<?xf32>
  return
}
}
