// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80 --emit=manifest -o - | tr -d ' \n' | FileCheck %s

// A window of an argument is an operand with strides: they, and the distance to its first element, are scalars of the
// kernel, and wide accesses are guarded. The variant with 64-bit indices comes last, without a guard.

// CHECK: "operands":[{"access":"read","dtype":"f32","shape":[-1,16],"strides":[-1,1]},
// CHECK-SAME: "guard":["and",["ge",["align",0],16],["eq",["mod",["stride",0,0],4],0],["lt",["span",0],2147483648],
// CHECK-SAME: "name":"window_elementwise_0_aligned"
// CHECK-SAME: {"scalar":"i32","value":["stride",0,0]},{"scalar":"i32","value":["offset",0]}
// CHECK-SAME: "name":"window_elementwise_0"
// CHECK-SAME: "guard":true,"name":"window_elementwise_0_wide"
// CHECK-SAME: {"scalar":"i64","value":["stride",0,0]},{"scalar":"i64","value":["offset",0]}
#id = affine_map<(i, j) -> (i, j)>
func.func @window(%x: tensor<?x?xf32>, %n: index) -> tensor<?x16xf32> {
  %w = tensor.extract_slice %x[3, 1] [%n, 16] [1, 1] : tensor<?x?xf32> to tensor<?x16xf32>
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<?x16xf32>) outs(%e : tensor<?x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.absf %a : f32
    linalg.yield %y : f32
  } -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}
