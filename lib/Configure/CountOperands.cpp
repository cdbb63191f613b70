// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one block of a planned kernel reads and writes on a GPU, counted from the plan: the
// accesses of its threads or copy engines, what it asks of L2, and what of that comes from
// memory. See CountWork.cpp.

#include "Counter.h"
#include "CostModel.h"
#include "tilewright/Configure/KeptRows.h"
#include "tilewright/Dialect/KeptRows.h"
#include "tilewright/Dialect/Packed.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tilewright;

/// What a block has of an operand, in bytes.
struct Counter::OperandTile {
  double element, tile, whole;
  /// Neighbours in memory that are in the tile.
  double run;
  /// 128-byte pieces of the last tile's box that lie outside of the tensor.
  double outside = 0;
  /// Tiles that a wave of blocks asks for, and that a block comes to one after the other.
  double distinct = 1, walked = 1;
};

Counter::OperandTile Counter::tileOf(OpOperand &operand, bool isWritten) const {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  ArrayRef<unsigned> classes = info.getClasses(operand);
  double element = bytesPerElement(operand.get().getType()) /
                   (bytesOf(operand.get()) == operand.get() ? 1.0 : 2.0);
  OperandTile result{element, element, element, element};
  bool isContiguous = true;
  for (auto [fromEnd, number] : llvm::enumerate(llvm::reverse(classes))) {
    double extent = nominalExtent(info.classes[number]);
    double step = plan.classes[number].step;
    if (fromEnd > 0) {
      // … of the last tile, for which all wait; along a sum that a block walks, of one step.
      double beyond = step * std::ceil(extent / step) - extent;
      result.outside = result.outside * step +
                       result.tile / 128 * beyond / (isWalked(number) ? tilesOf(number) : 1);
    }
    result.tile *= step;
    result.whole *= extent;
    if (isContiguous)
      result.run *= std::min(step, extent);
    isContiguous &= step >= extent;
    if (isSpread(number) || isSummedInCluster(number))
      result.distinct *= wave[number];
    if (!isSpread(number) && isWalked(number))
      result.walked *= tilesOf(number);
  }
  // Of what a cluster has summed, a block has a slice.
  if (plan.getSlices(info, op) > 1 || (isWritten && plan.clusterSum)) {
    result.tile /= double(plan.clusterSum->parts);
    result.distinct *= double(plan.clusterSum->parts);
  }
  return result;
}

void Counter::countAccesses(const OperandTile &operand, double runs, bool byEngine) {
  if (byEngine) {
    work[Resource::Shared] += operand.tile * runs / chip.bankBytes;
    work[Resource::Port] += chip.cyclesOutside * operand.outside * runs;
    return;
  }
  // A thread's access is no wider than a run, than the widest, or than its share.
  double share = std::max(operand.element, operand.tile / double(plan.threads));
  double access = std::max(
      operand.element, std::min({double(target.getFact("access_bytes", 16)), operand.run,
                                 double(llvm::bit_floor(uint64_t(std::max(1.0, share))))}));
  double requests = operand.tile * runs / (chip.warp * access);
  double lines = chip.warp * access / std::min(operand.run, 128.0);
  work[Resource::Issue] += requests * 2 / chip.schedulers;
  work[Resource::Shared] +=
      requests * std::max({chip.lsuCycles, chip.warp * access / chip.bankBytes,
                           lines / chip.linesPerClock});
}

void Counter::countOperand(OpOperand &operand, double runs, double again,
                           bool isWritten) {
  runs *= again;
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  OperandTile tile = tileOf(operand, isWritten);
  bool isPromoted =
      !isWritten && (op == chained ||
                     ((op == info.getRoot() || info.isRootProduct(op)) &&
                      llvm::is_contained(config.getPromote(),
                                         int64_t(operand.getOperandNumber()))));
  bool byEngine = strategy.hasRoles() &&
                  ((isPromoted && config.getTmaCopy()) ||
                   (isWritten && config.getTmaStore()) || llvm::is_contained(loaded, &operand));
  countAccesses(tile, runs, byEngine);
  double sectors = std::max(1.0, 32 / tile.run);
  // An operand that all blocks of a cluster read comes once for all of them.
  double blocks = 1;
  linalg::LinalgOp inRing = chained ? chained : info.getRoot();
  if (op == inRing && !isWritten && config.isWarpSpecialized())
    for (auto [loop, along] : llvm::enumerate(config.getCluster()))
      if (!op.getMatchingIndexingMap(&operand).isFunctionOfDim(loop))
        blocks *= along;
  // What several blocks ask for within a short time leaves L2 less often, and memory more often.
  // Parts of a sum, the last loop, are of different tiles.
  double all = info.split ? 1 / wave[info.getClasses(info.getRoot()).back()] : 1;
  for (double along : wave)
    all *= along;
  double sharing = std::max(1.0, all / tile.distinct / blocks);
  double whole = tile.whole;
  if (config.isWarpSpecialized() && !isWritten)
    whole *= 1 + chip.sharedWeights * std::min(2.0, std::log2(sharing));
  if (!byEngine || !isPromoted)
    sharing = 1;
  // What the second of two products reads from memory stays there for all of a block's tiles.
  if (chained && op == info.getRoot() && !isWritten && config.getPersistent())
    blocks *= std::max(1.0, waves);
  requested += tile.tile * runs * sectors / blocks;
  work.l2Bytes += tile.tile * runs * sectors / blocks * std::pow(sharing, chip.l2SharingExponent);
  footprint += whole;
  asked.push_back({whole, tile.distinct * tile.tile * tile.walked * sectors, again});
}

/// Neighbours share; what does not fit L2 comes once for each wave of blocks. Of what a wave
/// comes back to, as much is still in L2 as L2 has room for of all that the wave reads and
/// writes (an assumption: lines are replaced in no order).
double Counter::memoryBytes() const {
  double wave = 0, bytes = 0;
  for (const Asked &operand : asked)
    wave += operand.once;
  double lost = wave > chip.l2Bytes ? 1 - chip.l2Bytes / wave : 0;
  for (const Asked &operand : asked)
    bytes += std::max(operand.whole,
                      waves * operand.once * (1 + (operand.again - 1) * lost));
  return footprint <= chip.l2Bytes ? footprint : bytes;
}

/// Rows that stay in shared memory are written there once, and read by all passes but the
/// first, or by all where they are copied there.
void Counter::countKept(OpOperand &operand, double runs, double passes) {
  if (keptRowCopies(info, config, operand))
    passes += 1;
  double bytes = bytesPerElement(operand.get().getType()) * runs * passes;
  for (unsigned number : info.getClasses(operand))
    bytes *= plan.classes[number].step;
  double access = chip.warp * double(target.getFact("access_bytes", 16));
  work[Resource::Issue] += bytes / access * 2 / chip.schedulers;
  work[Resource::Shared] += bytes / chip.bankBytes;
}

/// Cycles that the first pass over rows that are copied to shared memory waits for them;
/// nothing where some come by way of registers.
std::optional<double> Counter::keptWait(ArrayRef<OpOperand *> kept, double steps) const {
  double ahead = 0;
  for (OpOperand *row : kept) {
    if (!keptRowCopies(info, config, *row))
      return std::nullopt;
    double bytes = bytesPerElement(row->get().getType());
    for (unsigned number : info.getClasses(*row))
      bytes *= plan.classes[number].step;
    double own = keptStepsAhead(int64_t(bytes), int64_t(steps));
    ahead = ahead ? std::min(ahead, own) : own;
  }
  if (!ahead)
    return std::nullopt;
  return loadCycles() +
         steps * std::max(chip.cyclesShared + chip.cyclesBarrier, loadCycles() / (ahead + 1));
}

void Counter::countOperands() {
  llvm::SmallPtrSet<Value, 8> seen;
  double again = countPasses(info, plan);
  SmallVector<OpOperand *> kept = keptRows(info, config);
  for (OpOperand *operand : kept)
    countKept(*operand, runsOf(info.getRoot()), again);
  auto isKept = [&](Value value) {
    return llvm::any_of(kept, [&](OpOperand *operand) { return operand->get() == value; });
  };
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand *input : op.getDpsInputOperands())
      if (isa<BlockArgument>(bytesOf(input->get())) &&
          isa<RankedTensorType>(input->get().getType()) &&
          seen.insert(input->get()).second)
        countOperand(*input, runsOf(op), isProduct(op) || isKept(input->get()) ? 1 : again, false);
  for (OpResult result : info.results) {
    auto op = cast<linalg::LinalgOp>(result.getOwner());
    OpOperand &init = *op.getDpsInitOperand(result.getResultNumber());
    // Sums are written when all steps are done.
    double runs = 1;
    for (unsigned number : info.getClasses(init))
      if (isWalked(number))
        runs *= tilesOf(number);
    countOperand(init, runs, /*again=*/1, true);
  }
  work.memoryBytes = memoryBytes();
  work[Resource::Port] += requested / chip.l2PortBytes;
}

double Counter::memoryShare() const {
  return std::min(1.0,
                  work.memoryBytes / std::max(1.0, requested * work.blocks));
}

double Counter::loadCycles() const {
  return chip.cyclesL2 + memoryShare() * (chip.cyclesMemory - chip.cyclesL2);
}
