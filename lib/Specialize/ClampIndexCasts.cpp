// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nearest number that a 32-bit index has, in front of casts to it:
//
//   %i = arith.index_cast %row : i64 to index
//
//   %a = arith.maxsi %row, -2147483648 : i64
//   %b = arith.minsi %a, 2147483647 : i64
//   %i = arith.index_cast %b : i64 to index

#include "tilewright/Analysis/IndexRanges.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Specialize/Specialize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"

namespace tilewright {
#define GEN_PASS_DEF_CLAMPINDEXCASTSPASS
#include "tilewright/Specialize/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// Whether `op` makes an index of an integer that may need more bits than 32 with a sign.
static bool narrows(Operation *op) {
  if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, index::CastSOp,
           index::CastUOp>(op) ||
      !op->getResult(0).getType().isIndex())
    return false;
  auto type = dyn_cast<IntegerType>(op->getOperand(0).getType());
  bool isSigned = isa<arith::IndexCastOp, index::CastSOp>(op);
  return type && type.getWidth() > (isSigned ? 32 : 31);
}

void tilewright::clampIndexCasts(ModuleOp program) {
  for (auto kernel : program.getOps<func::FuncOp>()) {
    if (!hasNarrowIndices(kernel))
      continue;
    kernel.walk([](Operation *op) {
      if (!narrows(op))
        return;
      OpBuilder b(op);
      Location loc = op->getLoc();
      Value value = op->getOperand(0);
      auto constant = [&](int64_t number) -> Value {
        return arith::ConstantOp::create(
            b, loc, b.getIntegerAttr(value.getType(), number));
      };
      if (isa<arith::IndexCastUIOp, index::CastUOp>(op)) {
        op->setOperand(0, arith::MinUIOp::create(b, loc, value,
                                                 constant(INT32_MAX)));
        return;
      }
      value = arith::MaxSIOp::create(b, loc, value, constant(INT32_MIN));
      op->setOperand(
          0, arith::MinSIOp::create(b, loc, value, constant(INT32_MAX)));
    });
  }
}

namespace {
struct ClampIndexCastsPass
    : tilewright::impl::ClampIndexCastsPassBase<ClampIndexCastsPass> {
  void runOnOperation() override { clampIndexCasts(getOperation()); }
};
} // namespace
