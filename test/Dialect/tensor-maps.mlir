// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// What may be left out is read again without it.
#image = #tilewright.image<dims = [2, 16, 16, 64], strides = [16384, 1024, 64], places = [16, 16], lower = [-1, -1], upper = [-1, -1], steps = [1, 1], taps = [1, 2], dilations = [1, 1]>
// Any number of images.
#any_number = #tilewright.image<dims = [?, 16, 16, 64], strides = [16384, 1024, 64], places = [16, 16], lower = [-1, -1], upper = [-1, -1], steps = [1, 1], taps = [1, 2], dilations = [1, 1]>

// Of any size: their width is host scalar 0, their height is as far as windows reach.
#any_size = #tilewright.image<dims = [?, ?, ?, 64], strides = [?, ?, 64], places = [?, ?], lower = [-1, -1], upper = [-1, -1], steps = [1, 1], taps = [1, 2], dilations = [1, 1], windows = [1, 3], along = [2, 4], extents = [-1, 0]>

// CHECK: #tilewright.tensor_map<operand = 0, box = [128, 64]>
// CHECK-SAME: #tilewright.tensor_map<operand = 0, box = [128, 64], swizzle = 128>
// CHECK-SAME: #tilewright.tensor_map<operand = 2, box = [64, 64] merged = 3>
// CHECK-SAME: #tilewright.tensor_map<operand = 2, box = [64, 64], swizzle = 128 merged = 3>
// CHECK-SAME: #tilewright.tensor_map<operand = 0, box = [64, 64], swizzle = 128 image = <dims = [2, 16, 16, 64]
// CHECK-SAME: #tilewright.tensor_map<operand = 0, box = [64, 64] merged = 2 image = <dims = [2, 16, 16, 64]
// CHECK-SAME: #tilewright.tensor_map<operand = 0, box = [64, 64] image = <dims = [?, 16, 16, 64]
// CHECK-SAME: #tilewright.tensor_map<operand = 0, box = [64, 64] image = <dims = [?, ?, ?, 64], strides = [?, ?, 64], places = [?, ?]
// CHECK-SAME: dilations = [1, 1], windows = [1, 3], along = [2, 4], extents = [-1, 0]>
func.func private @k() attributes {tilewright.tensor_maps = [#tilewright.tensor_map<operand = 0, box = [128, 64]>,
                           #tilewright.tensor_map<operand = 0, box = [128, 64], swizzle = 128>,
                           #tilewright.tensor_map<operand = 2, box = [64, 64] merged = 3>,
                           #tilewright.tensor_map<operand = 2, box = [64, 64], swizzle = 128 merged = 3>,
                           #tilewright.tensor_map<operand = 0, box = [64, 64], swizzle = 128 image = #image>,
                           #tilewright.tensor_map<operand = 0, box = [64, 64] merged = 2 image = #image>,
                           #tilewright.tensor_map<operand = 0, box = [64, 64] image = #any_number>,
                           #tilewright.tensor_map<operand = 0, box = [64, 64] image = #any_size>]}
