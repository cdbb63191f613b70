// Of any number of images a kernel counts pixels; the host counts images, and the guard, the grid, the scalars and the
// tensor map say how they go together.
//
// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=manifest -o - | tr -d ' \n' | FileCheck %s

// CHECK: "grid":{{\[\[}}"min",{{\[}}"mul",{{\[}}"ceildiv",{{\[}}"mul",["dim",0,0],256],64]
// CHECK-SAME: "guard":["and",{{.*}}["le",["mul",["dim",{{[02]}},0],256],1024]
// CHECK-SAME: "params":[{"buffer":0},{"buffer":1},{"buffer":2},{"scalar":"i32","value":["mul",["dim",0,0],256]},{"scalar":"i32","value":["mul",["dim",2,0],256]},
// CHECK-SAME: "image":{"dims":{{\[\[}}"dim",0,0],18,18,64],"lower":[0,0],"steps":[1,1],"strides":[20736,1152,64],"upper":[-2,-2]},{{.*}}"tensor_map":0}
func.func @any_number(%x: tensor<?x18x18x64xf16>, %w: tensor<3x3x64x128xf16>, %o: tensor<?x16x16x128xf32>) -> tensor<?x16x16x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x18x18x64xf16>, tensor<3x3x64x128xf16>)
      outs(%o : tensor<?x16x16x128xf32>) -> tensor<?x16x16x128xf32>
  return %r : tensor<?x16x16x128xf32>
}
