// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

#q = affine_map<(h, g, i, j, d, e) -> (h, g, i, d)>
#k = affine_map<(h, g, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, g, i, j, d, e) -> (h, j, e)>
#m = affine_map<(h, g, i, j, d, e) -> (i, j)>
#o = affine_map<(h, g, i, j, d, e) -> (h, g, i, e)>
#l = affine_map<(h, g, i, j, d, e) -> (h, g, i)>

// CHECK-DAG: #[[POOL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3 floordiv 16, d3 mod 16, d1, d4)>
// CHECK-DAG: #[[TABLE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3 floordiv 16)>

// CHECK-LABEL: func.func @all
// CHECK: tilewright.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x4x?x64xf16>, tensor<8x?x64xf16>, tensor<8x?x64xf16>)
// CHECK-SAME: mask(%{{.*}} : tensor<?x?xi1>) outs(%{{.*}}, %{{.*}} : tensor<8x4x?x64xf16>, tensor<8x4x?xf32>)
// CHECK-SAME: causal = "bottom_right"
// CHECK-SAME: scale = 2.500000e-01 : f64, softcap = 3.000000e+01 : f64, window = array<i64: 128, 0>
func.func @all(%q: tensor<8x4x?x64xf16>, %k: tensor<8x?x64xf16>, %v: tensor<8x?x64xf16>, %m: tensor<?x?xi1>,
               %o: tensor<8x4x?x64xf16>, %l: tensor<8x4x?xf32>) -> (tensor<8x4x?x64xf16>, tensor<8x4x?xf32>) {
  %r:2 = tilewright.attention ins(%q, %k, %v : tensor<8x4x?x64xf16>, tensor<8x?x64xf16>, tensor<8x?x64xf16>)
      mask(%m : tensor<?x?xi1>) outs(%o, %l : tensor<8x4x?x64xf16>, tensor<8x4x?xf32>)
      {indexing_maps = [#q, #k, #v, #m, #o, #l], scale = 0.25 : f64, causal = "bottom_right",
       window = array<i64: 128, 0>, softcap = 30.0 : f64} -> tensor<8x4x?x64xf16>, tensor<8x4x?xf32>
  return %r#0, %r#1 : tensor<8x4x?x64xf16>, tensor<8x4x?xf32>
}

// CHECK-LABEL: func.func @pages
// CHECK: table(%{{.*}} : tensor<?x?xi32>) lengths(%{{.*}} : tensor<?xi64>) outs(
// CHECK-SAME: #[[POOL]], #{{.*}}, #[[TABLE]]
func.func @pages(%q: tensor<?x8x1x64xf16>, %k: tensor<?x16x8x64xf16>, %t: tensor<?x?xi32>, %n: tensor<?xi64>,
                 %o: tensor<?x8x1x64xf16>) -> tensor<?x8x1x64xf16> {
  %r = tilewright.attention ins(%q, %k, %k : tensor<?x8x1x64xf16>, tensor<?x16x8x64xf16>, tensor<?x16x8x64xf16>)
      table(%t : tensor<?x?xi32>) lengths(%n : tensor<?xi64>) outs(%o : tensor<?x8x1x64xf16>)
      {indexing_maps = [affine_map<(b, h, i, j, d, e) -> (b, h, i, d)>, affine_map<(b, h, i, j, d, e) -> (j floordiv 16, j mod 16, h, d)>,
                        affine_map<(b, h, i, j, d, e) -> (j floordiv 16, j mod 16, h, e)>, affine_map<(b, h, i, j, d, e) -> (b, j floordiv 16)>,
                        affine_map<(b, h, i, j, d, e) -> (b)>, affine_map<(b, h, i, j, d, e) -> (b, h, i, e)>]} -> tensor<?x8x1x64xf16>
  return %r : tensor<?x8x1x64xf16>
}

// CHECK-LABEL: func.func @keep
// CHECK: mask(%{{.*}} : tensor<?x?xf16>) keep(%{{.*}} : tensor<8x?xi1>) lengths(%{{.*}} : tensor<8xi32>) outs(
func.func @keep(%q: tensor<8x4x?x64xf16>, %k: tensor<8x?x64xf16>, %m: tensor<?x?xf16>, %c: tensor<8x?xi1>, %n: tensor<8xi32>,
                %o: tensor<8x4x?x64xf16>) -> tensor<8x4x?x64xf16> {
  %r = tilewright.attention ins(%q, %k, %k : tensor<8x4x?x64xf16>, tensor<8x?x64xf16>, tensor<8x?x64xf16>)
      mask(%m : tensor<?x?xf16>) keep(%c : tensor<8x?xi1>) lengths(%n : tensor<8xi32>) outs(%o : tensor<8x4x?x64xf16>)
      {indexing_maps = [#q, #k, #v, #m, affine_map<(h, g, i, j, d, e) -> (h, j)>, affine_map<(h, g, i, j, d, e) -> (h)>, #o]}
      -> tensor<8x4x?x64xf16>
  return %r : tensor<8x4x?x64xf16>
}
