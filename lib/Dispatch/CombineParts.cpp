// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CombineParts.h"

using namespace mlir;
using namespace tilewright;

PartsCombination tilewright::combineParts(linalg::GenericOp op, bool partsFirst) {
  MLIRContext *context = op.getContext();
  SmallVector<int64_t> position(op.getNumLoops(), -1);
  unsigned kept = 0;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::parallel)
      position[loop] = kept++;
  SmallVector<AffineMap> partial, whole;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<AffineExpr> results;
    for (AffineExpr dim : op.getMatchingIndexingMap(&init).getResults())
      results.push_back(
          getAffineDimExpr(position[cast<AffineDimExpr>(dim).getPosition()], context));
    whole.push_back(AffineMap::get(kept + 1, 0, results, context));
    results.insert(partsFirst ? results.begin() : results.end(),
                   getAffineDimExpr(kept, context));
    partial.push_back(AffineMap::get(kept + 1, 0, results, context));
  }
  PartsCombination combination{
      partial, SmallVector<utils::IteratorType>(kept, utils::IteratorType::parallel)};
  llvm::append_range(combination.maps, whole);
  combination.loops.push_back(utils::IteratorType::reduction);
  return combination;
}
