// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops whose last number and step may have no sum of their type count their iterations; see
// CountedLoops.h.

#include "tilewright/Dialect/CountedLoops.h"
#include "tilewright/Target/Host/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tilewright {
#define GEN_PASS_DEF_COUNTITERATIONSPASS
#include "tilewright/Target/Host/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// Whether a number of the loop and its step may have no sum.
static bool mayOverflow(scf::ForOp loop) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (step && *step == 1)
    return false;
  std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound());
  Type type = loop.getInductionVar().getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  int64_t last = llvm::maxIntN(width);
  return !step || !end || *step < 1 || *end > last - *step || loop.getUnsignedCmp();
}

namespace {
struct CountIterationsPass
    : tilewright::impl::CountIterationsPassBase<CountIterationsPass> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) {
      if (mayOverflow(loop))
        countIterations(loop);
    });
  }
};
} // namespace
