// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts by merging: runs of 32 elements, then runs of twice as many until a row
// is one.
//
//   %r = tilewright.sort ins(%x : tensor<8x?xf32>) outs(%e) {dim = 1}
// becomes, with %v = %x as tensor<8x?x1xf32>,
//   %s = tilewright.sort ins(%v) outs(…) {dim = 1, runs}
//   %_, %r = scf.while (%w = %c32, %t = %s) { %w < %n } do {
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

using namespace mlir;
using namespace tilewright;

/// A step of `op` on `inputs`, of three dims: merges of runs of `width`, or the
/// first one.
static ValueRange sortStep(OpBuilder &b, SortOp op, ValueRange inputs,
                           Value width,
                           ArrayRef<SmallVector<OpFoldResult>> sizes) {
  Location loc = op.getLoc();
  SmallVector<Value> outputs;
  for (auto [input, shape] : llvm::zip_equal(inputs, sizes))
    outputs.push_back(tensor::EmptyOp::create(
        b, loc, shape,
        cast<RankedTensorType>(input.getType()).getElementType()));
  auto made = SortOp::create(b, loc, ValueRange(outputs).getTypes(), inputs,
                             width, outputs,
                             /*dim=*/1, op.getDescending(), /*runs=*/!width);
  IRMapping mapping;
  op.getCombiner().cloneInto(&made.getCombiner(), mapping);
  return made.getResults();
}

void tilewright::prepareSort(RewriterBase &b, SortOp op) {
  if (op.getRuns() || op.getWidth())
    return;
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  int64_t dim = op.getDim();
  SmallVector<Value> values;
  SmallVector<SmallVector<OpFoldResult>> sizes;
  for (Value input : op.getInputs()) {
    values.push_back(flattenAround(b, loc, input, dim));
    sizes.push_back(tensor::getMixedSizes(b, loc, values.back()));
  }
  OpFoldResult length = sizes[0][1];
  values = llvm::to_vector(sortStep(b, op, values, {}, sizes));
  if (auto known = getConstantIntValue(length); !known || *known > kSortedRun) {
    Value end = getValueOrCreateConstantIndexOp(b, loc, length);
    Value two = arith::ConstantIndexOp::create(b, loc, 2);
    values.insert(values.begin(),
                  arith::ConstantIndexOp::create(b, loc, kSortedRun));
    auto loop = scf::WhileOp::create(
        b, loc, ValueRange(values).getTypes(), values,
        [&](OpBuilder &b, Location loc, ValueRange carried) {
          Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                             carried[0], end);
          scf::ConditionOp::create(b, loc, more, carried);
        },
        [&](OpBuilder &b, Location loc, ValueRange carried) {
          SmallVector<Value> next = llvm::to_vector(
              sortStep(b, op, carried.drop_front(), carried[0], sizes));
          next.insert(next.begin(),
                      arith::MulIOp::create(b, loc, carried[0], two));
          scf::YieldOp::create(b, loc, next);
        });
    values.assign(loop.getResults().begin() + 1, loop.getResults().end());
  }
  SmallVector<Value> results;
  for (auto [value, input, type] :
       llvm::zip_equal(values, op.getInputs(), op.getResultTypes()))
    results.push_back(restoreAround(b, loc, value, input, dim, type));
  b.replaceOp(op, results);
}

/// The number of each element along `dim`.
static Value numbersAlong(OpBuilder &b, Location loc,
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
  auto indices = cast<RankedTensorType>(op.getIndices().getType());
  Value numbers = numbersAlong(b, loc, sizes, dim, indices.getElementType());
  SmallVector<Value> inputs{op.getInput(), numbers}, outputs;
  for (Value input : inputs)
    outputs.push_back(tensor::EmptyOp::create(
        b, loc, sizes,
        cast<RankedTensorType>(input.getType()).getElementType()));
  auto sort = SortOp::create(b, loc, ValueRange(outputs).getTypes(), inputs,
                             Value(), outputs, dim,
                             /*descending=*/!op.getSmallest(), /*runs=*/false);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      strides(sizes.size(), b.getIndexAttr(1));
  sizes[dim] = tensor::getMixedSize(b, loc, op.getValues(), dim);
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
