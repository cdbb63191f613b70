// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a lowering config to tiles per loop class, and the limits.
//
//   block = [64, 64, 16] on (m, n, k) of a 100 x 10 x ? matmul, 32 lanes:
//     m: step 64, two tiles;  n: step 16 (10 rounded up), one tile;
//     k: step 16, in a loop
//
// Extents of GPU tiles that come from a whole dim are rounded up to a power of
// two, which is what layouts spread best; the surplus is masked.

#include "CostModel.h"
#include "Enumerate.h"
#include "Strategy.h"
#include "tilewright/Configure/OnlineSums.h"
#include "tilewright/Configure/TilePlan.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/UserNames.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// 2^20 elements: the most that a tile may have in all.
static constexpr int64_t kLargestTile = int64_t(1) << 20;
/// Terms that a body of its own takes one by one, of which the reads are under way together.
static constexpr int64_t kMostTerms = 16;

/// Sums that need no pass of their own over rows, which are in neither registers nor shared
/// memory.
static int64_t countOnlineSums(const KernelInfo &info, LoweringConfigAttr config,
                               const TilePlan &plan) {
  if (config.getStrategy() != Strategy::Reduction || !config.getPromote().empty() ||
      info.split || plan.subgroup <= 1)
    return 0;
  return llvm::count_if(findOnlineSums(info), [&](linalg::LinalgOp op) {
    return llvm::all_of(llvm::zip_equal(op.getIteratorTypesArray(), info.getClasses(op)),
                        [&](auto loop) {
                          auto [iterator, number] = loop;
                          return iterator == utils::IteratorType::parallel ||
                                 plan.classes[number].loop;
                        });
  });
}

/// The loops of products: known to the classes, or to the config.
static llvm::SmallDenseSet<unsigned>
contractedClasses(const KernelInfo &info, LoweringConfigAttr config) {
  llvm::SmallDenseSet<unsigned> contracted;
  for (auto [number, loopClass] : llvm::enumerate(info.classes))
    if (loopClass.contracted)
      contracted.insert(number);
  if (!config.getMma())
    return contracted;
  const Contraction &product = *info.getContraction(info.getRoot());
  for (ArrayRef<unsigned> loops :
       {ArrayRef(product.m), ArrayRef(product.n), ArrayRef(product.k)})
    for (unsigned loop : loops)
      contracted.insert(info.getClasses(info.getRoot())[loop]);
  return contracted;
}

/// What a step over all of a sum of `extent` takes, that of the first of two
/// products: no more than there is, but whole instructions.
static int64_t wholeSteps(const KernelInfo &info, LoweringConfigAttr config,
                          int64_t extent) {
  auto instruction = MatrixInstruction::parse(info.getRoot()->getContext(),
                                              config.getMma().getValue());
  return std::max<int64_t>(instruction ? instruction->k : 1,
                           llvm::PowerOf2Ceil(extent));
}

namespace {
class TilePlanner {
public:
  TilePlanner(const KernelInfo &info, LoweringConfigAttr config, TargetAttr target)
      : info(info), config(config), target(target),
        rootClasses(info.getClasses(info.getRoot())), steps(info.classes.size(), 0),
        inner(info.classes.size(), 0), known(info.classes.size(), false) {
    plan.classes.resize(info.classes.size());
    plan.subgroup = std::max<int64_t>(1, target.getFact("subgroup", 1));
    lanes = plan.subgroup > 1;
  }
  OrRefusal<TilePlan> run();

private:
  /// Fields that do not go with the kernel's loops or with each other; counts threads.
  Refusal checkFields();
  /// A product with a vector, a chunk of whose sum is `block` where `thread` is less.
  Refusal findChunks();
  /// The steps that the config gives the root's loops, and what steps the others have.
  Refusal readSteps();
  Refusal readSplit();
  /// The tile of a class: its step, whether a loop is around it, and what of it is in
  /// registers at once.
  Refusal planClass(unsigned number);
  Refusal planTerms(ClassTile &tile, unsigned number) const;
  /// No more than there is.
  void boundStep(ClassTile &tile, unsigned number) const;
  bool isInLoop(const ClassTile &tile, unsigned number) const;
  Refusal planRegisterTile(ClassTile &tile, unsigned number) const;
  Refusal countElements(const ClassTile &tile, unsigned number);
  void planChunks();

  /// Whether blocks have parts of the class.
  bool isSplit(unsigned number) const {
    return (info.split && info.split->reduced == number) ||
           (plan.clusterSum && plan.clusterSum->reduced == number);
  }

  const KernelInfo &info;
  LoweringConfigAttr config;
  TargetAttr target;
  ArrayRef<unsigned> rootClasses;
  const ScheduleStrategy *strategy = nullptr;
  TilePlan plan;
  bool lanes = false, packed = false;
  std::optional<ChunkedSum> chunked;
  /// The loop whose sum blocks of a cluster have parts of, and that which they share.
  std::optional<unsigned> summed, shared;
  /// Of each class `block` and `thread`, where the config speaks of it.
  SmallVector<int64_t> steps, inner;
  SmallVector<bool> known;
  /// A loop that the config does not speak of steps like the root's widest sequential loop.
  int64_t sequentialStep = 0;
  llvm::SmallDenseSet<unsigned> contracted;
  int64_t elements = 1;
};
} // namespace

Refusal TilePlanner::checkFields() {
  summed = clusterSumLoop(info, config);
  if (summed && config.getSplits() != config.getCluster()[*summed])
    return refuse(Refused::Config, "'cluster' has " + Twine(config.getCluster()[*summed]) +
                                       " blocks along loop " + Twine(*summed) +
                                       ", which is summed, and 'splits' is " +
                                       Twine(config.getSplits()) + "; each block has one part");
  if (!summed && config.getSplits() != info.getSplits())
    return refuse(Refused::Config, "'splits' is " + Twine(config.getSplits()) +
                                       " but the kernel computes " + Twine(info.getSplits()) +
                                       (info.getSplits() == 1 ? " part" : " parts"));
  unsigned numLoops = info.getNumConfigLoops();
  for (auto [key, values] :
       {std::pair<StringRef, ArrayRef<int64_t>>{"block", config.getBlock()},
        {"warps", config.getWarps()},
        {"thread", config.getThread()}})
    if (!values.empty() && values.size() != numLoops)
      return refuse(Refused::Config, "'" + key + "' has " + Twine(values.size()) + " entries but " +
                                         nameOp(info.getRoot()) + " has " + Twine(numLoops) +
                                         " loops");
  plan.threads = plan.subgroup;
  for (int64_t warps : config.getWarps()) {
    plan.threads *= warps;
    if (plan.threads > kLargestTile)
      return refuse(Refused::Threads,
                    "'warps' asks for more than " + Twine(kLargestTile) + " threads");
  }
  return {};
}

Refusal TilePlanner::findChunks() {
  if (std::optional<ChunkedSum> loops =
          lanes || packed ? std::nullopt : chunkedSum(info);
      loops && entry(config.getThread(), loops->sum, 0) > 0 &&
      entry(config.getThread(), loops->sum, 0) < entry(config.getBlock(), loops->sum, 0))
    chunked = loops;
  for (unsigned loop = 0; chunked && loop < info.getNumConfigLoops(); ++loop)
    if (loop != chunked->sum && loop != chunked->columns &&
        entry(config.getBlock(), loop, 0) != 1)
      return refuse(Refused::Config,
                    "a chunk of the sum at a time ('thread' is less than 'block' there) is "
                    "for blocks of one row; make 'block' 1 for " +
                        describeLoop(info, loop));
  return {};
}

Refusal TilePlanner::readSteps() {
  for (unsigned loop = 0; loop < info.getNumConfigLoops(); ++loop) {
    unsigned number = rootClasses[loop];
    const LoopClass &loopClass = info.classes[number];
    steps[number] = entry(config.getBlock(), loop, 0);
    inner[number] = entry(config.getThread(), loop, 0);
    // Packed: a chunk of the sum is `block`, a step of the inner loop `thread`.
    if ((packed || (chunked && loop == chunked->sum)) && !loopClass.parallel)
      steps[number] = std::max<int64_t>(1, inner[number]);
    known[number] = true;
    if (steps[number] == 0 && ShapedType::isDynamic(loopClass.extent))
      return refuse(Refused::DynamicExtents, "'block' asks for all of " + describeLoop(info, loop) +
                                                 " in one tile, but its extent is dynamic");
    if (!loopClass.parallel)
      sequentialStep = std::max(sequentialStep, steps[number]
                                                    ? steps[number]
                                                    : loopClass.extent);
  }
  if (info.split)
    if (Refusal why = readSplit())
      return why;
  if (linalg::LinalgOp first = strategy->getFirstProduct(info, config))
    sequentialStep = strategy->stepOfFirst(first);
  if (sequentialStep == 0)
    sequentialStep = lanes ? 4 * plan.threads : 64;
  return {};
}

/// One part a block; whole steps, so that a part only ends inside of a step where the loop
/// itself ends.
Refusal TilePlanner::readSplit() {
  known[info.split->part] = true;
  steps[info.split->part] = inner[info.split->part] = 1;
  int64_t step = steps[info.split->reduced];
  if (step == 0 || info.split->unit % step)
    return refuse(Refused::Indivisible, "the step " + Twine(step) +
                                            " of the split loop does not "
                                            "divide the unit of its parts, " +
                                            Twine(info.split->unit));
  int64_t extent = info.classes[info.split->reduced].extent, parts = config.getSplits();
  // Blocks that share all steps have their own check (WarpSpecialized/Streams.cpp).
  if (ShapedType::isDynamic(extent) || extent == 0 || config.getStreamK())
    return {};
  if (int64_t units = llvm::divideCeil(extent, info.split->unit); parts > units)
    return refuse(Refused::Config, "'splits' is " + Twine(parts) + ", but the " +
                                       Twine(extent) + " elements of the split loop are " +
                                       Twine(units) + " steps of " + Twine(info.split->unit) +
                                       "; a partition has one at least")
        .of(parts, units);
  return {};
}

Refusal TilePlanner::planTerms(ClassTile &tile, unsigned number) const {
  tile.terms = known[number] ? std::max<int64_t>(1, tile.step) : 1;
  if (tile.terms > (lanes ? kMostTerms : 1))
    return refuse(Refused::TileSize,
                  "'block' has " + Twine(tile.step) +
                      " for a loop that is reduced by a body of its own, whose terms "
                      "are taken one by one; " +
                      (lanes ? "up to " + Twine(kMostTerms) + " of them are read at once"
                             : Twine("make it 1")));
  tile.step = 1;
  return {};
}

void TilePlanner::boundStep(ClassTile &tile, unsigned number) const {
  int64_t extent = info.classes[number].extent;
  if (ShapedType::isDynamic(extent) || isSplit(number))
    return;
  int64_t whole = std::max<int64_t>(extent, 1);
  // Matrix instructions need whole tiles; edges are filled with zeros.
  bool fixed = config.getMma() && contracted.contains(number);
  if (fixed && !known[number])
    tile.step = std::min(tile.step, wholeSteps(info, config, whole));
  // Of packed operands whole register tiles are enough.
  if (fixed && !lanes && tile.step > whole)
    tile.step = std::max(whole, std::min(tile.step, inner[number]));
  if (tile.step == 0 || (tile.step > whole && !fixed)) {
    tile.step = whole;
    if (lanes && whole <= kLargestTile)
      tile.step = llvm::PowerOf2Ceil(whole);
  }
}

bool TilePlanner::isInLoop(const ClassTile &tile, unsigned number) const {
  const LoopClass &loopClass = info.classes[number];
  bool isStatic = ShapedType::isStatic(loopClass.extent);
  // What blocks of a cluster share is theirs alone.
  if (shared && rootClasses[*shared] == number)
    return false;
  // One tile has rows that a guard promises to be no longer, and not empty.
  if (lanes && !isStatic && !loopClass.parallel && !isSplit(number) &&
      ShapedType::isStatic(loopClass.most) && loopClass.most <= tile.step)
    return false;
  // A zero extent is a loop of no iterations, or a grid of no tiles.
  return !isStatic || loopClass.extent == 0 || loopClass.extent > tile.step || isSplit(number);
}

Refusal TilePlanner::planRegisterTile(ClassTile &tile, unsigned number) const {
  tile.inner = tile.step;
  if (!lanes && info.classes[number].parallel && inner[number] > 0 &&
      inner[number] < tile.step) {
    tile.inner = inner[number];
    // Of a single tile the last register tile ends where the dim does.
    if (tile.loop && tile.step % tile.inner)
      return refuse(Refused::Indivisible, "the register tile " + Twine(tile.inner) +
                                              " does not divide the block tile " +
                                              Twine(tile.step));
    tile.innerLoop = true;
  }
  tile.vector = tile.inner;
  // Of the loops of a matrix instruction's product, those that a block runs
  // one by one are no dims of its tiles.
  if (tile.vector == 1 && (!contracted.contains(number) || config.getMma()))
    tile.vector = 0;
  return {};
}

Refusal TilePlanner::countElements(const ClassTile &tile, unsigned number) {
  // Of two products, the tile of the second.
  if (known[number] || !config.getMma())
    elements *= tile.inner;
  // Of what matrix instructions reduce, little is in registers at once.
  int64_t largest = config.getMma() ? 8 * kLargestTile : kLargestTile;
  if (elements > largest)
    return refuse(Refused::TileSize,
                  "a tile of the fused loops has more than " + Twine(largest) + " elements");
  return {};
}

Refusal TilePlanner::planClass(unsigned number) {
  ClassTile &tile = plan.classes[number];
  tile.step = known[number] ? steps[number] : sequentialStep;
  if (info.classes[number].sequential)
    if (Refusal why = planTerms(tile, number))
      return why;
  boundStep(tile, number);
  tile.loop = isInLoop(tile, number);
  if (shared && rootClasses[*shared] == number)
    tile.blocks = config.getCluster()[*shared];
  if (Refusal why = planRegisterTile(tile, number))
    return why;
  return countElements(tile, number);
}

void TilePlanner::planChunks() {
  const ClassTile &tile = plan.classes[rootClasses[chunked->columns]];
  plan.chunks = Panels();
  plan.chunks->tiles[0] = llvm::divideCeil(tile.step, tile.inner);
  plan.chunks->steps = llvm::divideCeil(config.getBlock()[chunked->sum],
                                        config.getThread()[chunked->sum]);
  plan.chunks->bytes = plan.chunks->tiles[0] * tile.inner *
                       bytesPerElement(info.getRoot().getDpsInits()[0].getType());
}

OrRefusal<TilePlan> TilePlanner::run() {
  if (Refusal why = checkFields())
    return why;
  strategy = &strategyOf(info, config, target);
  packed = strategy->isPacked(config);
  if (Refusal why = findChunks())
    return why;
  if (Refusal why = readSteps())
    return why;
  if (Refusal why = strategy->checkPlan(info, config, target))
    return why;
  shared = strategy->sharedLoop(config);
  if (summed)
    plan.clusterSum = planClusterSum(info, config, *summed);
  plan.copyThreads = strategy->copyThreads(config);
  contracted = contractedClasses(info, config);
  for (unsigned number = 0; number < info.classes.size(); ++number)
    if (Refusal why = planClass(number))
      return why;
  if (chunked)
    planChunks();
  plan.onlineSums = countOnlineSums(info, config, plan);
  if (packed) {
    if (Refusal why = whyNotPacked(info))
      return why;
    plan.panels = planPanels(info, config, plan);
  }
  return std::move(plan);
}

OrRefusal<TilePlan> tilewright::planTiles(const KernelInfo &info, LoweringConfigAttr config,
                                          TargetAttr target) {
  return TilePlanner(info, config, target).run();
}
