// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules for GPUs. A tile of a streaming or reduction kernel is filled from
// the loop along contiguous memory outwards, so that neighbouring lanes touch
// neighbouring addresses whatever the shape:
//
//   512 elements on ? x 3 x 20   ->  block = [8, 4, 32]   (rounded up)
//   512 elements on ? x 4096     ->  block = [1, 512], or, with at most 128
//                                    along a row, [4, 128]

#include "Enumerate.h"
#include "CostModel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

static constexpr int64_t kWarps[] = {1, 2, 4, 8};

/// Accesses of a thread to a row that its block holds.
static constexpr int64_t kRowAccesses[] = {1, 2, 4, 8};

/// Warps of a block that holds a long row, and elements of its rows that a thread
/// keeps: of 128 registers, which is what so many threads have, half.
static constexpr int64_t kRowWarps = 16, kMostHeld = 64;

/// The widest tile of a dynamic extent in streaming and reduction kernels: it
/// may turn out to be small.
static constexpr int64_t kDynamicTile = 512;

/// Sums that a thread of a skinny product keeps: with what it loads, they leave
/// registers for several blocks on a multiprocessor.
static constexpr int64_t kMostSums = 64;

static int64_t roundedExtent(const KernelInfo &info, unsigned loop) {
  return llvm::PowerOf2Ceil(nominalExtent(info, loop));
}

static bool isDynamic(const KernelInfo &info, unsigned loop) {
  return ShapedType::isDynamic(
      info.classes[info.getClasses(info.getRoot())[loop]].extent);
}

/// The last dim's loop first.
static SmallVector<unsigned> loopsOf(OpOperand &operand) {
  AffineMap map = cast<linalg::LinalgOp>(operand.getOwner())
                      .getMatchingIndexingMap(&operand);
  SmallVector<unsigned> loops;
  for (int64_t dim = int64_t(map.getNumResults()) - 1; dim >= 0; --dim)
    loops.push_back(map.getDimPosition(dim));
  return loops;
}

/// The tensor input with the most dims; the first of several.
static OpOperand *largestInput(linalg::LinalgOp op) {
  OpOperand *largest = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (type && (!largest || type.getRank() > cast<RankedTensorType>(
                                                  largest->get().getType())
                                                  .getRank()))
      largest = input;
  }
  return largest;
}

SmallVector<unsigned> tilewright::loopsFromInnermost(const KernelInfo &info) {
  linalg::LinalgOp op = info.root;
  SmallVector<unsigned> loops;
  OpOperand *input = largestInput(op);
  if (op.getNumReductionLoops() && input)
    loops = loopsOf(*input);
  auto append = [&](ArrayRef<unsigned> more) {
    for (unsigned loop : more)
      if (!llvm::is_contained(loops, loop))
        loops.push_back(loop);
  };
  append(loopsOf(*op.getDpsInitOperand(0)));
  for (unsigned loop = op.getNumLoops(); loop-- > 0;)
    append(loop);
  llvm::erase_if(loops, [&](unsigned loop) {
    return loop >= info.getNumConfigLoops();
  });
  return loops;
}

std::optional<unsigned> tilewright::transposedLoop(const KernelInfo &info) {
  SmallVector<unsigned> loops = loopsFromInnermost(info);
  linalg::LinalgOp op = info.root;
  OpOperand *input = largestInput(op);
  if (loops.empty() || !input)
    return std::nullopt;
  SmallVector<unsigned> own = loopsOf(*input);
  if (own.empty() || own.front() == loops.front() ||
      !llvm::is_contained(own, loops.front()) ||
      nominalExtent(info, own.front()) == 1 ||
      nominalExtent(info, loops.front()) == 1)
    return std::nullopt;
  return own.front();
}

namespace {
/// A config being put together, one value per loop of the root.
struct Schedule {
  explicit Schedule(const KernelInfo &info)
      : block(info.getNumConfigLoops(), 1), warps(block) {}
  SmallVector<int64_t> block, warps;

  LoweringConfigAttr get(const KernelInfo &info, int64_t stages = 1,
                         ArrayRef<int64_t> promote = {}) const {
    return LoweringConfigAttr::get(info.getRoot()->getContext(), info.strategy,
                                   block, warps, {}, stages, promote, {},
                                   info.getSplits(), /*raster=*/1);
  }
};
} // namespace

/// Keeps the first of equal configs.
static void addUnique(std::vector<LoweringConfigAttr> &configs,
                      LoweringConfigAttr config) {
  if (!llvm::is_contained(configs, config))
    configs.push_back(config);
}

/// Spreads `warps` over the tile, innermost first: a warp takes `lanes` times
/// `width` elements of a row, or less and more rows.
static void spreadWarps(Schedule &schedule, ArrayRef<unsigned> loops,
                        int64_t warps, int64_t lanes, int64_t width) {
  int64_t perWarp = lanes * width;
  for (unsigned loop : loops) {
    int64_t fit = std::max<int64_t>(1, schedule.block[loop] / perWarp);
    int64_t taken = std::min(warps, fit);
    perWarp = std::max<int64_t>(1, perWarp / schedule.block[loop]);
    schedule.warps[loop] = taken;
    warps /= taken;
  }
  // A tile smaller than the block: the surplus does what others do.
  if (warps > 1 && !loops.empty())
    schedule.warps[loops.back()] *= warps;
}

/// Tiles of `elements`, at most `cap` of them along the innermost loop.
static Schedule fillTile(const KernelInfo &info, ArrayRef<unsigned> loops,
                         int64_t elements, int64_t cap) {
  Schedule schedule(info);
  int64_t left = elements;
  for (unsigned loop : loops) {
    int64_t most = roundedExtent(info, loop);
    // A part of a split loop is at least one unit long.
    if (info.split &&
        info.getClasses(info.getRoot())[loop] == info.split->reduced)
      most = std::min(most, info.split->unit);
    else if (isDynamic(info, loop))
      most = std::min(most, kDynamicTile);
    if (info.classes[info.getClasses(info.getRoot())[loop]].sequential)
      most = 1;
    if (loop == loops.front())
      most = std::min(most, cap);
    schedule.block[loop] = std::min(most, left);
    left /= schedule.block[loop];
  }
  return schedule;
}

/// Elements that a lane moves at once.
static int64_t accessWidth(const KernelInfo &info, TargetAttr target) {
  return std::max<int64_t>(
      1, target.getFact("access_bytes", 16) / accessedBytes(info));
}

static std::vector<LoweringConfigAttr>
enumerateTiles(const KernelInfo &info, TargetAttr target,
               ArrayRef<int64_t> warpCounts, ArrayRef<int64_t> perThread) {
  std::vector<LoweringConfigAttr> configs;
  int64_t lanes = target.getFact("subgroup", 32);
  int64_t width = accessWidth(info, target);
  SmallVector<unsigned> loops = loopsFromInnermost(info);
  for (int64_t warps : warpCounts) {
    for (int64_t accesses : perThread) {
      int64_t elements = warps * lanes * width * accesses;
      for (int64_t cap : {lanes, lanes * width, 4 * lanes * width,
                          int64_t(1) << 20}) {
        Schedule schedule = fillTile(info, loops, elements, cap);
        spreadWarps(schedule, loops, warps, lanes, width);
        addUnique(configs, schedule.get(info));
      }
    }
  }
  return configs;
}

std::vector<LoweringConfigAttr>
tilewright::enumerateStreaming(const KernelInfo &info, TargetAttr target) {
  std::optional<unsigned> transposed = transposedLoop(info);
  if (!transposed)
    return enumerateTiles(info, target, kWarps, {1, 2, 4});

  // Square tiles: rows of both sides are whole runs of memory, and the tile is
  // turned around in shared memory.
  std::vector<LoweringConfigAttr> configs;
  int64_t lanes = target.getFact("subgroup", 32);
  int64_t width = std::max<int64_t>(
      1, target.getFact("access_bytes", 16) / accessedBytes(info));
  SmallVector<unsigned> loops = loopsFromInnermost(info);
  for (int64_t warps : kWarps)
    for (int64_t side : {32, 64, 16}) {
      Schedule schedule(info);
      unsigned inner = loops.front();
      schedule.block[inner] = std::min(side, roundedExtent(info, inner));
      schedule.block[*transposed] =
          std::min(side, roundedExtent(info, *transposed));
      SmallVector<unsigned> pair{inner, *transposed};
      spreadWarps(schedule, pair, warps, lanes, width);
      addUnique(configs, schedule.get(info));
    }
  return configs;
}

/// Elements that go into one result of the root.
static int64_t reducedElements(const KernelInfo &info) {
  linalg::LinalgOp op = info.root;
  int64_t elements = 1;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      elements *= nominalExtent(info, loop);
  return elements;
}

/// What runs over the loops that the root reduces: ops, and arguments that they read.
static std::pair<unsigned, unsigned> countRows(const KernelInfo &info) {
  unsigned ops = 0;
  llvm::SmallPtrSet<Value, 8> arguments;
  auto isReduced = [&](unsigned number) { return !info.classes[number].parallel; };
  for (linalg::LinalgOp op : info.ops) {
    ops += llvm::any_of(info.getClasses(op), isReduced);
    for (OpOperand *input : op.getDpsInputOperands())
      for (AffineExpr result : op.getMatchingIndexingMap(input).getResults())
        if (isa<BlockArgument>(input->get()) &&
            isReduced(info.getClasses(op)[cast<AffineDimExpr>(result).getPosition()]))
          arguments.insert(input->get());
  }
  return {ops, arguments.size()};
}

std::vector<LoweringConfigAttr>
tilewright::enumerateReduction(const KernelInfo &info, TargetAttr target) {
  std::vector<LoweringConfigAttr> configs =
      enumerateTiles(info, target, kWarps, kRowAccesses);
  // Rows that are read more than once stay on chip even if it takes a larger block.
  int64_t width = accessWidth(info, target);
  int64_t held = kWarps[std::size(kWarps) - 1] * target.getFact("subgroup", 32) *
                 width * kRowAccesses[std::size(kRowAccesses) - 1];
  auto [ops, arguments] = countRows(info);
  if (ops < 2 || reducedElements(info) <= held)
    return configs;
  int64_t mostHeld = arguments > 1 ? kMostHeld / 2 : kMostHeld;
  for (int64_t accesses = 1; accesses * width <= mostHeld; accesses *= 2)
    for (LoweringConfigAttr config :
         enumerateTiles(info, target, kRowWarps, accesses))
      addUnique(configs, config);
  return configs;
}

OpOperand &tilewright::largerFactor(const KernelInfo &info,
                                    const Contraction &contraction) {
  linalg::LinalgOp op = info.root;
  auto size = [&](unsigned number) {
    double product = 1;
    for (unsigned loop : loopsOf(op->getOpOperand(number)))
      product *= nominalExtent(info, loop);
    return product;
  };
  return op->getOpOperand(size(contraction.b) >= size(contraction.a)
                              ? contraction.b
                              : contraction.a);
}

std::vector<LoweringConfigAttr>
tilewright::enumerateSkinny(const KernelInfo &info, TargetAttr target, bool fewResults) {
  Contraction contraction = *matchProduct(info.getRoot());
  OpOperand &larger = largerFactor(info, contraction);
  bool isB = larger.getOperandNumber() == contraction.b;
  ArrayRef<unsigned> few = isB ? contraction.m : contraction.n;
  ArrayRef<unsigned> many = isB ? contraction.n : contraction.m;
  int64_t lanes = target.getFact("subgroup", 32);
  int64_t width = std::max<int64_t>(
      1, target.getFact("access_bytes", 16) /
             bytesPerElement(larger.get().getType()));
  // A tile of the larger operand is filled along contiguous memory first, all
  // of the few rows or columns of the other go with it.
  SmallVector<unsigned> loops = loopsOf(larger);
  llvm::erase_if(loops, [&](unsigned loop) {
    return llvm::is_contained(contraction.batch, loop);
  });
  if (loops.empty())
    return enumerateReduction(info, target);
  bool alongSum = llvm::is_contained(contraction.k, loops.front());

  // A thread adds up every product of what it loads on its own.
  int64_t sums = 1;
  for (unsigned loop : few)
    sums *= roundedExtent(info, loop);

  std::vector<LoweringConfigAttr> configs;
  // Results are never so many that no sum is shared: a tile has several elements of one
  // of the last `counted` sums.
  auto add = [&](size_t counted) {
    for (int64_t warps : kWarps)
      for (int64_t elements : {width, 2 * width, 4 * width, 8 * width, width / 2,
                               width / 4, width / 8})
        for (int64_t run : {lanes * width, lanes * width / 4, 4 * lanes * width,
                            lanes * width / 16}) {
          if (elements < 1 || (elements > 1 && sums * elements > kMostSums))
            continue;
          Schedule schedule = fillTile(info, loops, warps * lanes * elements,
                                       std::max<int64_t>(run, width));
          if (!alongSum && !many.empty() &&
              llvm::all_of(ArrayRef<unsigned>(contraction.k).take_back(counted),
                           [&](unsigned loop) {
                             return schedule.block[loop] == 1 &&
                                    nominalExtent(info, loop) > 1;
                           }))
            continue;
          for (unsigned loop : few)
            schedule.block[loop] = roundedExtent(info, loop);
          // Every warp has a part of every sum.
          int64_t results = sums;
          for (unsigned loop : many)
            results *= std::max<int64_t>(1, schedule.block[loop]);
          if (fewResults && sums > 1 && results > warps * lanes)
            continue;
          for (unsigned loop : contraction.batch)
            if (loop < info.getNumConfigLoops())
              schedule.block[loop] = 1;
          spreadWarps(schedule, loops, warps, lanes, width);
          addUnique(configs, schedule.get(info));
        }
  };
  add(1);
  if (configs.empty())
    add(contraction.k.size());
  return configs;
}

std::vector<LoweringConfigAttr>
tilewright::enumerateContraction(const KernelInfo &info, TargetAttr target) {
  Contraction contraction = *matchContraction(info.getRoot());
  // The last loop of each group is tiled; batch and others go one by one.
  unsigned m = contraction.m.back(), n = contraction.n.back(),
           k = contraction.k.back();
  int64_t lanes = target.getFact("subgroup", 32);
  int64_t mMost = roundedExtent(info, m), nMost = roundedExtent(info, n),
          kMost = roundedExtent(info, k);
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
      if (blockM > std::max<int64_t>(mMost, 1) || blockN > nMost ||
          (blockM < 16 && blockM < mMost) || (blockN < 16 && blockN < nMost))
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
              if (blockK <= kMost || blockK == 8)
                add(blockM, blockN, std::min(blockK, kMost), warpsM, warpsN,
                    stages);
        }
    }
  }
  // Whatever the shape of a subgroup is: one small tile that always fits.
  if (configs.empty())
    add(std::min<int64_t>(16, mMost), std::min<int64_t>(16, nMost),
        std::min<int64_t>(8, kMost), 1, 1, 1);
  return configs;
}
