// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register tile of a CPU is a bundle of rows. In numbered steps:
//
//   1. tilewright.mma becomes one fused multiply-add per row of the accumulator
//      and step of the sum, of a row with a broadcast scalar; tile_id the block
//      number cut into digits; shared memory the stack.
//   2. Loops whose tiles may cross an edge get a twin for those that do not.
//      Transfers become minor identities (upstream, WidenTransfers.cpp), then
//      transfers of rows.
//   3. Loops and branches that carry tiles carry rows:
//        scf.for … iter_args(%t: vector<8x32xf32>)  ->  8 x vector<32xf32>
//   4. Reductions become row by row operations; transposes of square tiles shuffles of
//      rows (TransposeTiles.cpp), other transposes, shape casts and masks what upstream
//      makes of them.
//
// Elementwise operations stay: conversion to LLVM unrolls them by itself.

#include "Unroll.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Dialect/Vector/Utils/VectorUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {
#define GEN_PASS_DEF_UNROLLVECTORSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

SmallVector<SmallVector<int64_t>> cpu::getRowPositions(VectorType type) {
  SmallVector<SmallVector<int64_t>> positions = {{}};
  for (int64_t size : type.getShape().drop_back()) {
    SmallVector<SmallVector<int64_t>> next;
    for (const SmallVector<int64_t> &position : positions)
      for (int64_t i = 0; i < size; ++i) {
        next.push_back(position);
        next.back().push_back(i);
      }
    positions = std::move(next);
  }
  return positions;
}

SmallVector<Value> cpu::getRows(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getRank() < 2)
    return {vector};
  SmallVector<Value> rows;
  for (const SmallVector<int64_t> &position : getRowPositions(type))
    rows.push_back(vector::ExtractOp::create(builder, loc, vector, position));
  return rows;
}

Value cpu::fromRows(OpBuilder &builder, Location loc, VectorType type,
                    ValueRange rows) {
  if (type.getRank() < 2)
    return rows.front();
  Value result = ub::PoisonOp::create(builder, loc, type);
  for (auto [row, position] : llvm::zip_equal(rows, getRowPositions(type)))
    result = vector::InsertOp::create(builder, loc, row, result, position);
  return result;
}

bool cpu::isTile(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() >= 2 && !vector.isScalable();
}

//===----------------------------------------------------------------------===//
// Step 4
//===----------------------------------------------------------------------===//

namespace {
/// Takes the first dim off a vector.multi_reduction: one reduction per slice
/// if it stays, one after the other if it is reduced. Ends with vector.reduction.
struct UnrollReduction : OpRewritePattern<vector::MultiDimReductionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::MultiDimReductionOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType type = op.getSourceVectorType();
    ArrayRef<int64_t> dims = op.getReductionDims();
    bool reducesFirst = llvm::is_contained(dims, 0);
    if (dims.empty()) {
      rewriter.replaceOp(op, vector::makeArithReduction(
                                 rewriter, loc, op.getKind(), op.getSource(),
                                 op.getAcc()));
      return success();
    }
    if (type.getRank() == 1) {
      rewriter.replaceOpWithNewOp<vector::ReductionOp>(
          op, op.getKind(), op.getSource(), op.getAcc());
      return success();
    }
    SmallVector<bool> rest(type.getRank() - 1, false);
    for (int64_t dim : dims)
      if (dim > 0)
        rest[dim - 1] = true;
    Value result = op.getAcc();
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      Value slice = vector::ExtractOp::create(rewriter, loc, op.getSource(), i);
      if (reducesFirst && dims.size() == 1) {
        result = vector::makeArithReduction(rewriter, loc, op.getKind(), slice,
                                            result);
      } else if (reducesFirst) {
        result = vector::MultiDimReductionOp::create(rewriter, loc, slice, result,
                                                     rest, op.getKind());
      } else {
        Value acc = vector::ExtractOp::create(rewriter, loc, op.getAcc(), i);
        Value part = vector::MultiDimReductionOp::create(rewriter, loc, slice,
                                                         acc, rest, op.getKind());
        result = vector::InsertOp::create(rewriter, loc, part, result, i);
      }
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// math ops that upstream converts to LLVM's for vectors of one dim only.
template <typename Op> struct UnrollRows : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() < 2)
      return failure();
    Location loc = op.getLoc();
    Value rows =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      Value row = vector::ExtractOp::create(rewriter, loc, op.getOperand(), i);
      rows = vector::InsertOp::create(rewriter, loc,
                                      Op::create(rewriter, loc, row), rows, i);
    }
    rewriter.replaceOp(op, rows);
    return success();
  }
};

struct UnrollVectorsPass
    : tilewright::impl::UnrollVectorsPassBase<UnrollVectorsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isKernel(func) || func.isExternal())
      return;
    if (failed(lowerBlockOps(func)))
      return signalPassFailure();
    SmallVector<scf::ForOp> innermost;
    func.walk([&](scf::ForOp loop) {
      if (loop.getBody()->getOps<scf::ForOp>().empty())
        innermost.push_back(loop);
    });
    for (scf::ForOp loop : innermost)
      splitEdges(loop);
    auto apply = [&](auto &&populate) {
      RewritePatternSet patterns(&getContext());
      populate(patterns);
      if (failed(applyPatternsBounded(func, std::move(patterns), "lower",
                                      "unrolling of vectors")))
        signalPassFailure();
    };
    apply([](RewritePatternSet &patterns) {
      populateWidenTransferPatterns(patterns);
      vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    });
    apply([](RewritePatternSet &patterns) {
      populateStridedReadPatterns(patterns);
      populateUnrollTransferPatterns(patterns);
      populateSplitTilePatterns(patterns);
      patterns.add<UnrollReduction>(patterns.getContext());
    });
    apply([](RewritePatternSet &patterns) {
      populateSplitTilePatterns(patterns);
      patterns
          .add<UnrollRows<math::AbsIOp>, UnrollRows<math::CountLeadingZerosOp>,
               UnrollRows<math::CountTrailingZerosOp>>(patterns.getContext());
      vector::populateVectorBroadcastLoweringPatterns(patterns);
      populateTransposeTilePatterns(patterns);
      vector::populateVectorTransposeLoweringPatterns(
          patterns, vector::VectorTransposeLowering::Shuffle1D);
      vector::populateVectorShapeCastLoweringPatterns(patterns);
      vector::populateVectorMaskOpLoweringPatterns(patterns);
      vector::populateVectorGatherLoweringPatterns(patterns);
      vector::populateVectorStepLoweringPatterns(patterns);
      vector::populateVectorRankReducingFMAPattern(patterns);
      vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    });
    apply([](RewritePatternSet &patterns) {
      vector::populateVectorMaskMaterializationPatterns(
          patterns, /*force32BitVectorIndices=*/false);
      vector::populateVectorTransferLoweringPatterns(patterns);
    });
  }
};
} // namespace
