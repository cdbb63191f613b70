// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cf.assert in the body of a structured op becomes one on the host. A condition
// that the host knows is asserted there; of one that elements decide about, a
// reduction finds out whether it holds for all of them, and the host reads
// that.
//
//   linalg.generic ins(%x) outs(%e) { %ok = arith.cmpi slt, %a, %c100
//                                     cf.assert %ok, "index out of bounds"; … }
// becomes
//   %all = linalg.generic ins(%x) outs(%true) { %ok = …; arith.andi %acc, %ok }
//   %v = tensor.extract %all[]
//   cf.assert %v, "index out of bounds"
//   linalg.generic ins(%x) outs(%e) { … }

#include "tilewright/Normalize/Normalize.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_HOISTASSERTSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// True if `value` is computed in `body`.
static bool isInside(Value value, Block *body) {
  return value.getParentBlock() == body;
}

/// i1 on the host: `op` has no iteration, so that nothing in it is asserted;
/// null where its types say that it has some.
static Value isEmpty(OpBuilder &b, linalg::GenericOp op) {
  Location loc = op.getLoc();
  Value empty, zero;
  for (Range range :
       cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, loc)) {
    if (std::optional<int64_t> size = getConstantIntValue(range.size);
        size && *size > 0)
      continue;
    if (!zero)
      zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value none = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq,
        getValueOrCreateConstantIndexOp(b, loc, range.size), zero);
    empty =
        empty ? arith::OrIOp::create(b, loc, empty, none).getResult() : none;
  }
  return empty;
}

/// The reduction that finds out about the conditions of `asserts`.
static linalg::GenericOp createCheck(RewriterBase &b, linalg::GenericOp op,
                                     ArrayRef<cf::AssertOp> asserts) {
  Location loc = op.getLoc();
  Block *body = op.getBody();
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *inner) { return inner->getBlock() == body; };
  for (cf::AssertOp assertion : asserts)
    if (Operation *def = assertion.getArg().getDefiningOp())
      (void)getBackwardSlice(def, &slice, options);

  // Every operand comes along: together they say how far the loops run.
  SmallVector<Value> inputs(op->getOperands());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> loops(op.getNumLoops(),
                                         utils::IteratorType::reduction);
  Type bit = b.getI1Type();
  Value yes = arith::ConstantIntOp::create(b, loc, bit, 1);
  SmallVector<Value> starts;
  for (size_t i = 0; i < asserts.size(); ++i) {
    Value empty =
        tensor::EmptyOp::create(b, loc, RankedTensorType::get({}, bit), {});
    starts.push_back(linalg::FillOp::create(b, loc, yes, empty).getResult(0));
    maps.push_back(AffineMap::get(op.getNumLoops(), 0, b.getContext()));
  }
  return linalg::GenericOp::create(
      b, loc, TypeRange(ValueRange(starts)), inputs, starts, maps, loops,
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(body->getArguments(),
                    arguments.take_front(body->getNumArguments()));
        for (Operation &copied : *body)
          if (slice.contains(&copied))
            inner.clone(copied, mapping);
        SmallVector<Value> results;
        for (unsigned number = 0; number < asserts.size(); ++number)
          results.push_back(arith::AndIOp::create(
              inner, at, arguments[body->getNumArguments() + number],
              mapping.lookupOrDefault(asserts[number]->getOperand(0))));
        linalg::YieldOp::create(inner, at, results);
      });
}

LogicalResult tilewright::hoistAsserts(RewriterBase &b, linalg::GenericOp op) {
  Block *body = op.getBody();
  SmallVector<cf::AssertOp> known, unknown;
  for (auto assertion : body->getOps<cf::AssertOp>())
    (isInside(assertion.getArg(), body) ? unknown : known).push_back(assertion);
  if (known.empty() && unknown.empty())
    return success();
  if (op.getNumReductionLoops() &&
      llvm::any_of(unknown, [&](cf::AssertOp assertion) {
        llvm::SetVector<Operation *> slice;
        BackwardSliceOptions options;
        options.inclusive = true;
        options.omitBlockArguments = true;
        Operation *def = assertion.getArg().getDefiningOp();
        (void)getBackwardSlice(def, &slice, options);
        return llvm::any_of(slice, [&](Operation *inner) {
          return llvm::any_of(inner->getOperands(), [&](Value value) {
            return llvm::is_contained(op.getRegionOutputArgs(), value);
          });
        });
      }))
    return op.emitOpError(
        "asserts something of a sum that is not yet complete; "
        "assert it of the result, or drop asserts by "
        "--asserts=off");
  b.setInsertionPoint(op);
  if (!known.empty())
    if (Value empty = isEmpty(b, op))
      for (cf::AssertOp assertion : known)
        assertion.getArgMutable().assign(arith::OrIOp::create(
            b, assertion.getLoc(), assertion.getArg(), empty));
  for (cf::AssertOp assertion : known)
    assertion->moveBefore(op);
  if (unknown.empty())
    return success();
  linalg::GenericOp check = createCheck(b, op, unknown);
  for (auto [assertion, all] : llvm::zip_equal(unknown, check.getResults())) {
    Value holds =
        tensor::ExtractOp::create(b, assertion.getLoc(), all, ValueRange());
    assertion.getArgMutable().assign(holds);
    assertion->moveBefore(op);
  }
  return success();
}

namespace {
struct HoistAssertsPass
    : public tilewright::impl::HoistAssertsPassBase<HoistAssertsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      if (op.hasPureTensorSemantics() && failed(hoistAsserts(rewriter, op)))
        return signalPassFailure();
  }
};
} // namespace
