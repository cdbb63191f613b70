// Bytes of two elements are read as they lie and taken apart in registers; edges are
// filled in when all is computed.
// RUN: tilewright-opt %s -tilewright-tile -tilewright-vectorize -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16, mma = ["mma.m16n8k16.f16.f32"]}>
#id = affine_map<(n, k) -> (n, k)>
#n = affine_map<(n, k) -> (n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

module attributes {tilewright.target = #target} {
// CHECK-LABEL: func.func private @Rows(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<?x48xi8>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<32x64xf16>
// CHECK-DAG: %[[FOUR:.*]] = arith.constant dense<4> : vector<32x32xi8>
// CHECK: scf.for
// CHECK: %[[BYTES:.*]] = vector.transfer_read %[[W]][{{.*}}], %{{.*}} : tensor<?x48xi8>, vector<32x32xi8>
// CHECK: %[[TOP:.*]] = arith.shli %[[BYTES]], %[[FOUR]]
// CHECK: %[[LOW:.*]] = arith.shrsi %[[TOP]], %[[FOUR]]
// CHECK: %[[HIGH:.*]] = arith.shrsi %[[BYTES]], %[[FOUR]]
// CHECK: %[[ALL:.*]] = vector.interleave %[[LOW]], %[[HIGH]] : vector<32x32xi8> -> vector<32x64xi8>
// CHECK: arith.sitofp %[[ALL]]
// CHECK: %[[F:.*]] = arith.subf
// CHECK: %[[INSIDE:.*]] = vector.create_mask
// CHECK: arith.select %[[INSIDE]], %[[F]], %[[ZERO]]
// CHECK: tilewright.mma
func.func private @Rows(%w: tensor<?x48xi8>, %z: tensor<?xf16>, %x: tensor<?x96xf16>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %w, %c0 : tensor<?x48xi8>
  %u = tilewright.unpack %w : tensor<?x48xi8> to tensor<?x96xi8>
  %e = tensor.empty(%rows) : tensor<?x96xf16>
  %f = linalg.generic {indexing_maps = [#id, #n, #id], iterator_types = ["parallel", "parallel"]}
      ins(%u, %z : tensor<?x96xi8>, tensor<?xf16>) outs(%e : tensor<?x96xf16>) {
  ^bb0(%a: i8, %zero: f16, %out: f16):
    %0 = arith.sitofp %a : i8 to f16
    %1 = arith.subf %0, %zero : f16
    linalg.yield %1 : f16
  } -> tensor<?x96xf16>
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %f : tensor<?x96xf16>, tensor<?x96xf16>) outs(%o : tensor<?x?xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [32, 32, 64], warps = [1, 1, 1], promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
}

// -----

// Tiles are whole bytes.
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
#id = affine_map<(n, k) -> (n, k)>
module attributes {tilewright.target = #target} {
func.func private @Odd(%w: tensor<64x48xi8>, %o: tensor<64x96xi8>) -> tensor<64x96xi8> attributes {tilewright.kernel} {
  %u = tilewright.unpack %w {is_unsigned} : tensor<64x48xi8> to tensor<64x96xi8>
  // expected-error @+1 {{the lowering config does not fit: two elements of an operand lie in a byte, and the tile has 1 along its rows}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%u : tensor<64x96xi8>) outs(%o : tensor<64x96xi8>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [32, 1], warps = [1, 1], thread = [1, 1]>} {
  ^bb0(%a: i8, %out: i8):
    linalg.yield %a : i8
  } -> tensor<64x96xi8>
  return %r : tensor<64x96xi8>
}
}
