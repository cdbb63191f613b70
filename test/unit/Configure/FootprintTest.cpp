// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `fits` counts of shared memory is at least what distribute takes, for
// candidates of kernels of every strategy.

#include "tilewright/Configure/Configure.h"
#include "tilewright/Dialect/SharedPlaces.h"
#include "tilewright/Stages/Stages.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;

static constexpr char kHeader[] = R"mlir(
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 1000000, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32", "mma.m16n8k16.f16.f16"]}>
#id = affine_map<(a, b) -> (a, b)>
#t = affine_map<(a, b) -> (b, a)>
#row = affine_map<(a, b) -> (a)>
#col = affine_map<(a, b) -> (b)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>
module attributes {tilewright.target = #target} {
)mlir";

struct Kernel {
  const char *name, *text;
};

static const Kernel kKernels[] = {
    {"NormMixed", R"mlir(
func.func private @k(%x: tensor<64x20000xf32>, %y: tensor<20000xf16>, %o: tensor<64x20000xf32>) -> tensor<64x20000xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
  %zero = arith.constant 0.0 : f32
  %s = tensor.empty() : tensor<64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%s : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x20000xf32>) outs(%z : tensor<64xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s0 = arith.addf %0, %1 : f32
    linalg.yield %s0 : f32
  } -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m, %y : tensor<64x20000xf32>, tensor<64xf32>, tensor<20000xf16>) outs(%o : tensor<64x20000xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f16, %3: f32):
    %w = arith.extf %2 : f16 to f32
    %d = arith.divf %0, %1 : f32
    %s1 = arith.addf %d, %w : f32
    linalg.yield %s1 : f32
  } -> tensor<64x20000xf32>
  return %r : tensor<64x20000xf32>
})mlir"},
    {"Transpose", R"mlir(
func.func private @k(%x: tensor<1024x512xf32>, %o: tensor<512x1024xf32>) -> tensor<512x1024xf32> attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %r = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x512xf32>) outs(%o : tensor<512x1024xf32>) {
  ^bb0(%0: f32, %1: f32):
    linalg.yield %0 : f32
  } -> tensor<512x1024xf32>
  return %r : tensor<512x1024xf32>
})mlir"},
    {"TransposeNarrow", R"mlir(
func.func private @k(%x: tensor<?x?xi8>, %y: tensor<?x?xi8>, %o: tensor<?x?xi8>) -> tensor<?x?xi8> attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
  %r = linalg.generic {indexing_maps = [#t, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%o : tensor<?x?xi8>) {
  ^bb0(%0: i8, %1: i8, %2: i8):
    %s = arith.addi %0, %1 : i8
    linalg.yield %s : i8
  } -> tensor<?x?xi8>
  return %r : tensor<?x?xi8>
})mlir"},
    {"Softmax", R"mlir(
func.func private @k(%x: tensor<?x?xf32>, %e: tensor<?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%l : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.maximumf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<?x?xf32>, tensor<?xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %d = arith.subf %0, %1 : f32
    %p = math.exp %d : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m, %s : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32, %3: f32):
    %d = arith.subf %0, %1 : f32
    %p = math.exp %d : f32
    %q = arith.divf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
})mlir"},
    {"MaskedSoftmax", R"mlir(
func.func private @k(%w: tensor<?x?xi1>, %x: tensor<?x?xf32>, %e: tensor<?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]} ins(%w, %x : tensor<?x?xi1>, tensor<?x?xf32>) outs(%l : tensor<?xf32>) {
  ^bb0(%b: i1, %0: f32, %1: f32):
    %k = arith.select %b, %low, %0 : f32
    %s = arith.maximumf %k, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%w, %x, %m : tensor<?x?xi1>, tensor<?x?xf32>, tensor<?xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%b: i1, %0: f32, %1: f32, %2: f32):
    %k = arith.select %b, %low, %0 : f32
    %d = arith.subf %k, %1 : f32
    %p = math.exp %d : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %x, %m, %s : tensor<?x?xi1>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%b: i1, %0: f32, %1: f32, %2: f32, %3: f32):
    %k = arith.select %b, %low, %0 : f32
    %d = arith.subf %k, %1 : f32
    %p = math.exp %d : f32
    %q = arith.divf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
})mlir"},
    {"Columns", R"mlir(
func.func private @k(%x: tensor<?x512xf16>, %o: tensor<512xf16>) -> tensor<512xf16> attributes {tilewright.kernel, tilewright.access = ["read", "readwrite"]} {
  %r = linalg.generic {indexing_maps = [#t, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x512xf16>) outs(%o : tensor<512xf16>) {
  ^bb0(%0: f16, %1: f16):
    %s = arith.addf %0, %1 : f16
    linalg.yield %s : f16
  } -> tensor<512xf16>
  return %r : tensor<512xf16>
})mlir"},
    {"Epilogue", R"mlir(
func.func private @k(%x: tensor<512x256xf32>, %y: tensor<256x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x256xf32>, tensor<256x512xf32>) outs(%z : tensor<512x512xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<512x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #t, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %q = arith.addf %0, %1 : f32
    linalg.yield %q : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
})mlir"},
    {"TransposedResult", R"mlir(
func.func private @k(%x: tensor<512x256xf32>, %y: tensor<256x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
  %m = linalg.generic {indexing_maps = [#mk, #kn, #nm], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x256xf32>, tensor<256x512xf32>) outs(%o : tensor<512x512xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
})mlir"},
    {"MatrixUnit", R"mlir(
func.func private @k(%x: tensor<512x256xf16>, %y: tensor<256x512xf16>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x256xf16>, tensor<256x512xf16>) outs(%z : tensor<512x512xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %c = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %c : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<512x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %q = arith.addf %0, %1 : f32
    linalg.yield %q : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
})mlir"},
    {"MatrixUnitHalves", R"mlir(
func.func private @k(%x: tensor<?x?x1000xf16>, %y: tensor<?x1000x512xf16>, %o: tensor<?x?x512xf16>) -> tensor<?x?x512xf16> attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
  %m = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x?x1000xf16>, tensor<?x1000x512xf16>) outs(%o : tensor<?x?x512xf16>) {
  ^bb0(%0: f16, %1: f16, %2: f16):
    %p = arith.mulf %0, %1 : f16
    %q = arith.addf %p, %2 : f16
    linalg.yield %q : f16
  } -> tensor<?x?x512xf16>
  return %m : tensor<?x?x512xf16>
})mlir"},
    {"MatrixUnitToHalves", R"mlir(
func.func private @k(%x: tensor<?x1000xf16>, %y: tensor<1000x512xf16>, %r: tensor<?x512xf16>, %e: tensor<?x512xf32>, %o: tensor<?x512xf16>) -> tensor<?x512xf16> attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "write"]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x1000xf16>
  %t = tensor.empty(%d) : tensor<?x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%t : tensor<?x512xf32>) -> tensor<?x512xf32>
  %m = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (k, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x1000xf16>, tensor<1000x512xf16>) outs(%z : tensor<?x512xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<?x512xf32>
  %f = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %r : tensor<?x512xf32>, tensor<?x512xf16>) outs(%o : tensor<?x512xf16>) {
  ^bb0(%0: f32, %1: f16, %2: f16):
    %w = arith.extf %1 : f16 to f32
    %s = arith.addf %0, %w : f32
    %h = arith.truncf %s : f32 to f16
    linalg.yield %h : f16
  } -> tensor<?x512xf16>
  return %f : tensor<?x512xf16>
})mlir"},
    {"MatrixUnitRows", R"mlir(
func.func private @k(%x: tensor<?x256xf16>, %y: tensor<256x128xf16>, %o: tensor<?x128xf32>, %s: tensor<?xf32>) -> (tensor<?x128xf32>, tensor<?xf32>) attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite", "readwrite"]} {
  %m = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x256xf16>, tensor<256x128xf16>) outs(%o : tensor<?x128xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<?x128xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<?x128xf32>) outs(%s : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %q = arith.addf %0, %1 : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  return %m, %r : tensor<?x128xf32>, tensor<?xf32>
})mlir"},
    {"MatrixUnitChain", R"mlir(
func.func private @k(%x: tensor<512x64xf16>, %y: tensor<64x1024xf16>, %v: tensor<1024x128xf16>, %o: tensor<512x128xf32>) -> tensor<512x128xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "readwrite"]} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1024xf32>
  %h = tensor.empty() : tensor<512x1024xf16>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %m = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x64xf16>, tensor<64x1024xf16>) outs(%z : tensor<512x1024xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<512x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<512x1024xf32>) outs(%h : tensor<512x1024xf16>) {
  ^bb0(%0: f32, %1: f16):
    %q = arith.truncf %0 : f32 to f16
    linalg.yield %q : f16
  } -> tensor<512x1024xf16>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%t, %v : tensor<512x1024xf16>, tensor<1024x128xf16>) outs(%o : tensor<512x128xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<512x128xf32>
  return %r : tensor<512x128xf32>
})mlir"},
    {"MatrixUnitDual", R"mlir(
func.func private @k(%x: tensor<512x256xf16>, %y: tensor<256x1024xf16>, %v: tensor<256x1024xf16>, %o: tensor<512x1024xf16>) -> tensor<512x1024xf16> attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1024xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %g = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x256xf16>, tensor<256x1024xf16>) outs(%z : tensor<512x1024xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<512x1024xf32>
  %u = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %v : tensor<512x256xf16>, tensor<256x1024xf16>) outs(%z : tensor<512x1024xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<512x1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<512x1024xf32>, tensor<512x1024xf32>) outs(%o : tensor<512x1024xf16>) {
  ^bb0(%0: f32, %1: f32, %2: f16):
    %p = arith.mulf %0, %1 : f32
    %q = arith.truncf %p : f32 to f16
    linalg.yield %q : f16
  } -> tensor<512x1024xf16>
  return %r : tensor<512x1024xf16>
})mlir"},
    {"SimtDual", R"mlir(
func.func private @k(%x: tensor<200x96xf32>, %y: tensor<96x130xf32>, %v: tensor<96x130xf32>, %o: tensor<200x130xf32>) -> tensor<200x130xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x130xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<200x130xf32>) -> tensor<200x130xf32>
  %g = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<200x96xf32>, tensor<96x130xf32>) outs(%z : tensor<200x130xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<200x130xf32>
  %u = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %v : tensor<200x96xf32>, tensor<96x130xf32>) outs(%z : tensor<200x130xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<200x130xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<200x130xf32>, tensor<200x130xf32>) outs(%o : tensor<200x130xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    linalg.yield %p : f32
  } -> tensor<200x130xf32>
  return %r : tensor<200x130xf32>
})mlir"},
    {"Skinny", R"mlir(
func.func private @k(%x: tensor<4x1000xf32>, %y: tensor<1000x512xf32>, %o: tensor<4x512xf32>) -> tensor<4x512xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
  %m = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<4x1000xf32>, tensor<1000x512xf32>) outs(%o : tensor<4x512xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<4x512xf32>
  return %m : tensor<4x512xf32>
})mlir"},
    {"SkinnyTurned", R"mlir(
func.func private @k(%x: tensor<8x1000xf16>, %y: tensor<512x1000xf16>, %o: tensor<8x512xf32>) -> tensor<8x512xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
  %m = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<8x1000xf16>, tensor<512x1000xf16>) outs(%o : tensor<8x512xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<8x512xf32>
  return %m : tensor<8x512xf32>
})mlir"},
    {"MatrixUnitComputed", R"mlir(
func.func private @k(%x: tensor<64x512xf16>, %w: tensor<512x128xi8>, %s: tensor<512x256xf16>, %o: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "readwrite"]} {
  %u = tilewright.unpack %w : tensor<512x128xi8> to tensor<512x256xi8>
  %e = tensor.empty() : tensor<512x256xf16>
  %f = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%u, %s : tensor<512x256xi8>, tensor<512x256xf16>) outs(%e : tensor<512x256xf16>) {
  ^bb0(%0: i8, %1: f16, %2: f16):
    %a = arith.sitofp %0 : i8 to f16
    %b = arith.mulf %a, %1 : f16
    linalg.yield %b : f16
  } -> tensor<512x256xf16>
  %m = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %f : tensor<64x512xf16>, tensor<512x256xf16>) outs(%o : tensor<64x256xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<64x256xf32>
  return %m : tensor<64x256xf32>
})mlir"},
    {"SkinnyComputed", R"mlir(
func.func private @k(%x: tensor<4x512xf16>, %w: tensor<512x128xi8>, %s: tensor<512x256xf16>, %o: tensor<4x256xf32>) -> tensor<4x256xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "readwrite"]} {
  %u = tilewright.unpack %w : tensor<512x128xi8> to tensor<512x256xi8>
  %e = tensor.empty() : tensor<512x256xf16>
  %f = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%u, %s : tensor<512x256xi8>, tensor<512x256xf16>) outs(%e : tensor<512x256xf16>) {
  ^bb0(%0: i8, %1: f16, %2: f16):
    %a = arith.sitofp %0 : i8 to f16
    %b = arith.mulf %a, %1 : f16
    linalg.yield %b : f16
  } -> tensor<512x256xf16>
  %m = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %f : tensor<4x512xf16>, tensor<512x256xf16>) outs(%o : tensor<4x256xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<4x256xf32>
  return %m : tensor<4x256xf32>
})mlir"},
    {"SkinnyTurnedComputed", R"mlir(
func.func private @k(%x: tensor<4x512xf16>, %w: tensor<256x256xi8>, %s: tensor<256x512xf16>, %o: tensor<4x256xf32>) -> tensor<4x256xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "readwrite"]} {
  %u = tilewright.unpack %w : tensor<256x256xi8> to tensor<256x512xi8>
  %e = tensor.empty() : tensor<256x512xf16>
  %f = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%u, %s : tensor<256x512xi8>, tensor<256x512xf16>) outs(%e : tensor<256x512xf16>) {
  ^bb0(%0: i8, %1: f16, %2: f16):
    %a = arith.sitofp %0 : i8 to f16
    %b = arith.mulf %a, %1 : f16
    linalg.yield %b : f16
  } -> tensor<256x512xf16>
  %m = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %f : tensor<4x512xf16>, tensor<256x512xf16>) outs(%o : tensor<4x256xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<4x256xf32>
  return %m : tensor<4x256xf32>
})mlir"},
    {"MatrixUnitNormalized", R"mlir(
func.func private @k(%x: tensor<128x512xf16>, %w: tensor<512x256xf16>, %o: tensor<128x256xf32>) -> tensor<128x256xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
  %nil = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<128xf32>
  %zs = linalg.fill ins(%nil : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<128x512xf16>) outs(%zs : tensor<128xf32>) {
  ^bb0(%0: f16, %1: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.addf %a, %1 : f32
    linalg.yield %b : f32
  } -> tensor<128xf32>
  %v = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<128x512xf16>, tensor<128xf32>) outs(%zs : tensor<128xf32>) {
  ^bb0(%0: f16, %1: f32, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %d = arith.subf %a, %1 : f32
    %b = arith.mulf %d, %d : f32
    %c = arith.addf %b, %2 : f32
    linalg.yield %c : f32
  } -> tensor<128xf32>
  %e = tensor.empty() : tensor<128x512xf16>
  %r = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m, %v : tensor<128x512xf16>, tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128x512xf16>) {
  ^bb0(%0: f16, %1: f32, %2: f32, %3: f16):
    %a = arith.extf %0 : f16 to f32
    %d = arith.subf %a, %1 : f32
    %i = math.rsqrt %2 : f32
    %q = arith.mulf %d, %i : f32
    %t = arith.truncf %q : f32 to f16
    linalg.yield %t : f16
  } -> tensor<128x512xf16>
  %z = linalg.fill ins(%nil : f32) outs(%o : tensor<128x256xf32>) -> tensor<128x256xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%r, %w : tensor<128x512xf16>, tensor<512x256xf16>) outs(%z : tensor<128x256xf32>) {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %a = arith.extf %0 : f16 to f32
    %b = arith.extf %1 : f16 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<128x256xf32>
  return %p : tensor<128x256xf32>
})mlir"},
    {"Normalized", R"mlir(
func.func private @k(%x: tensor<128x512xf32>, %w: tensor<512x256xf32>, %o: tensor<128x256xf32>) -> tensor<128x256xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
  %nil = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<128xf32>
  %zs = linalg.fill ins(%nil : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<128x512xf32>) outs(%zs : tensor<128xf32>) {
  ^bb0(%0: f32, %1: f32):
    %a = arith.addf %0, %nil : f32
    %b = arith.addf %a, %1 : f32
    linalg.yield %b : f32
  } -> tensor<128xf32>
  %v = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<128x512xf32>, tensor<128xf32>) outs(%zs : tensor<128xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %a = arith.addf %0, %nil : f32
    %d = arith.subf %a, %1 : f32
    %b = arith.mulf %d, %d : f32
    %c = arith.addf %b, %2 : f32
    linalg.yield %c : f32
  } -> tensor<128xf32>
  %e = tensor.empty() : tensor<128x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m, %v : tensor<128x512xf32>, tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128x512xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32, %3: f32):
    %a = arith.addf %0, %nil : f32
    %d = arith.subf %a, %1 : f32
    %i = math.rsqrt %2 : f32
    %q = arith.mulf %d, %i : f32
    linalg.yield %q : f32
  } -> tensor<128x512xf32>
  %z = linalg.fill ins(%nil : f32) outs(%o : tensor<128x256xf32>) -> tensor<128x256xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%r, %w : tensor<128x512xf32>, tensor<512x256xf32>) outs(%z : tensor<128x256xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> tensor<128x256xf32>
  return %p : tensor<128x256xf32>
})mlir"},
};

namespace {
class FootprintTest : public ::testing::TestWithParam<Kernel> {
protected:
  FootprintTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registry.insert<TilewrightDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  MLIRContext context;
};
} // namespace

/// Bytes of shared memory of the kernel, or of the variant that takes the most.
static int64_t placedBytes(ModuleOp module) {
  int64_t most = 0;
  for (auto kernel : module.getOps<func::FuncOp>())
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr))
      most = std::max(most, bytes.getInt());
  return most;
}

TEST_P(FootprintTest, IsAnUpperBound) {
  std::string text = std::string(kHeader) + GetParam().text + "\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto kernel = *module->getOps<func::FuncOp>().begin();
  FailureOr<KernelInfo> info = KernelInfo::get(kernel);
  ASSERT_TRUE(succeeded(info));
  TargetAttr target = getTarget(kernel);
  std::vector<Candidate> candidates = listConfigs(*info, target);
  llvm::erase_if(candidates, [](const Candidate &c) { return bool(c.refused); });
  ASSERT_FALSE(candidates.empty());
  // Some forty of them, best and worst.
  size_t stride = std::max<size_t>(1, candidates.size() / 40);
  for (size_t i = 0; i < candidates.size(); i += stride) {
    LoweringConfigAttr config = candidates[i].config;
    OrRefusal<TilePlan> plan = fits(*info, config, target);
    ASSERT_TRUE(plan) << plan.why().str();
    Footprint footprint = estimate(*info, config, *plan, target);

    info->root->setAttr(kConfigAttr, config);
    OwningOpRef<ModuleOp> copy = module->clone();
    for (Stage stage : {Stage::Tile, Stage::Vectorize, Stage::Bufferize,
                        Stage::Specialize, Stage::Promote, Stage::Pipeline,
                        Stage::Distribute}) {
      PassManager pm(&context, ModuleOp::getOperationName());
      buildStage(stage, KernelForm::Thread, pm);
      ASSERT_TRUE(succeeded(pm.run(*copy)));
    }
    std::string name;
    llvm::raw_string_ostream(name) << config;
    EXPECT_LE(placedBytes(*copy), footprint.sharedBytes) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, FootprintTest, ::testing::ValuesIn(kKernels),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });
