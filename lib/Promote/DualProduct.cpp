// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products of a step of a kernel with a ring: one, or those of a dual product (A B0 and
// A B1), which are multiplied out of one stage, with a tile of A, of B0 and of B1:
//
//   %a, %b, %c = wait %ring[%p]; mma %a, %b, %sum; mma %a, %c, %other; mma_wait 2

#include "RingWriter.h"

using namespace mlir;
using namespace tilewright;

/// Finds the operands of the other products of a dual product: the one that they share is in
/// the ring once.
LogicalResult RingWriter::checkDual() {
  if (products.size() == 1)
    return success();
  if (!config.isForWarpgroups() || computedA || config.getTwoLevelSums())
    return product.emitOpError() << "is one of a dual product, which warpgroups multiply whose "
                                    "operands are both in shared memory, in one level";
  for (MmaOp one : llvm::drop_begin(products)) {
    unsigned numbers[2];
    for (unsigned number : {0, 1}) {
      FailureOr<RingOperand> operand = ringOperandOf(one, number);
      if (failed(operand))
        return failure();
      auto *known = llvm::find_if(operands, [&](RingOperand &other) {
        return other.read == operand->read && other.tile == operand->tile;
      });
      numbers[number] = known - operands.begin();
      if (known == operands.end())
        operands.push_back(*operand);
    }
    operandsOf.push_back({numbers[0], numbers[1]});
  }
  return success();
}

/// The products of a stage, whose sums `sums` are; `a`: A of the first in registers, or null.
SmallVector<Value> RingWriter::multiplyStage(OpBuilder &b, Value a, ValueRange tiles,
                                             ValueRange sums) {
  SmallVector<Value> results;
  for (auto [position, sum] : llvm::enumerate(sums)) {
    auto [left, right] = operandsOf[position];
    MmaOp one = products[position];
    auto next = cast<MmaOp>(b.clone(*one));
    next->setOperand(0, a ? a : tiles[left]);
    next->setOperand(1, tiles[right]);
    next->setOperand(2, sum);
    next.setMapsAttr(b.getAffineMapArrayAttr(
        {a ? cast<AffineMapAttr>(one.getMaps()[0]).getValue() : operands[left].map,
         operands[right].map, cast<AffineMapAttr>(one.getMaps()[2]).getValue()}));
    if (computedA && computedA->rowsTogether > 1)
      next->setAttr(kRowsTogetherAttr, b.getI64IntegerAttr(computedA->rowsTogether));
    results.push_back(next.getResult());
  }
  return results;
}
