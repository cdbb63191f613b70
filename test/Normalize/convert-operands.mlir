// RUN: tilewright-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tilewright-convert-operands))' | FileCheck %s

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// Bytes beside halves become halves, which have all their values.
// CHECK-LABEL: func.func @Bytes
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf16>, %[[W:.*]]: tensor<4x16xi8>
// CHECK: %[[H:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[W]] : tensor<4x16xi8>) outs(%{{.*}} : tensor<4x16xf16>)
// CHECK: arith.sitofp %{{.*}} : i8 to f16
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[H]] : tensor<8x16xf16>, tensor<4x16xf16>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16, %{{.*}}: f32):
// CHECK-NEXT: %[[C:.*]] = arith.extf %[[A]]
// CHECK-NEXT: %[[D:.*]] = arith.extf %[[B]]
// CHECK-NEXT: arith.mulf %[[C]], %[[D]]
func.func @Bytes(%x: tensor<8x16xf16>, %w: tensor<4x16xi8>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<8x16xf16>, tensor<4x16xi8>) outs(%z : tensor<8x4xf32>) {
  ^bb0(%a: f16, %b: i8, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.sitofp %b : i8 to f32
    %m = arith.mulf %c, %d : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// 8-bit floats beside bf16 become bf16, of dynamic sizes, too.
// CHECK-LABEL: func.func @Floats
// CHECK-SAME: %[[W:.*]]: tensor<?x?xf8E4M3FN>, %[[X:.*]]: tensor<?x?xbf16>
// CHECK: %[[H:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<?x?xf8E4M3FN>) outs(%{{.*}} : tensor<?x?xbf16>)
// CHECK: arith.extf %{{.*}} : f8E4M3FN to bf16
// CHECK: linalg.generic {{.*}} ins(%[[H]], %[[X]] : tensor<?x?xbf16>, tensor<?x?xbf16>)
func.func @Floats(%w: tensor<?x?xf8E4M3FN>, %x: tensor<?x?xbf16>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic #product ins(%w, %x : tensor<?x?xf8E4M3FN>, tensor<?x?xbf16>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%a: f8E4M3FN, %b: bf16, %o: f32):
    %c = arith.extf %a : f8E4M3FN to f32
    %d = arith.extf %b : bf16 to f32
    %m = arith.mulf %c, %d : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// Halves do not have all integers of 16 bits: these become what is multiplied.
// CHECK-LABEL: func.func @Words
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf16>, %[[W:.*]]: tensor<4x16xi16>
// CHECK: %[[H:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<4x16xi16>) outs(%{{.*}} : tensor<4x16xf32>)
// CHECK: arith.uitofp %{{.*}} : i16 to f32
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[H]] : tensor<8x16xf16>, tensor<4x16xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[C:.*]] = arith.extf %[[A]]
// CHECK-NEXT: arith.mulf %[[C]], %[[B]]
func.func @Words(%x: tensor<8x16xf16>, %w: tensor<4x16xi16>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<8x16xf16>, tensor<4x16xi16>) outs(%z : tensor<8x4xf32>) {
  ^bb0(%a: f16, %b: i16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.uitofp %b : i16 to f32
    %m = arith.mulf %c, %d : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// Two 8-bit floats are multiplied as they are, and so are halves.
// CHECK-LABEL: func.func @Stays
// CHECK-NOT: tensor.empty
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x16xf8E5M2>, tensor<4x16xf8E4M3FN>)
func.func @Stays(%x: tensor<8x16xf8E5M2>, %w: tensor<4x16xf8E4M3FN>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = linalg.generic #product ins(%x, %w : tensor<8x16xf8E5M2>, tensor<4x16xf8E4M3FN>) outs(%z : tensor<8x4xf32>) {
  ^bb0(%a: f8E5M2, %b: f8E4M3FN, %o: f32):
    %c = arith.extf %a : f8E5M2 to f32
    %d = arith.extf %b : f8E4M3FN to f32
    %m = arith.mulf %c, %d : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
