// RUN: tilewright-compile %s --target=cpu --explain -o %t 2>&1 | FileCheck %s

// Of a tile that is only transposed, each row has a register.
// CHECK: block tile {{.*}}, register tile 32 x 32
// CHECK: block tile {{.*}}, register tile 16 x 16
func.func @bytes(%a: tensor<?x?xi8>) -> tensor<?x?xi8> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %a, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%n, %m) : tensor<?x?xi8>
  %r = linalg.transpose ins(%a : tensor<?x?xi8>)
                        outs(%e : tensor<?x?xi8>) permutation = [1, 0]
  return %r : tensor<?x?xi8>
}

// Each of more tensors has fewer rows in registers: of 16 rows, six took LLVM
// several seconds.
// CHECK: block tile {{.*}}, register tile 8 x 8
// CHECK: block tile {{.*}}, register tile 4 x 4
func.func @many(%x: tensor<?x?xbf16>, %y: tensor<?x?xbf16>) -> (tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xbf16>
  %t = tensor.empty(%n, %m) : tensor<?x?xbf16>
  %r:4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>,
                                          affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
    ins(%x, %y : tensor<?x?xbf16>, tensor<?x?xbf16>)
    outs(%t, %e, %t, %e : tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>) {
  ^bb0(%i: bf16, %j: bf16, %o: bf16, %p: bf16, %q: bf16, %v: bf16):
    %s = arith.addf %i, %j : bf16
    %u = arith.mulf %s, %j : bf16
    %w = arith.subf %u, %i : bf16
    %z = arith.maximumf %w, %u : bf16
    linalg.yield %s, %u, %w, %z : bf16, bf16, bf16, bf16
  } -> (tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>
}

// Whole lines of the result, two side by side where elements have 32 bits or more: registers of AVX-512 are lines, two of AVX2 are read
// as one where lines divide the operand's rows. Rows that are no whole number of lines are copied by registers. A task has 64 columns of the result, so that lines are written next to each other.
// CHECK-COUNT-2: block tile 4096 x 64, register tile 16 x 16
// CHECK: block tile {{.*}}, register tile 16 x 16
// CHECK: block tile {{.*}}, register tile 8 x 32
// CHECK: block tile {{.*}}, register tile 16 x 16
// CHECK: block tile {{.*}}, register tile 8 x 8
func.func @lines(%a: tensor<4096x4096xf32>, %b: tensor<4096x4004xf32>, %c: tensor<4008x4000xf32>)
    -> (tensor<4096x4096xf32>, tensor<4004x4096xf32>, tensor<4000x4008xf32>) {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = tensor.empty() : tensor<4004x4096xf32>
  %g = tensor.empty() : tensor<4000x4008xf32>
  %r = linalg.transpose ins(%a : tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) permutation = [1, 0]
  %s = linalg.transpose ins(%b : tensor<4096x4004xf32>) outs(%f : tensor<4004x4096xf32>) permutation = [1, 0]
  %t = linalg.transpose ins(%c : tensor<4008x4000xf32>) outs(%g : tensor<4000x4008xf32>) permutation = [1, 0]
  return %r, %s, %t : tensor<4096x4096xf32>, tensor<4004x4096xf32>, tensor<4000x4008xf32>
}
