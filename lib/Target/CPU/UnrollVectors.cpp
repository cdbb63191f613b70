// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register tile of a CPU is a bundle of rows. In numbered steps:
//
//   1. tilewright.mma becomes one fused multiply-add per row of the accumulator
//      and step of the sum, of a row with a broadcast scalar; tile_id the block
//      number cut into digits; shared memory the stack.
//   2. Loops whose tiles may cross an edge get a twin for those that do not.
//      Transfers become minor identities (upstream), then transfers of rows.
//   3. Loops and branches that carry tiles carry rows:
//        scf.for … iter_args(%t: vector<8x32xf32>)  ->  8 x vector<32xf32>
//   4. Reductions become row by row operations; transposes, shape casts and
//      masks what upstream makes of them.
//
// Elementwise operations stay: conversion to LLVM unrolls them by itself.

#include "Unroll.h"

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

/// Positions of the rows of a vector of rank 2 or more.
static SmallVector<SmallVector<int64_t>> getRowPositions(VectorType type) {
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

static bool isTile(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() >= 2 && !vector.isScalable();
}

//===----------------------------------------------------------------------===//
// Step 1
//===----------------------------------------------------------------------===//

/// A vector out of shared memory, if it is there.
static Value readOperand(OpBuilder &builder, Location loc, Value operand) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type)
    return operand;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> indices(type.getRank(), zero);
  Value padding = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  SmallVector<bool> inBounds(type.getRank(), true);
  return vector::TransferReadOp::create(
      builder, loc, VectorType::get(type.getShape(), type.getElementType()),
      operand, indices, padding, std::optional<ArrayRef<bool>>(inBounds));
}

/// `value` with elements of type `element`, which is not narrower.
static Value extend(OpBuilder &builder, Location loc, Value value, Type element,
                    bool isSigned) {
  auto type = cast<VectorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  auto wide = VectorType::get(type.getShape(), element);
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(builder, loc, wide, value);
  if (isSigned)
    return arith::ExtSIOp::create(builder, loc, wide, value);
  return arith::ExtUIOp::create(builder, loc, wide, value);
}

/// An operand of the product, transposed so that loop `row` (if it has it) is
/// its last dim, and the loops of its dims.
namespace {
struct Operand {
  Value vector;
  SmallVector<int64_t> loops;
  bool hasRow = false;

  /// The row, or the scalar as a row, at these loop coordinates.
  Value at(OpBuilder &builder, Location loc, ArrayRef<int64_t> coordinates,
           VectorType rowType) const {
    SmallVector<int64_t> position;
    for (int64_t loop : ArrayRef(loops).drop_back(hasRow))
      position.push_back(coordinates[loop]);
    Value part =
        position.empty()
            ? vector
            : vector::ExtractOp::create(builder, loc, vector, position);
    if (hasRow)
      return part;
    return vector::BroadcastOp::create(builder, loc, rowType, part);
  }
};
} // namespace

static Operand makeOperand(OpBuilder &builder, Location loc, Value vector,
                           AffineMap map, int64_t row) {
  Operand operand;
  SmallVector<int64_t> permutation;
  int64_t rowDim = -1;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    int64_t loop = cast<AffineDimExpr>(expr).getPosition();
    if (loop == row) {
      rowDim = dim;
      continue;
    }
    permutation.push_back(dim);
    operand.loops.push_back(loop);
  }
  if (rowDim >= 0) {
    permutation.push_back(rowDim);
    operand.loops.push_back(row);
    operand.hasRow = true;
  }
  operand.vector = vector;
  if (!llvm::is_sorted(permutation))
    operand.vector =
        vector::TransposeOp::create(builder, loc, vector, permutation);
  return operand;
}

/// The next coordinates, last loop fastest; false after the last ones.
static bool advance(MutableArrayRef<int64_t> coordinates,
                    ArrayRef<int64_t> extents) {
  for (int64_t i = coordinates.size() - 1; i >= 0; --i) {
    if (++coordinates[i] < extents[i])
      return true;
    coordinates[i] = 0;
  }
  return false;
}

/// One fused multiply-add per row of the accumulator and step of the sum. The
/// last dim of the accumulator is the row.
static LogicalResult lowerMma(MmaOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<VectorType>(op.getAcc().getType());
  Type element = type.getElementType();
  if (type.getRank() == 0)
    return op.emitOpError("of rank 0 cannot be computed on the CPU");
  auto maps = llvm::to_vector(op.getMaps().getAsValueRange<AffineMapAttr>());
  int64_t row = cast<AffineDimExpr>(maps[2].getResults().back()).getPosition();
  auto rowType = VectorType::get({type.getShape().back()}, element);

  SmallVector<int64_t> extents(maps[0].getNumDims(), 1);
  Operand operands[2];
  Value values[] = {op.getA(), op.getB()};
  for (auto [number, value] : llvm::enumerate(values)) {
    Value vector = readOperand(builder, loc, value);
    Type from = cast<VectorType>(vector.getType()).getElementType();
    if (from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth() ||
        isa<FloatType>(from) != isa<FloatType>(element))
      return op.emitOpError() << "cannot multiply " << from << " into "
                              << element << " on the CPU";
    bool isSigned = true;
    if (auto signedness = op.getSignednessAttr())
      if (number < signedness.size())
        isSigned = cast<StringAttr>(signedness[number]).getValue() != "unsigned";
    vector = extend(builder, loc, vector, element, isSigned);
    for (auto [size, expr] :
         llvm::zip_equal(cast<VectorType>(vector.getType()).getShape(),
                         maps[number].getResults()))
      extents[cast<AffineDimExpr>(expr).getPosition()] = size;
    operands[number] = makeOperand(builder, loc, vector, maps[number], row);
  }
  for (auto [size, expr] :
       llvm::zip_equal(type.getShape(), maps[2].getResults()))
    extents[cast<AffineDimExpr>(expr).getPosition()] = size;

  // Rows of the accumulator by their number in row-major order.
  SmallVector<Value> rows = getRows(builder, loc, op.getAcc());
  extents[row] = 1;
  SmallVector<int64_t> coordinates(extents.size(), 0);
  do {
    int64_t number = 0;
    for (AffineExpr expr : maps[2].getResults().drop_back()) {
      int64_t loop = cast<AffineDimExpr>(expr).getPosition();
      number = number * extents[loop] + coordinates[loop];
    }
    Value a = operands[0].at(builder, loc, coordinates, rowType);
    Value b = operands[1].at(builder, loc, coordinates, rowType);
    Value &sum = rows[number];
    if (isa<FloatType>(element))
      sum = math::FmaOp::create(builder, loc, a, b, sum);
    else
      sum = arith::AddIOp::create(builder, loc, sum,
                                  arith::MulIOp::create(builder, loc, a, b));
  } while (advance(coordinates, extents));
  op.replaceAllUsesWith(fromRows(builder, loc, type, rows));
  op.erase();
  return success();
}

static void lowerTileId(TileIdOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value linear = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  SmallVector<int64_t> order;
  if (op.getOrder())
    llvm::append_range(order, *op.getOrder());
  else
    for (int64_t i = op.getCounts().size() - 1; i >= 0; --i)
      order.push_back(i);
  for (auto [position, loop] : llvm::enumerate(order)) {
    Value id = linear;
    if (position + 1 < order.size()) {
      Value count = op.getCounts()[loop];
      id = arith::RemUIOp::create(builder, loc, linear, count);
      linear = arith::DivUIOp::create(builder, loc, linear, count);
    }
    op.getIds()[loop].replaceAllUsesWith(id);
  }
  op.erase();
}

/// Shared memory of one block is memory of one call.
static LogicalResult lowerAlloc(memref::AllocOp op) {
  // A thread's stack has a few MiB, of which kernels may count on this much.
  constexpr int64_t kMostBytes = 256 * 1024;
  MemRefType type = op.getType();
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat() ||
      type.getNumElements() * type.getElementTypeBitWidth() / 8 > kMostBytes)
    return op.emitOpError() << "of " << type
                            << " does not fit on a CPU thread's stack ("
                            << kMostBytes << " bytes)";
  OpBuilder builder = OpBuilder::atBlockBegin(
      &op->getParentOfType<func::FuncOp>().getBody().front());
  auto local = MemRefType::get(type.getShape(), type.getElementType(),
                               type.getLayout());
  Value memory = memref::AllocaOp::create(builder, op.getLoc(), local,
                                          builder.getI64IntegerAttr(64));
  op.replaceAllUsesWith(memory);
  op.erase();
  return success();
}

static LogicalResult lowerBlockOps(func::FuncOp func) {
  WalkResult result = func.walk([](Operation *op) {
    LogicalResult lowered =
        TypeSwitch<Operation *, LogicalResult>(op)
            .Case([](MmaOp mma) { return lowerMma(mma); })
            .Case([](memref::AllocOp alloc) { return lowerAlloc(alloc); })
            .Case([](TileIdOp tileId) {
              lowerTileId(tileId);
              return success();
            })
            .Case([](gpu::BarrierOp barrier) {
              barrier.erase();
              return success();
            })
            .Default([](Operation *) { return success(); });
    return failed(lowered) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Step 2
//===----------------------------------------------------------------------===//

/// Whether `index + extent <= size of dim` is known before `loop`.
static bool isInvariant(scf::ForOp loop, vector::TransferReadOp read, int64_t d) {
  auto expr = dyn_cast<AffineDimExpr>(read.getPermutationMap().getResult(d));
  return expr && !read.isDimInBounds(d) && !read.getMask() &&
         loop.isDefinedOutsideOfLoop(read.getBase()) &&
         loop.isDefinedOutsideOfLoop(read.getIndices()[expr.getPosition()]);
}

/// Gives an innermost loop a twin for tiles that lie inside, without masks:
///
///   scf.if (%i + 4 <= %m) { scf.for … in_bounds = [true, true] }
///   else                  { scf.for … in_bounds = [false, true] }
static void splitEdges(scf::ForOp loop) {
  SmallVector<std::pair<vector::TransferReadOp, int64_t>> dims;
  for (auto read : loop.getOps<vector::TransferReadOp>())
    for (int64_t d = 0; d < read.getVectorType().getRank(); ++d)
      if (isInvariant(loop, read, d))
        dims.emplace_back(read, d);
  if (dims.empty())
    return;
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value inside;
  for (auto [read, d] : dims) {
    int64_t position =
        cast<AffineDimExpr>(read.getPermutationMap().getResult(d)).getPosition();
    Value end = arith::AddIOp::create(
        builder, loc, read.getIndices()[position],
        arith::ConstantIndexOp::create(builder, loc,
                                       read.getVectorType().getDimSize(d)));
    Value size = memref::DimOp::create(builder, loc, read.getBase(), position);
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                       end, size);
    inside = inside ? arith::AndIOp::create(builder, loc, inside, fits) : fits;
  }
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), inside,
                                  /*withElseRegion=*/true);
  loop.replaceAllUsesWith(branch.getResults());
  auto yield = [&](Block *block, scf::ForOp twin) {
    if (twin.getNumResults() == 0)
      return;
    OpBuilder b = OpBuilder::atBlockEnd(block);
    scf::YieldOp::create(b, loc, twin.getResults());
  };
  auto end = [&](Block *block) {
    return loop.getNumResults() ? block->end()
                                : block->getTerminator()->getIterator();
  };
  loop->moveBefore(branch.elseBlock(), end(branch.elseBlock()));
  yield(branch.elseBlock(), loop);
  IRMapping mapping;
  OpBuilder b(branch.thenBlock(), end(branch.thenBlock()));
  auto fast = cast<scf::ForOp>(b.clone(*loop, mapping));
  yield(branch.thenBlock(), fast);
  for (auto [read, d] : dims) {
    auto twin = cast<vector::TransferReadOp>(mapping.lookup(read.getResult())
                                                 .getDefiningOp());
    SmallVector<bool> inBounds = twin.getInBoundsValues();
    inBounds[d] = true;
    twin.setInBoundsAttr(b.getBoolArrayAttr(inBounds));
  }
}

//===----------------------------------------------------------------------===//
// Step 3
//===----------------------------------------------------------------------===//

/// All values, tiles replaced by their rows.
static SmallVector<Value> flatten(OpBuilder &builder, Location loc,
                                  ValueRange values) {
  SmallVector<Value> flat;
  for (Value value : values)
    if (isTile(value.getType()))
      llvm::append_range(flat, getRows(builder, loc, value));
    else
      flat.push_back(value);
  return flat;
}

/// Values of `types` out of a flat list.
static SmallVector<Value> unflatten(OpBuilder &builder, Location loc,
                                    TypeRange types, ValueRange flat) {
  SmallVector<Value> values;
  for (Type type : types) {
    size_t count = isTile(type)
                       ? getRowPositions(cast<VectorType>(type)).size()
                       : 1;
    values.push_back(isTile(type) ? fromRows(builder, loc, cast<VectorType>(type),
                                             flat.take_front(count))
                                  : flat.front());
    flat = flat.drop_front(count);
  }
  return values;
}

namespace {
struct SplitFor : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::none_of(op.getResultTypes(), isTile))
      return rewriter.notifyMatchFailure(op, "carries no tile");
    Location loc = op.getLoc();
    SmallVector<Value> inits = flatten(rewriter, loc, op.getInitArgs());
    auto loop = scf::ForOp::create(rewriter, loc, op.getLowerBound(),
                                   op.getUpperBound(), op.getStep(), inits);
    rewriter.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> arguments = {loop.getInductionVar()};
    llvm::append_range(arguments, unflatten(rewriter, loc, op.getResultTypes(),
                                            loop.getRegionIterArgs()));
    rewriter.mergeBlocks(op.getBody(), loop.getBody(), arguments);
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    rewriter.setInsertionPoint(yield);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(
        yield, flatten(rewriter, loc, yield.getOperands()));
    rewriter.setInsertionPointAfter(loop);
    rewriter.replaceOp(op, unflatten(rewriter, loc, op.getResultTypes(),
                                     loop.getResults()));
    return success();
  }
};

struct SplitIf : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IfOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::none_of(op.getResultTypes(), isTile))
      return rewriter.notifyMatchFailure(op, "yields no tile");
    Location loc = op.getLoc();
    for (scf::YieldOp yield : {op.thenYield(), op.elseYield()}) {
      rewriter.setInsertionPoint(yield);
      rewriter.replaceOpWithNewOp<scf::YieldOp>(
          yield, flatten(rewriter, loc, yield.getOperands()));
    }
    rewriter.setInsertionPoint(op);
    auto branch = scf::IfOp::create(rewriter, loc,
                                    op.thenYield().getOperandTypes(),
                                    op.getCondition(), /*withElse=*/true);
    for (auto [from, to] :
         {std::pair(&op.getThenRegion(), &branch.getThenRegion()),
          std::pair(&op.getElseRegion(), &branch.getElseRegion())}) {
      while (!to->empty())
        rewriter.eraseBlock(&to->front());
      rewriter.inlineRegionBefore(*from, *to, to->end());
    }
    rewriter.setInsertionPointAfter(branch);
    rewriter.replaceOp(op, unflatten(rewriter, loc, op.getResultTypes(),
                                     branch.getResults()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Step 4
//===----------------------------------------------------------------------===//

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
      if (failed(applyPatternsGreedily(func, std::move(patterns)))) {
        func.emitOpError("vectors cannot be unrolled: no fixed point");
        signalPassFailure();
      }
    };
    apply([](RewritePatternSet &patterns) {
      vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    });
    apply([](RewritePatternSet &patterns) {
      populateUnrollTransferPatterns(patterns);
      patterns.add<SplitFor, SplitIf, UnrollReduction>(patterns.getContext());
    });
    apply([](RewritePatternSet &patterns) {
      patterns.add<SplitFor, SplitIf>(patterns.getContext());
      vector::populateVectorBroadcastLoweringPatterns(patterns);
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
