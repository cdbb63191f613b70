// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -tilewright-resolve-callees

func.func private @p()
func.func private @q()
func.func @carried(%b: i1) {
  %f = scf.if %b -> (() -> ()) {
    %p = func.constant @p : () -> ()
    scf.yield %p : () -> ()
  } else {
    %q = func.constant @q : () -> ()
    scf.yield %q : () -> ()
  }
  // expected-error @+1 {{calls a function that is neither func.constant nor arith.select of two}}
  call_indirect %f() : () -> ()
  return
}

// -----

func.func private @p()
func.func @returned() -> (() -> ()) {
  // expected-error @+1 {{is a function that is not only called}}
  %p = func.constant @p : () -> ()
  return %p : () -> ()
}
