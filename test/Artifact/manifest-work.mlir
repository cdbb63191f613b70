// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu --emit=manifest -o - | tr -d ' \n' | FileCheck %s

// CHECK: "bytes":["add",["mul",256,["dim",0,0]],4096],"flops":["mul",2048,["dim",0,0]],"inputs"
// CHECK-SAME: "name":"matmul"{{.*}}"reduction":32
func.func @matmul(%a: tensor<?x32xf32>, %b: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x32xf32>
  %e = tensor.empty(%m) : tensor<?x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x32xf32>, tensor<32x32xf32>) outs(%f : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// A buffer that is updated moves twice.
// CHECK-SAME: "bytes":768,"flops":64,"inputs"
// CHECK-SAME: "name":"update"
func.func @update(%a: memref<64xf32>, %b: memref<64xf32>) {
  linalg.add ins(%a, %b : memref<64xf32>, memref<64xf32>) outs(%b : memref<64xf32>)
  return
}

// A loop repeats its kernels; how its sums grow is not said.
// CHECK-SAME: "bytes":512,"flops":["mul",64,["ceildiv",["max",["sub",["scalar",0],0],0],1]],"inputs"
// CHECK-SAME: "name":"repeated","results":[{"dtype":"f32","kind":"tensor","shape":[64]}]
func.func @repeated(%n: index, %a: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    %s = linalg.add ins(%t, %a : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %s : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// CHECK-SAME: {"bytes":512,"inputs":[{"dtype":"i1","kind":"scalar","name":"c"},{{[^]]*}}]}],"name":"data","results":[{"dtype":"f32","kind":"tensor","shape":[64]}]
func.func @data(%c: i1, %a: tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.if %c -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    %s = linalg.exp ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %s : tensor<64xf32>
  } else {
    scf.yield %a : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// A function's work is that of the functions that it calls, too.
func.func private @double(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.add ins(%a, %a : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}
// CHECK-SAME: "flops":["add",["dim",0,0],["dim",1,0]],"inputs"
// CHECK-SAME: "name":"calls"
func.func @calls(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %x = call @double(%a) : (tensor<?xf32>) -> tensor<?xf32>
  %y = call @double(%b) : (tensor<?xf32>) -> tensor<?xf32>
  return %x, %y : tensor<?xf32>, tensor<?xf32>
}

// So many windows as the image has, of which the kernel knows no other dim.
// CHECK-SAME: "flops":["mul",2304,["dim",0,0]],"inputs"
// CHECK-SAME: "name":"windows"
#each = affine_map<(n, i, j, f) -> (n, i, j, f)>
func.func @windows(%x: tensor<?x6x6x8xf16>, %w: tensor<3x3x8x1xf16>) -> tensor<?x4x4x1xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x6x6x8xf16>
  %e = tensor.empty(%n) : tensor<?x4x4x1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x4x1xf32>) -> tensor<?x4x4x1xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x6x6x8xf16>, tensor<3x3x8x1xf16>) outs(%z : tensor<?x4x4x1xf32>) -> tensor<?x4x4x1xf32>
  %b = tensor.empty(%n) : tensor<?x4x4x1xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<?x4x4x1xf32>) outs(%b : tensor<?x4x4x1xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<?x4x4x1xf16>
  return %h : tensor<?x4x4x1xf16>
}
