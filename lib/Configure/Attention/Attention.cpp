// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configs of attention kernels.
//
//   %o = tilewright.attention …
//   -> %o = tilewright.attention … {tilewright.lowering_config =
//        #tilewright.lowering_config<strategy = attention, block = [64, 64],
//          warps = [4, 1], stages = 2, promote = [1], mma = "mma.m16n8k16.f16.f32">}
//
// A thread of a warp of 32 holds, of 16 rows, columns / 2 registers of the result,
// keys / 2 of the scores and depth / 4 of the queries (of which it reads fragments in each
// step with `promote = [0, 1]`); blocks are as large as that and shared memory allow, and
// as still leave one to each multiprocessor.

#include "AttentionPanels.h"
#include "AttentionWarpgroups.h"
#include "CostModel.h"
#include "Fields.h"
#include "Footprint.h"
#include "Remarks.h"
#include "tilewright/Configure/Configure.h"
#include "tilewright/Configure/Pins.h"
#include "tilewright/Configure/Tuning.h"

#include "tilewright/Dialect/MatrixInstruction.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilewright;

/// Of depth and columns: more would not fit into registers.
static constexpr int64_t kMaxDepth = 256;
/// What the keys of a page are a multiple of where a step has several pages.
static constexpr int64_t kPageUnit = 8;

AttentionOp tilewright::findAttention(func::FuncOp kernel) {
  if (kernel.isExternal())
    return {};
  auto ops = kernel.getBody().front().getOps<AttentionOp>();
  return ops.empty() ? AttentionOp() : *ops.begin();
}

static std::string toString(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

static Type elementOf(AttentionOp op) {
  return getElementTypeOrSelf(op.getQuery().getType());
}

ArrayRef<ConfigField> tilewright::attentionFields(bool isCpu) {
  static constexpr ConfigField kGpu[] = {
      ConfigField::Warps,  ConfigField::Stages,    ConfigField::Promote, ConfigField::Mma,
      ConfigField::Splits, ConfigField::Raster,    ConfigField::Registers,
      ConfigField::Persistent, ConfigField::TmaStore};
  static constexpr ConfigField kCpu[] = {ConfigField::Thread, ConfigField::Mma,
                                         ConfigField::Splits};
  if (isCpu)
    return kCpu;
  return kGpu;
}

/// Whether 'promote' and 'stages' are what a kernel by FMA, or by instructions of a warp, has.
static Refusal checkSharedSteps(LoweringConfigAttr config, TargetAttr target,
                                const std::optional<MatrixInstruction> &instruction) {
  bool isOpaque = instruction && instruction->opaque, keepsQueries = instruction && !isOpaque;
  ArrayRef<int64_t> promote = config.getPromote();
  if (promote != ArrayRef<int64_t>{0, 1} && !(keepsQueries && promote == ArrayRef<int64_t>{1}))
    return refuse(Refused::Config, "'promote' has [" +
                                       llvm::join(llvm::map_range(promote,
                                                                  [](int64_t number) {
                                                                    return std::to_string(number);
                                                                  }),
                                                  ", ") +
                                       "]; attention has [0, 1], queries, keys and values in "
                                       "shared memory" +
                                       (keepsQueries ? ", or [1], queries in registers" : ""));
  int64_t stages = config.getStages();
  if (stages > 1 && !keepsQueries)
    return refuse(Refused::Config, "'stages' is " + Twine(stages) + ", but attention " +
                                       (isOpaque ? "by cooperative matrices" : "by FMA") +
                                       " loads keys and values when it needs them; leave it out");
  if (stages > 2 && !target.has("async_copy"))
    return refuse(Refused::Target, "'stages' is " + Twine(stages) +
                                       ", but without asynchronous copies, which " +
                                       target.getName() + " does not have, there are at most 2");
  return {};
}

/// The tile of FMA on a CPU is straight code: why it is too much of it.
static Refusal whyTooMuchCode(const AttentionPlan &plan, TargetAttr target) {
  constexpr int64_t kMostVectors = 1024;
  int64_t lanes = std::max<int64_t>(1, target.getFact("vector_bytes", 32) / 4);
  int64_t vectors = plan.queries * llvm::divideCeil(plan.keys + plan.columns, lanes);
  if (plan.queries <= kMostVectors && vectors <= kMostVectors)
    return {};
  return refuse(Refused::Registers, "'block' has " + Twine(plan.queries) + " queries and " +
                                        Twine(plan.keys) + " keys, a register tile of more than " +
                                        Twine(kMostVectors) +
                                        " vectors; with 'thread' a block has several tiles")
      .of(vectors, kMostVectors);
}

/// Parts of the keys are multiples of a number of them: why some would have none.
static Refusal whyTooManyParts(AttentionOp op) {
  int64_t keys = op.getLoopExtents()[op.getKeyLoop()];
  if (!op.getKeyParts() || ShapedType::isDynamic(keys) || keys == 0)
    return {};
  int64_t unit = *op.getKeyParts(), units = llvm::divideCeil(keys, unit),
          parts = op.getNumKeyParts();
  if (parts <= units)
    return {};
  return refuse(Refused::Config, "'splits' is " + Twine(parts) + ", but the " + Twine(keys) +
                                     " keys are " + Twine(units) + " times " + Twine(unit) +
                                     ", of which a partition has one at least")
      .of(parts, units);
}

OrRefusal<AttentionPlan> tilewright::planAttention(AttentionOp op, LoweringConfigAttr config,
                                                   TargetAttr target) {
  if (config.getStrategy() != Strategy::Attention)
    return refuse(Refused::OtherStrategy, "strategy " + stringifyStrategy(config.getStrategy()) +
                                              " does not serve attention; attention does");
  ArrayRef<int64_t> block = config.getBlock();
  if (block.size() < 2 || block.size() > 3 || llvm::is_contained(block, 0))
    return refuse(Refused::Config,
                  "'block' of attention is [queries, keys], or [heads, queries, keys] of "
                  "heads that share keys and values");
  int64_t heads = block.size() == 3 ? block.front() : 1;
  if (heads > 1 && (!findGroupLoop(op) || !llvm::isPowerOf2_64(heads) ||
                    !llvm::isPowerOf2_64(block[1])))
    return refuse(Refused::Config,
                  "'block' has " + Twine(heads) +
                      (findGroupLoop(op) ? " heads; heads and their queries are powers of two"
                                         : " heads but none share keys and values"));
  if (config.getSplits() != op.getNumKeyParts())
    return refuse(Refused::Config,
                  "'splits' is " + Twine(config.getSplits()) + " but the kernel takes " +
                      (op.getNumKeyParts() == 1
                           ? Twine("the keys whole")
                           : "the keys in " + Twine(op.getNumKeyParts()) + " parts") +
                      "; parts are made in front of kernels, by a config on the op");
  if (Refusal why = whyTooManyParts(op))
    return why;
  std::optional<MatrixInstruction> instruction;
  if (config.getMma())
    instruction = MatrixInstruction::parse(op.getContext(), config.getMma().getValue());
  bool hasRoles = instruction && instruction->warpgroup;
  if (Refusal why = whyNotCarriedOut(config, target))
    return why;
  StringRef ofRoles = !config.getRegisters().empty() ? "registers"
                      : config.getPersistent()       ? "persistent"
                      : config.getTmaStore()         ? "tma_store"
                                                     : "";
  if (!hasRoles && !ofRoles.empty())
    return refuse(Refused::OtherStrategy,
                  "'" + ofRoles +
                      "' is for attention by warpgroups ('mma' is a wgmma.…); "
                      "leave it out");
  if (config.getRaster() > 1 && op.getNumBatchLoops() == 0)
    return refuse(Refused::Config,
                  "'raster' is for heads side by side; there is one, leave it out");
  ArrayRef<int64_t> warps = config.getWarps();
  if (!warps.empty() && (warps.size() != block.size() ||
                         llvm::any_of(warps.drop_front(), [](int64_t w) { return w != 1; })))
    return refuse(Refused::Config,
                  "warps of attention lie along the rows of a block, [w, 1] or [w, 1, 1], "
                  "so that what is reduced along the keys stays in a warp");
  SmallVector<int64_t> extents = op.getLoopExtents();
  AttentionPlan plan;
  plan.heads = heads;
  plan.headQueries = block.drop_back().back();
  plan.keys = block.back();
  plan.raster = config.getRaster();
  if (llvm::MulOverflow(plan.heads, plan.headQueries, plan.queries))
    return refuse(Refused::TileSize, "'block' has more rows than can be counted");
  plan.subgroup = target.getFact("subgroup", 1);
  plan.threads = plan.subgroup * (warps.empty() ? 1 : warps[0]);
  plan.depth = extents[op.getDepthLoop()];
  plan.columns = extents[op.getColumnLoop()];
  if (ShapedType::isDynamic(plan.depth) || ShapedType::isDynamic(plan.columns))
    return refuse(Refused::DynamicExtents,
                  "depth and columns of the values are not known when compiling");
  if (plan.depth < 1 || plan.columns < 1 || plan.depth > kMaxDepth ||
      plan.columns > kMaxDepth)
    return refuse(Refused::Extents, "depth " + Twine(plan.depth) + " and " + Twine(plan.columns) +
                                        " columns of the values; a block has all of 1 to " +
                                        Twine(kMaxDepth));
  // Several pages lie in rows of shared memory, or of a thread's memory.
  bool takesPages = !config.getThread().empty() || llvm::is_contained(config.getPromote(), 1);
  if (int64_t page = op.getPageSize();
      page && page % plan.keys && (plan.keys % page || page % kPageUnit || !takesPages))
    return refuse(Refused::Indivisible, "'block' has " + Twine(plan.keys) +
                                            " keys, which are neither a part of a "
                                            "page of " +
                                            Twine(page) + " nor whole pages of a multiple of " +
                                            Twine(kPageUnit));
  if (hasRoles)
    return planAttentionByWarpgroups(op, config, target, *instruction, plan);
  if (!config.getThread().empty())
    return planAttentionPanels(op, config, target, plan);
  // Threads share rows evenly where these are a power of two long.
  plan.depth = std::max<int64_t>(16, llvm::PowerOf2Ceil(plan.depth));
  plan.columns = std::max<int64_t>(16, llvm::PowerOf2Ceil(plan.columns));
  if (!llvm::isPowerOf2_64(plan.queries) || !llvm::isPowerOf2_64(plan.keys) ||
      plan.queries < 4 || plan.keys < 8)
    return refuse(Refused::TileSize,
                  "'block' of attention has powers of two, 4 or more queries and 8 or "
                  "more keys; this one has " +
                      Twine(plan.queries) + " and " + Twine(plan.keys));
  if (op.getKeyParts() && int64_t(*op.getKeyParts()) % plan.keys)
    return refuse(Refused::Indivisible,
                  "parts of the keys are multiples of " + Twine(*op.getKeyParts()) +
                      " long, which is none of the block's " + Twine(plan.keys) + " keys");
  int64_t bytes = elementOf(op).getIntOrFloatBitWidth() / 8;
  if (config.getMma()) {
    plan.scores = plan.values = config.getMma();
    if (!instruction || instruction->rounds ||
        instruction->operands[0] != elementOf(op) ||
        instruction->operands[1] != elementOf(op) || !instruction->accumulator.isF32())
      return refuse(Refused::Types, "instruction " + toString(config.getMma()) +
                                        " does not multiply its types with f32 sums in a warp");
    if (plan.queries % (instruction->m * (plan.threads / plan.subgroup)) ||
        plan.keys % instruction->n || plan.keys % instruction->k)
      return refuse(Refused::Indivisible,
                    "'block' has " + Twine(plan.queries) + " queries and " + Twine(plan.keys) +
                        " keys, which is no multiple of the instruction's " +
                        Twine(instruction->m) + " x " + Twine(instruction->n) + " x " +
                        Twine(instruction->k) + " on each of " +
                        Twine(plan.threads / plan.subgroup) + " warps");
  }
  if (target.getFact("subgroup", 1) <= 1) {
    if (Refusal why = whyTooMuchCode(plan, target))
      return why;
    return plan;
  }
  if (Refusal why = checkSharedSteps(config, target, instruction))
    return why;
  int64_t stages = std::max<int64_t>(1, config.getStages());
  plan.shared = (plan.queries * plan.depth +
                 stages * plan.keys * (plan.depth + plan.columns)) * bytes;
  // Padded rows (of FMA, Q and K lie with the sum outermost), P, and what layouts are
  // converted through: fragments two at a time of each subgroup.
  if (instruction && instruction->opaque) {
    int64_t m = instruction->m, n = instruction->n;
    plan.shared += 16 * (plan.queries + 2 * stages * plan.keys) +
                   plan.queries * (plan.keys * bytes + 16) +
                   2 * plan.threads / plan.subgroup * (m * n * 4 + 16 * std::max(m, n));
    // Of another layout than the scores.
    if (op.getMask() && !computedMask(op))
      plan.shared += plan.queries * (plan.keys + 16) *
                     llvm::divideCeil(
                         getElementTypeOrSelf(op.getMask().getType()).getIntOrFloatBitWidth(), 8);
  } else if (!instruction) {
    int64_t rowsOfQ = std::max(plan.queries, plan.depth),
            rowsOfK = std::max(plan.keys, plan.depth);
    plan.shared += 16 * (rowsOfQ + stages * (rowsOfK + plan.keys)) +
                   std::max(plan.queries * (plan.keys * bytes + 16),
                            plan.keys * (plan.queries * bytes + 16)) +
                   plan.queries * 4 * 2;
  }
  // Scores, their powers in the type of the values, the result, and addresses.
  // Fragments on their way; by threads, the few elements of a step of either operand.
  int64_t others = instruction ? 40 : 16;
  int64_t all = op.getLoopExtents()[op.getKeyLoop()], keys = plan.keys;
  bool isOneStep = !ShapedType::isDynamic(all) && all <= keys;
  // Of keys in one step no scores are kept beyond the last one's tile.
  if (isOneStep)
    keys = std::min<int64_t>(keys, llvm::alignTo(all, 8));
  int64_t powers = keys / 2, queries = 0;
  // Beside queries that are in registers, too, powers take the place of scores one by one.
  if (instruction && !instruction->opaque && !llvm::is_contained(config.getPromote(), 0)) {
    queries = plan.depth * bytes / 4;
    powers = keys / 4;
  }
  // Keys and values that are not copied asynchronously wait in registers.
  if (instruction && !instruction->opaque && !target.has("async_copy"))
    powers += plan.keys * (plan.depth + plan.columns) * bytes / 4 / plan.queries;
  plan.registers = others + (isOneStep ? kPlaceRegisters : kAddressRegisters) +
                   plan.queries * (queries + keys + powers + plan.columns) / plan.threads;
  int64_t registers = registerLimit(target, plan.threads);
  if (!(instruction && instruction->opaque) && plan.registers > registers)
    return refuse(Refused::Registers, "needs " + Twine(plan.registers) +
                                          " registers per thread; the target has " +
                                          Twine(registers))
        .of(plan.registers, registers);
  if (int64_t most = target.getFact("shared_memory"); plan.shared > most)
    return refuse(Refused::SharedMemory, "needs " + Twine(plan.shared) +
                                             " bytes of shared memory; the target has " +
                                             Twine(most))
        .of(plan.shared, most);
  if (int64_t most = target.getFact("max_threads", 1024); plan.threads > most)
    return refuse(Refused::Threads, "needs " + Twine(plan.threads) + " threads; the target has " +
                                        Twine(most))
        .of(plan.threads, most);
  return plan;
}

/// The target's instruction of a warp for the products, or null.
static StringAttr findInstruction(AttentionOp op, TargetAttr target) {
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  StringAttr best;
  int64_t deepest = 0;
  if (names)
    for (auto name : names.getAsRange<StringAttr>()) {
      auto instruction = MatrixInstruction::parse(op.getContext(), name.getValue());
      if (instruction && !instruction->rounds && !instruction->warpgroup &&
          instruction->accumulator.isF32() && instruction->operands[0] == elementOf(op) &&
          instruction->operands[1] == elementOf(op) && instruction->k > deepest) {
        best = name;
        deepest = instruction->k;
      }
    }
  return best;
}

SmallVector<int64_t> tilewright::blockOfRows(const OrRefusal<SharedRows> &shared, int64_t rows,
                                             int64_t keys) {
  if (!shared || rows <= shared->headQueries)
    return {rows, keys};
  return {rows / shared->headQueries, shared->headQueries, keys};
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

/// Configs in the order of preference; the first that fits is taken. `anyFragments`: also those
/// whose fragments a driver spills.
static SmallVector<LoweringConfigAttr> listAttentionConfigs(AttentionOp op, TargetAttr target,
                                                            bool anyFragments) {
  MLIRContext *context = op.getContext();
  SmallVector<LoweringConfigAttr> configs;
  OrRefusal<SharedRows> shared = findSharedRows(op);
  auto add = [&](ArrayRef<int64_t> block, ArrayRef<int64_t> warps, int64_t stages,
                 ArrayRef<int64_t> promote, StringAttr mma) {
    SmallVector<int64_t> ofRows = blockOfRows(shared, block[0], block[1]), alongRows(warps);
    if (!warps.empty())
      alongRows.resize(ofRows.size(), 1);
    configs.push_back(LoweringConfigAttr::get(context, Strategy::Attention, ofRows, alongRows,
                                              {}, stages, promote, mma,
                                              op.getNumKeyParts(), /*raster=*/1));
  };
  SmallVector<int64_t> extents = op.getLoopExtents();
  int64_t queries = shared ? shared->rows : extents[op.getQueryLoop()];
  int64_t columns = extents[op.getColumnLoop()], depth = extents[op.getDepthLoop()];
  int64_t lanes = target.getFact("subgroup", 1);
  llvm::append_range(configs, listAttentionByWarpgroups(op, target));
  bool few = !ShapedType::isDynamic(queries) && queries <= 16;
  if (lanes == 1) {
    llvm::append_range(configs, listAttentionPanels(op, target));
    for (int64_t keys : {std::max(depth, columns) > 128 ? 16 : 32, 16, 8})
      add({4, keys}, {}, 1, {}, {});
    return configs;
  }
  // Two steps would be straight code, in which both hold their registers side by side.
  auto areTwoSteps = [&](int64_t keys) {
    int64_t all = extents[op.getKeyLoop()];
    return all > keys && all <= 2 * keys && !op.getLengths() && op.getKeysBehind() < 0;
  };
  StringAttr mma = findInstruction(op, target);
  auto instruction = mma ? MatrixInstruction::parse(context, mma.getValue()) : std::nullopt;
  if (instruction && instruction->opaque) {
    // Q and P are in shared memory, too, of which there may be little.
    for (int64_t warps : {4, 2, 1})
      for (int64_t keys : {64, 32, 16})
        if ((warps == 1 || !few) &&
            (keys == 16 || anyFragments || fragmentsFit(*instruction, keys, depth, columns, lanes)))
          add({instruction->m * warps, keys}, {warps, 1}, 1, {0, 1}, mma);
  } else if (instruction) {
    int64_t warps = few ? 1 : shared ? std::clamp<int64_t>(queries / 16, 2, 4) : 4;
    int64_t widest = std::max(depth, columns);
    // Keys and values are read once for each block of queries.
    bool isLarge = shared ? queries >= kMostSharedRows
                          : fillsMachine(extents, op.getQueryLoop(), 128, target);
    // Queries are in registers where there are any left, else in shared memory.
    auto addBoth = [&](ArrayRef<int64_t> block, int64_t warps, int64_t stages) {
      add(block, {warps, 1}, stages, {1}, mma);
      add(block, {warps, 1}, stages, {0, 1}, mma);
    };
    // Elements of a mask wait in registers, too, and what is not copied asynchronously.
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
  for (bool straight : {false, true})
    for (int64_t block : {32, 16, 8})
      for (int64_t warps : {4, 2, 1})
        if (block * block >= lanes * warps && areTwoSteps(block) == straight)
          add({block, block}, {warps, 1}, 1, {0, 1}, {});
  return configs;
}

OrRefusal<LoweringConfigAttr> tilewright::chooseAttentionConfig(AttentionOp op, TargetAttr target,
                                                                bool anyFragments) {
  if (!op.getScoreType().isF32())
    return refuse(Refused::Types, "scores of f64 have no kernel");
  Refusal first;
  for (LoweringConfigAttr config : listAttentionConfigs(op, target, anyFragments)) {
    OrRefusal<AttentionPlan> plan = planAttention(op, config, target);
    if (plan)
      return config;
    // The first refusal is that of the best config.
    if (!first)
      first = plan.why();
  }
  return first;
}

/// Lists on the kernel the configs that fit, in the order of preference, and counts the others.
static void recordConfigs(func::FuncOp kernel, AttentionOp op, TargetAttr target) {
  SmallVector<Attribute> fitting;
  SmallVector<Refusal> refused;
  for (LoweringConfigAttr config : listAttentionConfigs(op, target, /*anyFragments=*/false))
    if (OrRefusal<AttentionPlan> plan = planAttention(op, config, target))
      fitting.push_back(config);
    else
      refused.push_back(plan.why());
  kernel->setAttr(kConfigsAttr, ArrayAttr::get(op.getContext(), fitting));
  kernel->setAttr(kRefusedAttr, countByKind(op.getContext(), refused));
}

/// What was measured for the op's problem; null, and a remark and a line that say why,
/// where that does not serve. `source` says which record it is.
static LoweringConfigAttr takeTuned(func::FuncOp kernel, AttentionOp op, TargetAttr target,
                                    std::string &source, SmallVectorImpl<Attribute> &lines) {
  std::optional<TunedConfig> tuned =
      findTuned(kernel, describeProblem(op), describeShape(op));
  if (!tuned)
    return {};
  auto config = dyn_cast<LoweringConfigAttr>(tuned->config);
  source = tuned->source;
  std::string reason;
  if (!config)
    reason = cast<StringAttr>(tuned->config).str();
  else if (OrRefusal<AttentionPlan> plan = planAttention(op, config, target))
    return config;
  else
    reason = plan.why().str();
  op->emitRemark() << "the tuned config (" << source
                   << ") is refused, the default is taken: " << reason;
  lines.push_back(StringAttr::get(op.getContext(),
                                  "tuned config refused (" + source + "): " + reason));
  return {};
}

LogicalResult tilewright::configureAttention(func::FuncOp kernel, AttentionOp op,
                                             bool listAll) {
  TargetAttr target = getTarget(kernel);
  LoweringConfigAttr config = getPin(kernel);
  if (!config)
    config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  bool pinned = bool(config);
  std::string source, how = pinned ? "config (pinned): " : "config: ";
  SmallVector<Attribute> refused;
  if (pinned)
    if (OrRefusal<AttentionPlan> plan = planAttention(op, config, target); !plan)
      return op.emitOpError() << "the pinned lowering config does not fit: " << plan.why().str();
  if (!pinned && (config = takeTuned(kernel, op, target, source, refused)))
    how = "config (tuned, " + source + "): ";
  if (!config) {
    OrRefusal<LoweringConfigAttr> chosen = chooseAttentionConfig(op, target);
    if (!chosen)
      return op.emitOpError() << "no schedule fits " << target.getName() << ": "
                              << chosen.why().str();
    config = *chosen;
  }
  if (listAll) {
    recordConfigs(kernel, op, target);
    recordProblem(kernel, describeProblem(op), describeShape(op));
  }

  Builder b(kernel.getContext());
  SmallVector<Attribute> lines{b.getStringAttr(
      "strategy attention: one kernel for both contractions and the softmax between "
      "them; no scores in memory")};
  if (auto said = kernel->getAttrOfType<ArrayAttr>(kExplainAttr))
    llvm::append_range(lines, said.getValue());
  if (op.getKeyParts())
    lines.push_back(b.getStringAttr(
        "keys in " + Twine(op.getNumKeyParts()) + " parts, multiples of " +
        Twine(*op.getKeyParts()) +
        " long, by blocks of their own; a second kernel combines their results by "
        "log-sum-exp"));
  else if (!op->hasAttr(kConfigAttr))
    if (OrRefusal<KeySplit> split = chooseKeySplit(op, target); !split) {
      lines.push_back(b.getStringAttr("keys are not taken in parts: " + split.why().str()));
      remarkMissed(kernel, op, "key-parts", split.why());
    }
  op->setAttr(kConfigAttr, config);
  OrRefusal<AttentionPlan> plan = planAttention(op, config, target);
  if (plan && plan->subgroup > 1) {
    recordPlan(kernel, config, plan->threads, plan->copyThreads, plan->shared,
               plan->registers);
    if (int64_t page = op.getPageSize(); plan->copyThreads > 0 && page && page < plan->keys)
      lines.push_back(b.getStringAttr("a step has " + Twine(plan->keys / page) + " pages of " +
                                      Twine(page) + " keys, each with copies of its own"));
    if (op.getLengths() && plan->copyThreads > 0)
      lines.push_back(b.getStringAttr(
          "a block copies and multiplies keys up to its length: the copies of the last step end "
          "there, those of its keys that the step before had are hidden"));
  }
  llvm::append_range(lines, refused);
  if (plan && plan->heads > 1)
    lines.push_back(b.getStringAttr(
        "rows of a block are " + Twine(plan->headQueries) + " queries of each of " +
        Twine(plan->heads) + " heads, which share keys and values: these are read once for " +
        "all of them"));
  else if (std::string why = pinned ? "" : findSharedRows(op).why().str(); !why.empty())
    lines.push_back(b.getStringAttr("heads that share keys and values have blocks of "
                                    "their own: " + why));
  lines.push_back(b.getStringAttr(how + toString(config)));
  if (config.getPersistent())
    lines.push_back(b.getStringAttr(
        "as many blocks as multiprocessors compute tile after tile, there and back" +
        (config.getRaster() > 1 ? ", of " + Twine(config.getRaster()) + " heads side by side"
                                : Twine())));
  else if (config.hasRoles() && !pinned)
    if (Refusal why = whyNotPersistent(op, target, config.getBlock()[0]))
      lines.push_back(b.getStringAttr("a block computes one tile: " + why.str()));
  if (target.has("warpgroup_mma") && !pinned && !config.hasRoles())
    if (Refusal why = whyNotByWarpgroups(op, target)) {
      lines.push_back(b.getStringAttr("not by warpgroups: " + why.str()));
      remarkMissed(kernel, op, "warpgroups", why);
    }
  if (config.getMma() && target.getFact("subgroup", 1) <= 1)
    lines.push_back(b.getStringAttr(
        "multiplied by '" + config.getMma().getValue() +
        "': subnormal operands count as zero, subnormal sums become zero"));
  if (target.getFacts().contains("mma") && !config.getMma())
    lines.push_back(b.getStringAttr(
        findInstruction(op, target)
            ? "not on matrix units: this config was pinned, or larger blocks do not fit"
            : "not on matrix units: no instruction of a warp has its types with f32 sums"));
  kernel->setAttr(kExplainAttr, b.getArrayAttr(lines));
  return success();
}
