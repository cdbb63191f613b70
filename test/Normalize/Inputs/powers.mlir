#i = affine_map<(i) -> (i)>
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e0 = arith.constant 0.5 : f32
  %e1 = arith.constant -0.5 : f32
  %e2 = arith.constant 3.0 : f32
  %e3 = arith.constant -2.0 : f32
  %e4 = arith.constant 0.0 : f32
  %e5 = arith.constant -1.0 : f32
  %e6 = arith.constant 4.0 : f32
  %o = tensor.empty() : tensor<8xf32>
  %r:7 = linalg.generic {indexing_maps = [#i, #i, #i, #i, #i, #i, #i, #i], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%o, %o, %o, %o, %o, %o, %o : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32, %o5: f32, %o6: f32):
    %p0 = math.powf %a, %e0 : f32
    %p1 = math.powf %a, %e1 : f32
    %p2 = math.powf %a, %e2 : f32
    %p3 = math.powf %a, %e3 : f32
    %p4 = math.powf %a, %e4 : f32
    %p5 = math.powf %a, %e5 : f32
    %p6 = math.powf %a, %e6 : f32
    linalg.yield %p0, %p1, %p2, %p3, %p4, %p5, %p6 : f32, f32, f32, f32, f32, f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
