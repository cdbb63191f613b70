// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// Windows by a filter of few features, of a group each: an instruction's columns are full, and an element is in nine windows, so that
// threads that share sums would be bound by them. Of fewer features than half of the columns they do.
#target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16, chip = "sm_80", max_threads = 1024, mma = ["mma.m16n8k16.f16.f32"], registers = 255, shared_memory = 166912, subgroup = 32}>
#windows = affine_map<(y, x, g, f, i, j, c) -> (y, i, x, j, g, c)>
#filter = affine_map<(y, x, g, f, i, j, c) -> (g, f, i, j, c)>
#result = affine_map<(y, x, g, f, i, j, c) -> (y, x, g, f)>
module attributes {tilewright.target = #target} {
// CHECK-LABEL: func.func private @groups(
// CHECK: strategy = matrix_unit, block = [1, {{[0-9]+}}, 1, 16, 1, 1, 16],{{.*}} mma = "mma.m16n8k16.f16.f32"
func.func private @groups(%x: tensor<56x3x56x3x32x16xf16>, %w: tensor<32x16x3x3x16xf16>, %o: tensor<56x56x32x16xf32>) -> tensor<56x56x32x16xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#windows, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<56x3x56x3x32x16xf16>, tensor<32x16x3x3x16xf16>) outs(%o : tensor<56x56x32x16xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %p = arith.extf %a : f16 to f32
    %q = arith.extf %b : f16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<56x56x32x16xf32>
  return %r : tensor<56x56x32x16xf32>
}
// CHECK-LABEL: func.func private @smallGroups(
// CHECK: strategy = skinny_contraction
func.func private @smallGroups(%x: tensor<56x3x56x3x128x4xf16>, %w: tensor<128x4x3x3x4xf16>, %o: tensor<56x56x128x4xf32>) -> tensor<56x56x128x4xf32> attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [#windows, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<56x3x56x3x128x4xf16>, tensor<128x4x3x3x4xf16>) outs(%o : tensor<56x56x128x4xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f32):
    %p = arith.extf %a : f16 to f32
    %q = arith.extf %b : f16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<56x56x128x4xf32>
  return %r : tensor<56x56x128x4xf32>
}
}
