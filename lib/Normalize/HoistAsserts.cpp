// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cf.assert in the body of a structured op becomes one outside of it. A condition
// that the host knows is asserted there; of those that elements decide about, a
// reduction finds the number of the first that does not hold, an error that the
// run has when its kernels are done.
//
//   linalg.generic ins(%x) outs(%e) { %ok = arith.cmpi slt, %a, %c100
//                                     cf.assert %ok, "index out of bounds"; … }
// becomes
//   %n = linalg.generic ins(%x) outs(%one) {
//          %ok = …; %s = arith.select %ok, 1, 0; arith.minsi %acc, %s }
//   tilewright.check %n, ["index out of bounds"]
//   linalg.generic ins(%x) outs(%e) { … }
//
// The reduction has only the loops that the conditions depend on: of a gather of
// rows it reads each index once.

#include "tilewright/Dialect/Tilewright.h"
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

/// i1 on the host: one of `loops` of `op` has no iteration, so that nothing in it is
/// asserted; null where its types say that all have some.
static Value isEmpty(OpBuilder &b, linalg::GenericOp op,
                     const llvm::SmallBitVector &loops) {
  Location loc = op.getLoc();
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, loc);
  Value empty, zero;
  for (unsigned loop : loops.set_bits()) {
    OpFoldResult extent = ranges[loop].size;
    if (std::optional<int64_t> size = getConstantIntValue(extent);
        size && *size > 0)
      continue;
    if (!zero)
      zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value none = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq,
        getValueOrCreateConstantIndexOp(b, loc, extent), zero);
    empty =
        empty ? arith::OrIOp::create(b, loc, empty, none).getResult() : none;
  }
  return empty;
}

/// The ops of the body of `op` that the conditions of `asserts` depend on.
static llvm::SetVector<Operation *> findSlice(linalg::GenericOp op,
                                              ArrayRef<cf::AssertOp> asserts) {
  Block *body = op.getBody();
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *inner) { return inner->getBlock() == body; };
  for (cf::AssertOp assertion : asserts)
    if (Operation *def = assertion.getArg().getDefiningOp())
      (void)getBackwardSlice(def, &slice, options);
  return slice;
}

static void addLoops(AffineMap map, llvm::SmallBitVector &loops) {
  for (AffineExpr result : map.getResults())
    for (unsigned loop = 0; loop < loops.size(); ++loop)
      if (result.isFunctionOfDim(loop))
        loops.set(loop);
}

namespace {
/// What the reduction needs of an op: some of its loops, and operands that have no
/// others.
struct Part {
  llvm::SmallBitVector loops, operands;
};
} // namespace

/// The loops and operands that conditions computed by `slice` depend on.
static Part findPart(linalg::GenericOp op, ArrayRef<cf::AssertOp> asserts,
                     const llvm::SetVector<Operation *> &slice) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Part part{llvm::SmallBitVector(op.getNumLoops()),
            llvm::SmallBitVector(op->getNumOperands())};
  auto use = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != op.getBody())
      return;
    part.operands.set(argument.getArgNumber());
    addLoops(maps[argument.getArgNumber()], part.loops);
  };
  for (cf::AssertOp assertion : asserts)
    use(assertion->getOperand(0));
  for (Operation *inner : slice) {
    llvm::for_each(inner->getOperands(), use);
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      part.loops.set(index.getDim());
  }
  // Operands say how far the loops run.
  llvm::SmallBitVector bounded(op.getNumLoops());
  auto bound = [&](unsigned operand) {
    for (AffineExpr result : maps[operand].getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        bounded.set(dim.getPosition());
  };
  for (unsigned operand : part.operands.set_bits())
    bound(operand);
  for (unsigned operand = 0; operand < maps.size(); ++operand) {
    llvm::SmallBitVector its(op.getNumLoops());
    addLoops(maps[operand], its);
    if (its.test(part.loops) || !its.test(bounded))
      continue;
    part.operands.set(operand);
    bound(operand);
  }
  if (part.loops.test(bounded))
    return {llvm::SmallBitVector(op.getNumLoops(), true),
            llvm::SmallBitVector(op->getNumOperands(), true)};
  return part;
}

/// The reduction that finds the number of the first of `asserts` that does not hold.
static Value createCheck(RewriterBase &b, linalg::GenericOp op,
                         ArrayRef<cf::AssertOp> asserts) {
  Location loc = op.getLoc();
  Block *body = op.getBody();
  llvm::SetVector<Operation *> slice = findSlice(op, asserts);
  Part part = findPart(op, asserts, slice);
  llvm::SmallBitVector others = part.loops;
  others.flip();
  Value empty = isEmpty(b, op, others);

  SmallVector<AffineExpr> numbers(op.getNumLoops());
  unsigned numLoops = 0;
  for (unsigned loop = 0; loop < numbers.size(); ++loop)
    numbers[loop] = b.getAffineDimExpr(part.loops[loop] ? numLoops++ : 0);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (unsigned operand : part.operands.set_bits()) {
    inputs.push_back(op->getOperand(operand));
    maps.push_back(op.getIndexingMapsArray()[operand].replaceDimsAndSymbols(
        numbers, {}, numLoops, 0));
  }
  maps.push_back(AffineMap::get(numLoops, 0, b.getContext()));
  Type i32 = b.getI32Type();
  auto constant = [&](OpBuilder &b, int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Value unset =
      tensor::EmptyOp::create(b, loc, RankedTensorType::get({}, i32), {});
  Value start =
      linalg::FillOp::create(b, loc, constant(b, asserts.size()), unset)
          .getResult(0);
  SmallVector<utils::IteratorType> loops(numLoops,
                                         utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             b, loc, start.getType(), inputs, start, maps, loops,
             [&](OpBuilder &inner, Location, ValueRange arguments) {
               IRMapping mapping;
               for (auto [number, operand] :
                    llvm::enumerate(part.operands.set_bits()))
                 mapping.map(body->getArgument(operand), arguments[number]);
               for (Operation &copied : *body) {
                 if (!slice.contains(&copied))
                   continue;
                 Operation *copy = inner.clone(copied, mapping);
                 if (auto index = dyn_cast<linalg::IndexOp>(copy))
                   index.setDim(cast<AffineDimExpr>(numbers[index.getDim()])
                                    .getPosition());
               }
               Value first = constant(inner, asserts.size());
               for (unsigned number = asserts.size(); number-- > 0;) {
                 cf::AssertOp assertion = asserts[number];
                 Value holds = mapping.lookupOrDefault(assertion.getArg());
                 if (empty)
                   holds = arith::OrIOp::create(inner, loc, holds, empty);
                 first = arith::SelectOp::create(inner, loc, holds, first,
                                                 constant(inner, number));
               }
               Value result =
                   arith::MinSIOp::create(inner, loc, arguments.back(), first);
               linalg::YieldOp::create(inner, loc, result);
             })
      .getResult(0);
}

LogicalResult tilewright::hoistAsserts(RewriterBase &b, linalg::GenericOp op) {
  Block *body = op.getBody();
  SmallVector<cf::AssertOp> known, unknown;
  for (auto assertion : body->getOps<cf::AssertOp>())
    (isInside(assertion.getArg(), body) ? unknown : known).push_back(assertion);
  if (known.empty() && unknown.empty())
    return success();
  if (op.getNumReductionLoops() &&
      llvm::any_of(findSlice(op, unknown), [&](Operation *inner) {
        return llvm::any_of(inner->getOperands(), [&](Value value) {
          return llvm::is_contained(op.getRegionOutputArgs(), value);
        });
      }))
    return op.emitOpError(
        "asserts something of a sum that is not yet complete; "
        "assert it of the result, or drop asserts by "
        "--asserts=off");
  b.setInsertionPoint(op);
  if (!known.empty())
    if (Value empty =
            isEmpty(b, op, llvm::SmallBitVector(op.getNumLoops(), true)))
      for (cf::AssertOp assertion : known)
        assertion.getArgMutable().assign(arith::OrIOp::create(
            b, assertion.getLoc(), assertion.getArg(), empty));
  for (cf::AssertOp assertion : known)
    assertion->moveBefore(op);
  if (unknown.empty())
    return success();
  SmallVector<StringRef> messages;
  for (cf::AssertOp assertion : unknown)
    messages.push_back(assertion.getMsg());
  Value number = createCheck(b, op, unknown);
  CheckOp::create(b, op.getLoc(), number, b.getStrArrayAttr(messages));
  for (cf::AssertOp assertion : unknown)
    b.eraseOp(assertion);
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
