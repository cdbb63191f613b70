// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configs of scatters, scans and sorts (Configure/Irregular.h says what they mean).
//
//   %r = tilewright.scatter … {dims = array<i64: 0>, unique}
//   -> … {…, tilewright.lowering_config = #tilewright.lowering_config<
//           strategy = irregular, block = [2, 64], warps = [4, 1]>}
//
// Neighbouring threads have neighbouring elements of a slice.

#include "tilewright/Configure/Irregular.h"
#include "ExplainConfig.h"
#include "Fields.h"
#include "tilewright/Configure/Configure.h"
#include "tilewright/Configure/Pins.h"
#include "tilewright/Dialect/LookBack.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Elements of a block, which its threads number by 32 bits.
static constexpr int64_t kMostInBlock = int64_t(1) << 24;
/// Threads of a block, where there are lanes.
static constexpr int64_t kThreads = 128;
/// Threads that share out the places of a scatter in order, and the most ranges.
static constexpr int64_t kOrderedThreads = 16384, kMostRanges = 256;
/// The same of processors, whose threads have whole slices.
static constexpr int64_t kCpuRanges = 16;
/// Chunks that a processor's block of a sort has, and rows of unknown length in any block.
static constexpr int64_t kCpuChunks = 128, kSortedRows = 8;
/// Elements that a processor's block of a unique scatter moves.
static constexpr int64_t kCpuElements = 16384;

static ShapedType typeOf(Value value) { return cast<ShapedType>(value.getType()); }

static bool isOrdered(Operation *op) {
  auto scatter = dyn_cast<ScatterOp>(op);
  return scatter && !scatter.getUnique();
}

ArrayRef<ConfigField> tilewright::irregularFields(bool isCpu) {
  static constexpr ConfigField kGpu[] = {ConfigField::Warps, ConfigField::Splits};
  static constexpr ConfigField kCpu[] = {ConfigField::Splits};
  if (isCpu)
    return kCpu;
  return kGpu;
}

/// Why no block can scan the tiles of `scan` so, or nothing.
static Refusal whyNotLookBack(ScanOp scan, LoweringConfigAttr config, const IrregularPlan &plan) {
  std::optional<int64_t> chunk = getConstantIntValue(scan.getChunk());
  int64_t columns = lookBackColumns(scan.getInputType().getDimSize(2));
  if (!chunk || config.getBlock() != ArrayRef<int64_t>{1, *chunk, columns})
    return refuse(Refused::Config, "'block' of a scan that looks back is [1, elements of a tile, " +
                                       std::to_string(columns) + "], as its 'chunk' is");
  int64_t tile = *chunk * columns;
  if (plan.threads < 2 * kLookBackGroup || plan.threads % kLookBackGroup ||
      tile % plan.threads)
    return refuse(Refused::Indivisible,
                  "a tile of " + std::to_string(tile) + " elements is not that of " +
                      std::to_string(plan.threads) + " threads, of which two warps look back");
  return {};
}

/// A library computes all of a matmul.
static OrRefusal<IrregularPlan> planLibraryCall(GemmOp op, LoweringConfigAttr config,
                                                TargetAttr target) {
  if (!target.getFact("calls_libraries", 0))
    return refuse(Refused::Target, "kernels of the target call no libraries");
  if (config.getBlock() != ArrayRef<int64_t>{1} || config.getSplits() != 1)
    return refuse(Refused::Config, "a library computes it whole: 'block' is [1]");
  IrregularPlan plan;
  plan.tileCounts.push_back(getAffineConstantExpr(1, op.getContext()));
  return plan;
}

static Refusal checkBlock(Operation *op, LoweringConfigAttr config) {
  ArrayRef<int64_t> block = config.getBlock();
  size_t loops = isa<ScatterOp>(op) ? 2 : 3;
  if (block.size() != loops || llvm::is_contained(block, 0))
    return refuse(Refused::Config, loops == 3
                                       ? "'block' of a scan or sort is [outer, chunks, inner]"
                                       : "'block' of a scatter is [updates or ranges, elements]");
  auto scatter = dyn_cast<ScatterOp>(op);
  if (scatter && scatter.getUpdatesType().getRank() == 1 && block[1] != 1)
    return refuse(Refused::Config, "an update of the scatter is one element, so the second number "
                                   "of 'block' is 1, not " + Twine(block[1]));
  int64_t elements = 1;
  for (int64_t size : block)
    if (llvm::MulOverflow(elements, size, elements) || elements > kMostInBlock)
      return refuse(Refused::TileSize,
                    "'block' has more than " + Twine(kMostInBlock) + " elements");
  if (isOrdered(op) ? config.getSplits() % block[0] != 0 : config.getSplits() != 1)
    return refuse(Refused::Config,
                  "'splits' are the ranges of a scatter in order, a multiple of the first "
                  "number of 'block'; of others 1");
  return {};
}

static Refusal planThreads(LoweringConfigAttr config, TargetAttr target, IrregularPlan &plan) {
  plan.subgroup = target.getFact("subgroup", 1);
  plan.threads = plan.subgroup;
  if (!config.getWarps().empty() &&
      llvm::any_of(config.getWarps().drop_front(), [](int64_t warps) { return warps != 1; }))
    return refuse(Refused::Config, "'warps' of scatters, scans and sorts are a number of warps, "
                                   "which lie over the block as it lies in memory; write it as the "
                                   "first entry, and 1 for the others");
  for (int64_t warps : config.getWarps())
    if (llvm::MulOverflow(plan.threads, warps, plan.threads))
      return refuse(Refused::Threads, "'warps' asks for more threads than a number holds");
  if (plan.threads > target.getFact("max_threads", 1024))
    return refuse(Refused::Threads, "needs " + Twine(plan.threads) + " threads");
  return {};
}

/// One more loop of tiles: so many of `tile` elements along `dim` of `tensor`.
static void addTiles(IrregularPlan &plan, Value tensor, int64_t dim, int64_t tile) {
  MLIRContext *context = tensor.getContext();
  AffineExpr size = getAffineConstantExpr(typeOf(tensor).getDimSize(dim), context);
  if (typeOf(tensor).isDynamicDim(dim)) {
    size = getAffineSymbolExpr(plan.countDims.size(), context);
    plan.countDims.push_back({tensor, dim});
  }
  plan.tileCounts.push_back(size.ceilDiv(tile));
}

static void countTiles(ScanOp scan, ArrayRef<int64_t> block, IrregularPlan &plan) {
  addTiles(plan, scan.getInput(), 0, block[0]);
  if (!scan.getChunk())
    plan.tileCounts.push_back(getAffineConstantExpr(1, scan.getContext()));
  else if (scan.getLookBack())
    addTiles(plan, scan.getInput(), 1, block[1]);
  else
    addTiles(plan, scan.getTotals() ? scan.getOutput() : scan.getInit(), 1, block[1]);
  addTiles(plan, scan.getInput(), 2, block[2]);
}

static void countTiles(SortOp sort, ArrayRef<int64_t> block, IrregularPlan &plan) {
  Value key = sort.getInputs()[0];
  addTiles(plan, key, 0, block[0]);
  addTiles(plan, sort.getOutputs()[0], 1, block[1] * kSortedRun);
  addTiles(plan, key, 2, block[2]);
}

static void countTiles(ScatterOp scatter, LoweringConfigAttr config, IrregularPlan &plan) {
  ArrayRef<int64_t> block = config.getBlock();
  if (isOrdered(scatter))
    plan.tileCounts.push_back(
        getAffineConstantExpr(config.getSplits() / block[0], scatter.getContext()));
  else
    addTiles(plan, scatter.getUpdates(), 0, block[0]);
  int64_t rank = scatter.getUpdatesType().getRank();
  for (int64_t dim = 1; dim < rank; ++dim)
    addTiles(plan, scatter.getUpdates(), dim, dim + 1 == rank ? block[1] : 1);
}

OrRefusal<IrregularPlan> tilewright::planIrregular(Operation *op, LoweringConfigAttr config,
                                                   TargetAttr target) {
  if (config.getStrategy() != Strategy::Irregular)
    return refuse(Refused::OtherStrategy, "strategy " + stringifyStrategy(config.getStrategy()) +
                                              " does not serve it; irregular does");
  if (Refusal why = whyNotCarriedOut(config, target))
    return why;
  if (auto gemm = dyn_cast<GemmOp>(op))
    return planLibraryCall(gemm, config, target);
  if (Refusal why = checkBlock(op, config))
    return why;
  IrregularPlan plan;
  if (Refusal why = planThreads(config, target, plan))
    return why;
  ArrayRef<int64_t> block = config.getBlock();
  if (auto scan = dyn_cast<ScanOp>(op)) {
    if (scan.getLookBack())
      if (Refusal why = whyNotLookBack(scan, config, plan))
        return why;
    countTiles(scan, block, plan);
  } else if (auto sort = dyn_cast<SortOp>(op)) {
    if (sort.hasScratch() && block[1] % (kBlockRun / kSortedRun) != 0)
      return refuse(Refused::Indivisible,
                    "'block' has whole runs: its second number is a multiple of " +
                        Twine(kBlockRun / kSortedRun));
    countTiles(sort, block, plan);
  } else {
    countTiles(cast<ScatterOp>(op), config, plan);
  }
  return plan;
}

/// `most`, or the power of two that holds `extent` where that is less.
static int64_t cover(int64_t extent, int64_t most) {
  if (ShapedType::isDynamic(extent))
    return most;
  return std::min<int64_t>(most, llvm::PowerOf2Ceil(std::max<int64_t>(extent, 1)));
}

static LoweringConfigAttr chooseConfig(Operation *op, TargetAttr target) {
  int64_t subgroup = target.getFact("subgroup", 1);
  bool isCpu = subgroup == 1;
  SmallVector<int64_t> block, warps;
  int64_t splits = 1, threads = isCpu ? 1 : std::max(kThreads, subgroup);
  if (isa<GemmOp>(op)) {
    block = {1};
  } else if (auto scan = dyn_cast<ScanOp>(op)) {
    // Rows beside each other are scanned as vectors by CPUs: some lines of memory at once.
    constexpr int64_t kLanes = 64, kLanesOfChunks = 16;
    int64_t most = isCpu ? (scan.getChunk() ? kLanesOfChunks : kLanes) : threads;
    int64_t inner = cover(typeOf(scan.getInput()).getDimSize(2), most);
    int64_t rest = isCpu ? 1 : threads / inner;
    if (scan.getLookBack()) {
      threads = kLookBackThreads;
      block = {1, getConstantIntValue(scan.getChunk()).value_or(0),
               lookBackColumns(scan.getInputType().getDimSize(2))};
    } else
      block = scan.getChunk() ? SmallVector<int64_t>{1, rest, inner}
                            : SmallVector<int64_t>{rest, 1, inner};
  } else if (auto sort = dyn_cast<SortOp>(op)) {
    ShapedType type = sort.getKeyType();
    int64_t inner = cover(type.getDimSize(2), isCpu ? 16 : threads);
    int64_t most = isCpu ? kCpuChunks / inner : threads / inner;
    int64_t along = type.getDimSize(1);
    // Rows of unknown length: several to a block, so that short ones fill it, too.
    int64_t rows = ShapedType::isDynamic(along)
                       ? cover(type.getDimSize(0), std::min<int64_t>(kSortedRows, most))
                       : most / cover(llvm::divideCeil(along, kSortedRun), most);
    int64_t chunks = most / rows;
    if (sort.hasScratch())
      chunks = std::max(chunks, kBlockRun / kSortedRun);
    block = {std::max<int64_t>(1, std::min(rows, most / chunks)), chunks, inner};
  } else {
    ShapedType updates = cast<ScatterOp>(op).getUpdatesType();
    int64_t last = updates.getRank() > 1 ? updates.getShape().back() : 1;
    int64_t slice = 1;
    for (int64_t size : updates.getShape().drop_front())
      slice = std::min(kOrderedThreads,
                       slice * (ShapedType::isDynamic(size)
                                    ? kThreads
                                    : std::clamp<int64_t>(size, 1, kOrderedThreads)));
    int64_t columns = cover(last, isCpu ? 4096 : threads);
    int64_t rows = isCpu ? std::max<int64_t>(1, kCpuElements / columns) : threads / columns;
    if (isOrdered(op)) {
      splits = isCpu ? kCpuRanges
                     : std::clamp<int64_t>(kOrderedThreads / llvm::PowerOf2Ceil(slice), 1,
                                           kMostRanges);
      rows = isCpu ? 1 : std::min(rows, splits);
    }
    block = {rows, columns};
  }
  if (!isCpu) {
    warps.assign(block.size(), 1);
    warps[0] = threads / subgroup;
  }
  return LoweringConfigAttr::get(op->getContext(), Strategy::Irregular, block, warps, {},
                                 /*stages=*/1, {}, {}, splits, /*raster=*/1);
}

LogicalResult tilewright::configureIrregular(func::FuncOp kernel, Operation *op,
                                             bool listAll) {
  TargetAttr target = getTarget(kernel);
  // A pin on the kernel stands before one on the op, as for other kernels.
  LoweringConfigAttr config = getPin(kernel);
  if (!config)
    config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  bool pinned = bool(config);
  if (!pinned)
    config = chooseConfig(op, target);
  if (OrRefusal<IrregularPlan> plan = planIrregular(op, config, target); !plan)
    return op->emitOpError() << (pinned ? "the pinned lowering config does not fit: "
                                        : "no schedule fits: ")
                             << plan.why().str();
  op->setAttr(kConfigAttr, config);
  Builder b(kernel.getContext());
  if (listAll)
    kernel->setAttr(kConfigsAttr, b.getArrayAttr(config));
  std::string text = "strategy irregular: ";
  if (auto gemm = dyn_cast<GemmOp>(op))
    text += ("'" + gemm.getFunction() + "' of '" + gemm.getLibrary() +
             "' computes it, with the library's own threads")
                .str();
  else if (auto scan = dyn_cast<ScanOp>(op))
    text += scan.getLookBack()
                ? "in one pass over memory: each block scans a tile, and looks back at what those "
                  "before it have published"
            : scan.getTotals() ? "each thread combines a chunk"
            : scan.getChunk() ? "each thread scans a chunk, from what is before it on"
                              : "each thread scans one row along the dim";
  else if (auto sort = dyn_cast<SortOp>(op))
    text += sort.getHalves()  ? "each thread merges a chunk of two runs' first half, which it "
                                "finds by a search"
            : sort.hasScratch() ? "each thread sorts a run by insertion, and a block merges "
                                  "them to some of 512 elements"
            : sort.getWidth() ? "each thread merges a chunk of two runs, which it finds by a "
                                "search"
                            : "each thread sorts a run by insertion";
  else if (isOrdered(op))
    text += "updates may have one place, so threads own ranges of places (" +
            std::to_string(config.getSplits()) +
            " of them) and look at all updates in order; 'unique' promises that they "
            "do not";
  else
    text += "each update has a place of its own: all at once";
  if (auto scan = dyn_cast<ScanOp>(op);
      scan && scan.getTotals() && target.getFact("subgroup", 1) > 1)
    text += target.has("forward_progress")
                ? "; three kernels, as neighbours along the dim are not neighbours in memory"
                : "; three kernels, as " + target.getName().str() +
                      " does not promise that blocks go on while others wait for them";
  SmallVector<std::string> explain{text};
  explainEarlierStages(kernel, explain);
  setExplanation(kernel, explain);
  addExplanation(kernel, (pinned ? "config (pinned): " : "config: ") + toString(config));
  return success();
}
