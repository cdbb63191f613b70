// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a config of attention means for an op on a target, or why it cannot be carried out:
// threads, shared memory and registers of a block of queries that walks along the keys.
//
// In order: the config's own fields; the block and its extents; then by how it multiplies,
// warpgroups (AttentionWarpgroups.cpp), register tiles of CPUs (AttentionPanels.cpp), or, here,
// instructions of a warp and FMA.
//
// A thread of a warp of 32 holds, of 16 rows, columns / 2 registers of the result, keys / 2 of the
// scores and depth / 4 of the queries, whose fragments it loads in each step instead with
// `promote = [0, 1]`.

#include "AttentionConfigs.h"
#include "AttentionPanels.h"
#include "AttentionWarpgroups.h"
#include "CostModel.h"
#include "ExplainConfig.h"
#include "Fields.h"
#include "Footprint.h"

#include "tilewright/Dialect/MatrixInstruction.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Of depth and columns: more would not fit into registers.
static constexpr int64_t kMaxDepth = 256;
/// What the keys of a page are a multiple of where a step has several pages.
static constexpr int64_t kPageUnit = 8;
/// Rows in shared memory are padded by so many bytes against bank conflicts.
static constexpr int64_t kPadding = 16;

namespace {
/// One config of one op, which becomes a plan step by step.
class Planner {
public:
  Planner(AttentionOp op, LoweringConfigAttr config, TargetAttr target)
      : op(op), config(config), target(target) {}

  OrRefusal<AttentionPlan> plan();

private:
  /// The fields against each other and against the op.
  Refusal checkBlockShape();
  Refusal checkSplits();
  Refusal checkFields();
  Refusal checkWarps();

  /// The block in numbers, and the extents of the loops that it has whole.
  Refusal planBlock();
  Refusal planExtents();
  Refusal checkPages();

  /// The block of instructions of a warp, or of FMA.
  Refusal planWarps();
  Refusal checkTile();
  Refusal checkInstruction();
  Refusal checkStraightCode();
  Refusal checkSharedSteps();
  int64_t sharedBytes();
  void sliceDepth();
  int64_t registersEach();
  Refusal checkLimits();

  bool isOpaque() const { return instruction && instruction->opaque; }
  /// Fragments of an instruction whose layout is known: queries may stay in registers.
  bool hasFragments() const { return instruction && !instruction->opaque; }
  bool isCpu() const { return target.getFact("subgroup", 1) <= 1; }
  int64_t elementBytes() { return elementTypeOf(op).getIntOrFloatBitWidth() / 8; }
  /// Buffers of keys and values in shared memory.
  int64_t stages() const { return std::max<int64_t>(1, config.getStages()); }

  AttentionOp op;
  LoweringConfigAttr config;
  TargetAttr target;
  /// None: FMA, or a name that is no instruction's.
  std::optional<MatrixInstruction> instruction;
  AttentionPlan result;
};
} // namespace

OrRefusal<AttentionPlan> tilewright::planAttention(AttentionOp op, LoweringConfigAttr config,
                                                   TargetAttr target) {
  return Planner(op, config, target).plan();
}

OrRefusal<AttentionPlan> Planner::plan() {
  if (config.getStrategy() != Strategy::Attention)
    return refuse(Refused::OtherStrategy, "strategy " + stringifyStrategy(config.getStrategy()) +
                                              " does not serve attention; attention does");
  if (Refusal why = checkBlockShape())
    return why;
  if (Refusal why = checkSplits())
    return why;
  if (config.getMma())
    instruction = MatrixInstruction::parse(op.getContext(), config.getMma().getValue());
  if (Refusal why = checkFields())
    return why;
  if (Refusal why = checkWarps())
    return why;
  if (Refusal why = planBlock())
    return why;
  if (Refusal why = planExtents())
    return why;
  if (Refusal why = checkPages())
    return why;
  if (instruction && instruction->warpgroup)
    return planAttentionByWarpgroups(op, config, target, *instruction, result);
  if (!config.getThread().empty())
    return planAttentionPanels(op, config, target, result);
  if (Refusal why = planWarps())
    return why;
  return result;
}

//===----------------------------------------------------------------------===//
// The config's fields
//===----------------------------------------------------------------------===//

Refusal Planner::checkBlockShape() {
  ArrayRef<int64_t> block = config.getBlock();
  if (block.size() < 2 || block.size() > 3 || llvm::is_contained(block, 0))
    return refuse(Refused::Config,
                  "'block' of attention is [queries, keys], or [heads, queries, keys] of "
                  "heads that share keys and values");
  result.heads = block.size() == 3 ? block.front() : 1;
  if (result.heads <= 1)
    return {};
  if (!findGroupLoop(op))
    return refuse(Refused::Config, "'block' has " + Twine(result.heads) +
                                       " heads but none share keys and values");
  if (!llvm::isPowerOf2_64(result.heads) || !llvm::isPowerOf2_64(block[1]))
    return refuse(Refused::Config, "'block' has " + Twine(result.heads) +
                                       " heads; heads and their queries are powers of two");
  return {};
}

Refusal Planner::checkSplits() {
  int64_t parts = op.getNumKeyParts();
  if (config.getSplits() != parts)
    return refuse(Refused::Config,
                  "'splits' is " + Twine(config.getSplits()) + " but the kernel takes " +
                      (parts == 1 ? Twine("the keys whole")
                                  : "the keys in " + Twine(parts) + " parts") +
                      "; parts are made in front of kernels, by a config on the op");
  int64_t keys = op.getLoopExtents()[op.getKeyLoop()];
  if (!op.getKeyParts() || ShapedType::isDynamic(keys) || keys == 0)
    return {};
  int64_t unit = *op.getKeyParts(), units = llvm::divideCeil(keys, unit);
  if (parts <= units)
    return {};
  return refuse(Refused::Config, "'splits' is " + Twine(parts) + ", but the " + Twine(keys) +
                                     " keys are " + Twine(units) + " times " + Twine(unit) +
                                     ", of which a partition has one at least")
      .of(parts, units);
}

Refusal Planner::checkFields() {
  if (Refusal why = whyNotCarriedOut(config, target))
    return why;
  StringRef ofRoles = !config.getRegisters().empty() ? "registers"
                      : config.getPersistent()       ? "persistent"
                      : config.getTmaStore()         ? "tma_store"
                                                     : "";
  if (!(instruction && instruction->warpgroup) && !ofRoles.empty())
    return refuse(Refused::OtherStrategy,
                  "'" + ofRoles +
                      "' is for attention by warpgroups ('mma' is a wgmma.…); "
                      "leave it out");
  if (config.getRaster() > 1 && op.getNumBatchLoops() == 0)
    return refuse(Refused::Config,
                  "'raster' is for heads side by side; there is one, leave it out");
  return {};
}

Refusal Planner::checkWarps() {
  ArrayRef<int64_t> warps = config.getWarps();
  if (!warps.empty() && (warps.size() != config.getBlock().size() ||
                         llvm::any_of(warps.drop_front(), [](int64_t w) { return w != 1; })))
    return refuse(Refused::Config,
                  "warps of attention lie along the rows of a block, [w, 1] or [w, 1, 1], "
                  "so that what is reduced along the keys stays in a warp");
  return {};
}

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

Refusal Planner::planBlock() {
  ArrayRef<int64_t> block = config.getBlock(), warps = config.getWarps();
  result.headQueries = block.drop_back().back();
  result.keys = block.back();
  result.raster = config.getRaster();
  if (llvm::MulOverflow(result.heads, result.headQueries, result.queries))
    return refuse(Refused::TileSize, "'block' has more rows than can be counted");
  result.subgroup = target.getFact("subgroup", 1);
  result.threads = result.subgroup * (warps.empty() ? 1 : warps[0]);
  return {};
}

Refusal Planner::planExtents() {
  SmallVector<int64_t> extents = op.getLoopExtents();
  result.depth = extents[op.getDepthLoop()];
  result.columns = extents[op.getColumnLoop()];
  if (ShapedType::isDynamic(result.depth) || ShapedType::isDynamic(result.columns))
    return refuse(Refused::DynamicExtents,
                  "depth and columns of the values are not known when compiling");
  if (result.depth < 1 || result.columns < 1 || result.depth > kMaxDepth ||
      result.columns > kMaxDepth)
    return refuse(Refused::Extents, "depth " + Twine(result.depth) + " and " +
                                        Twine(result.columns) +
                                        " columns of the values; a block has all of 1 to " +
                                        Twine(kMaxDepth));
  return {};
}

Refusal Planner::checkPages() {
  int64_t page = op.getPageSize();
  if (!page || page % result.keys == 0)
    return {};
  // Several pages are staged in shared memory, or in a thread's memory.
  bool isStaged = !config.getThread().empty() || llvm::is_contained(config.getPromote(), 1);
  if (result.keys % page == 0 && page % kPageUnit == 0 && isStaged)
    return {};
  return refuse(Refused::Indivisible, "'block' has " + Twine(result.keys) +
                                          " keys, which are neither a part of a "
                                          "page of " +
                                          Twine(page) + " nor whole pages of a multiple of " +
                                          Twine(kPageUnit));
}

//===----------------------------------------------------------------------===//
// Instructions of a warp, and FMA
//===----------------------------------------------------------------------===//

Refusal Planner::planWarps() {
  // Threads share rows evenly where these are a power of two long.
  result.depth = std::max<int64_t>(16, llvm::PowerOf2Ceil(result.depth));
  result.columns = std::max<int64_t>(16, llvm::PowerOf2Ceil(result.columns));
  if (Refusal why = checkTile())
    return why;
  if (Refusal why = checkPartitions(op, result))
    return why;
  if (config.getMma()) {
    result.scores = result.values = config.getMma();
    if (Refusal why = checkInstruction())
      return why;
  }
  if (isCpu())
    return checkStraightCode();
  if (Refusal why = checkSharedSteps())
    return why;
  result.shared = sharedBytes();
  if (!instruction)
    sliceDepth();
  result.registers = registersEach();
  return checkLimits();
}

Refusal Planner::checkTile() {
  if (llvm::isPowerOf2_64(result.queries) && llvm::isPowerOf2_64(result.keys) &&
      result.queries >= 4 && result.keys >= 8)
    return {};
  return refuse(Refused::TileSize,
                "'block' of attention has powers of two, 4 or more queries and 8 or "
                "more keys; this one has " +
                    Twine(result.queries) + " and " + Twine(result.keys));
}

Refusal tilewright::checkPartitions(AttentionOp op, const AttentionPlan &plan) {
  if (!op.getKeyParts() || int64_t(*op.getKeyParts()) % plan.keys == 0)
    return {};
  return refuse(Refused::Indivisible,
                "parts of the keys are multiples of " + Twine(*op.getKeyParts()) +
                    " long, which is none of the block's " + Twine(plan.keys) + " keys");
}

Refusal Planner::checkInstruction() {
  Type element = elementTypeOf(op);
  if (!instruction || instruction->rounds || instruction->operands[0] != element ||
      instruction->operands[1] != element || !instruction->accumulator.isF32())
    return refuse(Refused::Types, "instruction " + toString(config.getMma()) +
                                      " does not multiply its types with f32 sums in a warp");
  int64_t warps = result.threads / result.subgroup;
  if (result.queries % (instruction->m * warps) || result.keys % instruction->n ||
      result.keys % instruction->k)
    return refuse(Refused::Indivisible,
                  "'block' has " + Twine(result.queries) + " queries and " + Twine(result.keys) +
                      " keys, which is no multiple of the instruction's " +
                      Twine(instruction->m) + " x " + Twine(instruction->n) + " x " +
                      Twine(instruction->k) + " on each of " + Twine(warps) + " warps");
  return {};
}

/// The tile of FMA on a CPU is straight code, of which there may be too much.
Refusal Planner::checkStraightCode() {
  constexpr int64_t kMaxVectors = 1024;
  int64_t lanes = std::max<int64_t>(1, target.getFact("vector_bytes", 32) / 4);
  int64_t vectors = result.queries * llvm::divideCeil(result.keys + result.columns, lanes);
  if (result.queries <= kMaxVectors && vectors <= kMaxVectors)
    return {};
  return refuse(Refused::Registers,
                "'block' has " + Twine(result.queries) + " queries and " + Twine(result.keys) +
                    " keys, a register tile of more than " + Twine(kMaxVectors) +
                    " vectors; with 'thread' a block has several tiles")
      .of(vectors, kMaxVectors);
}

/// Whether 'promote' and 'stages' are what a kernel by FMA, or by instructions of a warp, has.
Refusal Planner::checkSharedSteps() {
  ArrayRef<int64_t> promote = config.getPromote();
  if (promote != ArrayRef<int64_t>{0, 1} &&
      !(hasFragments() && promote == ArrayRef<int64_t>{1})) {
    auto texts = llvm::map_range(promote, [](int64_t number) { return std::to_string(number); });
    return refuse(Refused::Config, "'promote' has [" + llvm::join(texts, ", ") +
                                       "]; attention has [0, 1], queries, keys and values in "
                                       "shared memory" +
                                       (hasFragments() ? ", or [1], queries in registers" : ""));
  }
  if (config.getStages() > 1 && !hasFragments())
    return refuse(Refused::Config, "'stages' is " + Twine(config.getStages()) +
                                       ", but attention " +
                                       (isOpaque() ? "by cooperative matrices" : "by FMA") +
                                       " loads keys and values when it needs them; leave it out");
  if (config.getStages() > 2 && !target.has("async_copy"))
    return refuse(Refused::Target, "'stages' is " + Twine(config.getStages()) +
                                       ", but without asynchronous copies, which " +
                                       target.getName() + " does not have, there are at most 2");
  return {};
}

/// Queries, and the stages of keys and values; rows are padded but for mma.sync, which reads
/// swizzled ones.
int64_t Planner::sharedBytes() {
  int64_t bytes = elementBytes(), queries = result.queries, keys = result.keys;
  int64_t depth = result.slice ? result.slice : result.depth;
  int64_t shared = (queries * depth + stages() * keys * (depth + result.columns)) * bytes;
  if (isOpaque()) {
    // The exponentials, and what layouts are converted through: two fragments of each subgroup.
    int64_t m = instruction->m, n = instruction->n;
    shared += kPadding * (queries + 2 * stages() * keys) + queries * (keys * bytes + kPadding) +
              2 * result.threads / result.subgroup * (m * n * 4 + kPadding * std::max(m, n));
    // A mask in memory has another layout than the scores.
    for (Value mask : masksOf(op))
      if (!computedMask(op, mask)) {
        int64_t bits = getElementTypeOrSelf(mask.getType()).getIntOrFloatBitWidth();
        shared += queries * (keys + 16) * llvm::divideCeil(bits, 8);
      }
  } else if (!instruction) {
    // FMA: queries and keys lie with the depth outermost. Exponentials, and the row sums.
    int64_t rowsOfQ = std::max(queries, depth), rowsOfK = std::max(keys, depth);
    shared += kPadding * (rowsOfQ + stages() * (rowsOfK + keys)) +
              std::max(queries * (keys * bytes + kPadding), keys * (queries * bytes + kPadding)) +
              queries * 4 * 2;
  }
  return shared;
}

/// Where shared memory has no room for all of the depth, slices of it follow one another. By FMA,
/// whose queries are not in registers anyway.
void Planner::sliceDepth() {
  constexpr int64_t kLeast = 32;
  for (int64_t slice = result.depth / 2;
       slice >= kLeast && result.shared > target.getFact("shared_memory"); slice /= 2) {
    result.slice = slice;
    result.shared = sharedBytes();
  }
}

/// The scores, their exponentials in the type of the values, the result, and addresses.
int64_t Planner::registersEach() {
  // Fragments about to be multiplied; by FMA, the few elements of a step of either operand.
  int64_t others = instruction ? 40 : 16;
  int64_t all = op.getLoopExtents()[op.getKeyLoop()], keys = result.keys;
  bool isOneStep = !ShapedType::isDynamic(all) && all <= keys;
  // Of keys in one step no scores are kept beyond the last one's tile.
  if (isOneStep)
    keys = std::min<int64_t>(keys, llvm::alignTo(all, 8));
  int64_t exponentials = keys / 2, queries = 0;
  // Beside queries in registers, exponentials take the place of scores one by one.
  if (hasFragments() && !llvm::is_contained(config.getPromote(), 0)) {
    queries = result.depth * elementBytes() / 4;
    exponentials = keys / 4;
  }
  // Keys and values that are not copied asynchronously are staged in registers.
  if (hasFragments() && !target.has("async_copy"))
    exponentials +=
        result.keys * (result.depth + result.columns) * elementBytes() / 4 / result.queries;
  return others + (isOneStep ? kPlaceRegisters : kAddressRegisters) +
         result.queries * (queries + keys + exponentials + result.columns) / result.threads;
}

Refusal tilewright::checkSharedMemory(const AttentionPlan &plan, TargetAttr target) {
  int64_t available = target.getFact("shared_memory");
  if (plan.shared <= available)
    return {};
  return refuse(Refused::SharedMemory, "needs " + Twine(plan.shared) +
                                           " bytes of shared memory; the target has " +
                                           Twine(available))
      .of(plan.shared, available);
}

Refusal Planner::checkLimits() {
  // Drivers allocate the registers of cooperative matrices as they see fit.
  if (int64_t available = registerLimit(target, result.threads);
      !isOpaque() && result.registers > available)
    return refuse(Refused::Registers, "needs " + Twine(result.registers) +
                                          " registers per thread; the target has " +
                                          Twine(available))
        .of(result.registers, available);
  if (Refusal why = checkSharedMemory(result, target))
    return why;
  if (int64_t available = target.getFact("max_threads", 1024); result.threads > available)
    return refuse(Refused::Threads, "needs " + Twine(result.threads) +
                                        " threads; the target has " + Twine(available))
        .of(result.threads, available);
  return {};
}
