// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   tilewright.warps [8, 4] {          a producer warpgroup
//     tilewright.set_registers 40
//     tilewright.warps [8, 1] { … }    one warp of it copies
//   }
//   tilewright.warps [0, 8] {          consumer warpgroups
//     tilewright.set_registers 232
//     …
//   }

#include "Roles.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

static WarpsOp addRole(OpBuilder &b, Location loc, int64_t first, int64_t count,
                       LoweringConfigAttr config, unsigned role) {
  auto warps = WarpsOp::create(b, loc, first, count);
  warps.getBody().emplaceBlock();
  OpBuilder inside = OpBuilder::atBlockBegin(&warps.getBody().front());
  if (!config.getRegisters().empty())
    SetRegistersOp::create(inside, loc, config.getRegisters()[role]);
  return warps;
}

OpBuilder tilewright::addProducer(OpBuilder &b, Location loc, int64_t first,
                                  int64_t count, LoweringConfigAttr config) {
  WarpsOp producer = addRole(b, loc, first, count, config, 0);
  OpBuilder inside = OpBuilder::atBlockEnd(&producer.getBody().front());
  return addCopiers(inside, loc, first, config);
}

OpBuilder tilewright::addCopiers(OpBuilder &b, Location loc, int64_t first,
                                 LoweringConfigAttr config) {
  OpBuilder inside(b);
  if (!config.getTmaCopy())
    return inside;
  auto one = WarpsOp::create(b, loc, first, 1);
  inside.createBlock(&one.getBody());
  return inside;
}

WarpsOp tilewright::addConsumers(OpBuilder &b, Location loc, int64_t count,
                                 LoweringConfigAttr config) {
  return addRole(b, loc, 0, count, config, 1);
}

void tilewright::storeByEngine(WarpsOp role, Value sums) {
  SetVector<Operation *> ofSums;
  getForwardSlice(sums, &ofSums);
  SmallVector<vector::TransferWriteOp> writes;
  role.walk([&](vector::TransferWriteOp write) {
    if (ofSums.contains(write) && isa<BlockArgument>(write.getBase()) &&
        write.getVectorType().getShape() == cast<VectorType>(sums.getType()).getShape())
      writes.push_back(write);
  });
  for (vector::TransferWriteOp write : writes) {
    OpBuilder b(write);
    TileStoreOp::create(b, write.getLoc(), write.getVector(), write.getBase(),
                        write.getIndices());
    write->erase();
  }
}
