// RUN: tilewright-opt %s -tilewright-manage-views -split-input-file -verify-diagnostics

// expected-error @below {{has unstructured control flow (cf.br), which host code cannot have; write it with scf}}
func.func @branches() {
  cf.br ^bb1
^bb1:
  return
}

// -----

func.func @generates(%n: index) -> tensor<?xf32> {
  // expected-error @below {{'tensor.generate' op cannot run on the host; scf.for, scf.if and scf.while can}}
  %0 = tensor.generate %n {
  ^bb0(%i: index):
    %z = arith.constant 0.0 : f32
    tensor.yield %z : f32
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}
