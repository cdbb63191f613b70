// RUN: tilewright-opt %s -tilewright-configure -verify-diagnostics -split-input-file | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
#small = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 16, 8], warps = [1, 2, 1], promote = [0, 1]>
#large = #tilewright.lowering_config<strategy = simt_contraction, block = [32, 32, 8], warps = [1, 2, 1], promote = [0, 1]>
#problem = {layout = "ac,cb->ab", op = "mulf,addf", types = "f32,f32,f32->f32"}
module attributes {tilewright.target = #target, tilewright.tuning = [
    {target = "test", record = 0, shape = array<i64: 512, 512, 512>, problem = #problem, config = #small},
    {target = "test", record = 1, shape = array<i64: 512, 512, 1024>, problem = #problem, config = #large},
    {target = "test", record = 3, shape = array<i64: -1, 512, 512>, problem = {guard = "a<=16", layout = "ac,cb->ab", op = "mulf,addf", types = "f32,f32,f32->f32"}, config = #small},
    {target = "test", record = 2, shape = array<i64: 4096, 4096, 4096>, problem = #problem, config = "not understood"}]} {

// CHECK-LABEL: func.func private @TakeRecordOfShape(
// CHECK-SAME: "config (tuned, record 0, of this shape): #tilewright.lowering_config<strategy = simt_contraction, block = [16, 16, 8]
// CHECK: linalg.matmul {tilewright.lowering_config = {{.*}}block = [16, 16, 8]
func.func private @TakeRecordOfShape(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}

// CHECK-LABEL: func.func private @TakeNearestRecord(
// CHECK-SAME: "config (tuned, record 1, of the nearest shape 512x512x1024): #tilewright
// CHECK: linalg.matmul {tilewright.lowering_config = {{.*}}block = [32, 32, 8]
func.func private @TakeNearestRecord(%a: tensor<512x960xf32>, %b: tensor<960x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<512x960xf32>, tensor<960x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}

// More than twice as long, not aligned as the records' are, of other types, dynamic:
// none of these has a record.
// CHECK-LABEL: func.func private @FarShape(
// CHECK-NOT: tuned
// CHECK-LABEL: func.func private @OddShape(
// CHECK-NOT: tuned
// CHECK-LABEL: func.func private @DynamicShape(
// CHECK-NOT: tuned
func.func private @FarShape(%a: tensor<512x2056xf32>, %b: tensor<2056x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<512x2056xf32>, tensor<2056x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
func.func private @OddShape(%a: tensor<511x512xf32>, %b: tensor<512x512xf32>, %o: tensor<511x512xf32>) -> tensor<511x512xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<511x512xf32>, tensor<512x512xf32>) outs(%o : tensor<511x512xf32>) -> tensor<511x512xf32>
  return %m : tensor<511x512xf32>
}
func.func private @DynamicShape(%a: tensor<?x512xf32>, %b: tensor<512x512xf32>, %o: tensor<?x512xf32>) -> tensor<?x512xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<?x512xf32>, tensor<512x512xf32>) outs(%o : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %m : tensor<?x512xf32>
}

// What is best for few rows is for the variant of few rows.
// CHECK-LABEL: func.func private @Many_upto16(
// CHECK-SAME: "config (tuned, record 3, of this shape): #tilewright
// CHECK-LABEL: func.func private @Many(
// CHECK-NOT: tuned
func.func private @Many_upto16(%a: tensor<?x512xf32>, %b: tensor<512x512xf32>, %o: tensor<?x512xf32>) -> tensor<?x512xf32> attributes {tilewright.kernel, tilewright.variant_of = "Many", tilewright.at_most = array<i64: 0, 0, 16>} {
  %m = linalg.matmul ins(%a, %b : tensor<?x512xf32>, tensor<512x512xf32>) outs(%o : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %m : tensor<?x512xf32>
}
func.func private @Many(%a: tensor<?x512xf32>, %b: tensor<512x512xf32>, %o: tensor<?x512xf32>) -> tensor<?x512xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<?x512xf32>, tensor<512x512xf32>) outs(%o : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %m : tensor<?x512xf32>
}

// A record that does not serve is told of, and the default is taken.
// CHECK-LABEL: func.func private @StaleRecord(
// CHECK-SAME: "tuned config refused (record 2, of this shape): not understood", "config: #tilewright.lowering_config
func.func private @StaleRecord(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %o: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> attributes {tilewright.kernel} {
  // expected-remark @below {{the tuned config (record 2, of this shape) is refused, the default is taken: not understood}}
  %m = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%o : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %m : tensor<4096x4096xf32>
}
// CHECK-LABEL: func.func private @PinnedComesFirst(
// CHECK-SAME: explain = ["strategy simt_contraction: {{[^"]*}}", "config (pinned): #tilewright
func.func private @PinnedComesFirst(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul {tilewright.lowering_config = #large} ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target, tilewright.tuning = [
    {target = "test", record = 0, shape = array<i64: 64, 64, 64>, problem = {layout = "ac,cb->ab", op = "mulf,addf", types = "f32,f32,f32->f32"},
     config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], warps = [8, 8, 1]>}]} {
// CHECK-LABEL: func.func private @TooManyThreads(
// CHECK-SAME: "tuned config refused (record 0
func.func private @TooManyThreads(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
  // expected-remark @below {{the tuned config (record 0, of this shape) is refused, the default is taken: needs 2048 threads per block but test has 1024}}
  %m = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}
}

// -----

// Attention is known by its maps, types, depth, what queries see, and in how many parts its keys are taken.
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
#config = #tilewright.lowering_config<strategy = attention, block = [16, 16], warps = [2, 1], promote = [0, 1]>
#stale = #tilewright.lowering_config<strategy = attention, block = [16, 16], warps = [2, 1], persistent = true>
#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #target, tilewright.tuning = [
    {target = "test", record = 0, shape = array<i64: 8, 256, 256, 64, 64>, config = #config,
     problem = {depth = "64,64", layout = "abd,acd,ace->abe", op = "attention", sees = "top_left", types = "f16,f16,f16->f16"}},
    {target = "test", record = 1, shape = array<i64: 4, 256, 256, 32, 32>, config = #stale,
     problem = {depth = "32,32", layout = "abd,acd,ace->abe", op = "attention", sees = "top_left", types = "f16,f16,f16->f16"}}]} {

// CHECK-LABEL: func.func private @NearestAttention(
// CHECK-SAME: "config (tuned, record 0, of the nearest shape 8x256x256x64x64): #tilewright.lowering_config<strategy = attention, block = [16, 16], warps = [2, 1]
func.func private @NearestAttention(%q: tensor<16x256x64xf16>, %k: tensor<16x256x64xf16>, %v: tensor<16x256x64xf16>, %e: tensor<16x256x64xf16>) -> tensor<16x256x64xf16> attributes {tilewright.kernel} {
  %r = tilewright.attention ins(%q, %k, %v : tensor<16x256x64xf16>, tensor<16x256x64xf16>, tensor<16x256x64xf16>)
      outs(%e : tensor<16x256x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<16x256x64xf16>
  return %r : tensor<16x256x64xf16>
}

// Without a mask it is another problem.
// CHECK-LABEL: func.func private @SeesAll(
// CHECK-NOT: tuned
func.func private @SeesAll(%q: tensor<8x256x64xf16>, %k: tensor<8x256x64xf16>, %v: tensor<8x256x64xf16>, %e: tensor<8x256x64xf16>) -> tensor<8x256x64xf16> attributes {tilewright.kernel} {
  %r = tilewright.attention ins(%q, %k, %v : tensor<8x256x64xf16>, tensor<8x256x64xf16>, tensor<8x256x64xf16>)
      outs(%e : tensor<8x256x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<8x256x64xf16>
  return %r : tensor<8x256x64xf16>
}

// CHECK-LABEL: func.func private @StaleAttention(
// CHECK-SAME: "tuned config refused (record 1, of this shape): 'persistent' is for attention by warpgroups ('mma' is a wgmma.{{.*}}); leave it out", "config: #tilewright
func.func private @StaleAttention(%q: tensor<4x256x32xf16>, %k: tensor<4x256x32xf16>, %v: tensor<4x256x32xf16>, %e: tensor<4x256x32xf16>) -> tensor<4x256x32xf16> attributes {tilewright.kernel} {
  // expected-remark @below {{the tuned config (record 1, of this shape) is refused, the default is taken: 'persistent' is for attention by warpgroups ('mma' is a wgmma.…); leave it out}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<4x256x32xf16>, tensor<4x256x32xf16>, tensor<4x256x32xf16>)
      outs(%e : tensor<4x256x32xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<4x256x32xf16>
  return %r : tensor<4x256x32xf16>
}
}
