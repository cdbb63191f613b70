// RUN: tilewright-opt %s -tilewright-convert-to-spirv | FileCheck %s

#launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>
module attributes {tilewright.target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 32, float_controls}>} {

// Fragments are cooperative matrices of the subgroup; strides count what the
// array in shared memory holds, chunks of four. The Vulkan memory model asks for
// marks on what others read and write.
// CHECK-LABEL: spirv.module @Product Logical Vulkan
// CHECK-SAME: VulkanMemoryModel, CooperativeMatrixKHR
// CHECK-SAME: [SPV_KHR_cooperative_matrix]
// CHECK-DAG: %[[TEN:.*]] = spirv.Constant 10 : i32
// CHECK: spirv.Store "Workgroup" {{.*}} ["NonPrivatePointer"] : vector<4xf16>
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible>
// CHECK: %[[C:.*]] = spirv.CompositeConstruct %{{.*}} : (f32) -> !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
// CHECK: %[[A:.*]] = spirv.KHR.CooperativeMatrixLoad %{{.*}}, %[[TEN]], <RowMajor>, <NonPrivatePointer> : {{.*}}vector<4xf16>{{.*}} -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixA>
// CHECK: %[[B:.*]] = spirv.KHR.CooperativeMatrixLoad %{{.*}}, %[[TEN]], <ColumnMajor>, <NonPrivatePointer> : {{.*}} -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixB>
// CHECK: %[[D:.*]] = spirv.KHR.CooperativeMatrixMulAdd %[[A]], %[[B]], %[[C]] :
// CHECK: %[[E:.*]] = spirv.FMul %[[D]], %[[D]] {no_contraction}
// CHECK: %[[H:.*]] = spirv.FConvert %[[E]] : !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc> to !spirv.coopmatrix<16x16xf16, Subgroup, MatrixAcc>
// CHECK: spirv.KHR.CooperativeMatrixStore %{{.*}}, %[[H]], %[[TEN]], <RowMajor>, <NonPrivatePointer>
func.func private @Product(%o: memref<?xf16>) attributes {tilewright.kernel, tilewright.launch = #launch} {
  %c40 = arith.constant 40 : index
  %s = memref.alloc() : memref<1280xf16, #tilewright.shared>
  %zero = arith.constant 0 : index
  %at = arith.constant 640 : index
  %v = vector.load %o[%zero] {alignment = 8} : memref<?xf16>, vector<4xf16>
  vector.store %v, %s[%zero] {alignment = 8} : memref<1280xf16, #tilewright.shared>, vector<4xf16>
  gpu.barrier
  %c = arith.constant dense<0.0> : vector<16x16xf32>
  %a = tilewright.load_fragment "a" %s[%zero] stride %c40 : memref<1280xf16, #tilewright.shared> -> vector<16x16xf16>
  %b = tilewright.load_fragment "b" transposed %s[%at] stride %c40 : memref<1280xf16, #tilewright.shared> -> vector<16x16xf16>
  %d = tilewright.mma_fragment "coopmat.m16n16k16.f16.f32"(%a : vector<16x16xf16>), (%b : vector<16x16xf16>), (%c : vector<16x16xf32>) -> vector<16x16xf32>
  %e = tilewright.map_fragments %d : (vector<16x16xf32>) -> vector<16x16xf32> {
  ^bb0(%x: f32):
    %y = arith.mulf %x, %x : f32
    tilewright.yield %y : f32
  }
  %h = arith.truncf %e : vector<16x16xf32> to vector<16x16xf16>
  tilewright.store_fragment %h, %s[%zero] stride %c40 : vector<16x16xf16>, memref<1280xf16, #tilewright.shared>
  %w = vector.load %s[%zero] {alignment = 8} : memref<1280xf16, #tilewright.shared>, vector<4xf16>
  vector.store %w, %o[%zero] {alignment = 8} : memref<?xf16>, vector<4xf16>
  return
}

// Signed operands and sums are marked.
// CHECK-LABEL: spirv.module @Signed
// CHECK: spirv.KHR.CooperativeMatrixMulAdd %{{.*}}, <ASigned|BSigned|CSigned|ResultSigned> : !spirv.coopmatrix<16x32xi8, Subgroup, MatrixA>, !spirv.coopmatrix<32x16xi8, Subgroup, MatrixB> -> !spirv.coopmatrix<16x16xi32, Subgroup, MatrixAcc>
// CHECK-LABEL: spirv.module @Unsigned
// CHECK: spirv.KHR.CooperativeMatrixMulAdd %{{[0-9a-z]*}}, %{{[0-9a-z]*}}, %{{[0-9a-z]*}} :
func.func private @Signed(%o: memref<?xi32>) attributes {tilewright.kernel, tilewright.launch = #launch} {
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %s = memref.alloc() : memref<768xi8, #tilewright.shared>
  %t = memref.alloc() : memref<256xi32, #tilewright.shared>
  %zero = arith.constant 0 : index
  %c = arith.constant dense<0> : vector<16x16xi32>
  %a = tilewright.load_fragment "a" %s[%zero] stride %c48 : memref<768xi8, #tilewright.shared> -> vector<16x32xi8>
  %b = tilewright.load_fragment "b" transposed %s[%zero] stride %c48 : memref<768xi8, #tilewright.shared> -> vector<32x16xi8>
  %d = tilewright.mma_fragment "coopmat.m16n16k32.s8.s32"(%a : vector<16x32xi8>), (%b : vector<32x16xi8>), (%c : vector<16x16xi32>) -> vector<16x16xi32>
  tilewright.store_fragment %d, %t[%zero] stride %c16 : vector<16x16xi32>, memref<256xi32, #tilewright.shared>
  return
}
func.func private @Unsigned(%o: memref<?xi32>) attributes {tilewright.kernel, tilewright.launch = #launch} {
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %s = memref.alloc() : memref<768xi8, #tilewright.shared>
  %t = memref.alloc() : memref<256xi32, #tilewright.shared>
  %zero = arith.constant 0 : index
  %c = arith.constant dense<0> : vector<16x16xi32>
  %a = tilewright.load_fragment "a" %s[%zero] stride %c48 : memref<768xi8, #tilewright.shared> -> vector<16x32xi8>
  %b = tilewright.load_fragment "b" transposed %s[%zero] stride %c48 : memref<768xi8, #tilewright.shared> -> vector<32x16xi8>
  %d = tilewright.mma_fragment "coopmat.m16n16k32.u8.u32"(%a : vector<16x32xi8>), (%b : vector<32x16xi8>), (%c : vector<16x16xi32>) -> vector<16x16xi32>
  tilewright.store_fragment %d, %t[%zero] stride %c16 : vector<16x16xi32>, memref<256xi32, #tilewright.shared>
  return
}

// Buffers are read and written in single elements, rows as far apart as the launch
// says. A body of arithmetic that SPIR-V has is done on whole matrices; scalars
// become matrices of equal elements.
// CHECK-LABEL: spirv.module @Buffers
// CHECK: spirv.GlobalVariable @arg0 bind(0, 0) {restrict} : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
// CHECK-NOT: Workgroup>
// CHECK: spirv.func @Buffers
// CHECK: %[[N:.*]] = spirv.Load "PushConstant"
// CHECK: %[[C:.*]] = spirv.KHR.CooperativeMatrixLoad %{{.*}}, %[[N]], <RowMajor>, <NonPrivatePointer> : !spirv.ptr<f32, StorageBuffer>, i32 -> !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>
// CHECK: %[[D:.*]] = spirv.FAdd %[[C]], %[[C]]
// CHECK: %[[TWO:.*]] = spirv.CompositeConstruct %{{.*}} : (f32) -> !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>
// CHECK: %[[R:.*]] = spirv.FDiv %[[D]], %[[TWO]]
// CHECK-NOT: spirv.ControlBarrier
// CHECK: spirv.KHR.CooperativeMatrixStore %{{.*}}, %[[R]], %[[N]], <ColumnMajor>, <NonPrivatePointer> : !spirv.ptr<f32, StorageBuffer>
func.func private @Buffers(%o: memref<?xf32>, %n: index) attributes {tilewright.kernel, tilewright.launch = #launch} {
  %zero = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %c = tilewright.load_fragment "acc" %o[%zero] stride %n : memref<?xf32> -> vector<8x8xf32>
  %r = tilewright.map_fragments %c : (vector<8x8xf32>) -> vector<8x8xf32> {
  ^bb0(%x: f32):
    %y = arith.addf %x, %x : f32
    %z = arith.divf %y, %two : f32
    tilewright.yield %z : f32
  }
  tilewright.store_fragment transposed %r, %o[%n] stride %n : vector<8x8xf32>, memref<?xf32>
  return
}

// Sums are converted as whole matrices, of a type with a sign. What their components
// are in bodies has none.
// CHECK-LABEL: spirv.module @Conversions
// CHECK: %[[C:.*]] = spirv.KHR.CooperativeMatrixLoad {{.*}}!spirv.ptr<i32, StorageBuffer>, i32 -> !spirv.coopmatrix<8x8xsi32, Subgroup, MatrixAcc>
// CHECK: %[[F:.*]] = spirv.ConvertSToF %[[C]] : !spirv.coopmatrix<8x8xsi32, Subgroup, MatrixAcc> to !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>
// CHECK: spirv.ConvertFToS %[[F]] : !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc> to !spirv.coopmatrix<8x8xsi32, Subgroup, MatrixAcc>
// CHECK: %[[V:.*]] = spirv.Load "Function" %{{.*}} : si32
// CHECK: %[[X:.*]] = spirv.Bitcast %[[V]] : si32 to i32
// CHECK: %[[Y:.*]] = spirv.BitwiseXor %[[X]], %[[X]] : i32
// CHECK: spirv.Bitcast %[[Y]] : i32 to si32
func.func private @Conversions(%o: memref<?xi32>, %n: index) attributes {tilewright.kernel, tilewright.launch = #launch} {
  %zero = arith.constant 0 : index
  %c = tilewright.load_fragment "acc" %o[%zero] stride %n : memref<?xi32> -> vector<8x8xi32>
  %f = arith.sitofp %c : vector<8x8xi32> to vector<8x8xf32>
  %i = arith.fptosi %f : vector<8x8xf32> to vector<8x8xi32>
  %j = tilewright.map_fragments %i : (vector<8x8xi32>) -> vector<8x8xi32> {
  ^bb0(%x: i32):
    %y = arith.xori %x, %x : i32
    tilewright.yield %y : i32
  }
  tilewright.store_fragment %j, %o[%zero] stride %n : vector<8x8xi32>, memref<?xi32>
  return
}

// Any other body is run on each component, in whatever types it has in between.
// CHECK-LABEL: spirv.module @Components
// CHECK: %[[X:.*]] = spirv.Variable : !spirv.ptr<!spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>, Function>
// CHECK: %[[LENGTH:.*]] = spirv.KHR.CooperativeMatrixLength : !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>
// CHECK: spirv.mlir.loop
// CHECK: spirv.ULessThan %{{.*}}, %[[LENGTH]]
// CHECK: %[[PLACE:.*]] = spirv.AccessChain %[[X]][
// CHECK: %[[V:.*]] = spirv.Load "Function" %[[PLACE]] : f32
// CHECK: %[[LESS:.*]] = spirv.FOrdLessThan %[[V]]
// CHECK: %[[S:.*]] = spirv.Select %[[LESS]]
// CHECK: spirv.Store "Function" %[[PLACE]], %[[S]] : f32
// CHECK: spirv.mlir.merge
// CHECK: %[[R:.*]] = spirv.Load "Function" %[[X]]
// CHECK: spirv.KHR.CooperativeMatrixStore %{{.*}}, %[[R]],
func.func private @Components(%o: memref<?xf32>, %x: f32) attributes {tilewright.kernel, tilewright.launch = #launch} {
  %c8 = arith.constant 8 : index
  %t = memref.alloc() : memref<64xf32, #tilewright.shared>
  %zero = arith.constant 0 : index
  %a = vector.broadcast %x : f32 to vector<8x8xf32>
  %b = arith.constant 0.0 : f32
  %c = tilewright.map_fragments %a : (vector<8x8xf32>) -> vector<8x8xf32> {
  ^bb0(%v: f32):
    %less = arith.cmpf olt, %v, %b : f32
    %y = arith.select %less, %x, %v : f32
    tilewright.yield %y : f32
  }
  tilewright.store_fragment %c, %t[%zero] stride %c8 : vector<8x8xf32>, memref<64xf32, #tilewright.shared>
  return
}

// bf16 is the components' own type, out of memory that holds its bits.
// CHECK-LABEL: spirv.module @BrainFloats
// CHECK-SAME: BFloat16CooperativeMatrixKHR
// CHECK-SAME: SPV_KHR_bfloat16
// CHECK: spirv.KHR.CooperativeMatrixLoad {{.*}}!spirv.ptr<i16, Workgroup>, i32 -> !spirv.coopmatrix<16x16xbf16, Subgroup, MatrixA>
func.func private @BrainFloats(%o: memref<?xf32>) attributes {tilewright.kernel, tilewright.launch = #launch} {
  %c16 = arith.constant 16 : index
  %s = memref.alloc() : memref<256xbf16, #tilewright.shared>
  %t = memref.alloc() : memref<256xf32, #tilewright.shared>
  %zero = arith.constant 0 : index
  %c = arith.constant dense<0.0> : vector<16x16xf32>
  %a = tilewright.load_fragment "a" %s[%zero] stride %c16 : memref<256xbf16, #tilewright.shared> -> vector<16x16xbf16>
  %b = tilewright.load_fragment "b" %s[%zero] stride %c16 : memref<256xbf16, #tilewright.shared> -> vector<16x16xbf16>
  %d = tilewright.mma_fragment "coopmat.m16n16k16.bf16.f32"(%a : vector<16x16xbf16>), (%b : vector<16x16xbf16>), (%c : vector<16x16xf32>) -> vector<16x16xf32>
  tilewright.store_fragment %d, %t[%zero] stride %c16 : vector<16x16xf32>, memref<256xf32, #tilewright.shared>
  return
}
}
