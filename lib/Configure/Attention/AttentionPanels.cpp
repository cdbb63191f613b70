// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of CPUs as panels of queries:
//
//   #tilewright.lowering_config<strategy = attention, block = [64, 64], thread = [32, 8]>
//
// A task has 64 queries, as two panels of 32, which are two vectors of AVX-512, and goes
// along the keys 64 at a time; a register tile is 8 of these, or of the result's columns,
// by a panel. Keys and values are copied for each task: the more queries it has, the less
// that costs, so that tasks are as large as leaves enough of them.

#include "AttentionPanels.h"
#include "AttentionConfigs.h"

#include "tilewright/Dialect/MatrixInstruction.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Enough for the threads of a large machine.
static constexpr int64_t kTasks = 64;

OrRefusal<AttentionPlan> tilewright::planAttentionPanels(AttentionOp op, LoweringConfigAttr config,
                                                         TargetAttr target, AttentionPlan plan) {
  ArrayRef<int64_t> thread = config.getThread();
  // Of rows that heads share, [1, 32, 8].
  if (thread.size() == 3 && thread.front() == 1)
    thread = thread.drop_front();
  if (thread.size() != 2 || !llvm::isPowerOf2_64(thread[0]) ||
      !llvm::isPowerOf2_64(thread[1]))
    return refuse(Refused::Config,
                  "'thread' of attention is a panel of queries and the rows of a register "
                  "tile, [32, 8], powers of two");
  plan.panel = thread[0];
  plan.rows = thread[1];
  if (plan.panel > 128 || plan.rows > 32 || plan.rows < 4)
    return refuse(Refused::TileSize,
                  "'thread' of attention has at most 128 queries, and 4 to 32 rows; this one has " +
                      Twine(plan.panel) + " and " + Twine(plan.rows));
  if (plan.queries < plan.panel || plan.queries % plan.panel || plan.keys < plan.rows ||
      !llvm::isPowerOf2_64(plan.keys))
    return refuse(Refused::Indivisible,
                  "'block' of attention is no multiple of its 'thread', or its keys no "
                  "power of two; they are [" +
                      Twine(plan.queries) + ", " + Twine(plan.keys) + "] and [" +
                      Twine(plan.panel) + ", " + Twine(plan.rows) + "]");
  if (Refusal why = checkPartitions(op, plan))
    return why;
  plan.columns = llvm::alignTo(plan.columns, plan.rows);
  if (StringAttr name = config.getMma()) {
    auto instruction = MatrixInstruction::parse(op.getContext(), name);
    auto names = target.getFacts().getAs<ArrayAttr>("panel_mma");
    if (!instruction || !names || !llvm::is_contained(names, name) ||
        !instruction->tiles || !instruction->accumulator.isF32() ||
        llvm::any_of(op.getDpsInputs(), [&](Value operand) {
          return !llvm::is_contained(masksOf(op), operand) &&
                 getElementTypeOrSelf(operand.getType()) != instruction->operands[0];
        }))
      return refuse(Refused::Target, name.getValue() +
                                         " is no instruction of the target that multiplies "
                                         "tiles of these types");
    if (plan.rows % instruction->m || plan.panel % instruction->n ||
        plan.rows * plan.panel > 4 * instruction->m * instruction->n ||
        plan.keys % instruction->k)
      return refuse(Refused::Indivisible, "'thread' is at most four tiles of " + name.getValue() +
                                              ", and the keys of 'block' whole steps of it");
    plan.depth = llvm::alignTo(plan.depth, instruction->k);
    if (plan.depth == instruction->k || plan.keys == instruction->k)
      return refuse(Refused::Extents,
                    "the sums of " + name.getValue() + " are no longer than a step of it");
    plan.scores = plan.values = name;
  }
  int64_t perQuery = plan.depth + plan.columns + 2;
  int64_t perKey = plan.depth + plan.columns + plan.panel;
  int64_t bytes = 4 * (plan.queries * perQuery + plan.keys * perKey);
  if (int64_t most = target.getFact("thread_memory"); bytes > most)
    return refuse(Refused::ThreadMemory, "needs " + Twine(bytes) +
                                             " bytes of a thread's memory, of which there are " +
                                             Twine(most));
  return plan;
}

SmallVector<LoweringConfigAttr> tilewright::listAttentionPanels(AttentionOp op,
                                                                TargetAttr target) {
  SmallVector<int64_t> extents = op.getLoopExtents();
  OrRefusal<SharedRows> shared = findSharedRows(op);
  int64_t queries = shared ? shared->rows : extents[op.getQueryLoop()],
          keys = extents[op.getKeyLoop()];
  int64_t lanes = std::max<int64_t>(4, target.getFact("vector_bytes", 16) / 4);
  int64_t panel = 2 * lanes, rows = target.getFact("registers", 16) >= 32 ? 8 : 4;
  SmallVector<LoweringConfigAttr> configs;
  // Half of a panel, or less, is computed in vain.
  if (!ShapedType::isDynamic(queries) && queries < panel / 2)
    return configs;
  auto atMost = [&](int64_t size, int64_t extent, int64_t unit) {
    if (ShapedType::isDynamic(extent))
      return size;
    return std::clamp<int64_t>(llvm::PowerOf2Ceil(extent), unit, size);
  };
  // What large blocks of a dynamic number of queries leave empty is not computed.
  int64_t others = 1;
  for (unsigned loop = 0; loop < op.getNumBatchLoops(); ++loop) {
    bool isShared = shared && loop == *findGroupLoop(op);
    int64_t tiles = isShared ? llvm::divideCeil(extents[loop], shared->heads()) : extents[loop];
    if (!ShapedType::isDynamic(tiles) && llvm::MulOverflow(others, tiles, others))
      others = kTasks;
  }
  auto fills = [&](int64_t block) {
    return ShapedType::isDynamic(queries)
               ? block <= 128
               : others >= llvm::divideCeilSigned(kTasks, llvm::divideCeilSigned(queries, block));
  };
  SmallVector<int64_t> blocks{256, 128, 64, 32};
  llvm::stable_sort(blocks, [&](int64_t left, int64_t right) {
    return fills(left) && !fills(right);
  });
  auto add = [&](int64_t width, int64_t height, int64_t leastKeys, StringAttr mma) {
    for (int64_t block : blocks)
      for (int64_t step : {64, 128, 32}) {
        SmallVector<int64_t> ofRows =
            blockOfRows(shared, atMost(std::max(block, width), queries, width),
                        atMost(step, keys, leastKeys));
        SmallVector<int64_t> thread{width, height};
        thread.insert(thread.begin(), ofRows.size() - 2, 1);
        auto config = LoweringConfigAttr::get(op.getContext(), Strategy::Attention, ofRows,
                                              {}, thread, 1, {}, mma, op.getNumKeyParts(),
                                              /*raster=*/1);
        if (!llvm::is_contained(configs, config))
          configs.push_back(config);
      }
  };
  // Two by two tile registers; those that do not have the op's types do not fit.
  if (auto names = target.getFacts().getAs<ArrayAttr>("panel_mma"))
    for (auto name : names.getAsRange<StringAttr>())
      if (auto instruction = MatrixInstruction::parse(op.getContext(), name);
          instruction && instruction->tiles)
        add(2 * instruction->n, 2 * instruction->m, 2 * instruction->k, name);
  add(panel, rows, rows, {});
  return configs;
}
