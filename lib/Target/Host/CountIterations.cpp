// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of other steps than 1 count their iterations, since the number behind the last one may
// not exist, and would be the least one of the type:
//
//   scf.for %i = %a to %b step %s : i64 { … }
// becomes
//   %n = %a < %b ? (%b - %a - 1) /u max(%s, 1) + 1 : 0
//   scf.for unsigned %k = %c0 to %n step %c1 : i64 { %i = %a + %k * %s … }

#include "tilewright/Target/Host/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

static void countIterations(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value first = loop.getLowerBound(), end = loop.getUpperBound(), step = loop.getStep();
  Type type = first.getType();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  Value zero = number(0), one = number(1);
  auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value any = arith::CmpIOp::create(b, loc, predicate, first, end);
  Value span = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, end, first), one);
  Value divisor = arith::MaxUIOp::create(b, loc, step, one);
  Value count = arith::AddIOp::create(
      b, loc, arith::DivUIOp::create(b, loc, span, divisor), one);
  count = arith::SelectOp::create(b, loc, any, count, zero);
  loop.setLowerBound(zero);
  loop.setUpperBound(count);
  loop.setStep(one);
  loop.setUnsignedCmp(true);
  b.setInsertionPointToStart(loop.getBody());
  Value counter = loop.getInductionVar();
  Value distance = arith::MulIOp::create(b, loc, counter, step);
  Value value = arith::AddIOp::create(b, loc, first, distance);
  counter.replaceAllUsesExcept(value, distance.getDefiningOp());
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
