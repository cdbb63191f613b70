// RUN: tilewright-compile %s --target=cpu,cpu-reference -o %t && tilewright-run %t --device=cpu --input=5000x4001xf16=random:1 --check=oracle | FileCheck %s

// A result of 38 MiB whose rows begin at aligned addresses and at others: some of its
// stores pass the caches by.
// CHECK: ok: 4001x5000xf16, all elements equal
func.func @transposed(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf16>
  %n = tensor.dim %x, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%n, %m) : tensor<?x?xf16>
  %r = linalg.transpose ins(%x : tensor<?x?xf16>) outs(%e : tensor<?x?xf16>) permutation = [1, 0]
  return %r : tensor<?x?xf16>
}
