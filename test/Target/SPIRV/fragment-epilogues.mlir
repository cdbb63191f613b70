// Results of whole tiles leave their fragments for the buffer: the only shared
// memory is that of the operands, and behind the products there is no barrier.

// RUN: tilewright-compile %S/../../e2e/coopmat-epilogues.mlir --stop-after=distribute -o %t \
// RUN:   --target=vulkan:1.3+subgroup=32+coopmat=16x16x16:f16:f32+coopmat=16x16x16:f16:f16+coopmat=16x16x32:s8:s32
// RUN: tilewright-opt %t -verify-each=0 -pass-pipeline='builtin.module(builtin.module(tilewright-expand-math,lower-affine,canonicalize,cse,tilewright-convert-to-spirv,cse))' | FileCheck %s

// CHECK: "spirv.module"{{.*}}sym_name = "plain_matmul_0"
// CHECK-COUNT-2: "spirv.GlobalVariable"() <{sym_name = "shared
// CHECK-NOT: "spirv.GlobalVariable"() <{sym_name = "shared
// CHECK: "spirv.KHR.CooperativeMatrixMulAdd"
// CHECK-NOT: "spirv.ControlBarrier"
// CHECK: "spirv.KHR.CooperativeMatrixStore"({{.*}}!spirv.ptr<f32, StorageBuffer>
// CHECK-NOT: "spirv.ControlBarrier"
// CHECK: "spirv.EntryPoint"

// CHECK: "spirv.module"{{.*}}sym_name = "rescaled_matmul_0"
// CHECK-COUNT-2: "spirv.GlobalVariable"() <{sym_name = "shared
// CHECK-NOT: "spirv.GlobalVariable"() <{sym_name = "shared
// CHECK: "spirv.KHR.CooperativeMatrixMulAdd"
// CHECK-NOT: "spirv.ControlBarrier"
// CHECK: "spirv.ConvertSToF"
// CHECK: "spirv.KHR.CooperativeMatrixLength"
// CHECK: "spirv.ConvertFToS"
// CHECK-NOT: "spirv.ControlBarrier"
// CHECK: "spirv.KHR.CooperativeMatrixStore"({{.*}}!spirv.ptr<i32, StorageBuffer>
// CHECK-NOT: "spirv.ControlBarrier"
// CHECK: "spirv.EntryPoint"

// CHECK: "spirv.module"{{.*}}sym_name = "halves_matmul_0"
// CHECK-COUNT-2: "spirv.GlobalVariable"() <{sym_name = "shared
// CHECK-NOT: "spirv.GlobalVariable"() <{sym_name = "shared
// CHECK: "spirv.KHR.CooperativeMatrixMulAdd"
// CHECK-NOT: "spirv.ControlBarrier"
// CHECK: "spirv.KHR.CooperativeMatrixStore"({{.*}}!spirv.ptr<f16, StorageBuffer>
// CHECK-NOT: "spirv.ControlBarrier"
// CHECK: "spirv.EntryPoint"

// A bias of columns needs coordinates.
// CHECK: "spirv.module"{{.*}}sym_name = "bias_matmul_0"
// CHECK-COUNT-3: "spirv.GlobalVariable"() <{sym_name = "shared
// CHECK: "spirv.KHR.CooperativeMatrixStore"({{.*}}, Workgroup>
