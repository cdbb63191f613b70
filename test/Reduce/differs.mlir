// Two devices that disagree, and a compiler that dies: both played by a script.
// REQUIRES: tilewright-reduce
// RUN: tilewright-reduce %s --device=vulkan --check=oracle --compiler=%S/Inputs/fake.sh --runner=%S/Inputs/fake.sh -o %t.mlir 2>%t.log
// RUN: FileCheck %s --implicit-check-not=math --implicit-check-not=scf --implicit-check-not=f16 --implicit-check-not='?' <%t.mlir
// RUN: env FAULT=math.exp tilewright-reduce %s --crashes --compiler=%S/Inputs/fake.sh -o %t.crash.mlir 2>%t.log
// RUN: FileCheck %s --check-prefix=CRASH --implicit-check-not=linalg <%t.crash.mlir


// CHECK:      func.func @main(%{{.*}}: tensor<1x1xf32>
// CHECK:        linalg.matmul ins({{.*}} : tensor<{{.*}}1xf32>, tensor<1x1xf32>)
// CHECK-NEXT:   return

// CRASH: math.exp

func.func @main(%a: tensor<?x32xf16>, %b: tensor<32x48xf16>, %n: index) -> tensor<?x48xf16> {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x32xf16>
  %e = tensor.empty(%m) : tensor<?x48xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<?x48xf16>) -> tensor<?x48xf16>
  %p = linalg.matmul ins(%a, %b : tensor<?x32xf16>, tensor<32x48xf16>) outs(%z : tensor<?x48xf16>) -> tensor<?x48xf16>
  %q = math.exp %p : tensor<?x48xf16>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %q) -> tensor<?x48xf16> {
    %s = arith.addf %v, %q : tensor<?x48xf16>
    scf.yield %s : tensor<?x48xf16>
  }
  return %r : tensor<?x48xf16>
}
