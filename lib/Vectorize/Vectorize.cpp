// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-vectorize: slices, loops and results; the ops that compute are in
// VectorizeOp.cpp.
//
//   %xs = tensor.extract_slice %x[%i, 0] [%n, 16] [1, 1]
//   %r = linalg.generic {tilewright.tile_sizes = array<i64: 64, 16>} ins(%xs) …
//   %u = tensor.insert_slice %r into %o[%i, 0] [%n, 16] [1, 1]
// becomes
//   %v = vector.transfer_read %x[%i, %c0], %pad {in_bounds = [false, true]}
//          : tensor<?x16xf32>, vector<64x16xf32>
//   %r = … : vector<64x16xf32>
//   %u = vector.transfer_write %r, %o[%i, %c0] {in_bounds = [false, true]}
//
// A window's size is either its full static extent or what is left of the
// argument's dim (that is how `tile` makes them), so the bounds of the argument
// are the bounds of the window.

#include "tilewright/Dialect/Strategies.h"
#include "tilewright/Vectorize/Vectorize.h"
#include "Vectorizer.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Packed.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_VECTORIZEPASS
#include "tilewright/Vectorize/Passes.h.inc"
} // namespace tilewright

static bool isTensor(Type type) { return isa<TensorType>(type); }

const Tile *Vectorizer::lookup(Value value) {
  auto found = tiles.find(value);
  return found == tiles.end() ? nullptr : &found->second;
}

LogicalResult Vectorizer::run() {
  Block &body = kernel.getBody().front();
  b.setInsertionPointToStart(&body);
  for (BlockArgument argument : body.getArguments())
    if (isa<RankedTensorType>(argument.getType())) {
      Tile tile{Tile::Memory, argument, {}, {}, {}};
      tile.sizes = tensor::getMixedSizes(b, kernel.getLoc(), argument);
      tile.offsets.assign(tile.sizes.size(), b.getIndexAttr(0));
      tiles[argument] = std::move(tile);
    }
  if (failed(visitBlock(body)))
    return failure();
  IRRewriter rewriter(kernel.getContext());
  for (Operation *op : llvm::reverse(dead))
    rewriter.eraseOp(op);
  // Dims of arguments that nobody asked for.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
  return success();
}

LogicalResult Vectorizer::visitBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    b.setInsertionPoint(&op);
    if (failed(visit(&op)))
      return failure();
  }
  return success();
}

LogicalResult Vectorizer::visit(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return visitLinalg(linalgOp);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return visitSlice(slice);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return visitInsert(insert);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop);
  if (auto ret = dyn_cast<func::ReturnOp>(op))
    return visitReturn(ret);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    tiles[empty] = {Tile::Empty, {}, {}, empty.getMixedSizes(), {}};
    dead.push_back(op);
    return success();
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    const Tile *source = lookup(cast.getSource());
    if (!source)
      return op->emitOpError("casts a value that is no tile");
    tiles[cast] = Tile(*source);
    dead.push_back(op);
    return success();
  }
  if (auto unpack = dyn_cast<UnpackOp>(op)) {
    const Tile *bytes = lookup(unpack.getSource());
    if (!bytes || bytes->kind != Tile::Memory || bytes->packed)
      return op->emitOpError("unpacks what is no argument of the kernel");
    Tile tile = *bytes;
    tile.packed = true;
    tile.isUnsigned = unpack.getIsUnsigned();
    tile.sizes.back() = b.getIndexAttr(unpack.getType().getShape().back());
    tiles[unpack] = std::move(tile);
    dead.push_back(op);
    return success();
  }
  if (auto scatter = dyn_cast<ClusterScatterOp>(op))
    return visitScatter(scatter);
  // An element of a table, as an index.
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    if (isa<BlockArgument>(extract.getTensor()))
      return success();
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    if (!isa<BlockArgument>(dim.getSource()))
      return op->emitOpError("asks for a dim of a computed value; dims of a "
                             "kernel are those of its arguments");
    return success();
  }
  DenseElementsAttr splat;
  if (op->getNumResults() == 1 && isTensor(op->getResult(0).getType()) &&
      matchPattern(op, m_Constant(&splat)) && splat.isSplat()) {
    auto scalar = arith::ConstantOp::create(
        b, op->getLoc(), cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    SmallVector<OpFoldResult> sizes;
    for (int64_t size : splat.getType().getShape())
      sizes.push_back(b.getIndexAttr(size));
    tiles[op->getResult(0)] = {Tile::Splat, scalar, {}, sizes, {}};
    dead.push_back(op);
    return success();
  }
  if (llvm::any_of(op->getOperandTypes(), isTensor) ||
      llvm::any_of(op->getResultTypes(), isTensor) || op->getNumRegions())
    return op->emitOpError("has no vector form: tiled kernels hold linalg ops "
                           "on slices of their arguments and scf.for");
  return success();
}

/// offset + by
static OpFoldResult shift(OpBuilder &b, Location loc, OpFoldResult offset,
                          OpFoldResult by) {
  if (isConstantIntValue(offset, 0))
    return by;
  if (isConstantIntValue(by, 0))
    return offset;
  return affine::makeComposedFoldedAffineApply(
      b, loc, b.getAffineDimExpr(0) + b.getAffineDimExpr(1), {offset, by});
}

static bool hasUnitStrides(ArrayRef<OpFoldResult> strides) {
  return llvm::all_of(
      strides, [](OpFoldResult s) { return isConstantIntValue(s, 1); });
}

LogicalResult Vectorizer::visitSlice(tensor::ExtractSliceOp op) {
  const Tile *source = lookup(op.getSource());
  if (!source || source->kind == Tile::Register)
    return op.emitOpError("takes a slice of a computed tile; tile its consumer "
                          "alike");
  if (!hasUnitStrides(op.getMixedStrides()) ||
      op.getType().getRank() != op.getSourceType().getRank())
    return op.emitOpError("must have unit strides and keep the rank");
  Tile tile = *source;
  tile.sizes = op.getMixedSizes();
  for (auto [offset, by] : llvm::zip(tile.offsets, op.getMixedOffsets()))
    offset = shift(b, op.getLoc(), offset, by);
  tiles[op] = std::move(tile);
  dead.push_back(op);
  return success();
}

Value Vectorizer::writeTile(Location loc, const Tile &tile,
                            const Tile &window) {
  SmallVector<Value> indices;
  for (OpFoldResult offset : window.offsets)
    indices.push_back(getValueOrCreateConstantIndexOp(b, loc, offset));
  auto vectorType = dyn_cast<VectorType>(tile.value.getType());
  if (!vectorType)
    return tensor::InsertOp::create(b, loc, tile.value, window.value, indices);
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> inBounds;
  for (auto [dim, extent] : llvm::enumerate(tile.extents))
    if (extent) {
      exprs.push_back(b.getAffineDimExpr(dim));
      inBounds.push_back(isConstantIntValue(tile.sizes[dim], extent));
    }
  AffineMap map =
      AffineMap::get(tile.extents.size(), 0, exprs, b.getContext());
  // What one of several results comes down to may be an argument as it is, which
  // canonicalization would return without writing it.
  Value value = tile.value;
  if (kernel.getNumResults() > 1 &&
      vectorType.getShape() == cast<RankedTensorType>(window.value.getType()).getShape())
    value = IdentityOp::create(b, loc, value);
  return vector::TransferWriteOp::create(b, loc, value, window.value,
                                         indices, map,
                                         ArrayRef<bool>(inBounds))
      .getResult();
}

LogicalResult Vectorizer::visitInsert(tensor::InsertSliceOp op) {
  const Tile *source = lookup(op.getSource());
  const Tile *dest = lookup(op.getDest());
  if (!source || source->kind != Tile::Register)
    return op.emitOpError("must insert a computed tile");
  if (!dest || dest->kind != Tile::Memory)
    return op.emitOpError("must insert into a destination of the kernel");
  if (!hasUnitStrides(op.getMixedStrides()) ||
      op.getSourceType().getRank() != op.getType().getRank())
    return op.emitOpError("must have unit strides and keep the rank");
  Tile window = *dest;
  for (auto [offset, by] : llvm::zip(window.offsets, op.getMixedOffsets()))
    offset = shift(b, op.getLoc(), offset, by);
  Tile result = *dest;
  result.value = writeTile(op.getLoc(), *source, window);
  if (op->hasAttr(kOneBlockAttr))
    result.value.getDefiningOp()->setAttr(kOneBlockAttr, b.getUnitAttr());
  tiles[op] = std::move(result);
  dead.push_back(op);
  return success();
}

/// A slice of a tile that blocks of a cluster add up.
LogicalResult Vectorizer::visitScatter(ClusterScatterOp op) {
  const Tile *sums = lookup(op.getValue()), *into = lookup(op.getInto());
  auto type = sums && sums->kind == Tile::Register ? dyn_cast<VectorType>(sums->value.getType())
                                                   : VectorType();
  int64_t dim = op.getDim();
  if (!type || !into || dim >= int64_t(sums->extents.size()) || !sums->extents[dim])
    return op.emitOpError("must add up a computed tile, along a dim of its vector");
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  int64_t loop = op.getLoop();
  int64_t parts = loop < int64_t(launch.getCluster().size()) ? launch.getCluster()[loop] : 1;
  if (sums->extents[dim] % parts)
    return op.emitOpError() << "has " << sums->extents[dim] << " elements along dim " << dim
                            << ", which are not " << parts << " slices";
  Tile slice = *sums;
  slice.sizes = into->sizes;
  slice.extents[dim] /= parts;
  int64_t position = dim - llvm::count(ArrayRef(slice.extents).take_front(dim), 0);
  SmallVector<int64_t> shape(type.getShape());
  shape[position] = slice.extents[dim];
  slice.value = ClusterScatterOp::create(b, op.getLoc(),
                                         VectorType::get(shape, type.getElementType()),
                                         sums->value, /*into=*/Value(), position, loop);
  tiles[op.getResult()] = std::move(slice);
  dead.push_back(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The linalg op that accumulates into the tensor carried as `argument`, or
/// null where the loop inserts tiles into it.
static linalg::LinalgOp findAccumulation(BlockArgument argument,
                                         unsigned &number) {
  for (OpOperand &use : argument.getUses()) {
    if (auto op = dyn_cast<linalg::LinalgOp>(use.getOwner())) {
      number = use.getOperandNumber();
      return op;
    }
    if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()))
      if (BlockArgument inner = loop.getTiedLoopRegionIterArg(&use))
        if (auto op = findAccumulation(inner, number))
          return op;
  }
  return {};
}

/// The tile that a loop carries from `init` on as `argument`: a register where the loop adds to it.
FailureOr<Tile> Vectorizer::carryTile(scf::ForOp op, Value init, BlockArgument argument) {
  const Tile *tile = lookup(init);
  if (!tile)
    return op.emitOpError("carries a value that is no tile");
  // Copies: what is looked up does not outlive what is added below.
  Tile memory = *tile, carried = memory;
  unsigned number;
  linalg::LinalgOp user = findAccumulation(argument, number);
  if (!user || carried.kind == Tile::Register)
    return carried;
  // The accumulator starts from memory: load it here.
  FailureOr<OpState> state = prepare(user);
  if (failed(state))
    return failure();
  AffineMap map = state->maps[number];
  carried.extents.clear();
  for (unsigned i = 0, e = map.getNumResults(); i < e; ++i) {
    unsigned loop = map.getDimPosition(i);
    carried.extents.push_back(state->extents[loop]);
    state->sizes[loop] = carried.sizes[i];
  }
  tiles[user->getOperand(number)] = memory;
  SmallVector<unsigned> loops = state->loopsOf(number);
  FailureOr<Value> value =
      readOperand(*state, number, loops, b.getZeroAttr(getElementTypeOrSelf(init.getType())));
  if (failed(value))
    return failure();
  carried.kind = Tile::Register;
  carried.offsets.clear();
  carried.value = toVector(*state, *value, loops);
  return carried;
}

/// Yields what tiles became, which `loop` carries.
LogicalResult Vectorizer::yieldTiles(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [number, value] : llvm::enumerate(yield.getOperands())) {
    if (!isTensor(value.getType()))
      continue;
    const Tile *tile = lookup(value);
    Type type = loop.getRegionIterArg(number).getType();
    if (!tile || !tile->value || tile->value.getType() != type)
      return yield.emitOpError() << "operand " << number
                                 << " is no tile of type " << type;
    yield->setOperand(number, tile->value);
  }
  return success();
}

LogicalResult Vectorizer::visitFor(scf::ForOp op) {
  SmallVector<Value> inits;
  for (auto [init, argument] :
       llvm::zip_equal(op.getInitArgs(), op.getRegionIterArgs())) {
    if (!isTensor(init.getType())) {
      inits.push_back(init);
      continue;
    }
    FailureOr<Tile> carried = carryTile(op, init, argument);
    if (failed(carried))
      return failure();
    if (!carried->value)
      return op.emitOpError("carries a tile that nothing was computed for");
    tiles[argument] = *carried;
    inits.push_back(carried->value);
  }

  auto loop = scf::ForOp::create(b, op.getLoc(), op.getLowerBound(),
                                 op.getUpperBound(), op.getStep(), inits);
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  dead.push_back(op);
  Block *body = loop.getBody();
  if (!body->empty())
    body->getTerminator()->erase();
  body->getOperations().splice(body->end(), op.getBody()->getOperations());
  op.getInductionVar().replaceAllUsesWith(loop.getInductionVar());
  for (auto [before, now, beforeResult, nowResult] :
       llvm::zip_equal(op.getRegionIterArgs(), loop.getRegionIterArgs(),
                       op.getResults(), loop.getResults())) {
    if (!isTensor(before.getType())) {
      before.replaceAllUsesWith(now);
      beforeResult.replaceAllUsesWith(nowResult);
      continue;
    }
    tiles[before].value = now;
    Tile result = tiles[before];
    result.value = nowResult;
    tiles[beforeResult] = std::move(result);
  }

  for (Operation &inner :
       llvm::make_early_inc_range(body->without_terminator())) {
    b.setInsertionPoint(&inner);
    if (failed(visit(&inner)))
      return failure();
  }
  return yieldTiles(loop);
}

LogicalResult Vectorizer::visitReturn(func::ReturnOp op) {
  unsigned first = kernel.getNumArguments() - op.getNumOperands();
  for (auto [number, value] : llvm::enumerate(op.getOperands())) {
    const Tile *tile = lookup(value);
    if (!tile || !tile->value || tile->kind == Tile::Splat)
      return op.emitOpError() << "operand " << number << " is no tile";
    Value result = tile->value;
    if (tile->kind == Tile::Register)
      result = writeTile(op.getLoc(), *tile,
                         tiles[kernel.getArgument(first + number)]);
    op->setOperand(number, result);
  }
  return success();
}

LogicalResult tilewright::vectorizeKernel(func::FuncOp kernel) {
  if (!llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitOpError("a kernel has one block");
  if (!kernel->hasAttr(kLaunchAttr))
    return kernel.emitOpError("is not tiled; run tilewright-tile");
  // Attention is tiled as vectors; scatters and scans have none.
  auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (traitsOf(config).isVectorized)
    return success();
  auto ret = dyn_cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  if (!ret || ret.getNumOperands() > kernel.getNumArguments())
    return kernel.emitOpError("a kernel has a destination argument per result");
  return Vectorizer(kernel).run();
}

namespace {
struct VectorizePass
    : public tilewright::impl::VectorizePassBase<VectorizePass> {
  void runOnOperation() override {
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (isKernel(func) && !func.isExternal() && failed(vectorizeKernel(func)))
        return signalPassFailure();
  }
};
} // namespace

void tilewright::populateVectorizePipeline(OpPassManager &pm) {
  pm.addPass(createVectorizePass());
  pm.addPass(createDelayReductionsPass());
  pm.addPass(createCanonicalizePass("vectorize"));
  pm.addPass(createCSEPass());
  pm.addPass(createFuseOnlineSumsPass());
  pm.addPass(createCSEPass());
}

void tilewright::registerVectorizePasses() {
  registerPass([] { return createVectorizePass(); });
  registerPass([] { return createDelayReductionsPass(); });
  registerPass([] { return createFuseOnlineSumsPass(); });
}
