// RUN: tilewright-compile %s --target=cpu --explain -o %t 2>&1 | FileCheck %s

// A transposed tile has a register for each row as it is read, and as it is
// written: larger ones of bytes took LLVM a minute each.
// CHECK: block tile 16 x 1024, 16 x 16 elements a thread
// CHECK: block tile 16 x 1024, 8 x 8 elements a thread
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
