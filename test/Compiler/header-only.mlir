// A header says what the functions take; no code is generated for it, so a target that cannot have some kernel serves as well.
// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80,cpu-reference --name=p --emit=header --timing -o %t.h 2>%t.timing
// RUN: FileCheck %s <%t.h
// RUN: FileCheck %s --check-prefix=TIMING --implicit-check-not=kernel --implicit-check-not=configure <%t.timing

// CHECK: tilewright_status *p_main(
// TIMING: place
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
