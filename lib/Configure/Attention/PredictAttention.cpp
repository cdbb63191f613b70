// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The closed form (Bound.h) of an attention kernel on a GPU, for --explain: counts of one block
// of queries, which walks along the keys that causal, window and the length of the keys leave it.
// For each step:
//
//   tensor             two matmuls: rows · keys · (depth + columns) multiply-adds
//   special functions  an exponential for each score
//   fma, alu           scale, maximum, difference, sum, and a conversion for each score
//   shared/L1          keys and values are written once, and read by each warp, or warpgroup
//   L2 port            keys and values
//
// A warp does these one after the other, and waits for the results of both matmuls, the
// exponentials, and where no other stage is under way, the copies; other warps of its scheduler,
// and roles of warps, overlap with it.
// It decides nothing: configs have a fixed order (ListAttentionConfigs.cpp).

#include "AttentionConfigs.h"
#include "Bound.h"
#include "CostModel.h"

#include "tilewright/Dialect/MatrixInstruction.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace tilewright;

/// Instructions of a thread for each score, beside the exponential: fused multiply-adds or
/// additions, and those of the ALU.
static constexpr double kFmaOfScore = 3, kAluOfScore = 1.5;
/// Rows of a warp, and of a warpgroup, whose instructions read keys and values once for all.
static constexpr double kRowsOfWarp = 16, kRowsOfWarpgroup = 64;
/// Blocks of queries that are looked at where a mask makes them differ.
static constexpr int64_t kMostLooked = 4096;

/// Steps along the keys that a block of queries takes, in the mean of all blocks of a head.
static double stepsOf(AttentionOp op, const AttentionPlan &plan, int64_t rows, int64_t queries,
                      int64_t keys) {
  int64_t before = op.getKeysBefore(), behind = op.getKeysBehind();
  int64_t blocks = llvm::divideCeil(queries, rows), apart = llvm::divideCeil(blocks, kMostLooked);
  int64_t diagonal = op.isBottomRight() ? keys - queries : 0, steps = 0, looked = 0;
  for (int64_t block = 0; block < blocks; block += apart, ++looked) {
    int64_t first = block * rows + diagonal;
    int64_t last = std::min((block + 1) * rows, queries) - 1 + diagonal;
    int64_t begin = before < 0 ? 0 : std::clamp<int64_t>(first - before, 0, keys);
    int64_t end = behind < 0 ? keys : std::clamp<int64_t>(last + behind + 1, begin, keys);
    if (end > begin)
      steps += llvm::divideCeil(end, plan.keys) - begin / plan.keys;
  }
  return double(steps) / double(looked);
}

/// Cycles of both matmuls of a step; where they are FMA, of the lanes.
static void countMatmuls(BlockWork &work, const AttentionPlan &plan, const ChipFacts &chip,
                         MLIRContext *context, double steps) {
  double each = double(plan.queries * plan.keys);
  for (auto [name, length] : {std::pair(plan.scores, plan.depth), {plan.values, plan.columns}}) {
    std::optional<MatrixInstruction> instruction;
    if (name)
      instruction = MatrixInstruction::parse(context, name.getValue());
    double products = steps * each * double(length);
    if (!instruction) {
      work[Resource::Fma] += products / chip.lanes.lookup("fp32");
      work[Resource::Issue] += products / chip.warp / chip.schedulers;
      continue;
    }
    // Operands are of 16 bits, sums of 32 (findWarpInstruction).
    double rate = chip.tensor.lookup("f16_f32") * (instruction->warpgroup ? 1 : chip.mmaSyncShare);
    work[Resource::Tensor] += products / rate;
    double size = double(instruction->m * instruction->n * instruction->k);
    work[Resource::Issue] += products / size / chip.schedulers;
  }
}

std::string tilewright::describeAttentionBound(AttentionOp op, LoweringConfigAttr config,
                                               const AttentionPlan &plan, TargetAttr target) {
  SmallVector<int64_t> extents = op.getLoopExtents();
  if (plan.subgroup <= 1 || llvm::any_of(extents, [](int64_t extent) {
        return ShapedType::isDynamic(extent) || extent == 0;
      }))
    return "";
  const ChipFacts &chip = chipOf(target);
  int64_t rows = plan.heads > 1 ? plan.headQueries : plan.queries;
  int64_t queries = extents[op.getQueryLoop()], keys = extents[op.getKeyLoop()];
  BlockWork work;
  work.blocks = std::accumulate(extents.begin(), extents.begin() + op.getQueryLoop(), 1.0,
                                std::multiplies<double>()) *
                double(llvm::divideCeil(queries, rows)) / double(plan.heads);
  work.threads = double(plan.threads + plan.copyThreads);
  work.registers = double(plan.registers);
  work.sharedBytes = double(plan.shared);
  work.persistent = config.getPersistent();
  // Partitions share the keys.
  double steps = stepsOf(op, plan, rows, queries, keys) / double(op.getNumKeyParts());
  countMatmuls(work, plan, chip, op.getContext(), steps);

  double scores = steps * double(plan.queries * plan.keys);
  auto perLane = [&](StringRef unit, double operations) {
    return operations / chip.lanes.lookup(unit);
  };
  work[Resource::Special] += perLane("xu", scores);
  work[Resource::Fma] += perLane("fp32", kFmaOfScore * scores);
  work[Resource::Alu] += perLane("alu", kAluOfScore * scores);
  work[Resource::Issue] += (1 + kFmaOfScore + kAluOfScore) * scores / chip.warp / chip.schedulers;

  auto bytesOfElement = [](Value value) {
    return double(getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth()) / 8;
  };
  double row = double(plan.depth) * bytesOfElement(op.getKey()) +
               double(plan.columns) * bytesOfElement(op.getValue());
  double copied = steps * double(plan.keys) * row, ofQueries = double(plan.queries) * row;
  double readers = std::ceil(double(plan.queries) /
                             (plan.copyThreads ? kRowsOfWarpgroup : kRowsOfWarp));
  work[Resource::Shared] += (1 + readers) * copied / chip.bankBytes;
  work[Resource::Port] += (copied + ofQueries) / chip.l2PortBytes;
  work.l2Bytes = copied + 2 * ofQueries;
  for (Value value : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && type.hasStaticShape())
      work.memoryBytes += double(type.getNumElements()) * bytesOfElement(value);

  // What a block alone waits for in a step: both matmuls, exponentials, two reads of shared
  // memory, two barriers, and copies that are not under way meanwhile.
  double waits = 2 * chip.cyclesMatrix + chip.cyclesOther + 2 * chip.cyclesShared +
                 2 * chip.cyclesBarrier;
  if (!plan.copyThreads && config.getStages() <= 1)
    waits += chip.cyclesL2;
  // A warp does one after the other what others of its scheduler overlap with.
  double inTurn = work[Resource::Tensor] + work[Resource::Special] + work[Resource::Shared] +
                  std::max({work[Resource::Fma], work[Resource::Alu], work[Resource::Issue]});
  double warps = std::max(1.0, work.threads / chip.warp / chip.schedulers);
  double busiest = *std::max_element(work.demand.begin(), work.demand.end());
  work.latency = steps * waits + (plan.copyThreads ? busiest : std::max(busiest, inTurn / warps));
  work.around = 2 * chip.cyclesMemory + ofQueries / chip.l2PortBytes;
  return describe(boundOf(work, chip), chip, target);
}
