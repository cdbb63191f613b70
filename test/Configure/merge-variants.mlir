// RUN: tilewright-opt %s -tilewright-specialize -tilewright-configure | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A config that is given to the kernel is that of all its variants: one is enough.
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 65536, registers = 255, access_bytes = 16}>,
                   tilewright.pins = {pinned = #tilewright.lowering_config<strategy = simt_contraction, block = [32, 32, 16], warps = [2, 2, 1], stages = 1, promote = [0, 1]>}} {
// CHECK-NOT: pinned_upto
// CHECK: func private @pinned(
// CHECK-NOT: pinned_upto
func.func private @pinned(%a: tensor<?x512xf32>, %b: tensor<512x64xf32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x512xf32>, tensor<512x64xf32>) outs(%c : tensor<?x64xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
}
