// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor ops that a structured op can say become one.
//
//   %r = linalg.pack %x inner_dims_pos = [1] inner_tiles = [8] into %d
// becomes
//   %r = linalg.generic {maps = [(i, j, b) -> (i, j * 8 + b), (i, j, b) -> (i,
//   j, b)]}
//          ins(%x) outs(%d) { yield %in }
//
// of a padded source, which is a view, where tiles are not full: what reads the
// result reads through it. linalg.unpack takes upstream's way: a transpose, a
// reshape, a slice. With tiles whose size a run decides, each element is computed: it is
// that of the source whose coordinates are products and quotients of its own and the
// tile. tensor.generate and tensor.pad with computed values compute
// each element from its coordinates; tensor.reshape is a reshape to one dim and
// from there to the new ones.

#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DECOMPOSETENSOROPSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// An elementwise op of `type` whose body is written by `body`, which may ask
/// for coordinates.
static Value
createComputed(OpBuilder &b, Location loc, RankedTensorType type,
               ValueRange sizes,
               llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      b, loc, type, ValueRange(), empty, map, loops,
      [&](OpBuilder &inner, Location at, ValueRange) {
        SmallVector<Value> coordinates;
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          coordinates.push_back(linalg::IndexOp::create(inner, at, dim));
        linalg::YieldOp::create(inner, at, body(inner, coordinates));
      });
  return op.getResult(0);
}

/// What `block`, of coordinates, yields at `coordinates`.
static Value inlineBody(OpBuilder &b, Block &block, ValueRange coordinates) {
  IRMapping mapping;
  mapping.map(block.getArguments(), coordinates);
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// pack, unpack
//===----------------------------------------------------------------------===//

/// The dim of the packed tensor that counts tiles of dim `dim` of the other.
static int64_t outerPosition(ArrayRef<int64_t> perm, int64_t dim) {
  return perm.empty() ? dim : llvm::find(perm, dim) - perm.begin();
}

template <typename Op> static bool hasDynamicTiles(Op op) {
  return llvm::any_of(op.getStaticInnerTiles(), ShapedType::isDynamic);
}

/// Coordinates along a tiled dim, and along the two dims of the packed tensor that it
/// becomes.
namespace {
struct TiledDim {
  int64_t dim, outer, inner;
  Value tile; // elements
};
} // namespace

/// The tiled dims of a linalg.pack or unpack, and checks on the host that its tiles are
/// those of `packed`.
template <typename Op>
static SmallVector<TiledDim> findTiles(OpBuilder &b, Op op, Value packed, int64_t rank) {
  Location loc = op.getLoc();
  std::string name = op->getName().getStringRef().str();
  SmallVector<TiledDim> result;
  for (auto [number, dim, tile] :
       llvm::enumerate(op.getInnerDimsPos(), op.getMixedTiles())) {
    TiledDim tiled{dim, outerPosition(op.getOuterDimsPerm(), dim), rank + int64_t(number),
                   getValueOrCreateConstantIndexOp(b, loc, tile)};
    result.push_back(tiled);
    if (getConstantIntValue(tile))
      continue;
    Value there = tensor::DimOp::create(b, loc, packed, tiled.inner);
    Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, tiled.tile, there);
    cf::AssertOp::create(b, loc, same,
                         name + ": a tile has another size than the packed tensor's dim");
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, tiled.tile, zero);
    cf::AssertOp::create(b, loc, some, name + ": a tile has no elements");
  }
  return result;
}

/// On the host: `value` compared as `how` with what the tiles of `tiled` have in all.
static Value compareWithTiles(OpBuilder &b, Location loc, arith::CmpIPredicate how, Value value,
                              Value packed, const TiledDim &tiled) {
  Value all = arith::MulIOp::create(b, loc, tensor::DimOp::create(b, loc, packed, tiled.outer),
                                    tiled.tile);
  return arith::CmpIOp::create(b, loc, how, value, all);
}

/// The coordinates of all dims but those that `tiles` are of.
static SmallVector<Value> untiled(ValueRange packed, ArrayRef<int64_t> perm, int64_t rank) {
  SmallVector<Value> result;
  for (int64_t dim = 0; dim < rank; ++dim)
    result.push_back(packed[outerPosition(perm, dim)]);
  return result;
}

Value tilewright::computePack(OpBuilder &b, linalg::PackOp op) {
  Location loc = op.getLoc();
  Value source = op.getSource(), dest = op.getDest(), padding = op.getPaddingValue();
  int64_t rank = op.getSourceRank();
  SmallVector<TiledDim> tiles = findTiles(b, op, dest, rank);
  SmallVector<Value> sizes;
  for (const TiledDim &tiled : tiles) {
    sizes.push_back(tensor::DimOp::create(b, loc, source, tiled.dim));
    if (!padding)
      cf::AssertOp::create(b, loc,
                           compareWithTiles(b, loc, arith::CmpIPredicate::eq, sizes.back(),
                                            dest, tiled),
                           "linalg.pack: tiles are not full, and there is no padding value");
  }
  auto type = cast<RankedTensorType>(dest.getType());
  return createComputed(
      b, loc, type, tensor::createDynamicDimValues(b, loc, dest),
      [&](OpBuilder &inner, ValueRange packed) -> Value {
        SmallVector<Value> place = untiled(packed, op.getOuterDimsPerm(), rank);
        Value inside;
        for (auto [tiled, size] : llvm::zip_equal(tiles, sizes)) {
          Value first = arith::MulIOp::create(inner, loc, packed[tiled.outer], tiled.tile);
          place[tiled.dim] = arith::AddIOp::create(inner, loc, first, packed[tiled.inner]);
          Value fits = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt,
                                             place[tiled.dim], size);
          inside = inside ? arith::AndIOp::create(inner, loc, inside, fits).getResult() : fits;
        }
        if (!padding)
          return tensor::ExtractOp::create(inner, loc, source, place);
        auto branch = scf::IfOp::create(inner, loc, type.getElementType(), inside,
                                        /*withElseRegion=*/true);
        OpBuilder then = branch.getThenBodyBuilder(), other = branch.getElseBodyBuilder();
        Value element = tensor::ExtractOp::create(then, loc, source, place);
        scf::YieldOp::create(then, loc, element);
        scf::YieldOp::create(other, loc, padding);
        return branch.getResult(0);
      });
}

Value tilewright::computeUnpack(OpBuilder &b, linalg::UnPackOp op) {
  Location loc = op.getLoc();
  Value source = op.getSource(), dest = op.getDest();
  auto type = cast<RankedTensorType>(dest.getType());
  int64_t rank = type.getRank();
  SmallVector<TiledDim> tiles = findTiles(b, op, source, rank);
  for (const TiledDim &tiled : tiles) {
    Value size = tensor::DimOp::create(b, loc, dest, tiled.dim);
    cf::AssertOp::create(
        b, loc, compareWithTiles(b, loc, arith::CmpIPredicate::sle, size, source, tiled),
        "linalg.unpack: the result has more elements than the tiles");
  }
  return createComputed(
      b, loc, type, tensor::createDynamicDimValues(b, loc, dest),
      [&](OpBuilder &inner, ValueRange unpacked) -> Value {
        SmallVector<Value> place(op.getSourceRank());
        for (int64_t dim = 0; dim < rank; ++dim)
          place[outerPosition(op.getOuterDimsPerm(), dim)] = unpacked[dim];
        for (const TiledDim &tiled : tiles) {
          place[tiled.outer] =
              arith::DivUIOp::create(inner, loc, unpacked[tiled.dim], tiled.tile);
          place[tiled.inner] =
              arith::RemUIOp::create(inner, loc, unpacked[tiled.dim], tiled.tile);
        }
        return tensor::ExtractOp::create(inner, loc, source, place);
      });
}

static LogicalResult decomposePack(RewriterBase &b, linalg::PackOp op) {
  if (!op.hasPureTensorSemantics())
    return op.emitOpError("works on memrefs; pack tensors");
  b.setInsertionPoint(op);
  if (hasDynamicTiles(op)) {
    b.replaceOp(op, computePack(b, op));
    return success();
  }
  Location loc = op.getLoc();
  Value source = op.getSource();
  auto type = cast<RankedTensorType>(source.getType());
  auto packed = cast<RankedTensorType>(op.getDest().getType());
  int64_t rank = type.getRank();

  SmallVector<AffineExpr> reads;
  SmallVector<OpFoldResult> none(rank, b.getIndexAttr(0)), high(none);
  SmallVector<int64_t> paddedShape(type.getShape());
  for (int64_t dim = 0; dim < rank; ++dim)
    reads.push_back(
        b.getAffineDimExpr(outerPosition(op.getOuterDimsPerm(), dim)));
  bool isPadded = false;
  for (auto [number, dim, tile] :
       llvm::enumerate(op.getInnerDimsPos(), op.getStaticInnerTiles())) {
    int64_t outer = outerPosition(op.getOuterDimsPerm(), dim);
    reads[dim] = reads[dim] * tile + b.getAffineDimExpr(rank + number);
    if (!op.getPaddingValue())
      continue;
    OpFoldResult tiles = tensor::getMixedSize(b, loc, op.getDest(), outer);
    OpFoldResult size = tensor::getMixedSize(b, loc, source, dim);
    high[dim] = affine::makeComposedFoldedAffineApply(
        b, loc, b.getAffineSymbolExpr(0) * tile - b.getAffineSymbolExpr(1),
        {tiles, size});
    paddedShape[dim] = packed.isDynamicDim(outer)
                           ? ShapedType::kDynamic
                           : packed.getDimSize(outer) * tile;
    isPadded |= !isConstantIntValue(high[dim], 0);
  }
  if (isPadded)
    source = tensor::PadOp::create(b, loc, type.clone(paddedShape), source,
                                   none, high, op.getPaddingValue());
  SmallVector<AffineMap> maps{
      AffineMap::get(packed.getRank(), 0, reads, b.getContext()),
      b.getMultiDimIdentityMap(packed.getRank())};
  SmallVector<utils::IteratorType> loops(packed.getRank(),
                                         utils::IteratorType::parallel);
  auto move = linalg::GenericOp::create(
      b, loc, packed, source, op.getDest(), maps, loops,
      [](OpBuilder &inner, Location at, ValueRange arguments) {
        linalg::YieldOp::create(inner, at, arguments[0]);
      });
  b.replaceOp(op, move);
  return success();
}

static LogicalResult decomposeUnpack(RewriterBase &b, linalg::UnPackOp op) {
  if (!op.hasPureTensorSemantics())
    return op.emitOpError("works on memrefs; unpack tensors");
  Operation *operation = op;
  b.setInsertionPoint(op);
  if (hasDynamicTiles(op)) {
    b.replaceOp(op, computeUnpack(b, op));
    return success();
  }
  if (failed(linalg::lowerUnPack(b, op)))
    return operation->emitOpError("has no form of transpose, reshape and "
                                  "slice; write it as linalg.generic");
  return success();
}

//===----------------------------------------------------------------------===//
// Computed elements
//===----------------------------------------------------------------------===//

static LogicalResult decomposeGenerate(RewriterBase &b, tensor::GenerateOp op) {
  b.setInsertionPoint(op);
  b.replaceOp(
      op, createComputed(b, op.getLoc(), cast<RankedTensorType>(op.getType()),
                         op.getDynamicExtents(),
                         [&](OpBuilder &inner, ValueRange coordinates) {
                           return inlineBody(inner, *op.getBody().begin(),
                                             coordinates);
                         }));
  return success();
}

/// A pad whose values depend on where they are: all of them computed, then the
/// source put into its place. One value for all stays (Padding.h).
static LogicalResult decomposePad(RewriterBase &b, tensor::PadOp op) {
  if (op.getConstantPaddingValue())
    return success();
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(b, op, shapes)))
    return op.emitOpError("has no known shape");
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  dispatchIndexOpFoldResults(shapes.front(), sizes, shape);
  RankedTensorType type = op.getType();
  Value whole =
      createComputed(b, loc, type.clone(shape), sizes,
                     [&](OpBuilder &inner, ValueRange coordinates) {
                       return inlineBody(inner, *op.getBody(), coordinates);
                     });
  SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1));
  whole = tensor::InsertSliceOp::create(
      b, loc, op.getSource(), whole, op.getMixedLowPad(),
      tensor::getMixedSizes(b, loc, op.getSource()), ones);
  if (whole.getType() != type)
    whole = tensor::CastOp::create(b, loc, type, whole);
  b.replaceOp(op, whole);
  return success();
}

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

/// Size `dim` of a reshape as its operand says.
static Value readSize(OpBuilder &b, Location loc, Value shape, int64_t dim) {
  Value at = arith::ConstantIndexOp::create(b, loc, dim);
  Value size = tensor::ExtractOp::create(b, loc, shape, at);
  if (!size.getType().isIndex())
    size = arith::IndexCastOp::create(b, loc, b.getIndexType(), size);
  return size;
}

static Value product(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes) {
  Value result = arith::ConstantIndexOp::create(b, loc, 1);
  for (OpFoldResult size : sizes)
    result = b.createOrFold<arith::MulIOp>(
        loc, result, getValueOrCreateConstantIndexOp(b, loc, size));
  return result;
}

static LogicalResult decomposeReshape(RewriterBase &b, tensor::ReshapeOp op) {
  auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto type = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!source || !type)
    return op.emitOpError(
        "makes or takes a tensor of no known rank; only ranked "
        "types are compiled");
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    sizes.push_back(ShapedType::isDynamic(size)
                        ? OpFoldResult(readSize(b, loc, op.getShape(), dim))
                        : b.getIndexAttr(size));
  SmallVector<OpFoldResult> from =
      tensor::getMixedSizes(b, loc, op.getSource());
  if (!source.hasStaticShape() || !type.hasStaticShape()) {
    Value same =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                              product(b, loc, from), product(b, loc, sizes));
    cf::AssertOp::create(
        b, loc, same,
        "tensor.reshape: the new shape has another number of elements");
  }
  // Through one dim; dims of unknown size may become dims of size one.
  auto groupAll = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups(1);
    llvm::append_range(groups[0], llvm::seq<int64_t>(0, rank));
    return groups;
  };
  Value flat = op.getSource();
  if (source.getRank() == 0)
    flat = tensor::ExpandShapeOp::create(
        b, loc, source.clone({1}), flat, ArrayRef<ReassociationIndices>(),
        ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  else if (source.getRank() > 1)
    flat = tensor::CollapseShapeOp::create(b, loc, flat,
                                           groupAll(source.getRank()));
  int64_t elements =
      type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic;
  if (cast<RankedTensorType>(flat.getType()).getDimSize(0) != elements)
    flat = tensor::CastOp::create(b, loc, type.clone({elements}), flat);
  if (type.getRank() == 0)
    flat = tensor::CollapseShapeOp::create(b, loc, type, flat,
                                           ArrayRef<ReassociationIndices>());
  else if (type.getRank() > 1)
    flat = tensor::ExpandShapeOp::create(b, loc, type, flat,
                                         groupAll(type.getRank()), sizes);
  b.replaceOp(op, flat);
  return success();
}

template <typename... Ops> static bool isOneOf(OperationName name) {
  return ((name.getTypeID() == TypeID::get<Ops>()) || ...);
}

static bool isDecomposedHere(OperationName name) {
  return isOneOf<linalg::PackOp, linalg::UnPackOp, tensor::GenerateOp,
                 tensor::PadOp, tensor::ReshapeOp>(name);
}

/// The others are Generalize.cpp's, and those of the stage `input`.
bool tilewright::isDecomposed(OperationName name) {
  return isDecomposedHere(name) ||
         isOneOf<linalg::SoftmaxOp, tensor::ConcatOp, tensor::SplatOp,
                 tensor::GatherOp, tensor::ScatterOp>(name);
}

LogicalResult tilewright::decomposeTensorOps(func::FuncOp func) {
  IRRewriter rewriter(func.getContext());
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isDecomposedHere(op->getName()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    LogicalResult result = success();
    if (auto pack = dyn_cast<linalg::PackOp>(op))
      result = decomposePack(rewriter, pack);
    else if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
      result = decomposeUnpack(rewriter, unpack);
    else if (auto generate = dyn_cast<tensor::GenerateOp>(op))
      result = decomposeGenerate(rewriter, generate);
    else if (auto pad = dyn_cast<tensor::PadOp>(op))
      result = decomposePad(rewriter, pad);
    else
      result = decomposeReshape(rewriter, cast<tensor::ReshapeOp>(op));
    if (failed(result))
      return failure();
  }
  return success();
}

namespace {
struct DecomposeTensorOpsPass
    : public tilewright::impl::DecomposeTensorOpsPassBase<
          DecomposeTensorOpsPass> {
  void runOnOperation() override {
    if (failed(decomposeTensorOps(getOperation())))
      signalPassFailure();
  }
};
} // namespace
