// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A second product of a kernel with a ring, which multiplies what becomes of the first one's
// sums: its A is in registers, its B comes through a ring of one stage, once for all tiles of
// a block where it is the same for all.
//
//   %done = tilewright.mma_wait 0 (%sum) … bias, activation, cast …
//   %b = wait %second[0]; %o = mma_wait 0 (mma %cast, %b, %zero) … epilogue …

#include "RingWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright;

/// Whether the second product stands behind the first, and multiplies it by a tile of an
/// argument.
LogicalResult RingWriter::checkSecond() {
  if (!config.isForWarpgroups() || !config.getProducer() || !config.getTmaCopy())
    return second.emitOpError() << "is the second of its kernel, which only warpgroups with "
                                   "a producer multiply";
  if (second->getParentOp() != kernel.getOperation() ||
      second.getA().getDefiningOp<vector::TransferReadOp>() ||
      !isa<VectorType>(second.getA().getType()))
    return second.emitOpError() << "by a warpgroup stands behind the first product, and "
                                   "multiplies what becomes of it";
  FailureOr<RingOperand> operand = ringOperandOf(second, 1);
  if (failed(operand))
    return failure();
  secondOperand = *operand;
  return success();
}

/// Copies B of the second product, where it is the same for all tiles with the first.
void RingWriter::fillSecond(OpBuilder &b, const TileBody &body) {
  OpBuilder inside(b);
  if (scf::ForOp tiles = body.loop; tiles && isSecondShared) {
    Value isFirst =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, tiles.getInductionVar(),
                              tiles.getLowerBound());
    inside = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false)
                 .getThenBodyBuilder();
  }
  Value at = body.count ? body.count : constant(inside, 0);
  auto stage = AcquireOp::create(inside, loc, secondRing, at,
                                 /*known_empty=*/isSecondShared);
  SmallVector<Value> indices;
  for (Value index : secondOperand.read.getIndices())
    indices.push_back(body.mapping.lookupOrDefault(index));
  TileCopyOp::create(inside, loc, secondOperand.read.getBase(), indices,
                     stage.getTiles()[0], secondOperand.copy, multicastOf(secondOperand));
  FillOp::create(inside, loc, secondRing, at);
}

/// The second product, whose A is in registers, out of the stage of B; its sums.
Value RingWriter::writeSecond(const TileBody &body) {
  OpBuilder b(second);
  Value at = body.count ? body.count : constant(b, 0);
  auto stage = WaitOp::create(b, loc, secondRing, at);
  SmallVector<Attribute> maps(second.getMaps().getValue());
  maps[1] = AffineMapAttr::get(secondOperand.map);
  second->setOperand(1, stage.getTiles()[0]);
  second.setMapsAttr(b.getArrayAttr(maps));
  b.setInsertionPointAfter(second);
  auto done =
      MmaWaitOp::create(b, loc, second->getResultTypes(), 0, second.getResult());
  second.getResult().replaceAllUsesExcept(done.getResult(0), done);
  if (!isSecondShared)
    ReleaseOp::create(b, loc, secondRing, at);
  secondOperand.read->erase();
  return done.getResult(0);
}
