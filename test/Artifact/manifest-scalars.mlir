// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=vulkan --emit=manifest -o - | tr -d ' \n' | FileCheck %s

// Scalars of 128 bytes are push constants, those of more come in a uniform buffer; narrow ones are passed as i32.
// CHECK: "name":"few_elementwise_0
// CHECK-SAME: {"scalar":"i32","value":["scalar",0]}
// CHECK-NOT: "scalars_in"
// CHECK: "name":"many_
// CHECK: "scalars_in":"uniform"
#id = affine_map<(a, b, c, d, e, f) -> (a, b, c, d, e, f)>
#v = affine_map<(a) -> (a)>
!t = tensor<?x?x?x?x?x?xf32>
func.func @few(%s: f16, %x: tensor<8xf16>) -> tensor<8xf16> {
  %e = tensor.empty() : tensor<8xf16>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf16>) outs(%e : tensor<8xf16>) {
  ^bb0(%a: f16, %o: f16):
    %y = arith.addf %a, %s : f16
    linalg.yield %y : f16
  } -> tensor<8xf16>
  return %r : tensor<8xf16>
}
func.func @many(%x0: !t, %x1: !t, %x2: !t, %x3: !t, %x4: !t, %e: !t) -> !t {
  %r = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x0, %x1, %x2, %x3, %x4 : !t, !t, !t, !t, !t) outs(%e : !t) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %f: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    %2 = arith.addf %1, %d : f32
    %3 = arith.addf %2, %f : f32
    linalg.yield %3 : f32
  } -> !t
  return %r : !t
}
