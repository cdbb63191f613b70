// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimtContraction.h.

#include "SimtContraction.h"
#include "CostModel.h"
#include "Counter.h"
#include "Enumerate.h"
#include "Footprint.h"
#include "tilewright/Analysis/Contractions.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

bool SimtContraction::isFor(const KernelLoops &loops, TargetAttr target) const {
  return !loops.getProducts().empty();
}

bool SimtContraction::isAskedFor(const KernelLoops &loops, LoweringConfigAttr pinned,
                                 TargetAttr target) const {
  return target && loops.getContraction(loops.root) &&
         (pinned.getStrategy() == getName() || pinned.isWarpSpecialized() ||
          pinned.getStrategy() == Strategy::MatrixUnit);
}

bool SimtContraction::match(const KernelInfo &info, TargetAttr target) const {
  // Bytes that hold nibbles are multiplied by instructions only.
  const Contraction *product = info.getContraction(info.root);
  return ScheduleStrategy::match(info, target) && product && product->perElement == 1;
}

std::vector<LoweringConfigAttr>
SimtContraction::enumerate(const KernelInfo &info, TargetAttr target) const {
  const Contraction &contraction = *info.getContraction(info.getRoot());
  // The last loop of each group is tiled; batch and others go one by one.
  unsigned m = contraction.m.back(), n = contraction.n.back(),
           k = contraction.k.back();
  int64_t lanes = target.getFact("subgroup", 32);
  int64_t maxM = roundedExtent(info, m), maxN = roundedExtent(info, n),
          maxK = roundedExtent(info, k);
  SmallVector<int64_t> promote{contraction.a, contraction.b};
  llvm::sort(promote);

  std::vector<LoweringConfigAttr> configs;
  auto add = [&](int64_t blockM, int64_t blockN, int64_t blockK, int64_t warpsM,
                 int64_t warpsN, int64_t stages) {
    Schedule schedule(info);
    schedule.block[m] = blockM, schedule.block[n] = blockN;
    schedule.block[k] = blockK;
    schedule.warps[m] = warpsM, schedule.warps[n] = warpsN;
    addUnique(configs, schedule.get(info, stages, promote));
  };
  static constexpr int64_t tiles[][2] = {{8, 8}, {8, 4}, {4, 8}, {4, 4},
                                         {2, 4}, {2, 2}, {1, 4}, {1, 1}};
  static constexpr int64_t grids[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2},
                                         {4, 2}, {2, 4}};
  for (int64_t blockM : {128, 64, 32, 16, 8, 4, 2, 1}) {
    for (int64_t blockN : {128, 64, 32, 16, 8, 4, 2, 1}) {
      // No larger than the problem; smaller than 16 only where it is smaller.
      if (blockM > std::max<int64_t>(maxM, 1) || blockN > maxN ||
          (blockM < 16 && blockM < maxM) || (blockN < 16 && blockN < maxN))
        continue;
      for (auto [warpsM, warpsN] : grids)
        for (auto [threadM, threadN] : tiles) {
          // The lanes of a warp must exactly fill its part of the tile; a tile
          // with less than one element per thread leaves that open.
          int64_t lanesM = blockM / (warpsM * threadM);
          int64_t lanesN = blockN / (warpsN * threadN);
          bool exact = lanesM && lanesN && lanesM * lanesN == lanes;
          bool tiny = blockM * blockN < lanes && warpsM * warpsN == 1 &&
                      threadM * threadN == 1;
          if (!exact && !tiny)
            continue;
          for (int64_t blockK : {16, 8, 32})
            for (int64_t stages : {2, 1})
              if (blockK <= maxK || blockK == 8)
                add(blockM, blockN, std::min(blockK, maxK), warpsM, warpsN,
                    stages);
        }
    }
  }
  // Whatever the shape of a subgroup is: one small tile that always fits.
  if (configs.empty())
    add(std::min<int64_t>(16, maxM), std::min<int64_t>(16, maxN),
        std::min<int64_t>(8, maxK), 1, 1, 1);
  return configs;
}

/// Threads own equal parts of an accumulator: warps divide the tile, lanes what is
/// left of it.
static Refusal checkThreads(const KernelInfo &info, LoweringConfigAttr config,
                            const TilePlan &plan) {
  linalg::LinalgOp root = info.getRoot();
  const Contraction *product = info.getContraction(root);
  if (!product)
    return {};
  int64_t elements = 1, warps = 1;
  for (unsigned loop = 0; loop < info.getNumConfigLoops(); ++loop) {
    const ClassTile &tile = plan.classes[info.getClasses(root)[loop]];
    int64_t count = entry(config.getWarps(), loop, 1);
    bool isSum = llvm::is_contained(product->k, loop);
    if (count > 1 && (isSum || tile.vector <= 1))
      return refuse(Refused::Config, Twine(count) + " warps along loop " + Twine(loop) +
                                         (isSum ? ", which is summed"
                                                : ", of which a block computes one at a time"));
    if (isSum)
      continue;
    if (tile.inner % count)
      return refuse(Refused::Indivisible, Twine(count) + " warps do not divide the tile of " +
                                              Twine(tile.inner) + " along loop " + Twine(loop));
    elements *= tile.inner / count;
    warps *= count;
  }
  if (elements % plan.subgroup && (warps > 1 || plan.subgroup % elements))
    return refuse(Refused::Indivisible, "a warp's part of the tile has " + Twine(elements) +
                                            " elements, which " + Twine(plan.subgroup) +
                                            " lanes cannot divide among themselves");
  return {};
}

Refusal SimtContraction::check(const KernelInfo &info, LoweringConfigAttr config,
                               const TilePlan &plan, TargetAttr target) const {
  if (Refusal why = ScheduleStrategy::check(info, config, plan, target))
    return why;
  // Threads read fragments of tiles that all of them fill.
  if (info.getContraction(info.getRoot()) && config.getPromote().size() != 2)
    return refuse(Refused::Config, "threads multiply both operands out of shared memory; "
                                   "'promote' has to name both");
  return checkThreads(info, config, plan);
}

/// Rows and columns of what one thread multiplies: as square as the tile, warps and lanes
/// allow.
static std::pair<double, double> threadTile(const KernelInfo &info,
                                            LoweringConfigAttr config,
                                            const TilePlan &plan) {
  const Contraction &contraction = *info.getContraction(info.getRoot());
  auto perWarp = [&](ArrayRef<unsigned> loops) {
    int64_t product = 1;
    for (unsigned loop : loops)
      product *= std::max<int64_t>(
          1, plan.classes[info.getClasses(info.getRoot())[loop]].inner /
                 entry(config.getWarps(), loop, 1));
    return product;
  };
  int64_t m = perWarp(contraction.m), n = perWarp(contraction.n);
  int64_t elements = std::max<int64_t>(1, m * n / plan.subgroup);
  std::pair<double, double> best{1, 1};
  double least = 3;
  for (int64_t rows = 1; rows <= elements; rows *= 2) {
    int64_t columns = elements / rows;
    double loads = 1.0 / rows + 1.0 / columns;
    if (m % rows || n % columns || loads >= least)
      continue;
    least = loads;
    best = {double(rows), double(columns)};
  }
  return best;
}

/// Registers beside those of addresses, of a thread that multiplies its rows and columns
/// of promoted tiles: its sums, and the more of what it reads of a step, as it is unrolled,
/// and of what it moves to shared memory, of the next step if that is under way.
static int64_t threadRegisters(const KernelInfo &info, LoweringConfigAttr config,
                               const TilePlan &plan) {
  constexpr double kUnrolled = 1.6, kMoved = 0.8, kMovedAhead = 1.4;
  linalg::LinalgOp root = info.getRoot();
  auto [rows, columns] = threadTile(info, config, plan);
  columns *= double(info.rootProducts.size());
  double words =
      bytesPerElement(root.getDpsInits().front().getType()) / 4.0, moved = 0;
  for (OpOperand *operand : stepOperands(info))
    moved += double(tileElements(info, plan, *operand)) *
             bytesPerElement(operand->get().getType());
  moved *= (config.getStages() > 1 ? kMovedAhead : kMoved) / (4.0 * plan.threads);
  double read = kUnrolled * (rows + columns) * words;
  // Of three operands, those of the next step are there all the while.
  return std::ceil(rows * columns * words +
                   (info.isDual() ? read + moved : std::max(read, moved)));
}

int64_t SimtContraction::registers(const KernelInfo &info, LoweringConfigAttr config,
                                   const TilePlan &plan, TargetAttr target) const {
  if (config.getPromote().empty() || !info.getContraction(info.getRoot()))
    return ScheduleStrategy::registers(info, config, plan, target);
  int64_t registers = threadRegisters(info, config, plan);
  if (target.getBackend() != "nvvm")
    return kAddressRegisters + registers;
  if (isOneStep(info, plan))
    return kPlaceRegisters + registers;
  // ptxas unrolls the steps, and loads ahead, as far as registers go that no block more needs.
  return std::max(kAddressRegisters + registers, freeRegisters(plan, target));
}

ArrayRef<linalg::LinalgOp> SimtContraction::getProducts(const KernelInfo &info) const {
  return info.rootProducts;
}

/// A product by threads, each of which has some rows and columns.
void SimtContraction::countProduct(Counter &counter, linalg::LinalgOp op) const {
  const KernelInfo &info = counter.info;
  const TilePlan &plan = counter.plan;
  const ChipFacts &chip = counter.chip;
  LoweringConfigAttr config = counter.config;
  double warps = counter.warps;
  const Contraction &product = *info.getContraction(op);
  // A dual product is counted once, as one that has so many times as many columns.
  if (op != info.rootProducts.front())
    return;
  double runs = counter.runsOf(op), sums = 1;
  for (unsigned loop : product.k)
    sums *= plan.classes[info.getClasses(op)[loop]].step;
  auto [rows, columns] = threadTile(info, config, plan);
  columns *= double(info.rootProducts.size());
  double bytes = bytesPerElement(op.getDpsInits()[0].getType());
  bool isDouble = getElementTypeOrSelf(op.getDpsInits()[0].getType()).isF64();
  double each = rows * columns * sums;
  double loads = (std::ceil(rows * bytes / 16) + std::ceil(columns * bytes / 16)) * sums;
  counter.issue(runs * (each + loads + kPerStep));
  counter.lanes(isDouble ? Resource::Fp64 : Resource::Fma, isDouble ? "fp64" : "fp32",
        runs * each * warps * chip.warp);
  // A load of 16 bytes a lane is served in quarters of a warp.
  counter.work[Resource::Shared] += runs * warps * loads * std::max(4.0, chip.lsuCycles);
  double interval = chip.warp * chip.schedulers /
                    chip.lanes.lookup(isDouble ? "fp64" : "fp32");
  double multiply = std::max(std::ceil(warps / chip.schedulers) * each * interval,
                             sums * chip.cyclesArithmetic) +
                    chip.cyclesShared;
  double step = multiply + chip.cyclesBarrier, load = counter.loadCycles();
  counter.work.around += load;
  if (config.getStages() <= 1)
    step += load + chip.cyclesBarrier;
  else
    step = std::max(step, load);
  counter.work.latency += runs * step;
}

std::string SimtContraction::explain(const KernelInfo &info) const {
  return "multiplies and adds";
}
