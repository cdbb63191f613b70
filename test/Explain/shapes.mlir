// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80 -o /dev/null --explain 2>&1 | FileCheck %s
// RUN: tilewright-compile %s --target=cpu -o /dev/null --explain 2>&1 | FileCheck %s --check-prefix=CPU

// 1, 16 and 128 rows do not run the same tile: each variant has its guard and its config.
// CHECK:     variant main_matmul_0_upto1:
// CHECK-NEXT:  if dim({{[0-9]}}, 0) <= 1 and each operand
// CHECK:       config: {{.*}}strategy = skinny_contraction, block = [1,
// CHECK:     variant main_matmul_0_upto16:
// CHECK-NEXT:  if dim({{[0-9]}}, 0) <= 16 and each operand
// CHECK:       config: {{.*}}strategy = matrix_unit, block = [16,
// CHECK:     variant main_matmul_0_upto64:
// CHECK-NEXT:  if dim({{[0-9]}}, 0) <= 64 and each operand
// CHECK:       config: {{.*}}strategy = matrix_unit, block = [{{32|64}},
// CHECK:     variant main_matmul_0:
// CHECK-NEXT:  if each operand

// On a CPU blocks are clipped at little cost; one row is a product of a vector and a matrix.
// CPU:      variant main_matmul_0_upto1_v4:
// CPU-NEXT:   if device(x86-64-v4) and dim({{[0-9]}}, 0) <= 1
// CPU-NEXT:   grid
// CPU-NEXT:   block tile 1 x {{[0-9 x]*}}, register tile 1 x
// CPU-NEXT:   config: #tilewright.lowering_config<{{.*}}block = [1,
// CPU:      variant main_matmul_0_v4:
// CPU-NEXT:   if device(x86-64-v4)
// CPU-NEXT:   grid
// CPU:      variant main_matmul_0_upto1_v3:
// CPU-NOT:  _upto{{[^1]}}
// CPU-NOT:  _upto1{{[0-9]}}
func.func @main(%a: tensor<?x512xf16>, %b: tensor<512x1024xf16>, %c: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x512xf16>, tensor<512x1024xf16>) outs(%c : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %r : tensor<?x1024xf32>
}
