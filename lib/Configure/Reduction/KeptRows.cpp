// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that a block keeps in shared memory (`promote` of strategy reduction): where a row
// that several ops run over is longer than what the block's registers hold, the first op
// that reads it leaves a copy.
//
//   rms norm of 65536 f16: block = [1, 16384], promote = [0], 128 KiB of shared memory
//
// Every element comes from memory once; the later ops read the copy. Of an operand that
// the kernel computes element by element, what it is computed from stays.

#include "tilewright/Configure/KeptRows.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "Footprint.h"
#include "Reduction.h"
#include "tilewright/Dialect/KeptRows.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/UserNames.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Warps of a block that keeps long rows, of which each thread reads once in a step.
static constexpr int64_t kMovingWarps = 16;

/// Adds the arguments that `operand` is, or is computed from element by element, as they
/// are read.
static void addSources(OpOperand &operand, SmallVectorImpl<OpOperand *> &sources) {
  Value value = operand.get();
  if (isa<BlockArgument>(value)) {
    if (isa<RankedTensorType>(value.getType()) &&
        llvm::none_of(sources, [&](OpOperand *other) { return other->get() == value; }))
      sources.push_back(&operand);
    return;
  }
  auto producer = value.getDefiningOp<linalg::LinalgOp>();
  if (producer && !producer.getNumReductionLoops())
    for (OpOperand *input : producer.getDpsInputOperands())
      addSources(*input, sources);
}

/// The arguments of which `operand` of the root has rows.
static SmallVector<OpOperand *> rowsOf(const KernelInfo &info, OpOperand &operand) {
  SmallVector<OpOperand *> sources;
  ArrayRef<unsigned> classes = info.getClasses(operand);
  addSources(operand, sources);
  llvm::erase_if(sources, [&](OpOperand *source) {
    return classes.empty() || info.getClasses(*source) != classes;
  });
  return sources;
}

SmallVector<OpOperand *> tilewright::keptRows(const KernelInfo &info,
                                              LoweringConfigAttr config) {
  SmallVector<OpOperand *> rows;
  if (config.getStrategy() == Strategy::Reduction)
    for (int64_t number : config.getPromote())
      if (number >= 0 && number < info.getRoot().getNumDpsInputs())
        for (OpOperand *row : rowsOf(info, info.getRoot()->getOpOperand(number)))
          if (llvm::none_of(rows, [&](OpOperand *other) { return other->get() == row->get(); }))
            rows.push_back(row);
  return rows;
}

/// How far a step goes along a class by `config`; the whole of one that it does not have.
static int64_t stepOf(const KernelInfo &info, LoweringConfigAttr config, unsigned number) {
  ArrayRef<unsigned> root = info.getClasses(info.getRoot());
  const auto *loop = llvm::find(root, number);
  int64_t step =
      loop == root.end() ? 0 : entry(config.getBlock(), unsigned(loop - root.begin()), 0);
  return step ? step : info.classes[number].extent;
}

static bool isWalked(const KernelInfo &info, LoweringConfigAttr config, unsigned number) {
  const LoopClass &row = info.classes[number];
  return !row.parallel && (ShapedType::isDynamic(row.most) ||
                           row.most > stepOf(info, config, number));
}

int64_t tilewright::keptRowCopies(const KernelInfo &info, LoweringConfigAttr config,
                                  OpOperand &row) {
  for (auto [dim, number] : llvm::enumerate(info.getClasses(row)))
    if (isWalked(info, config, number))
      return keptRowCopies(info.kernel, cast<BlockArgument>(row.get()), dim,
                           stepOf(info, config, number));
  return 0;
}

/// Passes of a block that read `argument`: reductions, and results.
static unsigned countReaders(const KernelInfo &info, Value argument) {
  return llvm::count_if(info.ops, [&](linalg::LinalgOp op) {
    bool isResult = llvm::any_of(info.results, [&](OpResult result) {
      return result.getOwner() == op.getOperation();
    });
    SmallVector<OpOperand *> sources;
    if (isResult || op.getNumReductionLoops())
      for (OpOperand *input : op.getDpsInputOperands())
        addSources(*input, sources);
    return llvm::any_of(sources, [&](OpOperand *source) { return source->get() == argument; });
  });
}

std::optional<DynamicRows> tilewright::findDynamicRows(const KernelInfo &info) {
  std::optional<DynamicRows> rows;
  for (auto [number, loopClass] : llvm::enumerate(info.classes)) {
    if (loopClass.parallel || ShapedType::isStatic(loopClass.most))
      continue;
    if (rows || loopClass.sequential)
      return std::nullopt;
    rows = DynamicRows{unsigned(number), 0, 0};
  }
  if (!rows || info.split || info.strategy != Strategy::Reduction)
    return std::nullopt;
  llvm::SmallPtrSet<Value, 4> seen;
  for (OpOperand *input : info.getRoot().getDpsInputOperands())
    for (OpOperand *source : rowsOf(info, *input)) {
      ArrayRef<unsigned> classes = info.getClasses(*source);
      if (!llvm::is_contained(classes, rows->number) || !seen.insert(source->get()).second ||
          countReaders(info, source->get()) < 2)
        continue;
      int64_t bytes = bytesPerElement(source->get().getType());
      for (unsigned number : classes)
        if (number != rows->number && !info.classes[number].parallel &&
            llvm::MulOverflow(bytes, info.classes[number].extent, bytes))
          return std::nullopt;
      rows->bytes += bytes;
    }
  TargetAttr target = getTarget(info.kernel);
  rows->moved = movedRowBytes(info) * kMovingWarps * target.getFact("subgroup", 32) *
                accessWidth(info, target);
  return rows->bytes > 0 ? rows : std::nullopt;
}

/// Why the rows of an argument, as `row` reads them, cannot stay; empty if they can.
static Refusal whyNotKept(const KernelInfo &info, LoweringConfigAttr config, OpOperand &row) {
  auto argument = cast<BlockArgument>(row.get());
  auto type = cast<RankedTensorType>(argument.getType());
  if (!type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() < 8)
    return refuse(Refused::Types, ", whose elements are no whole bytes");
  if (getPadding(argument))
    return refuse(Refused::Layout, ", which is padded where it is read");
  ArrayRef<unsigned> classes = info.getClasses(row);
  SmallVector<unsigned> walked;
  for (unsigned number : classes)
    if (isWalked(info, config, number))
      walked.push_back(number);
  if (walked.empty())
    return refuse(Refused::Config, ", of which 'block' has whole rows: they stay in registers");
  if (walked.size() > 1)
    return refuse(Refused::Neighbours, ", of which a block walks along " +
                                           std::to_string(walked.size()) + " loops; it can be one");
  // A read that repeats what it reads is no copy of a step.
  for (unsigned number : info.getClasses(info.getRoot()))
    if (!llvm::is_contained(classes, number) && stepOf(info, config, number) != 1)
      return refuse(Refused::Layout,
                    ", which lacks a loop of which a block has several elements");
  const LoopClass &along = info.classes[walked.front()];
  if (ShapedType::isDynamic(along.most))
    return refuse(Refused::DynamicExtents,
                  ", whose rows have a dynamic extent: how long they are at most must be known");
  if (along.sequential)
    return refuse(Refused::Neighbours, ", which a body of its own reduces term by term");
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand *input : op.getDpsInputOperands())
      if (input->get() == argument && info.getClasses(*input) != classes)
        return refuse(Refused::Layout, ", which " + nameOp(op).str() + " reads in another order");
  if (countReaders(info, argument) < 2)
    return refuse(Refused::NotProfitable, ", which is read once");
  return {};
}

Refusal tilewright::whyNotKept(const KernelInfo &info, LoweringConfigAttr config,
                               TargetAttr target) {
  if (config.getPromote().empty())
    return {};
  if (info.split)
    return refuse(Refused::Config,
                  "'promote' keeps rows in shared memory, and the kernel computes parts of a sum; "
                  "one or the other");
  for (int64_t blocks : config.getCluster())
    if (blocks > 1)
      return refuse(Refused::Config,
                    "'promote' keeps rows in shared memory, and 'cluster' in the registers of "
                    "several blocks; one or the other");
  SmallVector<int64_t> seen;
  for (int64_t number : config.getPromote()) {
    if (number < 0 || number >= info.getRoot().getNumDpsInputs())
      return refuse(Refused::Config,
                    "'promote' names operand " + std::to_string(number) + ", and there " +
                        (info.getRoot().getNumDpsInputs() == 1 ? "is " : "are ") +
                        std::to_string(info.getRoot().getNumDpsInputs()) +
                        (info.getRoot().getNumDpsInputs() == 1 ? " input" : " inputs"));
    if (llvm::is_contained(seen, number))
      return refuse(Refused::Config,
                    "'promote' names operand " + std::to_string(number) + " twice");
    seen.push_back(number);
    OpOperand &operand = info.getRoot()->getOpOperand(number);
    std::string what = "'promote' names " + numberOperand(operand);
    SmallVector<OpOperand *> rows = rowsOf(info, operand);
    if (rows.empty())
      return refuse(Refused::Layout, what + ", which has no rows of the kernel's arguments");
    for (OpOperand *row : rows)
      if (Refusal why = ::whyNotKept(info, config, *row))
        return why.after(what);
  }
  return {};
}

int64_t tilewright::keptBytes(const KernelInfo &info, LoweringConfigAttr config) {
  int64_t bytes = 0;
  for (OpOperand *operand : keptRows(info, config)) {
    int64_t own = bytesPerElement(operand->get().getType());
    for (unsigned number : info.getClasses(*operand))
      own *= isWalked(info, config, number)
                 ? info.classes[number].most
                 : int64_t(llvm::PowerOf2Ceil(stepOf(info, config, number)));
    bytes += llvm::alignTo(own, 16);
  }
  return bytes;
}

LoweringConfigAttr tilewright::withKeptRows(const KernelInfo &info,
                                            LoweringConfigAttr config, TargetAttr target) {
  SmallVector<int64_t> kept;
  LoweringConfigAttr best;
  for (OpOperand *input : info.getRoot().getDpsInputOperands()) {
    kept.push_back(input->getOperandNumber());
    LoweringConfigAttr more = config.withPromote(kept);
    OrRefusal<TilePlan> plan = planTiles(info, more, target);
    if (!whyNotKept(info, more, target) && plan &&
        estimate(info, more, *plan, target).sharedBytes <= target.getFact("shared_memory", 0))
      best = more;
    else
      kept.pop_back();
  }
  return best;
}
