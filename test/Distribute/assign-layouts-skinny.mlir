// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-assign-layouts))" | FileCheck %s

// The operand with rows along n: 16 bytes a thread, 8 lanes along them, and four
// neighbouring rows a thread; the products follow it, all rows of the other
// operand in registers, and nothing is moved between threads in the loop.
// CHECK-LABEL: func.func private @FewRows(
// CHECK: %[[B:.+]] = vector.transfer_read %{{.*}} {in_bounds = [true, true], permutation_map = #{{.*}}, tilewright.layouts = [#tilewright.layout<"regs=[4:1@0, 4:1@1] lanes=[8:4@0, 4:4@1] warps=[8:16@1]">]}
// CHECK: vector.broadcast %[[B]] {tilewright.layouts = [#tilewright.layout<"regs=[4:1@1, 4:1@2, 4:1@0] lanes=[8:4@1, 4:4@2] warps=[8:16@2]">]}
// CHECK-NOT: convert_layout
// CHECK: math.fma
#t = affine_map<(d0, d1) -> (d1, d0)>
#a = affine_map<(d0, d1) -> (d0, 0, d1)>
func.func private @FewRows(%a: memref<4x4096xf32>, %b: memref<4096x4096xf32>, %unused: index)
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = skinny_contraction, block = [4, 32, 128]>,
                tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (128)>>} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %start = arith.constant dense<0.0> : vector<4x32x128xf32>
  %sum0 = arith.constant dense<0.0> : vector<4x32xf32>
  %sums = scf.for %i = %c0 to %c4096 step %c128 iter_args(%s = %start) -> (vector<4x32x128xf32>) {
    %x = vector.transfer_read %a[%c0, %i], %zero {in_bounds = [true, true, true], permutation_map = #a} : memref<4x4096xf32>, vector<4x32x128xf32>
    %y = vector.transfer_read %b[%i, %c0], %zero {in_bounds = [true, true], permutation_map = #t} : memref<4096x4096xf32>, vector<32x128xf32>
    %w = vector.broadcast %y : vector<32x128xf32> to vector<4x32x128xf32>
    %n = math.fma %x, %w, %s : vector<4x32x128xf32>
    scf.yield %n : vector<4x32x128xf32>
  }
  %r = vector.multi_reduction <add>, %sums, %sum0 [2] : vector<4x32x128xf32> to vector<4x32xf32>
  vector.transfer_write %r, %a[%c0, %c0] {in_bounds = [true, true]} : vector<4x32xf32>, memref<4x4096xf32>
  return
}
