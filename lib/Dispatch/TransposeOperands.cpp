// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands that warpgroups do not read as they lie are transposed in memory, where
// that pays (TransposedOperands.h):
//
//   %r = linalg.generic <(m, n, k) -> (k, m), (k, n), (m, n)> ins(%a, %b)           i8
// becomes
//   %t = linalg.generic <(n, k) -> (k, n), (n, k)> ins(%b) { tilewright.identity }
//   %r = linalg.generic <(m, n, k) -> (k, m), (n, k), (m, n)> ins(%a, %t)
//
// and registers transpose %a. Where the sizes of dynamic dims tell whether it pays, the host
// looks:
//
//   %r = scf.if %long_and_aligned { %t = …, <product of %a, %t> } else { <product of %a, %b> }
//
// What computes %b element by element for the product alone is in both branches, and writes %t in
// the first.

#include "SplitReductions.h"
#include "tilewright/Configure/TransposedOperands.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_TRANSPOSEOPERANDSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Who multiplies what is transposed, and how.
static StringRef purposeOf(const TransposedOperands &choice) {
  return choice.forWarpgroups ? "for warpgroups to multiply" : "for warps to read along the sum";
}

/// Has `op` read operand `number` from a copy that lies the other way.
static void transposeOperand(RewriterBase &rewriter, linalg::GenericOp op, unsigned number,
                             const TransposedOperands &choice) {
  OpOperand *operand = op.getDpsInputOperand(number);
  SmallVector<int64_t> order = transposedOrder(*operand);
  // Of what is known when the program is loaded it is made then, not in a branch or a loop.
  if (isKnownAtLoad(operand->get()))
    rewriter.setInsertionPointAfterValue(operand->get());
  else
    rewriter.setInsertionPoint(op);
  linalg::GenericOp copy =
      createTransposedCopy(rewriter, op.getLoc(), operand->get(), order);
  copy->setAttr(kCopiesAttr,
                rewriter.getStringAttr("operand " + Twine(number) +
                                       " of a product is transposed, " + purposeOf(choice)));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineExpr> moved;
  for (int64_t dim : order)
    moved.push_back(maps[number].getResult(dim));
  maps[number] = AffineMap::get(maps[number].getNumDims(), 0, moved, op.getContext());
  rewriter.modifyOpInPlace(op, [&] {
    operand->set(copy.getResult(0));
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

/// Whether other ops compute with the result, perhaps in the product's kernel.
static bool hasEpilogue(linalg::GenericOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return isa<linalg::LinalgOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user);
  });
}

/// The extent of dim `dim`, asked of what has sizes, not of an op that computes.
static Value extentOf(OpBuilder &b, Location loc, Value tensor, unsigned dim) {
  while (auto producer = tensor.getDefiningOp<linalg::LinalgOp>())
    tensor = producer.getTiedOpOperand(cast<OpResult>(tensor))->get();
  return b.createOrFold<tensor::DimOp>(loc, tensor, dim);
}

/// Whether the extents are what `choice` asks for, on the host; null where all are.
static Value createGuard(RewriterBase &b, linalg::GenericOp op, const TransposedOperands &choice) {
  Location loc = op.getLoc();
  Value all;
  auto require = [&](arith::CmpIPredicate predicate, Value left, int64_t right) {
    Value holds = arith::CmpIOp::create(b, loc, predicate, left,
                                        arith::ConstantIndexOp::create(b, loc, right));
    all = all ? arith::AndIOp::create(b, loc, all, holds).getResult() : holds;
  };
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!choice.atLeast[loop] && choice.multipleOf[loop] == 1)
      continue;
    Value extent;
    for (OpOperand *input : op.getDpsInputOperands())
      if (auto dim = op.getMatchingIndexingMap(input).getResultPosition(b.getAffineDimExpr(loop)))
        extent = extentOf(b, loc, input->get(), *dim);
    if (choice.atLeast[loop])
      require(arith::CmpIPredicate::sge, extent, choice.atLeast[loop]);
    if (int64_t divisor = choice.multipleOf[loop]; divisor > 1) {
      Value by = arith::ConstantIndexOp::create(b, loc, divisor);
      require(arith::CmpIPredicate::eq, b.createOrFold<arith::RemUIOp>(loc, extent, by), 0);
    }
  }
  return all;
}

/// What computes `input` element by element for its only reader; null if nothing does.
static linalg::LinalgOp ownProducer(Value input) {
  auto producer = input.getDefiningOp<linalg::LinalgOp>();
  bool isOwn = producer && input.hasOneUse() && producer->getNumResults() == 1 &&
               producer.getNumReductionLoops() == 0 &&
               !isa<linalg::FillOp>(producer.getOperation()) && !isAddedCopy(producer);
  return isOwn ? producer : nullptr;
}

/// The product with its operands transposed if `guard` holds, as it is if not.
static void transposeGuarded(RewriterBase &rewriter, linalg::GenericOp op, Value guard,
                             const TransposedOperands &choice) {
  SmallVector<linalg::LinalgOp> producers;
  for (Value input : op.getInputs())
    if (linalg::LinalgOp producer = ownProducer(input))
      producers.push_back(producer);
  auto branch = scf::IfOp::create(rewriter, op.getLoc(), op.getResultTypes(), guard,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    rewriter.setInsertionPointToStart(block);
    // Fills that only initialise are repeated in kernels, from their own block.
    IRMapping mapping;
    for (Value init : op.getOutputs())
      if (auto fill = init.getDefiningOp<linalg::FillOp>();
          fill && fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>()) {
        Operation *empty = rewriter.clone(*fill.getOutputs()[0].getDefiningOp(), mapping);
        mapping.map(fill.getOutputs()[0], empty->getResult(0));
        mapping.map(init, rewriter.clone(*fill, mapping)->getResult(0));
      }
    for (linalg::LinalgOp producer : producers)
      rewriter.clone(*producer, mapping);
    auto copy = cast<linalg::GenericOp>(rewriter.clone(*op, mapping));
    scf::YieldOp::create(rewriter, op.getLoc(), copy.getResults());
    if (block == branch.thenBlock())
      for (unsigned number : choice.numbers)
        transposeOperand(rewriter, copy, number, choice);
  }
  rewriter.replaceOp(op, branch);
  for (linalg::LinalgOp producer : producers)
    rewriter.eraseOp(producer);
}

static void transposeOperands(IRRewriter &rewriter, linalg::GenericOp op, func::FuncOp func) {
  OrRefusal<TransposedOperands> choice =
      chooseTransposed(cast<linalg::LinalgOp>(op.getOperation()), getTarget(func),
                       [&](ArrayRef<linalg::LinalgOp> ops) {
                         return predictWithParts(ops, getTarget(func));
                       });
  if (!choice) {
    if (choice.why().getKind() != Refused::Unrelated)
      addExplanation(func, nameOpAndLine(op) +
                               ": neither operand is transposed for warpgroups by a kernel in "
                               "front: " +
                               choice.why().str());
    return;
  }
  bool isGuarded = llvm::any_of(choice->atLeast, [](int64_t least) { return least > 0; });
  if (isGuarded && hasEpilogue(op) && choice->forAlignment &&
      !llvm::all_of(choice->numbers,
                    [&](unsigned number) { return isKnownAtLoad(op.getInputs()[number]); })) {
    addExplanation(func, nameOpAndLine(op) +
                             ": neither operand is transposed by a kernel in front: the host "
                             "would have to look at extents, and other ops compute with the "
                             "result in the product's kernel");
    return;
  }
  std::string which = choice->numbers.size() == 2 ? "both operands are"
                                                  : "operand " + std::to_string(choice->numbers[0]) +
                                                        " is";
  std::string line = nameOpAndLine(op) + ": " + which +
                     " transposed by a kernel in front, " + purposeOf(*choice).str() + ": " +
                     choice->why;
  rewriter.setInsertionPoint(op);
  Value guard = hasEpilogue(op) ? Value() : createGuard(rewriter, op, *choice);
  if (guard)
    line += "; the host looks whether extents are long enough, and rows whole 16 bytes";
  addExplanation(func, line);
  if (guard)
    return transposeGuarded(rewriter, op, guard, *choice);
  for (unsigned number : choice->numbers)
    transposeOperand(rewriter, op, number, *choice);
}

namespace {
struct TransposeOperandsPass
    : public tilewright::impl::TransposeOperandsPassBase<TransposeOperandsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (isKernel(func) || !getTarget(func))
      return;
    SmallVector<linalg::GenericOp> ops;
    func.walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && op.getNumReductionLoops())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      transposeOperands(rewriter, op, func);
  }
};
} // namespace
