// y = gelu(x · scale + bias), with one bias per column and a scalar that the
// host passes.

func.func @main(%x: tensor<?x?xf32>, %bias: tensor<?xf32>, %scale: f32) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %sqrt_half = arith.constant 0.70710678118654757 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %shape = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %bias : tensor<?x?xf32>, tensor<?xf32>) outs(%shape : tensor<?x?xf32>) {
  ^bb0(%xe: f32, %be: f32, %unused: f32):
    %scaled = arith.mulf %xe, %scale : f32
    %z = arith.addf %scaled, %be : f32
    %t = arith.mulf %z, %sqrt_half : f32
    %erf = math.erf %t : f32
    %plus = arith.addf %erf, %one : f32
    %h = arith.mulf %z, %half : f32
    %gelu = arith.mulf %h, %plus : f32
    linalg.yield %gelu : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
