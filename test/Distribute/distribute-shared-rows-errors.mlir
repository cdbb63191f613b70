// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -verify-diagnostics

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, access_bytes = 16}>} {
  func.func private @Alone(%a: memref<32xf32>, %out: memref<f32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<32xf32>, vector<32xf32>
    %s = vector.multi_reduction <add>, %v, %pad [0] : vector<32xf32> to f32
    // expected-error @+1 {{is in a kernel whose blocks are in no clusters}}
    %t = tilewright.cluster_reduce <add>, %s : f32
    memref.store %t, %out[] : memref<f32>
    return
  }
}
