// Of images of any size the manifest says how large a launch finds them: their height, which the kernel is told for the padding,
// and their width up to where the last window ends. The guard is what a tensor map takes: whole 16 bytes from row to row, an
// image at all, and as many windows between the corners as the result has.
//
// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=manifest -o - | tr -d ' \n' | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_90a --stop-after=distribute -o - | FileCheck %s --check-prefix=KERNEL
// RUN: tilewright-compile %s --target=cuda:sm_90a --explain -o %t 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// CHECK: {{\[}}"le",["mul",["dim",0,0],["dim",0,1],["dim",0,3]],256]
// CHECK-SAME: ["eq",["mod",["stride",0,0],8],0],["eq",["mod",["stride",0,2],16],0]
// CHECK-SAME: ["ge",["scalar",0],1],["eq",["ceildiv",["add",["scalar",0],-2],2],["dim",0,1]],["lt",["span",0],2147483648]
// CHECK-SAME: {"scalar":"i32","value":["mul",["dim",0,0],["dim",0,1],["dim",0,3]]},{"scalar":"i32","value":["dim",0,1]},{"scalar":"i32","value":["dim",0,3]}
// CHECK-SAME: "image":{"dims":{{\[\[}}"dim",0,0],["scalar",0],["add",["dim",0,3],2],64],"lower":[-1,0],"steps":[2,1]
// CHECK-SAME: "strides":{{\[\[}}"stride",0,0],["floordiv",["stride",0,2],2],64],"upper":[-3,-2]}

// Divisions by numbers of pixels are in front of the loop of steps.
// KERNEL-LABEL: func.func private @any_size_matmul_0_im2col(
// KERNEL-SAME: tilewright.scalars = [#tilewright.dim<0, 0>, #tilewright.places<0, 0>, #tilewright.places<0, 1>, #tilewright.dim<2, 0>, #tilewright.host_scalar<0>]
// KERNEL: %[[ROWS:.*]] = arith.divui %[[PIXEL:.*]], %[[WIDTH:arg[0-9]+]] : index
// KERNEL: %[[NUMBER:.*]] = arith.divui %[[ROWS]], %[[HEIGHT:arg[0-9]+]] : index
// KERNEL: arith.remui %[[ROWS]], %[[HEIGHT]] : index
// KERNEL: %[[COLUMN:.*]] = arith.remui %[[PIXEL]], %[[WIDTH]] : index
// KERNEL: scf.for
// KERNEL-NOT: %[[WIDTH]]
// KERNEL: tilewright.tensor_copy %{{.*}}[%[[NUMBER]], %{{.*}}, %[[COLUMN]], %{{.*}}] offsets[

// EXPLAIN: variant any_size_matmul_0_im2col_upto256:
// EXPLAIN: has tiles for up to 256 pixels, of which larger ones would leave multiprocessors without a tile
// EXPLAIN: variant any_size_matmul_0_im2col_upto2048:
// EXPLAIN: variant any_size_matmul_0_im2col_upto16384:
// EXPLAIN: variant any_size_matmul_0_im2col:
// EXPLAIN: images that no map describes are for another variant: without elements, with rows at no multiples of 16 bytes, or with more windows between the ends of their padding than the result has
func.func @any_size(%x: tensor<?x?x?x64xf16>, %w: tensor<3x3x64x128xf16>, %o: tensor<?x?x?x128xf32>) -> tensor<?x?x?x128xf32> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 0, 0] high[0, 1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f16
  } : tensor<?x?x?x64xf16> to tensor<?x?x?x64xf16>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[2, 1]> : tensor<2xi64>}
      ins(%p, %w : tensor<?x?x?x64xf16>, tensor<3x3x64x128xf16>) outs(%o : tensor<?x?x?x128xf32>) -> tensor<?x?x?x128xf32>
  return %r : tensor<?x?x?x128xf32>
}
