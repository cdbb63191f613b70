// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention by warpgroups: one copies blocks of queries, keys and values through
// tensor maps, the others multiply them, 64 queries each (or several times 64).
//
//   block = [128, 128], warps = [8, 1], stages = 2,
//   mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]
//
// The scores are the instruction's sums; their powers are operand A of the product
// with the values, out of registers. A thread holds, of its row pairs, half of the
// result's columns, half of the keys as scores, and a quarter of them as powers.

#include "AttentionWarpgroups.h"
#include "AttentionConfigs.h"
#include "WarpSpecialized/TensorMaps.h"
#include "WarpSpecialized/WarpgroupRegisters.h"

#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Rings.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

static bool hasInstruction(TargetAttr target, StringAttr name) {
  auto names = target.getFacts().getAs<ArrayAttr>("warpgroup_mma");
  return names && llvm::is_contained(names, name);
}

/// Rows of whole swizzles: 32, 64 or 128 bytes, or several of 128.
static int64_t paddedColumns(int64_t columns) {
  return columns <= 64 ? std::max<int64_t>(16, llvm::PowerOf2Ceil(columns))
                       : llvm::alignTo(columns, 64);
}

/// Why copy engines cannot bring tiles of an operand, whose rows and columns are these two
/// loops; empty if they can.
static Refusal whyNotCopied(AttentionOp op, StringRef what, Value operand, AffineMap map,
                            unsigned rows, unsigned columns) {
  auto argument = dyn_cast<BlockArgument>(operand);
  auto kernel = op->getParentOfType<func::FuncOp>();
  if (!argument)
    return refuse(Refused::Neighbours, what + " are computed in the kernel");
  if (Refusal why = whyNoTensorMap(kernel, argument))
    return why.after("the tensor of " + what);
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last)
    return refuse(Refused::Layout,
                  what + " of a page lie side by side in memory; copies of pages are of rows");
  if (last.getPosition() != rows && last.getPosition() != columns)
    return refuse(Refused::Layout, what + " have neighbours in memory along loop " +
                                       Twine(last.getPosition()) +
                                       ", of which a block has one element");
  return {};
}

/// Keys of a step, most first.
static constexpr int64_t kSteps[] = {128, 64, 32};
/// What the keys of pages are a multiple of where a step has several: eight of them keep their
/// numbers in the producer's registers.
static constexpr int64_t kPageRows = 16;

/// Whether the keys of a step are part of a page, or whole pages: each has a copy of its own, and
/// may end elsewhere, while a mask is read for all of them at once.
static bool takesPages(AttentionOp op, int64_t keys) {
  int64_t page = op.getPageSize();
  return page == 0 || page % keys == 0 ||
         (keys % page == 0 && page % kPageRows == 0 && !op.getMask());
}

/// Rows of an instruction.
static constexpr int64_t kRows = 64;

Refusal tilewright::whyNotByWarpgroups(AttentionOp op, TargetAttr target) {
  Type element = elementTypeOf(op);
  if (!target.has("warpgroup_mma"))
    return refuse(Refused::Target, target.getName() + " has no warpgroups whose instructions "
                                                      "multiply; cuda:sm_90a has");
  if (!element.isF16() && !element.isBF16())
    return refuse(Refused::Types, "their instructions of f32 sums take f16 and bf16 in either "
                                  "direction");
  if (llvm::none_of(kSteps, [&](int64_t keys) { return takesPages(op, keys); }))
    return refuse(Refused::Indivisible,
                  "pages have " + Twine(op.getPageSize()) +
                      (op.getMask()
                           ? " keys; beside a mask a step of 128, 64 or 32 is part of a page"
                           : " keys; a step of 128, 64 or 32 is part of a page, or several of a "
                             "multiple of 16"));
  if (Refusal why = whyNotCopied(op, "queries", op.getQuery(), op.getQueryMap(), op.getQueryLoop(),
                                 op.getDepthLoop()))
    return why;
  if (Refusal why =
          whyNotCopied(op, "keys", op.getKey(), op.getKeyMap(), op.getKeyLoop(), op.getDepthLoop()))
    return why;
  if (Refusal why = whyNotCopied(op, "values", op.getValue(), op.getValueMap(), op.getKeyLoop(),
                                 op.getColumnLoop()))
    return why;
  int64_t queries = op.getLoopExtents()[op.getQueryLoop()];
  if (!ShapedType::isDynamic(queries) && queries < kRows / 2)
    return refuse(Refused::Extents, "there are " + Twine(queries) + " queries; they multiply " +
                                        Twine(kRows) + " rows at a time");
  return {};
}

/// Why the result cannot leave by copy engines; empty if it can.
static Refusal whyNotStored(AttentionOp op, int64_t columns) {
  auto result = dyn_cast<BlockArgument>(op.getOutputs()[0]);
  AffineMap map = op.getOutputMap();
  unsigned rank = map.getNumResults();
  if (!result || rank < 2 || map.getDimPosition(rank - 2) != op.getQueryLoop() ||
      map.getDimPosition(rank - 1) != op.getColumnLoop())
    return refuse(Refused::Layout,
                  "'tma_store': the result does not lie in memory as rows of queries");
  if (Refusal why = whyNoTensorMap(op->getParentOfType<func::FuncOp>(), result))
    return why.after("'tma_store': the result");
  int64_t bytes = getElementTypeOrSelf(result.getType()).getIntOrFloatBitWidth() / 8;
  if (!storePieceOf(columns, bytes).rowBytes)
    return refuse(Refused::Indivisible, "'tma_store': rows of " + std::to_string(columns * bytes) +
                                            " bytes are no multiples of 32");
  return {};
}

/// Bytes of shared memory: queries (and of persistent blocks those of the next tile), keys and
/// values in rings, their barriers, and what the result leaves through.
static int64_t sharedBytes(AttentionOp op, LoweringConfigAttr config,
                           const AttentionPlan &plan, int64_t groups) {
  int64_t bytes = elementTypeOf(op).getIntOrFloatBitWidth() / 8;
  int64_t ring = plan.keys * (plan.depth + plan.columns) * bytes + 32;
  int64_t out = getElementTypeOrSelf(op.getOutputs()[0].getType()).getIntOrFloatBitWidth() / 8;
  int64_t result = plan.queries * plan.columns * out;
  if (config.getTmaStore()) {
    StorePiece piece = storePieceOf(plan.columns, out);
    result = StorePiece::kTurns * groups * piece.rows * piece.rowBytes;
    if (op.hasLogSumExp())
      result += plan.queries * 4;
  }
  int64_t queries = plan.queries * plan.depth * bytes + 16;
  return (config.getPersistent() ? 2 : 1) * queries + config.getStages() * ring + result;
}

OrRefusal<AttentionPlan>
tilewright::planAttentionByWarpgroups(AttentionOp op, LoweringConfigAttr config, TargetAttr target,
                                      const MatrixInstruction &instruction, AttentionPlan plan) {
  if (Refusal why = whyNotByWarpgroups(op, target))
    return why;
  if (plan.heads > 1)
    return refuse(Refused::Config, "'block' has several heads; warpgroups multiply queries of one");
  Type element = elementTypeOf(op);
  if (instruction.operands[0] != element || instruction.operands[1] != element ||
      !instruction.accumulator.isF32() || !hasInstruction(target, config.getMma()))
    return refuse(Refused::Types, "instruction '" + config.getMma().getValue() + "' is none of " +
                                      target.getName() + " for these types with f32 sums");
  if (config.getPromote() != ArrayRef<int64_t>{0, 1})
    return refuse(Refused::Config,
                  "'promote' must be [0, 1]: warpgroups multiply queries, keys and values "
                  "out of shared memory");
  int64_t groups = config.getWarps().empty() ? 0 : config.getWarps()[0] / 4;
  if (groups < 1 || groups > 3 || config.getWarps()[0] % 4)
    return refuse(Refused::Config, "'warps' along the queries must be 1 to 3 warpgroups of four");
  if (plan.queries % (instruction.m * groups) || plan.queries > 256)
    return refuse(Refused::Indivisible, Twine(plan.queries) + " queries are no multiple of " +
                                            Twine(instruction.m) + " for each of " + Twine(groups) +
                                            " warpgroups, up to 256");
  if (plan.keys % instruction.n || plan.keys % 16 || plan.keys > 256)
    return refuse(Refused::Indivisible, Twine(plan.keys) + " keys are no multiple of 16 and of '" +
                                            config.getMma().getValue() + "', up to 256");
  if (!takesPages(op, plan.keys))
    return refuse(Refused::Indivisible, "'block' has " + Twine(plan.keys) +
                                            " keys, which are several pages; a mask is "
                                            "read for all of them at once");
  plan.depth = paddedColumns(plan.depth);
  plan.columns = paddedColumns(plan.columns);
  plan.scores = config.getMma();
  plan.values = withColumns(config.getMma(), plan.columns);
  if (!hasInstruction(target, plan.values))
    return refuse(Refused::Target, target.getName() + " has no instruction '" +
                                       plan.values.getValue() + "' for the columns of the values");
  if (Refusal why = checkPartitions(op, plan))
    return why;
  if (config.getTmaStore())
    if (Refusal why = whyNotStored(op, plan.columns))
      return why;
  plan.threads = groups * 128;
  plan.copyThreads = kCopyThreads;
  int64_t rows = plan.queries / (64 * groups);
  int64_t held = rows * (plan.columns / 2 + plan.keys / 2 + plan.keys / 4);
  if (Refusal why = whyNotEnoughRegisters(config, groups, held,
                                          "registers of scores, their powers and the result"))
    return why;
  plan.shared = sharedBytes(op, config, plan, groups);
  if (Refusal why = checkSharedMemory(plan, target))
    return why;
  return plan;
}

/// Whether neighbours in a row of `tensor`, a mask or what one is computed of whose dims are
/// loops of `map`, are read one by one: each waits in a register of its own for the scores. The
/// last keys of a length begin anywhere.
static bool isReadByElement(AttentionOp op, Value tensor, AffineMap map) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto type = argument ? cast<RankedTensorType>(argument.getType()) : RankedTensorType();
  if (!type || type.getRank() == 0)
    return false;
  if (op.getLengths())
    return map.isFunctionOfDim(op.getKeyLoop());
  unsigned last = type.getRank() - 1;
  if (map.getDimPosition(last) != op.getKeyLoop())
    return map.isFunctionOfDim(op.getKeyLoop());
  int64_t row = type.isDynamicDim(last)
                    ? promisedDivisor(op->getParentOfType<func::FuncOp>(),
                                      operandNumber(argument), last)
                    : type.getDimSize(last);
  return row % 2 != 0;
}

static int64_t elementBits(Value tensor) {
  Type element = getElementTypeOrSelf(tensor.getType());
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 32;
}

/// Whether `isSo` of a mask, or of what it is computed of.
static bool anyOfMask(AttentionOp op, function_ref<bool(Value, AffineMap)> isSo) {
  return llvm::any_of(masksOf(op), [&](Value mask) {
    linalg::GenericOp producer = computedMask(op, mask);
    if (!producer)
      return isSo(mask, mapOfMask(op, mask));
    return llvm::any_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
      return isSo(input->get(), maskOperandMap(op, producer, *input));
    });
  });
}

SmallVector<LoweringConfigAttr>
tilewright::listAttentionByWarpgroups(AttentionOp op, TargetAttr target) {
  SmallVector<LoweringConfigAttr> configs;
  if (whyNotByWarpgroups(op, target))
    return configs;
  MLIRContext *context = op.getContext();
  SmallVector<int64_t> extents = op.getLoopExtents();
  int64_t queries = extents[op.getQueryLoop()];
  int64_t widest = std::max(extents[op.getColumnLoop()], extents[op.getDepthLoop()]);
  bool isBF16 = getElementTypeOrSelf(op.getQuery().getType()).isBF16();
  bool isShort = !ShapedType::isDynamic(queries) && queries <= 64;
  bool byElement = anyOfMask(
      op, [&](Value tensor, AffineMap map) { return isReadByElement(op, tensor, map); });
  int64_t most = widest <= 128 && !byElement ? 128 : 64;
  // Beside a mask, or what one is computed of, keys that are there or not take what registers
  // there are left.
  int64_t keysInAll = extents[op.getKeyLoop()];
  bool mayBeMissing =
      op.getLengths() || ShapedType::isDynamic(keysInAll) || keysInAll % most != 0;
  bool isComputed =
      llvm::any_of(masksOf(op), [&](Value mask) { return bool(computedMask(op, mask)); });
  bool waits = isComputed && anyOfMask(op, [&](Value, AffineMap map) {
                 return map.isFunctionOfDim(op.getKeyLoop());
               });
  if (op.getMask() && (widest > 64 || waits || op.getKeep()) && mayBeMissing)
    most /= 2;
  // Of results of 256 columns, elements of a mask take what the producer can do without, too,
  // and beside a soft cap, or places that hide keys if they have 32 bits, are too many.
  bool isFull = op.getMask() && extents[op.getColumnLoop()] > 192;
  auto isWord = [&](Value tensor, AffineMap map) {
    // One row or column of them is in few registers.
    return elementBits(tensor) >= 32 && map.isFunctionOfDim(op.getQueryLoop()) ==
                                            map.isFunctionOfDim(op.getKeyLoop());
  };
  // Elements of 32 bits and a soft cap are too much for 128 keys.
  if (op.getSoftcap() &&
      anyOfMask(op, [](Value tensor, AffineMap) { return elementBits(tensor) >= 32; }))
    most = std::min<int64_t>(most, 64);
  if (isFull && (op.getSoftcap() || (op.getCausal() && anyOfMask(op, isWord))))
    most = std::min<int64_t>(most, 32);
  int64_t raster = headsSideBySide(op, target);
  for (int64_t keys : {most, int64_t(64), int64_t(32)})
    for (bool tmaStore : {true, false})
      for (auto [stages, persistent] : {std::pair(2, true), {2, false}, {1, false}}) {
        int64_t groups = isShort ? 1 : 2;
        // What a loop over tiles holds is too much beside a mask's elements one by one.
        if (persistent && (isShort || (isFull && byElement) ||
                           whyNotPersistent(op, target, kRows * groups)))
          continue;
        auto name = StringAttr::get(context, "wgmma.m64n" + Twine(keys) + "k16." +
                                                 (isBF16 ? "bf16" : "f16") + ".f32");
        configs.push_back(LoweringConfigAttr::get(
            context, Strategy::Attention, {64 * groups, keys}, {4 * groups, 1}, {},
            stages, {0, 1}, name, op.getNumKeyParts(), persistent ? raster : 1,
            isFull && groups == 2 && keys > 32 ? otherRegisters(groups).front()
                                               : registersOf(groups),
            persistent, {}, tmaStore,
            /*two_level_sums=*/false, /*stream_k=*/0, /*producer=*/true,
            /*tma_copy=*/true));
      }
  return configs;
}
