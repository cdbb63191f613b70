// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether blocks of attention compute the mask of the scores that they have, instead of reading
// what a kernel of its own has written:
//
//   readers * operations  <=  operations per byte of memory * bytes * (2 + (readers - 1) / 2)
//
// Readers are the heads and batches that share an element of the mask: each computes it anew. In
// memory it is written once, read once from there, and by the other readers from a cache, which
// has twice the bandwidth. Example: a bias of f32 that takes 4 operations is computed, however
// many read it. Of two neighbouring rows of scores a thread of a GPU computes once what depends on
// keys alone.
//
// A mask without a loop of queries is small, and every block of queries computes it anew: that
// stands against the launch of a kernel, which GPUs wait for.

#include "Bound.h"
#include "CostModel.h"
#include "tilewright/Configure/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

#include <bitset>

using namespace mlir;
using namespace tilewright;

SmallVector<Value, 2> tilewright::masksOf(AttentionOp op) {
  SmallVector<Value, 2> masks;
  for (Value mask : {op.getMask(), op.getKeep()})
    if (mask)
      masks.push_back(mask);
  return masks;
}

AffineMap tilewright::mapOfMask(AttentionOp op, Value mask) {
  return mask == op.getMask() ? op.getMaskMap() : op.getKeepMap();
}

linalg::GenericOp tilewright::computedMask(AttentionOp op, Value mask) {
  return isKernel(op->getParentOfType<func::FuncOp>()) ? mask.getDefiningOp<linalg::GenericOp>()
                                                       : linalg::GenericOp();
}

unsigned tilewright::maskLoop(AttentionOp op, linalg::GenericOp producer, unsigned loop) {
  AffineMap written = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  return mapOfMask(op, producer.getResult(0)).getDimPosition(
      *written.getResultPosition(getAffineDimExpr(loop, op.getContext())));
}

AffineMap tilewright::maskOperandMap(AttentionOp op, linalg::GenericOp producer,
                                     OpOperand &input) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : producer.getMatchingIndexingMap(&input).getResults())
    exprs.push_back(getAffineDimExpr(
        maskLoop(op, producer, cast<AffineDimExpr>(expr).getPosition()), context));
  return AffineMap::get(op.getNumLoops(), 0, exprs, context);
}

/// Whether `inner` of a mask's body can be computed of vectors, also of zeros behind an edge.
static bool isVectorizable(Operation &inner) {
  if (isa<linalg::IndexOp>(inner) || matchPattern(&inner, m_Constant()))
    return true;
  return OpTrait::hasElementwiseMappableTraits(&inner);
}

/// Why `producer` does not have the form that a block computes.
static Refusal checkForm(AttentionOp op, linalg::GenericOp producer) {
  if (producer->hasAttr(kConfigAttr))
    return refuse(Refused::Pinned, "a lowering config is pinned on it");
  OpOperand *init = producer.getDpsInitOperand(0);
  if (producer->getNumResults() != 1 || producer.getNumReductionLoops() ||
      !producer.getMatchingIndexingMap(init).isPermutation() ||
      producer.payloadUsesValueFromOperand(init))
    return refuse(Refused::Neighbours, "it is not computed element by element");
  for (OpOperand *input : producer.getDpsInputOperands())
    if (!isa<RankedTensorType>(input->get().getType()) ||
        !producer.getMatchingIndexingMap(input).isProjectedPermutation())
      return refuse(Refused::Layout, "an operand of it is no tensor whose dims are its loops");
  auto isKnown = [&](Value value) {
    return value.getParentBlock() == producer.getBody() || matchPattern(value, m_Constant());
  };
  for (Operation &inner : *producer.getBody()) {
    bool isEnd = inner.hasTrait<OpTrait::IsTerminator>();
    if ((!isEnd && !isVectorizable(inner)) || !llvm::all_of(inner.getOperands(), isKnown))
      return refuse(Refused::Neighbours, "'" + inner.getName().getStringRef() +
                                                 "' in it is not computed of vectors");
  }
  return {};
}

namespace {
/// Operations for each element: of what depends on its query and its key, and on its key alone.
struct MaskWork {
  int64_t both = 0, ofKeys = 0;
};
} // namespace

static MaskWork countWork(AttentionOp op, linalg::GenericOp producer) {
  enum { OfQuery, OfKey };
  DenseMap<Value, std::bitset<2>> follows;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    AffineMap map = maskOperandMap(op, producer, *input);
    std::bitset<2> &ofInput = follows[producer.getMatchingBlockArgument(input)];
    ofInput[OfQuery] = map.isFunctionOfDim(op.getQueryLoop());
    ofInput[OfKey] = map.isFunctionOfDim(op.getKeyLoop());
  }
  MaskWork work;
  for (Operation &inner : producer.getBody()->without_terminator()) {
    std::bitset<2> all;
    for (Value operand : inner.getOperands())
      all |= follows.lookup(operand);
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      unsigned loop = maskLoop(op, producer, index.getDim());
      all[OfQuery] = loop == op.getQueryLoop();
      all[OfKey] = loop == op.getKeyLoop();
    }
    for (Value result : inner.getResults())
      follows[result] = all;
    if (all[OfKey])
      (all[OfQuery] ? work.both : work.ofKeys) += operationsOf(inner);
  }
  return work;
}

/// Heads and batches that read the same element; a dynamic number is taken for one.
static int64_t readersOf(AttentionOp op, Value mask) {
  int64_t readers = 1;
  SmallVector<int64_t> extents = op.getLoopExtents();
  for (unsigned loop = 0; loop < op.getNumBatchLoops(); ++loop)
    if (!mapOfMask(op, mask).isFunctionOfDim(loop) && extents[loop] > 0 &&
        llvm::MulOverflow(readers, extents[loop], readers))
      return std::numeric_limits<int32_t>::max();
  return readers;
}

/// Microseconds in which a GPU computes a mask of keys for each of its pairs of rows.
static double timeOfKeys(AttentionOp op, const MaskWork &work, TargetAttr target) {
  constexpr double kRows = 2;
  double scores = 1;
  SmallVector<int64_t> extents = op.getLoopExtents();
  for (unsigned loop = 0; loop <= op.getKeyLoop(); ++loop)
    scores *= double(!ShapedType::isDynamic(extents[loop]) ? extents[loop]
                     : loop < op.getNumBatchLoops()        ? 1
                                                           : kNominal);
  const ChipFacts &chip = chipOf(target);
  double lanes = chip.warp * chip.schedulers * chip.multiprocessors;
  return scores * double(work.ofKeys) / kRows / (lanes * chip.clockMhz);
}

/// The figures that decide, and whether they are for computing the mask.
static std::pair<std::string, bool> weigh(AttentionOp op, linalg::GenericOp producer,
                                          TargetAttr target) {
  MaskWork work = countWork(op, producer);
  Value mask = producer.getResult(0);
  bool isCpu = target.getFact("subgroup", 1) <= 1;
  if (!mapOfMask(op, mask).isFunctionOfDim(op.getQueryLoop())) {
    if (isCpu)
      return {"it is one for all queries, and on CPUs a launch costs little", false};
    double time = timeOfKeys(op, work, target), kernel = chipOf(target).kernelMicroseconds;
    return {llvm::formatv("it is one for all queries, whose blocks compute it in about {0:f1} us; "
                          "a kernel of its own takes {1:f1}",
                          time, kernel)
                .str(),
            time <= kernel};
  }
  int64_t readers = readersOf(op, mask),
          operations = work.both + (isCpu ? work.ofKeys : llvm::divideCeil(work.ofKeys, 2));
  int64_t bytes = std::max<int64_t>(
      1, getElementTypeOrSelf(mask.getType()).getIntOrFloatBitWidth() / 8);
  int64_t worth = int64_t(chipOf(target).operationsPerByte) * bytes * (2 + (readers - 1) / 2);
  return {llvm::formatv("{0} each of its elements, in the time of {1} operations; writing and "
                        "reading it takes the time of {2}",
                        readers == 1 ? "1 block computes"
                                     : std::to_string(readers) + " blocks compute",
                        operations, worth)
              .str(),
          readers * operations <= worth};
}

OrRefusal<std::string> tilewright::mayComputeMask(AttentionOp op, linalg::GenericOp producer,
                                                  TargetAttr target) {
  // Which of two masks it is.
  StringRef name = producer.getResult(0) == op.getKeep() ? "keep" : "the mask";
  auto fail = [&](const Refusal &why) {
    return why.after((name + " is not computed beside the scores: ").str());
  };
  if (op.getTable())
    return fail(refuse(Refused::Layout, "keys lie in pages"));
  if (Refusal why = checkForm(op, producer))
    return fail(why);
  Value mask = producer.getResult(0);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (Value from = op.getOperandOfLoop(loop).first;
        mapOfMask(op, mask).isFunctionOfDim(loop) &&
        !llvm::is_contained({op.getQuery(), op.getKey(), op.getValue()}, from))
      return fail(refuse(Refused::DynamicExtents,
                         "queries, keys and values lack a loop that it has"));
  if (llvm::any_of(mask.getUses(), [&](OpOperand &use) {
        auto reader = dyn_cast<AttentionOp>(use.getOwner());
        return !reader || !llvm::is_contained(masksOf(reader), mask);
      }))
    return fail(refuse(Refused::Neighbours, "something else reads it, too"));
  auto [numbers, pays] = weigh(op, producer, target);
  if (!pays)
    return fail(refuse(Refused::NotProfitable, numbers));
  return (name + " is computed beside the scores, and never written: ").str() + numbers;
}
