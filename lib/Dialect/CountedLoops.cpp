// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/CountedLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

void tilewright::countIterations(scf::ForOp loop) {
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
