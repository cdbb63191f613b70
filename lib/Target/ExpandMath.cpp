// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Math functions as arithmetic.
//
//   %y = math.exp %x : f16
//
// becomes an extension to f32, a range reduction, a polynomial, a scaling by a
// power of two put together from bits, and a truncation. Polynomials are
// upstream's.

#include "tilewright/Target/Passes.h"

#include "mlir/Dialect/Math/Transforms/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "tilewright/Target/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// True for ops that every target computes exactly or correctly rounded.
static bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CtPopOp,
             math::CountTrailingZerosOp, math::FloorOp, math::FmaOp,
             math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
}

void tilewright::populateExpandMathPatterns(RewritePatternSet &patterns) {
  auto always = [](StringRef) { return true; };
  populateMathF32ExpansionPatterns(patterns, always, /*benefit=*/2);
  populateMathPolynomialApproximationPatterns(patterns, always, /*benefit=*/2);
  math::populateExpansionPatterns(
      patterns, {"acosh", "asinh", "atanh", "clampf", "cosh", "exp2", "fpowi",
                 "ipowi", "powf", "round", "rsqrt", "sinh", "tan"});
}

LogicalResult tilewright::expandMath(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  populateExpandMathPatterns(patterns);
  if (failed(applyPatternsGreedily(root, std::move(patterns))))
    return root->emitError("expanding math functions does not converge");
  WalkResult result = root->walk([](Operation *op) {
    if (!isa_and_present<math::MathDialect>(op->getDialect()) || isNative(op))
      return WalkResult::advance();
    InFlightDiagnostic error = op->emitOpError()
                               << "has no expansion for "
                               << op->getResult(0).getType();
    if (getElementTypeOrSelf(op->getResult(0)).isF64())
      error << "; compute it in f32, or on the host";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ExpandMathPass : tilewright::impl::ExpandMathPassBase<ExpandMathPass> {
  void runOnOperation() override {
    if (failed(expandMath(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void tilewright::registerTargetPasses() { registerTilewrightTargetPasses(); }
