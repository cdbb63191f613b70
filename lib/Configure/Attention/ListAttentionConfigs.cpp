// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which configs attention may have, in the order of preference: by warpgroups, by register tiles
// of CPUs, by cooperative matrices or instructions of a warp, at last by FMA. Blocks are as large
// as registers and shared memory allow, and as still leave one to each multiprocessor.

#include "AttentionConfigs.h"
#include "AttentionPanels.h"
#include "AttentionWarpgroups.h"
#include "CostModel.h"

#include "tilewright/Dialect/MatrixInstruction.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

Type tilewright::elementTypeOf(AttentionOp op) {
  return getElementTypeOrSelf(op.getQuery().getType());
}

StringAttr tilewright::findWarpInstruction(AttentionOp op, TargetAttr target) {
  Type element = elementTypeOf(op);
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  StringAttr best;
  int64_t deepest = 0;
  if (names)
    for (auto name : names.getAsRange<StringAttr>()) {
      auto instruction = MatrixInstruction::parse(op.getContext(), name.getValue());
      if (instruction && !instruction->rounds && !instruction->warpgroup &&
          instruction->accumulator.isF32() && instruction->operands[0] == element &&
          instruction->operands[1] == element && instruction->k > deepest) {
        best = name;
        deepest = instruction->k;
      }
    }
  return best;
}

/// There are blocks of `size` queries for each multiprocessor.
static bool fillsMachine(ArrayRef<int64_t> extents, unsigned queryLoop, int64_t size,
                         TargetAttr target) {
  int64_t blocks = 1;
  for (unsigned loop = 0; loop <= queryLoop; ++loop) {
    if (ShapedType::isDynamic(extents[loop]))
      return false;
    int64_t count = loop == queryLoop ? extents[loop] / size : extents[loop];
    if (llvm::MulOverflow(blocks, count, blocks))
      return true;
  }
  return blocks >= multiprocessorsOf(target);
}

/// Whether the fragments of Q, of K or V, of the result and of the scores fit into registers
/// where a driver loads all of a step's before it multiplies. Known of subgroups of 64, which
/// AMD's GPUs have: every 16 lanes there hold all of an operand (RDNA 3, and 256 registers a lane).
static bool fragmentsFit(const MatrixInstruction &instruction, int64_t keys, int64_t depth,
                         int64_t columns, int64_t lanes) {
  constexpr int64_t kLanes = 64, kHoldsAll = 16, kRegisters = 256, kOthers = 32;
  if (lanes != kLanes || ShapedType::isDynamic(depth) || ShapedType::isDynamic(columns))
    return true;
  auto tiles = [](int64_t extent, int64_t size) { return llvm::divideCeil(extent, size); };
  auto registers = [](int64_t rows, int64_t columns, int64_t bits, int64_t holders) {
    return llvm::divideCeil(rows * columns * bits, 32 * holders);
  };
  int64_t bits = instruction.operands[0].getIntOrFloatBitWidth();
  int64_t lhs = registers(instruction.m, instruction.k, bits, kHoldsAll),
          rhs = registers(instruction.k, instruction.n, bits, kHoldsAll),
          sum = registers(instruction.m, instruction.n, 32, lanes);
  int64_t ofQ = lhs * tiles(depth, instruction.k);
  int64_t ofKeys = rhs * std::max(tiles(depth, instruction.k) * tiles(keys, instruction.n),
                                  tiles(keys, instruction.k) * tiles(columns, instruction.n));
  int64_t ofSums = sum * (tiles(columns, instruction.n) + tiles(keys, instruction.n));
  return ofQ + ofKeys + ofSums + kOthers <= kRegisters;
}

namespace {
/// The list of one op, which each way to multiply adds its configs to.
class ConfigList {
public:
  ConfigList(AttentionOp op, TargetAttr target)
      : op(op), target(target), shared(findSharedRows(op)), extents(op.getLoopExtents()),
        queries(shared ? shared->rows : extents[op.getQueryLoop()]),
        depth(extents[op.getDepthLoop()]), columns(extents[op.getColumnLoop()]),
        isFew(!ShapedType::isDynamic(queries) && queries <= 16) {}

  void addCpu();
  void addCooperativeMatrices(StringAttr mma, const MatrixInstruction &instruction,
                              bool anyFragments);
  void addWarps(StringAttr mma);
  void addFma(int64_t lanes);

  SmallVector<LoweringConfigAttr> configs;

private:
  void add(ArrayRef<int64_t> block, ArrayRef<int64_t> warps, int64_t stages,
           ArrayRef<int64_t> promote, StringAttr mma);
  /// Two steps would be straight code, in which both hold their registers side by side.
  bool areTwoSteps(int64_t keys) {
    int64_t all = extents[op.getKeyLoop()];
    return all > keys && all <= 2 * keys && !op.getLengths() && op.getKeysBehind() < 0;
  }

  AttentionOp op;
  TargetAttr target;
  OrRefusal<SharedRows> shared;
  SmallVector<int64_t> extents;
  /// Rows of the op, or of heads that share them.
  int64_t queries, depth, columns;
  bool isFew;
};
} // namespace

void ConfigList::add(ArrayRef<int64_t> block, ArrayRef<int64_t> warps, int64_t stages,
                     ArrayRef<int64_t> promote, StringAttr mma) {
  SmallVector<int64_t> ofRows = blockOfRows(shared, block[0], block[1]), alongRows(warps);
  if (!warps.empty())
    alongRows.resize(ofRows.size(), 1);
  configs.push_back(LoweringConfigAttr::get(op.getContext(), Strategy::Attention, ofRows, alongRows,
                                            {}, stages, promote, mma, op.getNumKeyParts(),
                                            /*raster=*/1));
}

void ConfigList::addCpu() {
  llvm::append_range(configs, listAttentionPanels(op, target));
  for (int64_t keys : {std::max(depth, columns) > 128 ? 16 : 32, 16, 8})
    add({4, keys}, {}, 1, {}, {});
}

/// Queries and exponentials are in shared memory, too, of which there may be little.
void ConfigList::addCooperativeMatrices(StringAttr mma, const MatrixInstruction &instruction,
                                        bool anyFragments) {
  int64_t lanes = target.getFact("subgroup", 1);
  for (int64_t warps : {4, 2, 1})
    for (int64_t keys : {64, 32, 16})
      if ((warps == 1 || !isFew) &&
          (keys == 16 || anyFragments || fragmentsFit(instruction, keys, depth, columns, lanes)))
        add({instruction.m * warps, keys}, {warps, 1}, 1, {0, 1}, mma);
}

void ConfigList::addWarps(StringAttr mma) {
  int64_t warps = isFew ? 1 : shared ? std::clamp<int64_t>(queries / 16, 2, 4) : 4;
  int64_t widest = std::max(depth, columns);
  // Keys and values are read once for each block of queries.
  bool isLarge = shared ? queries >= kMostSharedRows
                        : fillsMachine(extents, op.getQueryLoop(), 128, target);
  // Queries are in registers where there are any left, else in shared memory.
  auto addBoth = [&](ArrayRef<int64_t> block, int64_t warps, int64_t stages) {
    add(block, {warps, 1}, stages, {1}, mma);
    add(block, {warps, 1}, stages, {0, 1}, mma);
  };
  // A mask's elements are held in registers, too, and what is not copied asynchronously.
  bool fewWarps = widest <= 64 && !op.getMask() && target.has("async_copy");
  int64_t most = widest > 128 ? 32 : 64;
  // One step of all keys shrinks nothing and needs no ring.
  if (areTwoSteps(most)) {
    if (widest <= 128 && isLarge)
      addBoth({128, 2 * most}, 8, 1);
    addBoth({16 * warps, 2 * most}, warps, 1);
  }
  if (widest <= 128 && isLarge)
    for (int64_t stages : {2, 1})
      for (int64_t keys : {64, 32})
        addBoth({128, keys}, fewWarps ? 4 : 8, stages);
  for (int64_t stages : {2, 1})
    for (int64_t keys : {most, int64_t(32), int64_t(16)})
      addBoth({16 * warps, keys}, warps, stages);
}

void ConfigList::addFma(int64_t lanes) {
  for (bool straight : {false, true})
    for (int64_t block : {32, 16, 8})
      for (int64_t warps : {4, 2, 1})
        if (block * block >= lanes * warps && areTwoSteps(block) == straight)
          add({block, block}, {warps, 1}, 1, {0, 1}, {});
  // Values of more keys may take all of a small shared memory.
  if (std::max(depth, columns) > 128)
    for (int64_t warps : {4, 2, 1})
      if (32 * 16 >= lanes * warps && !areTwoSteps(16))
        add({32, 16}, {warps, 1}, 1, {0, 1}, {});
}

SmallVector<LoweringConfigAttr>
tilewright::listAttentionConfigs(AttentionOp op, TargetAttr target, bool anyFragments) {
  ConfigList list(op, target);
  int64_t lanes = target.getFact("subgroup", 1);
  llvm::append_range(list.configs, listAttentionByWarpgroups(op, target));
  if (lanes == 1) {
    list.addCpu();
    return list.configs;
  }
  if (StringAttr mma = findWarpInstruction(op, target)) {
    auto instruction = MatrixInstruction::parse(op.getContext(), mma.getValue());
    if (instruction->opaque)
      list.addCooperativeMatrices(mma, *instruction, anyFragments);
    else
      list.addWarps(mma);
  }
  list.addFma(lanes);
  return list.configs;
}

/// By FMA on a GPU, with few queries or with slices of the depth: shared memory has no room for
/// more.
static bool isSmallOrSliced(const AttentionPlan &plan) {
  constexpr int64_t kFew = 16;
  return plan.subgroup > 1 && !plan.scores && (plan.slice || plan.queries < kFew);
}

/// Elements that a block loads for each of its scores: keys and values in each step, and queries
/// where the depth is sliced.
static double loadsOfScore(const AttentionPlan &plan) {
  double loads = double(plan.depth + plan.columns) / double(plan.queries);
  return loads + (plan.slice ? double(plan.depth) / double(plan.keys) : 0);
}

OrRefusal<LoweringConfigAttr> tilewright::chooseAttentionConfig(AttentionOp op, TargetAttr target,
                                                                bool anyFragments) {
  if (!op.getScoreType().isF32())
    return refuse(Refused::Types, "scores of f64 have no kernel");
  Refusal first;
  LoweringConfigAttr second;
  double least = 0;
  for (LoweringConfigAttr config : listAttentionConfigs(op, target, anyFragments)) {
    OrRefusal<AttentionPlan> plan = planAttention(op, config, target);
    if (plan && !isSmallOrSliced(*plan))
      return config;
    if (double loads = plan ? loadsOfScore(*plan) : 0; plan && (!second || loads < least)) {
      second = config;
      least = loads;
    }
    // The first refusal is that of the best config.
    if (!plan && !first)
      first = plan.why();
  }
  if (second)
    return second;
  return first;
}
