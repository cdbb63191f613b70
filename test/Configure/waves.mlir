// Tiles are as wide as fills the chip: with others some multiprocessors would have nothing to do in the last wave. A target can say
// that a device has others than 132 (a PCIe board 114, an H20 78).
//
// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_90a --stop-after=configure -o - | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_90a+multiprocessors=114 --stop-after=configure -o - | FileCheck %s --check-prefix=FEWER
// RUN: tilewright-compile %s --target=cuda:sm_90a+multiprocessors=78 --stop-after=configure -o - | FileCheck %s --check-prefix=FEW
// No cluster of two blocks is on a device of one multiprocessor at a time.
// RUN: tilewright-compile %s --target=cuda:sm_90a+multiprocessors=1 --stop-after=configure -o - | FileCheck %s --check-prefix=ALONE
// ALONE-LABEL: func.func private @whole_wave_matmul_0
// RUN: not tilewright-compile %s --target=cuda:sm_90a+multiprocessors=0 -o - 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: 'multiprocessors' must be a number from 1 to 1024

// 8 x 16 tiles, 128 of 132; 8 x 14, 112 of 114; 15 x 10, 150 of twice 78.
// CHECK-LABEL: func.func private @one_wave_matmul_0
// CHECK: attrs = {tilewright.lowering_config = {{.*}} block = [256, 160, 64],
// FEWER-LABEL: func.func private @one_wave_matmul_0
// FEWER: attrs = {tilewright.lowering_config = {{.*}} block = [256, 192, 64],
// FEW-LABEL: func.func private @one_wave_matmul_0
// FEW: attrs = {tilewright.lowering_config = {{.*}} block = [128, 256, 64],
func.func @one_wave(%a: tensor<1920x4096xbf16>, %b: tensor<4096x2560xbf16>, %c: tensor<1920x2560xf32>) -> tensor<1920x2560xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1920x4096xbf16>, tensor<4096x2560xbf16>) outs(%c : tensor<1920x2560xf32>) -> tensor<1920x2560xf32>
  return %r : tensor<1920x2560xf32>
}

// 11 x 12 tiles, 132 of 132; 8 x 12, 96 of 114; 16 x 9, 144 of twice 78.
// CHECK-LABEL: func.func private @whole_wave_matmul_0
// CHECK: attrs = {tilewright.lowering_config = {{.*}} block = [192, 192, 64],
// FEWER-LABEL: func.func private @whole_wave_matmul_0
// FEWER: attrs = {tilewright.lowering_config = {{.*}} block = [256, 192, 64],
// FEW-LABEL: func.func private @whole_wave_matmul_0
// FEW: attrs = {tilewright.lowering_config = {{.*}} block = [128, 256, 64],
func.func @whole_wave(%a: tensor<2048x8192xbf16>, %b: tensor<8192x2304xbf16>, %c: tensor<2048x2304xf32>) -> tensor<2048x2304xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2048x8192xbf16>, tensor<8192x2304xbf16>) outs(%c : tensor<2048x2304xf32>) -> tensor<2048x2304xf32>
  return %r : tensor<2048x2304xf32>
}

// 16 x 16 tiles, 256 of twice 132; 16 x 14, 224 of twice 114; 8 x 19, 152 of twice 78.
// CHECK-LABEL: func.func private @two_waves_matmul_0
// CHECK: attrs = {tilewright.lowering_config = {{.*}} block = [128, 224, 64],
// FEWER-LABEL: func.func private @two_waves_matmul_0
// FEWER: attrs = {tilewright.lowering_config = {{.*}} block = [128, 256, 64],
// FEW-LABEL: func.func private @two_waves_matmul_0
// FEW: attrs = {tilewright.lowering_config = {{.*}} block = [256, 192, 64],
func.func @two_waves(%a: tensor<2048x4096xbf16>, %b: tensor<4096x3584xbf16>, %c: tensor<2048x3584xf32>) -> tensor<2048x3584xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2048x4096xbf16>, tensor<4096x3584xbf16>) outs(%c : tensor<2048x3584xf32>) -> tensor<2048x3584xf32>
  return %r : tensor<2048x3584xf32>
}
