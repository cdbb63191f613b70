// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one block of a planned kernel does on a GPU, counted from the plan: the
// instructions of its threads, what goes through shared memory, L2 and memory
// (CountOperands.cpp), and how long a block alone waits. Numbers about machines are the
// chip's (chips.json); the constants here are about the code that later stages write.

#include "Counter.h"
#include "CostModel.h"
#include "tilewright/Configure/KeptRows.h"
#include "tilewright/Dialect/Divisions.h"
#include "tilewright/Dialect/KeptRows.h"
#include "tilewright/Dialect/Packed.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tilewright;

/// Instructions of a thread before and after its steps.
static constexpr double kAround = 60;
/// Instructions of a division or remainder of integers, of a division of floats, of a
/// function of the math dialect (and of those the ones on special units).
static constexpr double kIntegerDivision = 20, kDivision = 8, kFunction = 6;

namespace {
/// Instructions of a thread per element.
struct BodyWork {
  double fma = 0, alu = 0, special = 0, fp64 = 0, loads = 0;
  double all() const { return fma + alu + special + fp64 + loads; }
};
} // namespace

Counter::Counter(const KernelInfo &info, LoweringConfigAttr config, const TilePlan &plan,
                 TargetAttr target, const ChipFacts &chip)
    : info(info), config(config), plan(plan), target(target), chip(chip),
      strategy(strategyOf(info, config, target)) {
  if (config.getMma())
    instruction = MatrixInstruction::parse(config.getContext(), config.getMma());
  warps = std::ceil(double(plan.threads) / chip.warp);
  chained = strategy.getFirstProduct(info, config);
  loaded = loadedTiles(info, config);
}

double Counter::runsOf(linalg::LinalgOp op) const {
  double runs = 1;
  for (unsigned number : info.getClasses(op))
    if (isWalked(number))
      runs *= tilesOf(number);
  return runs;
}

double Counter::tileOf(linalg::LinalgOp op) const {
  double elements = 1;
  for (unsigned number : info.getClasses(op))
    elements *= plan.classes[number].step;
  return elements / double(plan.getSlices(info, op));
}

void Counter::lanes(Resource resource, StringRef unit, double operations) {
  auto rate = chip.lanes.find(unit);
  work[resource] += operations / (rate == chip.lanes.end() ? chip.warp : rate->second);
}

bool tilewright::isOfRow(const KernelInfo &info, linalg::LinalgOp op, OpOperand &input) {
  AffineMap map = op.getMatchingIndexingMap(&input);
  bool reduces = false;
  for (auto [loop, number] : llvm::enumerate(info.getClasses(op))) {
    if (info.classes[number].parallel)
      continue;
    if (map.isFunctionOfDim(loop))
      return false;
    reduces = true;
  }
  return reduces;
}

static BodyWork workOf(const KernelInfo &info, linalg::LinalgOp op) {
  BodyWork work;
  // What comes of a row's sums alone is computed once for a row, of a norm in front of the
  // product's loop.
  auto once = bodyOfRows(op, [&](OpOperand &input) {
    auto producer = input.get().getDefiningOp<linalg::LinalgOp>();
    return (producer && isFusedReduction(info, producer)) || isOfRow(info, op, input);
  });
  op->getRegion(0).walk([&](Operation *inner) {
    if (isa<linalg::YieldOp, linalg::IndexOp, arith::ConstantOp>(inner) ||
        inner->getNumResults() == 0 || once.contains(inner))
      return;
    Type type = getElementTypeOrSelf(inner->getResult(0).getType());
    if (inner->getNumOperands() && isa<arith::CmpFOp, arith::CmpIOp>(inner))
      type = getElementTypeOrSelf(inner->getOperand(0).getType());
    if (isa<tensor::ExtractOp>(inner)) {
      work.loads += 1;
    } else if (isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
                   arith::TruncIOp, arith::BitcastOp, arith::IndexCastOp,
                   arith::IndexCastUIOp>(inner)) {
      work.alu += 0.5;
    } else if (isa<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(
                   inner)) {
      work.special += 1;
    } else if (type.isF64()) {
      work.fp64 += isa<math::MathDialect>(inner->getDialect()) ? 20
                   : isa<arith::DivFOp>(inner)                  ? kDivision
                                                                : 1;
    } else if (isa<math::MathDialect>(inner->getDialect())) {
      work.special += 1;
      work.fma += kFunction;
    } else if (isa<arith::DivFOp, arith::RemFOp>(inner)) {
      work.special += 1;
      work.fma += kDivision;
    } else if (isIntegerDivision(inner)) {
      work.alu += kIntegerDivision;
    } else if (isa<FloatType>(type) && !isa<arith::CmpFOp, arith::SelectOp>(inner)) {
      work.fma += 1;
    } else {
      work.alu += 1;
    }
  });
  return work;
}

/// Blocks that run at the same time are neighbours in the order in which they are
/// started: columns of tiles first, or bands of `raster` rows.
void Counter::countSpread() {
  wave.assign(info.classes.size(), 1);
  work.blocks = 1;
  SmallVector<unsigned> order;
  auto add = [&](unsigned number) {
    if (isSpread(number) && !llvm::is_contained(order, number))
      order.push_back(number);
  };
  ArrayRef<unsigned> root = info.getClasses(info.getRoot());
  for (unsigned number : llvm::reverse(root))
    add(number);
  for (unsigned number = 0; number < info.classes.size(); ++number)
    add(number);
  for (unsigned number : order)
    work.blocks *= tilesOf(number);
  if (plan.clusterSum)
    work.blocks *= double(plan.clusterSum->parts);
  double left = std::min(work.blocks, chip.multiprocessors * residentBlocks(work, chip));
  waves = work.blocks / left;
  // All parts of a sum are at work at the same time.
  if (plan.clusterSum) {
    wave[plan.clusterSum->reduced] = double(plan.clusterSum->parts);
    left = std::max(1.0, left / double(plan.clusterSum->parts));
  }
  if (config.getRaster() > 1 && order.size() > 1) {
    double rows = std::min({double(config.getRaster()), tilesOf(order[1]), left});
    wave[order[1]] = rows;
    left = std::max(1.0, left / rows);
  }
  for (unsigned number : order) {
    double more = std::min(tilesOf(number) / wave[number], left);
    wave[number] *= more;
    left = std::max(1.0, left / more);
  }
}

void Counter::countBody(linalg::LinalgOp op) {
  BodyWork body = workOf(info, op);
  // Warpgroups compute pairs, which become floats by their bits.
  if (config.isForWarpgroups() && isFusedProducer(info, op) &&
      getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth() == 16) {
    body.alu += body.special;
    body.fma = (body.fma + body.special) / 2;
    body.special = 0;
  }
  double runs = runsOf(op);
  double elements =
      std::ceil(tileOf(op) / double(plan.threads)) * double(plan.threads) * runs;
  work[Resource::Issue] += elements * body.all() / chip.warp / chip.schedulers;
  lanes(Resource::Fma, "fp32", elements * body.fma);
  lanes(Resource::Alu, "alu", elements * body.alu);
  lanes(Resource::Special, "xu", elements * body.special);
  lanes(Resource::Fp64, "fp64", elements * body.fp64);
  work[Resource::Shared] += elements * body.loads * chip.lsuCycles / chip.warp;
  // A thread alone waits for results that depend on each other, or issues what it does
  // for all its elements, which its scheduler's lanes take in turns.
  double chain = (body.fma + body.alu + body.fp64) * chip.cyclesArithmetic +
                 body.special * chip.cyclesOther;
  auto turns = [&](StringRef unit, double operations) {
    double rate = chip.lanes.lookup(unit);
    return operations * (rate ? std::max(1.0, chip.warp * chip.schedulers / rate) : 1);
  };
  double own = std::max({body.all(), turns("fp32", body.fma), turns("alu", body.alu),
                         turns("xu", body.special), turns("fp64", body.fp64)});
  double each = std::ceil(tileOf(op) / double(plan.threads)) *
                std::max(work.takesTurns ? chip.cyclesBetween : 1.0,
                         std::ceil(warps / chip.schedulers));
  work.latency += runs * std::max(chain, each * own);
  if (op.getNumReductionLoops())
    countReduction(op);
}

/// Lanes, then warps, that share sums pass them on.
void Counter::countReduction(linalg::LinalgOp op) {
  double results = 1, reduced = 1, sharing = 1;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    unsigned number = info.getClasses(op)[loop];
    bool isReduced = iterator != utils::IteratorType::parallel;
    (isReduced ? reduced : results) *= plan.classes[number].step;
    if (isReduced && op == info.getRoot() && loop < config.getWarps().size())
      sharing *= config.getWarps()[loop];
  }
  double threads = std::min(reduced, std::max(1.0, plan.threads / results));
  double each = std::max(1.0, results * threads / double(plan.threads));
  if (op == info.getRoot())
    if (auto shared = strategy.sharedSums(info, plan, results, reduced))
      std::tie(threads, each) = *shared;
  if (threads <= 1)
    return;
  double rounds = std::ceil(std::log2(std::min(threads, chip.warp)));
  issue(each * rounds * 2);
  for (unsigned number : info.getClasses(op))
    if (plan.classes[number].blocks > 1)
      work.latency += 2 * chip.cyclesL2 + chip.cyclesBarrier;
  work[Resource::Shared] += warps * each * rounds * chip.lsuCycles;
  work.latency += std::max(rounds * (chip.cyclesShared + chip.cyclesArithmetic),
                           std::ceil(warps / chip.schedulers) * each * rounds * 2);
  if (sharing > 1 || threads > chip.warp)
    work.latency += 2 * chip.cyclesShared + 2 * chip.cyclesBarrier;
}

/// Each block stores its sums in its own shared memory, all meet, and each reads a slice of
/// all of them; then all have read.
void Counter::countClusterSum() {
  double parts = double(plan.clusterSum->parts);
  linalg::LinalgOp root = info.getRoot();
  double elements = 1;
  for (auto [loop, iterator] : llvm::enumerate(root.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel)
      elements *= double(plan.classes[info.getClasses(root)[loop]].step);
  double bytes = elements * double(bytesPerElement(root.getDpsInits()[0].getType()));
  work[Resource::Shared] += 2 * bytes / chip.bankBytes;
  work[Resource::Port] += bytes * (parts - 1) / parts / chip.l2PortBytes;
  issue(2 * elements / double(plan.threads));
  work.around += 2 * (chip.cyclesL2 + chip.cyclesBarrier) +
                 chip.clusterShared * bytes / chip.l2PortBytes;
}

BlockWork Counter::count() {
  Footprint footprint = plan.footprint ? *plan.footprint : estimate(info, config, plan, target);
  work.threads = double(plan.threads + plan.copyThreads);
  work.registers = double(footprint.registers);
  work.sharedBytes = double(footprint.sharedBytes);
  work.persistent = config.getPersistent();
  work.cluster = double(llvm::product_of(config.getCluster()));
  work.sharing =
      work.cluster / (plan.clusterSum ? double(plan.clusterSum->parts) : 1);
  work.shared = double(config.getStreamK());
  products = strategy.getProducts(info);
  work.takesTurns = products.empty() && !matchProduct(info.getRoot());
  countSpread();
  countOperands();
  issue(kAround);
  work.around += kAround * chip.cyclesArithmetic;
  // Where copies go ahead, loads are under way in the first loop over a row, stores in the last.
  double besideMemory = 0;
  for (linalg::LinalgOp op : info.ops) {
    double before = work.latency;
    if (isProduct(op))
      strategy.countProduct(*this, op);
    else
      countBody(op);
    bool stores = llvm::any_of(
        info.results, [&](OpResult result) { return result.getOwner() == op.getOperation(); });
    if (op == info.getRoot() || stores)
      besideMemory += work.latency - before;
  }
  if (plan.clusterSum)
    countClusterSum();
  // Where copy engines do better, and as it was measured there.
  if (target.has("warpgroup_mma"))
    work.memoryBytes *=
        config.getStrategy() == Strategy::SkinnyContraction ? chip.copyEngines.lookup("skinny")
        : config.getStrategy() == Strategy::MatrixUnit      ? chip.copyEngines.lookup("threads")
                                                            : 1;
  if (products.empty()) {
    // Each step begins with its loads.
    double steps = 1;
    for (auto [number, loopClass] : llvm::enumerate(info.classes))
      if (isWalked(number))
        steps *= waitsOf(number);
    double passes = countPasses(info, plan), again = passes - 1;
    SmallVector<OpOperand *> kept = keptRows(info, config);
    // … which copies that go ahead of the steps wait for in turns,
    std::optional<double> copying = keptWait(kept, steps);
    work.copying = copying ? *copying + besideMemory : 0;
    work.latency += copying.value_or(steps * loadCycles());
    // … from shared memory where rows stay there.
    work.latency += steps * again * (kept.empty() ? loadCycles() : chip.cyclesShared);
    issue(steps * passes * kPerStep);
  }
  return work;
}

BlockWork tilewright::countWork(const KernelInfo &info, LoweringConfigAttr config,
                                const TilePlan &plan, TargetAttr target,
                                const ChipFacts &chip) {
  return Counter(info, config, plan, target, chip).count();
}
