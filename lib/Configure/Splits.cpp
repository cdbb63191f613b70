// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether and how a reduction is cut into parts, see Splits.h.

#include "tilewright/Configure/Splits.h"
#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Dialect/Clusters.h"

#include "Bound.h"
#include "CostModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Elements that are worth a block, and a task.
static constexpr int64_t kGpuElements = 4096, kCpuElements = 65536;
/// Below so many units, one block is done before a second kernel starts.
static constexpr int64_t kMinUnits = 16;
/// What is assumed of dynamic extents: parallel ones fill the machine.
static constexpr int64_t kParallel = 1024, kReduced = int64_t(1) << 20;

/// The loop along contiguous memory of the input with the most dims.
static std::optional<unsigned> contiguousLoop(linalg::LinalgOp op) {
  std::optional<unsigned> loop;
  unsigned most = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() <= most)
      continue;
    most = map.getNumResults();
    if (auto dim = dyn_cast<AffineDimExpr>(map.getResults().back()))
      loop = dim.getPosition();
  }
  return loop;
}

/// Steps along the sum that are worth a block, and how many of them a second kernel.
static constexpr int64_t kMatrixUnit = 256, kMinMatrixUnits = 8;

/// The parts that a pinned config asks for: of whole steps of its own.
static Split pinSplit(Split split, LoweringConfigAttr config) {
  split.parts = config.getSplits();
  if (split.loop < config.getBlock().size())
    if (int64_t step = config.getBlock()[split.loop]; step > 0)
      split.unit = step;
  return split;
}

/// Products on matrix units: as many parts as give each multiprocessor a tile, each
/// of them some units long.
static OrRefusal<Split> chooseMatrixSplit(linalg::LinalgOp op, const Contraction &product,
                                          TargetAttr target) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  Split split;
  split.loop = product.k.front();
  split.unit = kMatrixUnit;
  // Groups of steps are not cut.
  std::optional<unsigned> steps = contiguousSum(op, product);
  if (product.k.size() > 1) {
    if (product.k.size() > 2 || !steps || *steps == split.loop)
      return refuse(Refused::NotContraction, "it sums over several loops");
    split.unit = llvm::PowerOf2Ceil(
        llvm::divideCeil(kMatrixUnit, std::max<int64_t>(1, extents[*steps])));
  }
  split.partsFirst = true;
  if (auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr))
    return pinSplit(split, config);
  if (llvm::any_of(extents, ShapedType::isDynamic))
    return refuse(Refused::DynamicExtents,
                  "extents of a product on matrix units are dynamic, and what would "
                  "fill the machine is not known before the launch; 'splits' in a "
                  "pinned lowering config asks for parts");
  if (llvm::is_contained(extents, 0))
    return refuse(Refused::Extents, "it has no elements");
  int64_t blocks = 1;
  auto times = [&](int64_t count) {
    if (llvm::MulOverflow(blocks, count, blocks))
      blocks = INT64_MAX;
  };
  for (unsigned loop : {product.m.front(), product.n.front()})
    times(llvm::divideCeil(extents[loop], 128));
  for (unsigned loop : product.batch)
    times(extents[loop]);
  int64_t fill = multiprocessorsOf(target);
  if (blocks > fill / 2)
    return refuse(Refused::NotProfitable, Twine(blocks) + " tiles of results fill the machine");
  int64_t units = llvm::divideCeil(extents[split.loop], split.unit);
  if (units < kMinMatrixUnits)
    return refuse(Refused::NotProfitable, Twine(extents[split.loop]) +
                                              " products a result are too few "
                                              "for a second kernel to pay");
  split.parts = std::min<int64_t>(llvm::PowerOf2Ceil(fill / blocks),
                                  llvm::bit_floor(uint64_t(units / 2)));
  return split;
}

/// Whether `value` is computed from a result of `op`, by a few ops of a row's numbers.
static bool isComputedFrom(Value value, linalg::LinalgOp op, int depth = 0) {
  constexpr int kDeepest = 4;
  auto producer = value.getDefiningOp<linalg::LinalgOp>();
  if (!producer || depth > kDeepest)
    return false;
  return producer == op || llvm::any_of(producer.getDpsInputs(), [&](Value input) {
           return isComputedFrom(input, op, depth + 1);
         });
}

/// Whether an op reads what `op` reduces together with what it finds, as in a softmax or a
/// norm: one kernel then has all of them.
static bool isReadWithResult(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputs(), [&](Value input) {
    return llvm::any_of(input.getUsers(), [&](Operation *user) {
      auto reader = dyn_cast<linalg::LinalgOp>(user);
      return reader && reader != op && llvm::any_of(reader.getDpsInputs(), [&](Value other) {
               return other != input && isComputedFrom(other, op);
             });
    });
  });
}

/// Whether rows that are read again stay one kernel though their `blocks` leave
/// multiprocessors idle. Kernels of parts write what lies between passes, twice what the one
/// kernel reads and writes, and more of them are launched.
static bool staysWhole(linalg::LinalgOp op, TargetAttr target, int64_t blocks,
                       int64_t results, int64_t reduced) {
  if (!isReadWithResult(op))
    return false;
  constexpr double kPasses = 3, kPassesOfParts = 6, kMoreKernels = 4;
  constexpr int64_t kHeldOfBlock = 32768;
  const ChipFacts &chip = chipOf(target);
  double bytes = double(results) * double(reduced) *
                 double(bytesPerElement(op.getDpsInputs()[0].getType()));
  double pass = bytes / (chip.memoryBytes * chip.clockMhz);
  // Blocks of a cluster share a row.
  double shared = 1;
  if (target.has("multicast") && reduced <= kMostClusterBlocks * kHeldOfBlock)
    shared = std::clamp<double>(double(reduced) / kGpuElements, 1, kMostClusterBlocks);
  double share = std::min(1.0, double(blocks) * shared /
                                   (chip.memoryShare * chip.multiprocessors));
  return kPasses * pass / share <= kPassesOfParts * pass + kMoreKernels * chip.kernelMicroseconds;
}

std::optional<unsigned> tilewright::clusterSumLoop(linalg::LinalgOp op,
                                                   LoweringConfigAttr config) {
  ArrayRef<int64_t> cluster = config.getCluster();
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (loop < cluster.size() && cluster[loop] > 1 &&
        iterator == utils::IteratorType::reduction)
      return loop;
  return std::nullopt;
}

bool tilewright::fillsHalf(linalg::LinalgOp op, LoweringConfigAttr config,
                           TargetAttr target) {
  int64_t tiles = 1;
  for (auto [extent, step, iterator] : llvm::zip(op.getStaticLoopRanges(), config.getBlock(),
                                                 op.getIteratorTypesArray())) {
    if (ShapedType::isDynamic(extent))
      return false;
    if (iterator == utils::IteratorType::parallel && step > 0 &&
        llvm::MulOverflow(tiles, int64_t(llvm::divideCeil(extent, step)), tiles))
      return true;
  }
  return tiles >= multiprocessorsOf(target) / 2;
}

/// Products saturate: they are compared, not used as sizes.
static int64_t saturatedProduct(int64_t a, int64_t b) {
  int64_t result;
  return llvm::MulOverflow(a, b, result) ? INT64_MAX : result;
}

namespace {
/// How long a reduction's loops are, or are taken to be.
struct SumExtents {
  /// Of all parallel loops, and whether one of them is dynamic; of all reduction loops.
  int64_t results = 1, reduced = 1;
  bool dynamicResults = false;
  /// The longest reduction loop, and elements of the others.
  unsigned longest = 0;
  int64_t others = 1;
};
} // namespace

static SumExtents measure(linalg::LinalgOp op) {
  SumExtents found;
  int64_t longest = -1;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isDynamic = ShapedType::isDynamic(extents[loop]);
    if (type == utils::IteratorType::parallel) {
      found.dynamicResults |= isDynamic;
      found.results = saturatedProduct(found.results, isDynamic ? kParallel : extents[loop]);
      continue;
    }
    int64_t extent = isDynamic ? kReduced : extents[loop];
    found.reduced = saturatedProduct(found.reduced, extent);
    if (extent > longest) {
      longest = extent;
      found.longest = loop;
    }
  }
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction && loop != found.longest)
      found.others = saturatedProduct(
          found.others, ShapedType::isDynamic(extents[loop]) ? kParallel : extents[loop]);
  return found;
}

OrRefusal<Split> tilewright::chooseSplit(linalg::LinalgOp op, TargetAttr target) {
  auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (op->hasAttr(kClusterSumAttr) ||
      (config && config.isWarpSpecialized() && clusterSumLoop(op, config)))
    return refuse(Refused::Config,
                  "the blocks of a cluster have a part of its sum each, and add them up");
  if (config && config.getSplits() == 1)
    return refuse(Refused::Pinned, "the pinned lowering config has no 'splits'");
  if (!isa<linalg::GenericOp>(op.getOperation()) ||
      op.getNumReductionLoops() == 0)
    return refuse(Refused::NotContraction, "it reduces nothing");
  bool lanes = target.getFact("subgroup", 1) > 1;
  std::optional<Contraction> product = matchContraction(op);
  if (product && lanes && isForMatrixUnit(op, target)) {
    if (matchCombiners(op).empty())
      return refuse(Refused::Numerics, "partial results cannot be combined");
    return chooseMatrixSplit(op, *product, target);
  }
  if (product && !(lanes && isSkinny(op, *product)))
    return refuse(Refused::NotProfitable, "only contractions of few rows or columns are split");
  if (matchCombiners(op).empty())
    return refuse(Refused::Numerics,
                  "partial results cannot be combined: a result is not updated "
                  "by one add, mul, min, max, and, or, xor; 'tilewright.associative' on the "
                  "op says that its body combines them");
  SumExtents extents = measure(op);
  if (extents.results == 0 || extents.reduced == 0)
    return refuse(Refused::Extents, "it has no elements");

  // A block takes a row each where rows are contiguous, else many columns.
  std::optional<unsigned> contiguous = contiguousLoop(op);
  bool rows = !contiguous || op.getIteratorTypesArray()[*contiguous] !=
                                 utils::IteratorType::parallel;
  int64_t blocks = rows ? extents.results : llvm::divideCeil(extents.results, 32);
  int64_t perStep =
      saturatedProduct(extents.others, rows ? 1 : std::min<int64_t>(extents.results, 64));
  Split split;
  split.loop = extents.longest;
  split.unit = llvm::bit_floor(uint64_t(
      std::max<int64_t>(1, (lanes ? kGpuElements : kCpuElements) / perStep)));
  if (config)
    return pinSplit(split, config);
  int64_t fill = lanes ? blocksEachOf(target) * multiprocessorsOf(target) : kCpuTasks;
  // Some of the multiprocessors can ask for all that the memory gives.
  int64_t enough = lanes ? int64_t(chipOf(target).memoryShare *
                                   double(multiprocessorsOf(target)))
                         : fill / 2;
  if (blocks >= enough)
    return refuse(Refused::NotProfitable, Twine(extents.results) + " results " +
                                              (extents.dynamicResults ? "(assumed) " : "") +
                                              "fill the machine");
  int64_t extent = op.getStaticLoopRanges()[split.loop];
  int64_t units = ShapedType::isDynamic(extent) ? INT64_MAX
                                                : llvm::divideCeil(extent, split.unit);
  if (units < kMinUnits)
    return refuse(Refused::NotProfitable, Twine(extents.reduced) +
                                              " elements a result are too few for a second "
                                              "kernel to pay");
  if (lanes && staysWhole(op, target, blocks, extents.results, extents.reduced))
    return refuse(Refused::NotProfitable,
                  "other ops read its rows again: one kernel for all of them moves half of what "
                  "kernels of parts do");
  split.parts = llvm::PowerOf2Ceil(llvm::divideCeil(fill, blocks));
  split.parts = std::min<int64_t>(split.parts, units);
  return split;
}

/// Products on matrix units whose sum is dynamic, and one side at most: where
/// both are, few programs would have few results, and all would take longer to
/// compile.
static std::optional<GuardedSplit>
chooseGuardedMatrixSplit(linalg::LinalgOp op, const Contraction &product,
                         TargetAttr target) {
  constexpr int64_t kTile = 128, kMostParts = 16;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  GuardedSplit guarded;
  guarded.split.loop = product.k.front();
  guarded.split.unit = kMatrixUnit;
  guarded.split.partsFirst = true;
  guarded.tile.assign(op.getNumLoops(), 1);
  int64_t blocks = 1, numDynamic = 0, fill = multiprocessorsOf(target);
  auto count = [&](unsigned loop, int64_t tile) {
    guarded.tile[loop] = tile;
    if (ShapedType::isDynamic(extents[loop]))
      ++numDynamic;
    else if (llvm::MulOverflow(blocks, int64_t(llvm::divideCeil(extents[loop], tile)),
                               blocks))
      blocks = INT64_MAX;
  };
  for (unsigned loop : {product.m.front(), product.n.front()})
    count(loop, kTile);
  for (unsigned loop : product.batch)
    count(loop, 1);
  if (numDynamic > 1 || !ShapedType::isDynamic(extents[guarded.split.loop]) ||
      blocks == 0 || blocks > fill / 4)
    return std::nullopt;
  // Of a dynamic side, up to four tiles.
  int64_t most = numDynamic ? 4 * blocks : blocks;
  guarded.mostResults = most;
  guarded.split.parts = std::clamp<int64_t>(
      llvm::PowerOf2Ceil(fill / most), 2, kMostParts);
  guarded.fewestElements =
      std::max(kMinMatrixUnits, 2 * guarded.split.parts) * kMatrixUnit;
  return guarded;
}

std::optional<GuardedSplit> tilewright::chooseGuardedSplit(linalg::LinalgOp op, TargetAttr target) {
  if (std::optional<Contraction> product = matchContraction(op);
      product && !op->hasAttr(kConfigAttr) &&
      target.getFact("subgroup", 1) > 1 &&
      isa<linalg::GenericOp>(op.getOperation()) &&
      isForMatrixUnit(op, target) && !matchCombiners(op).empty())
    return chooseGuardedMatrixSplit(op, *product, target);
  if (op->hasAttr(kConfigAttr) || target.getFact("subgroup", 1) <= 1 ||
      !isa<linalg::GenericOp>(op.getOperation()) || op.getNumReductionLoops() == 0 ||
      matchContraction(op) || matchCombiners(op).empty() || chooseSplit(op, target))
    return std::nullopt;
  GuardedSplit guarded;
  bool dynamicResults = false;
  int64_t longest = -1, known = 1;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isDynamic = ShapedType::isDynamic(extents[loop]);
    if (type == utils::IteratorType::parallel) {
      dynamicResults |= isDynamic;
      known *= isDynamic ? 1 : extents[loop];
    } else if (int64_t extent = isDynamic ? kReduced : extents[loop];
               extent > longest) {
      longest = extent;
      guarded.split.loop = loop;
    }
  }
  constexpr int64_t kParts = 64;
  guarded.mostResults = blocksEachOf(target) * multiprocessorsOf(target) / 8;
  guarded.split.parts = kParts;
  guarded.split.unit = kGpuElements / 4;
  guarded.fewestElements = kMinUnits * kGpuElements;
  if (!dynamicResults || known > guarded.mostResults ||
      longest < guarded.fewestElements)
    return std::nullopt;
  return guarded;
}
