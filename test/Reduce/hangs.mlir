// A compiler and a device that do not end: played by a script, stopped by the limit.
// REQUIRES: tilewright-reduce
// RUN: env HANG=math.exp tilewright-reduce %s --hangs --limit=1 --compiler=%S/Inputs/fake.sh -o %t.mlir 2>%t.log
// RUN: FileCheck %s --implicit-check-not=arith --implicit-check-not='?' <%t.mlir
// RUN: env HANG_RUN=1 not tilewright-reduce %s --device=cpu --check=oracle --limit=1 --compiler=%S/Inputs/fake.sh --runner=%S/Inputs/fake.sh -o %t.none 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not ls %t.none

// CHECK: math.exp %{{.*}} : tensor<1xf32>
// DEVICE: error: '{{.*}}' is not interesting as it is: the run does not end within 1 s

func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = math.exp %a : tensor<?xf32>
  %s = arith.addf %r, %a : tensor<?xf32>
  return %s : tensor<?xf32>
}
