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

#include "tilewright/Configure/TilePlan.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "Strategy.h"
#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Configure/OnlineSums.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/UserNames.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

/// 2^20 elements: the most that a tile may have in all.
static constexpr int64_t kLargestTile = int64_t(1) << 20;
/// Terms that a body of its own takes one by one, of which the reads are under way together.
static constexpr int64_t kMostTerms = 16;

/// Whether the root is `op`, or computed from it.
static bool isBeforeSum(const KernelInfo &info, Operation *op) {
  SmallVector<Operation *> work{info.getRoot()};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!work.empty()) {
    Operation *next = work.pop_back_val();
    if (next == op)
      return true;
    for (Value operand : next->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && seen.insert(producer).second)
        work.push_back(producer);
  }
  return false;
}

int64_t TilePlan::getSlices(const KernelInfo &info, Operation *op) const {
  return clusterSum && !isBeforeSum(info, op) ? clusterSum->parts : 1;
}

SmallVector<int64_t> TilePlan::getVectorSizes(const KernelInfo &info,
                                              Operation *op) const {
  SmallVector<int64_t> sizes;
  int64_t slices = getSlices(info, op);
  for (unsigned number : info.getClasses(op)) {
    bool isSliced = slices > 1 && number == clusterSum->sliced;
    sizes.push_back(isSliced ? classes[number].vector / slices : classes[number].vector);
  }
  return sizes;
}

std::string tilewright::describeLoop(const KernelInfo &info, unsigned loop) {
  return "loop " + std::to_string(loop) + " of " +
         info.getRoot()->getName().getStringRef().str();
}

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

OrRefusal<TilePlan> tilewright::planTiles(const KernelInfo &info, LoweringConfigAttr config,
                                          TargetAttr target) {
  TilePlan plan;
  plan.classes.resize(info.classes.size());
  plan.subgroup = std::max<int64_t>(1, target.getFact("subgroup", 1));
  bool lanes = plan.subgroup > 1;

  std::optional<unsigned> summed = clusterSumLoop(info, config);
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

  // The root's loops as configured, then the other classes: a loop that the
  // config does not speak of steps like the root's widest sequential loop.
  const ScheduleStrategy &strategy = strategyOf(info, config, target);
  bool packed = strategy.isPacked(config);
  // The same of a product with a vector, where `thread` is less than `block`.
  std::optional<ChunkedSum> chunked;
  if (std::optional<ChunkedSum> loops =
          lanes || packed ? std::nullopt : chunkedSum(info);
      loops && entry(config.getThread(), loops->sum, 0) > 0 &&
      entry(config.getThread(), loops->sum, 0) < entry(config.getBlock(), loops->sum, 0))
    chunked = loops;
  for (unsigned loop = 0; chunked && loop < numLoops; ++loop)
    if (loop != chunked->sum && loop != chunked->columns &&
        entry(config.getBlock(), loop, 0) != 1)
      return refuse(Refused::Config,
                    "a chunk of the sum at a time ('thread' is less than 'block' there) is "
                    "for blocks of one row; make 'block' 1 for " +
                        describeLoop(info, loop));
  SmallVector<int64_t> steps(info.classes.size(), 0);
  SmallVector<int64_t> inner(info.classes.size(), 0);
  SmallVector<bool> known(info.classes.size(), false);
  int64_t sequentialStep = 0;
  ArrayRef<unsigned> rootClasses = info.getClasses(info.getRoot());
  for (unsigned loop = 0; loop < numLoops; ++loop) {
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
  if (info.split) {
    // One part a block; whole steps, so that a part only ends inside of a step
    // where the loop itself ends.
    known[info.split->part] = true;
    steps[info.split->part] = inner[info.split->part] = 1;
    int64_t &step = steps[info.split->reduced];
    if (step == 0 || info.split->unit % step)
      return refuse(Refused::Indivisible, "the step " + Twine(step) +
                                              " of the split loop does not "
                                              "divide the unit of its parts, " +
                                              Twine(info.split->unit));
  }
  if (linalg::LinalgOp first = strategy.getFirstProduct(info, config))
    sequentialStep = strategy.stepOfFirst(first);
  if (sequentialStep == 0)
    sequentialStep = lanes ? 4 * plan.threads : 64;

  if (Refusal why = strategy.checkPlan(info, config, target))
    return why;
  std::optional<unsigned> shared = strategy.sharedLoop(config);
  if (summed)
    plan.clusterSum = planClusterSum(info, config, *summed);
  plan.copyThreads = strategy.copyThreads(config);
  llvm::SmallDenseSet<unsigned> contracted = contractedClasses(info, config);
  int64_t elements = 1;
  for (auto [number, loopClass] : llvm::enumerate(info.classes)) {
    ClassTile &tile = plan.classes[number];
    int64_t extent = loopClass.extent;
    bool isStatic = !ShapedType::isDynamic(extent);
    tile.step = known[number] ? steps[number] : sequentialStep;
    if (loopClass.sequential) {
      tile.terms = known[number] ? std::max<int64_t>(1, tile.step) : 1;
      if (tile.terms > (lanes ? kMostTerms : 1))
        return refuse(Refused::TileSize,
                      "'block' has " + Twine(tile.step) +
                          " for a loop that is reduced by a body of its own, whose terms "
                          "are taken one by one; " +
                          (lanes ? "up to " + Twine(kMostTerms) + " of them are read at once"
                                 : Twine("make it 1")));
      tile.step = 1;
    }
    bool isSplit = (info.split && info.split->reduced == number) ||
                   (plan.clusterSum && plan.clusterSum->reduced == number);
    if (isStatic && !isSplit) {
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
    // A zero extent is a loop of no iterations, or a grid of no tiles.
    tile.loop = !isStatic || extent == 0 || extent > tile.step || isSplit;
    // One tile has rows that a guard promises to be no longer, and not empty.
    if (lanes && !isStatic && !loopClass.parallel && !isSplit &&
        ShapedType::isStatic(loopClass.most) && loopClass.most <= tile.step)
      tile.loop = false;
    if (shared && rootClasses[*shared] == number) {
      tile.blocks = config.getCluster()[*shared];
      tile.loop = false;
    }
    tile.inner = tile.step;
    if (!lanes && loopClass.parallel && inner[number] > 0 &&
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
    // Of two products, the tile of the second.
    if (known[number] || !config.getMma())
      elements *= tile.inner;
    // Of what matrix instructions reduce, little is in registers at once.
    int64_t largest = config.getMma() ? 8 * kLargestTile : kLargestTile;
    if (elements > largest)
      return refuse(Refused::TileSize,
                    "a tile of the fused loops has more than " + Twine(largest) + " elements");
  }
  if (chunked) {
    const ClassTile &tile = plan.classes[rootClasses[chunked->columns]];
    plan.chunks = Panels();
    plan.chunks->tiles[0] = llvm::divideCeil(tile.step, tile.inner);
    plan.chunks->steps =
        llvm::divideCeil(config.getBlock()[chunked->sum],
                                           config.getThread()[chunked->sum]);
    plan.chunks->bytes = plan.chunks->tiles[0] * tile.inner *
                         bytesPerElement(info.getRoot().getDpsInits()[0].getType());
  }
  plan.onlineSums = countOnlineSums(info, config, plan);
  if (packed) {
    if (Refusal why = whyNotPacked(info))
      return why;
    plan.panels = planPanels(info, config, plan);
  }
  return plan;
}

SmallVector<unsigned> tilewright::pairedLoops(const KernelInfo &info) {
  SmallVector<unsigned> paired;
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand *input : op.getDpsInputOperands())
      if (bytesOf(input->get()) != input->get()) {
        AffineMap map = op.getMatchingIndexingMap(input);
        paired.push_back(info.getClasses(op)[map.getDimPosition(map.getNumResults() - 1)]);
      }
  return paired;
}

/// Why tiles of packed elements are no whole bytes.
static Refusal whyPairsCut(const KernelInfo &info, const TilePlan &plan) {
  for (unsigned number : pairedLoops(info)) {
    int64_t extent = plan.classes[number].vector;
    if (extent > 0 && extent % 2 == 0)
      continue;
    return refuse(Refused::Indivisible,
                  "two elements of an operand lie in a byte, and the tile has " +
                      Twine(std::max<int64_t>(extent, 1)) + " along its rows");
  }
  return {};
}

/// Why the product in front of the root's is not in whole tiles of the instruction
/// too, or is computed twice.
static Refusal whyChainCut(const KernelInfo &info, LoweringConfigAttr config,
                           const TilePlan &plan) {
  ArrayRef<linalg::LinalgOp> products = info.getProducts();
  if (!info.isChained() || plan.subgroup <= 1)
    return {};
  if (!config.getMma())
    return refuse(Refused::Config, "two products in one kernel need a matrix instruction");
  const Contraction &last = *info.getContraction(info.getRoot());
  auto instruction = MatrixInstruction::parse(info.getRoot()->getContext(),
                                              config.getMma().getValue());
  ArrayRef<unsigned> own = info.getClasses(info.getRoot());
  for (unsigned loop : last.n)
    if (plan.classes[own[loop]].loop)
      return refuse(Refused::TileSize,
                    "the tile has " + Twine(plan.classes[own[loop]].step) +
                        " of the result's columns; without all of them the first product "
                        "would be computed again");
  if (config.isForWarpgroups()) // whyNotChained has said the rest
    return {};
  int64_t warps = 1;
  for (unsigned loop : last.n)
    warps *= entry(config.getWarps(), loop, 1);
  for (linalg::LinalgOp op : ArrayRef(products).drop_back()) {
    const Contraction &product = *info.getContraction(op);
    ArrayRef<unsigned> classes = info.getClasses(op);
    if (plan.classes[classes[product.n.front()]].step % (instruction->n * warps) ||
        plan.classes[classes[product.k.front()]].step % instruction->k ||
        !hasTypesOf(op, product, *instruction))
      return refuse(Refused::Indivisible,
                    "the first product's tile is no multiple of the instruction's on " +
                        Twine(warps) + " warps, or of other types");
  }
  return {};
}

/// Why what other ops reduce of the root's product is not in one tile: a block
/// that came back to it would compute the product again.
static Refusal whyReducedCut(const KernelInfo &info, const TilePlan &plan) {
  linalg::LinalgOp root = info.root;
  if (!info.getContraction(root) || plan.subgroup <= 1)
    return {};
  for (auto [loop, type] : llvm::enumerate(root.getIteratorTypesArray())) {
    unsigned number = info.getClasses(root)[loop];
    if (type != utils::IteratorType::parallel || info.classes[number].parallel ||
        !plan.classes[number].loop)
      continue;
    return refuse(Refused::TileSize, "the tile has " + Twine(plan.classes[number].step) +
                                         " elements of " + describeLoop(info, loop) +
                                         ", of which another op of the kernel needs all");
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// Why a plan needs more than the target has; `footprint` is the plan's.
static Refusal whyOverLimits(const TilePlan &plan, LoweringConfigAttr config,
                             const Footprint &footprint, TargetAttr target) {
  auto over = [&](Refused kind, const Twine &what, int64_t need, int64_t limit,
                  const Twine &of = "") -> Refusal {
    if (need <= limit)
      return {};
    return refuse(kind, "needs " + Twine(need) + " " + what + " but " + target.getName() + " has " +
                            Twine(limit) + of)
        .of(need, limit);
  };
  int64_t threadMemory = target.getFact("thread_memory", 0);
  if (plan.chunks)
    if (Refusal why = over(Refused::ThreadMemory, "bytes for sums between chunks",
                           plan.chunks->bytes, threadMemory))
      return why;
  if (plan.panels)
    if (Refusal why = over(Refused::ThreadMemory, "bytes for packed panels", plan.panels->bytes,
                           threadMemory))
      return why;
  int64_t threads = plan.threads + plan.copyThreads;
  if (Refusal why =
          over(Refused::Threads, "threads per block", threads, target.getFact("max_threads", 1)))
    return why;
  std::string shared = "bytes of shared memory";
  if (footprint.scratchBytes)
    shared += " (" + std::to_string(footprint.scratchBytes) +
              " of them to move values between threads)";
  if (Refusal why = over(Refused::SharedMemory, shared, footprint.sharedBytes,
                         target.getFact("shared_memory", 0)))
    return why;
  if (plan.subgroup <= 1)
    return {};
  // Of registers that move between roles the strategy has said what each needs.
  int64_t named = target.getFact("registers", kNamedRegisters),
          registers = config.getRegisters().empty() ? registerLimit(target, threads) : named;
  return over(Refused::Registers, "registers per thread", footprint.registers, registers,
              registers < named ? " for each of " + std::to_string(threads) : std::string());
}

OrRefusal<TilePlan> tilewright::fits(const KernelInfo &info, LoweringConfigAttr config,
                                     TargetAttr target) {
  func::FuncOp kernel = info.kernel;
  for (BlockArgument argument : kernel.getArguments())
    if (isa<ShapedType>(argument.getType()) && !strategyOf(info, config, target).readsImages() &&
        getImage(kernel, operandNumber(argument)))
      return refuse(Refused::Layout, "argument " + Twine(argument.getArgNumber()) +
                                         " is pixels of images, which copy engines alone read");
  OrRefusal<TilePlan> plan = planTiles(info, config, target);
  if (!plan)
    return plan;
  if (Refusal why = whyReducedCut(info, *plan))
    return why;
  if (Refusal why = whyChainCut(info, config, *plan))
    return why;
  if (Refusal why = whyPairsCut(info, *plan))
    return why;
  plan->footprint = estimate(info, config, *plan, target);
  if (Refusal why = whyOverLimits(*plan, config, *plan->footprint, target))
    return why;
  return plan;
}
