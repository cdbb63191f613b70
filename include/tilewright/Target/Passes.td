// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_PASSES
#define TILEWRIGHT_TARGET_PASSES

include "mlir/Pass/PassBase.td"

def ExpandMathPass : Pass<"tilewright-expand-math"> {
  let summary = "rewrites math functions into arithmetic that every target has";
  let description = [{
    Replaces transcendental functions of the math dialect, and arith.remf, by
    arithmetic, on scalars and vectors alike, so that all targets compute the same values and
    none needs a math library. f16 and bf16 are computed in f32. What is left
    is exact or correctly rounded and native everywhere: absf, absi, ceil,
    copysign, ctlz, ctpop, cttz, floor, fma, roundeven, sqrt, trunc. An op that
    cannot be expanded is an error.

    The functions and their errors are listed in lib/Target/ExpandMath.cpp.
  }];
  let options = [
    Option<"wide", "wide", "bool", /*default=*/"false",
           "compute all functions in f64, as the oracle does">,
  ];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::math::MathDialect",
                           "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def ExpandFloat8Pass : Pass<"tilewright-expand-float8"> {
  let summary = "floats of 8 bits become bytes, their conversions arithmetic";
  let description = [{
    Rewrites `arith.extf` and `arith.truncf` of floats of 8 bits into exact
    integer arithmetic (to nearest, ties to even), by way of f32 conversions from
    and to integers, too, and then every f8 type and constant into i8. Arithmetic on f8 itself is an error.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::math::MathDialect"];
}

#endif
