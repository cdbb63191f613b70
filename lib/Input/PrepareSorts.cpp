// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts by merging: runs of 32 elements, then runs of twice as many until a row
// is one.
//
//   %r = tilewright.sort ins(%x : tensor<8x?xf32>) outs(%e) {dim = 1}
// becomes, with %v = %x as tensor<8x?x1xf32>,
//   %s, %_ = tilewright.sort ins(%v) outs(…, scratch) {dim = 1, runs}
//   %_, %r = scf.while (%w = %c512, %t = %s) { %w < %n } do {
//     %m = tilewright.sort ins(%t) width(%w) outs(…) {dim = 1}
//     scf.yield %w * 2, %m
//   }
//
// Each step reads and writes a row once, and has the work of as many
// comparisons and some for searches: n log n in all. All elements take part in
// every step, of however few rows they are. The k largest elements are the
// first ones of a sort.

#include "IrregularForms.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace tilewright;

namespace {
class SortWriter {
public:
  SortWriter(RewriterBase &b, SortOp op) : b(b), op(op), loc(op.getLoc()) {}
  void write();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value toValue(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, loc, value);
  }
  Value least(Value x, Value y) { return arith::MinUIOp::create(b, loc, x, y); }
  Value multiply(Value x, Value y) {
    return arith::MulIOp::create(b, loc, x, y);
  }

  SmallVector<Value> step(ValueRange inputs, Value width, bool halves,
                          OpFoldResult length);
  SmallVector<Value>
  loopWhile(ValueRange carried, llvm::function_ref<Value(ValueRange)> test,
            llvm::function_ref<SmallVector<Value>(ValueRange)> next);
  Value merge(SmallVectorImpl<Value> &values, Value end);
  Value keepHalves(SmallVectorImpl<Value> &values, Value width, Value length);

  RewriterBase &b;
  SortOp op;
  Location loc;
  SmallVector<SmallVector<OpFoldResult>>
      sizes; // of each operand: outer, along, inner
};
} // namespace

/// A step on `inputs`, of three dims: merges of runs of `width`, or the first
/// one, that gives rows of `length`.
SmallVector<Value> SortWriter::step(ValueRange inputs, Value width, bool halves,
                                    OpFoldResult length) {
  SmallVector<Value> outputs;
  for (auto [input, shape] : llvm::zip_equal(inputs, sizes)) {
    SmallVector<OpFoldResult> own(shape);
    if (halves)
      own[1] = length;
    outputs.push_back(tensor::EmptyOp::create(
        b, loc, own, cast<RankedTensorType>(input.getType()).getElementType()));
  }
  // Scratch memory where a row may have more than one run.
  if (auto along = getConstantIntValue(sizes[0][1]);
      !width && (!along || *along > kSortedRun))
    for (size_t number = 0; number < inputs.size(); ++number)
      outputs.push_back(b.clone(*outputs[number].getDefiningOp())->getResult(0));
  auto made = SortOp::create(
      b, loc, ValueRange(outputs).getTypes(), inputs, width, outputs,
      /*dim=*/1, op.getDescending(), /*runs=*/!width, halves);
  IRMapping mapping;
  op.getCombiner().cloneInto(&made.getCombiner(), mapping);
  return llvm::to_vector_of<Value>(made.getResults().take_front(inputs.size()));
}

SmallVector<Value>
SortWriter::loopWhile(ValueRange carried,
                      llvm::function_ref<Value(ValueRange)> test,
                      llvm::function_ref<SmallVector<Value>(ValueRange)> next) {
  OpBuilder::InsertionGuard guard(b);
  auto made = scf::WhileOp::create(
      b, loc, carried.getTypes(), carried,
      [&](OpBuilder &inner, Location, ValueRange values) {
        b.setInsertionPoint(inner.getInsertionBlock(),
                            inner.getInsertionPoint());
        Value more = test(values);
        scf::ConditionOp::create(b, loc, more, values);
      },
      [&](OpBuilder &inner, Location, ValueRange values) {
        b.setInsertionPoint(inner.getInsertionBlock(),
                            inner.getInsertionPoint());
        SmallVector<Value> results = next(values);
        scf::YieldOp::create(b, loc, results);
      });
  return llvm::to_vector_of<Value>(made.getResults());
}

/// Merges until runs have `end` elements or more; gives how many.
Value SortWriter::merge(SmallVectorImpl<Value> &values, Value end) {
  Value two = constant(2);
  SmallVector<Value> carried{constant(kBlockRun)};
  llvm::append_range(carried, values);
  carried = loopWhile(
      carried,
      [&](ValueRange carried) {
        return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                     carried[0], end);
      },
      [&](ValueRange carried) {
        SmallVector<Value> next =
            step(carried.drop_front(), carried[0], false, {});
        next.insert(next.begin(), multiply(carried[0], two));
        return next;
      });
  values.assign(carried.begin() + 1, carried.end());
  return carried[0];
}

/// Merges of which the first `width` elements remain, until these are all of
/// the row; gives how many there are.
Value SortWriter::keepHalves(SmallVectorImpl<Value> &values, Value width,
                             Value length) {
  Value both = multiply(width, constant(2));
  SmallVector<Value> carried{length};
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = ShapedType::kDynamic;
    Type dynamic = type.clone(shape);
    carried.push_back(
        type == dynamic
            ? value
            : tensor::CastOp::create(b, loc, dynamic, value).getResult());
  }
  carried = loopWhile(
      carried,
      [&](ValueRange carried) {
        return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, width,
                                     carried[0]);
      },
      [&](ValueRange carried) {
        Value pairs = arith::DivUIOp::create(b, loc, carried[0], both);
        Value rest =
            arith::SubIOp::create(b, loc, carried[0], multiply(pairs, both));
        Value shorter = arith::AddIOp::create(b, loc, multiply(pairs, width),
                                              least(rest, width));
        SmallVector<Value> next =
            step(carried.drop_front(), width, true, shorter);
        next.insert(next.begin(), shorter);
        return next;
      });
  values.assign(carried.begin() + 1, carried.end());
  return carried[0];
}

/// How many of each row the users of `op` take, all the same number of first
/// elements; or null where they take others, or that is known behind `op` alone.
static OpFoldResult findTaken(SortOp op) {
  OpFoldResult taken;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    unsigned dim = op.getDim();
    if (!slice || !isZeroInteger(slice.getMixedOffsets()[dim]) ||
        !isOneInteger(slice.getMixedStrides()[dim]))
      return {};
    OpFoldResult size = slice.getMixedSizes()[dim];
    if (auto value = dyn_cast<Value>(size);
        value && !DominanceInfo().properlyDominates(value, op))
      return {};
    if (taken && !isEqualConstantIntOrValue(taken, size))
      return {};
    taken = size;
  }
  return taken;
}

void SortWriter::write() {
  b.setInsertionPoint(op);
  int64_t dim = op.getDim();
  SmallVector<Value> values;
  for (Value input : op.getInputs()) {
    values.push_back(flattenAround(b, loc, input, dim));
    sizes.push_back(tensor::getMixedSizes(b, loc, values.back()));
  }
  OpFoldResult along = sizes[0][1], taken = findTaken(op), kept;
  values = step(values, {}, false, {});
  auto known = getConstantIntValue(along);
  if (!known || *known > kBlockRun) {
    Value length = toValue(along);
    auto few = taken ? getConstantIntValue(taken) : std::nullopt;
    if (!taken || (few && known && *few > *known / 2)) {
      merge(values, length);
    } else {
      Value width = few && *few <= kBlockRun
                        ? constant(kBlockRun)
                        : merge(values, least(toValue(taken), length));
      kept = keepHalves(values, width, length);
    }
  }
  for (auto [value, input, result] :
       llvm::zip_equal(values, op.getInputs(), op.getResults())) {
    SmallVector<OpFoldResult> shape = tensor::getMixedSizes(b, loc, input);
    if (kept)
      shape[dim] = kept;
    Value restored = restoreAround(b, loc, value, shape, dim);
    if (!kept && restored.getType() != result.getType())
      restored = tensor::CastOp::create(b, loc, result.getType(), restored);
    // Slices may be of a source of another type.
    b.replaceAllUsesWith(result, restored);
  }
  b.eraseOp(op);
}

void tilewright::prepareSort(RewriterBase &b, SortOp op) {
  if (!op.getRuns() && !op.getWidth())
    SortWriter(b, op).write();
}

Value tilewright::numbersAlong(OpBuilder &b, Location loc,
                               ArrayRef<OpFoldResult> sizes, int64_t dim,
                               Type type) {
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type);
  int64_t rank = sizes.size();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, empty.getType(), ValueRange(), empty,
             ArrayRef<AffineMap>{b.getMultiDimIdentityMap(rank)}, loops,
             [&](OpBuilder &b, Location loc, ValueRange) {
               Value number = linalg::IndexOp::create(b, loc, dim);
               Value cast = arith::IndexCastOp::create(b, loc, type, number);
               linalg::YieldOp::create(b, loc, cast);
             })
      .getResult(0);
}

SortOp tilewright::sortForTopK(RewriterBase &b, TopKOp op) {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  int64_t dim = op.getDim();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, loc, op.getInput());
  OpFoldResult taken = tensor::getMixedSize(b, loc, op.getValues(), dim);
  auto indices = cast<RankedTensorType>(op.getIndices().getType());
  Value numbers = numbersAlong(b, loc, sizes, dim, indices.getElementType());
  SmallVector<Value> inputs{op.getInput(), numbers}, outputs;
  for (Value input : inputs)
    outputs.push_back(tensor::EmptyOp::create(
        b, loc, sizes,
        cast<RankedTensorType>(input.getType()).getElementType()));
  auto sort = SortOp::create(b, loc, ValueRange(outputs).getTypes(), inputs,
                             Value(), outputs, dim,
                             /*descending=*/!op.getSmallest(), /*runs=*/false,
                             /*halves=*/false);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      strides(sizes.size(), b.getIndexAttr(1));
  sizes[dim] = taken;
  SmallVector<Value> results;
  for (auto [result, type] :
       llvm::zip_equal(sort.getResults(), op.getResultTypes())) {
    Value first =
        tensor::ExtractSliceOp::create(b, loc, result, offsets, sizes, strides);
    if (first.getType() != type)
      first = tensor::CastOp::create(b, loc, type, first);
    results.push_back(first);
  }
  b.replaceOp(op, results);
  return sort;
}
