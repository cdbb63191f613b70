// What an earlier try has said is not what the next one says.
// REQUIRES: tilewright-reduce
// RUN: env REFUSE=math.exp tilewright-reduce %s --fails='for: refused' --compiler=%S/Inputs/fake.sh -o %t.mlir 2>%t.log
// RUN: FileCheck %s --implicit-check-not=arith <%t.mlir

// CHECK: math.exp %{{.*}} : tensor<{{.*}}f32>

func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = math.exp %a : tensor<?xf32>
  %s = arith.addf %r, %a : tensor<?xf32>
  return %s : tensor<?xf32>
}
