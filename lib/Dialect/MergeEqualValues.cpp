// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   linalg.generic ins(%x, %x) {                  linalg.generic ins(%x) {
//   ^bb0(%a, %b):                                 ^bb0(%a):
//     %s = mulf %a, %a                              %s = mulf %a, %a
//     %t = mulf %b, %b                      =>      yield addf %s, %s
//     yield addf %s, %t

#include "tilewright/Dialect/MergeEqualValues.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct MergeEqualValues : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    llvm::BitVector equal(op.getBody()->getNumArguments());
    llvm::SmallDenseMap<std::pair<Value, AffineMap>, BlockArgument> first;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      AffineMap map = op.getMatchingIndexingMap(input);
      auto [known, isNew] = first.try_emplace(std::pair(input->get(), map), argument);
      if (isNew) {
        inputs.push_back(input->get());
        maps.push_back(map);
        continue;
      }
      rewriter.replaceAllUsesWith(argument, known->second);
      equal.set(argument.getArgNumber());
    }
    bool merged = false;
    DominanceInfo dominance(op);
    eliminateCommonSubExpressions(rewriter, dominance, op, &merged);
    if (equal.none())
      return success(merged);
    for (OpOperand &init : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&init));
    auto made = linalg::GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs,
                                          op.getDpsInits(), maps, op.getIteratorTypesArray());
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(), made.getRegion().begin());
    made.getBody()->eraseArguments(equal);
    rewriter.replaceOp(op, made);
    return success();
  }
};
} // namespace

void tilewright::populateMergeEqualValuesPatterns(RewritePatternSet &patterns) {
  // In front of those of fusion.
  patterns.add<MergeEqualValues>(patterns.getContext(), /*benefit=*/3);
}
