// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-assign-layouts))" | FileCheck %s

// Eight elements and 32 threads: the others are replicas.
// CHECK-LABEL: func.func private @Small(
// CHECK: tilewright.mma {{.*}}tilewright.layouts = [#tilewright.layout<"regs=[] lanes=[2:1@1, 4:1@0, 4:*] warps=[]">]
func.func private @Small(%a: memref<2x4xf32, #tilewright.shared>, %b: memref<2x2xf32, #tilewright.shared>, %out: memref<4x2xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 2, 2]>,
                tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<4x2xf32>
  %n = tilewright.mma %a, %b, %zero {maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
     : memref<2x4xf32, #tilewright.shared>, memref<2x2xf32, #tilewright.shared>, vector<4x2xf32>
  vector.transfer_write %n, %out[%c0, %c0] {in_bounds = [true, true]} : vector<4x2xf32>, memref<4x2xf32>
  return
}
