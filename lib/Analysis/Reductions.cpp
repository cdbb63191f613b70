// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches what reductions combine, see Reductions.h.

#include "tilewright/Analysis/Reductions.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

SmallVector<Operation *> tilewright::matchCombiners(linalg::LinalgOp op) {
  SmallVector<Operation *> combiners;
  for (unsigned result = 0, e = op.getNumDpsInits(); result < e; ++result) {
    SmallVector<Operation *, 4> chain;
    Value combined = matchReduction(op.getRegionOutputArgs(), result, chain);
    if (!combined || chain.size() != 1 || chain[0]->getNumOperands() != 2 ||
        !arith::getNeutralElement(chain[0]))
      return {};
    combiners.push_back(chain[0]);
  }
  return combiners;
}

bool tilewright::isSequentialReduction(linalg::LinalgOp op) {
  return op.getNumReductionLoops() && matchCombiners(op).empty();
}
