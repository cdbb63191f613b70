// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The transforms of Winograd convolutions, linalg.winograd_{filter,input,output}_transform,
// as products with a constant matrix. Both sides of L d L^T are one sum:
//
//   %v = linalg.winograd_input_transform fmr(F_2_3) ins(%x : tensor<1x10x10x5xf32>) …
// becomes
//   %v = linalg.generic <(a,b,ty,tx,n,c,i,j)->(a,b,i,j), (n, 2*ty+i, 2*tx+j, c),
//        (a,b,ty,tx,n,c)> ins(%k, %x)            // %k[a,b,i,j] = L[a,i] * L[b,j]
//
// What L is upstream knows alone: it decomposes a transform of one tile, whose constants
// are read. Upstream's own form of whole ops is a loop over tiles and channels.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DECOMPOSEWINOGRADPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

namespace {
/// L of one side, row by row, and what its results are multiplied with.
struct Side {
  SmallVector<double> values = {1};
  int64_t rows = 1, columns = 1;
  double scale = 1;
};
} // namespace

static double toDouble(const APFloat &value) {
  APFloat wide(value);
  bool lost;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return wide.convertToDouble();
}

/// What upstream multiplies the rows of one tile with, of an op like `op` (`source` and
/// `result` are the types of a tile that has one side), or nothing where it refuses.
template <typename Op, typename Decompose>
static std::optional<Side> findSide(Op op, ArrayRef<int64_t> source,
                                    ArrayRef<int64_t> result, Decompose decompose) {
  MLIRContext *context = op.getContext();
  Location loc = op.getLoc();
  Type element = getElementTypeOrSelf(op.getResult().getType());
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(loc);
  IRRewriter b(context);
  b.setInsertionPointToStart(scratch->getBody());
  Type types[] = {RankedTensorType::get(source, element),
                  RankedTensorType::get(result, element)};
  auto func = func::FuncOp::create(b, loc, "tile", b.getFunctionType(types, types[1]));
  b.setInsertionPointToStart(func.addEntryBlock());
  auto tile = Op::create(b, loc, types[1], func.getArgument(0), func.getArgument(1),
                         op.getFmr());
  func::ReturnOp::create(b, loc, tile->getResults());
  b.setInsertionPoint(tile);
  if (failed(decompose(b, tile)))
    return std::nullopt;
  Side side;
  DenseElementsAttr matrix;
  scratch->walk([&](linalg::MatmulOp product) {
    matchPattern(product.getInputs()[0], m_Constant(&matrix));
  });
  if (!matrix || matrix.getType().getRank() != 2)
    return std::nullopt;
  side.rows = matrix.getType().getDimSize(0);
  side.columns = matrix.getType().getDimSize(1);
  side.values.clear();
  for (const APFloat &value : matrix.getValues<APFloat>())
    side.values.push_back(toDouble(value));
  scratch->walk([&](linalg::GenericOp scaling) {
    FloatAttr factor;
    if (matchPattern(scaling.getInputs()[0], m_Constant(&factor)))
      side.scale = toDouble(factor.getValue());
  });
  return side;
}

/// k[a, b, i, j] = L[a, i] * R[b, j] as a constant.
static Value makeMatrix(OpBuilder &b, Location loc, Type element, const Side &left,
                        const Side &right) {
  SmallVector<Attribute> values;
  for (int64_t row = 0; row < left.rows; ++row)
    for (int64_t column = 0; column < right.rows; ++column)
      for (int64_t i = 0; i < left.columns; ++i)
        for (int64_t j = 0; j < right.columns; ++j)
          values.push_back(b.getFloatAttr(
              element, left.scale * right.scale * left.values[row * left.columns + i] *
                           right.values[column * right.columns + j]));
  auto type = RankedTensorType::get({left.rows, right.rows, left.columns, right.columns},
                                    element);
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, values));
}

/// init + the sum over the last two loops of `matrix` times `source`.
static Value multiply(OpBuilder &b, Location loc, Value matrix, Value source, Value init,
                      ArrayRef<AffineMap> maps) {
  SmallVector<utils::IteratorType> loops(maps[0].getNumDims() - 2,
                                         utils::IteratorType::parallel);
  loops.append(2, utils::IteratorType::reduction);
  auto product = linalg::GenericOp::create(
      b, loc, init.getType(), ValueRange{matrix, source}, init, maps, loops,
      [](OpBuilder &body, Location at, ValueRange arguments) {
        Value term = arith::MulFOp::create(body, at, arguments[0], arguments[1]);
        Value sum = arith::AddFOp::create(body, at, arguments[2], term);
        linalg::YieldOp::create(body, at, sum);
      });
  return product.getResult(0);
}

static Value zeros(OpBuilder &b, Location loc, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Value zero = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(tensor.getElementType())));
  Value empty =
      tensor::EmptyOp::create(b, loc, tensor.getShape(), tensor.getElementType());
  return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
}

static bool isSupported(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && isa<FloatType>(tensor.getElementType()) &&
           tensor.getElementTypeBitWidth() >= 16;
  });
}

static LogicalResult refuse(Operation *op) {
  return op->emitOpError("is compiled for static shapes, of f16, bf16, f32 and f64, and the "
                         "tiles that upstream decomposes; write the convolution, or its "
                         "transforms by linalg.generic");
}

static LogicalResult decompose(RewriterBase &b, linalg::WinogradFilterTransformOp op) {
  auto [m, r] = linalg::getFmrFromWinogradConv2DFmr(op.getFmr());
  int64_t alpha = m + r - 1;
  std::optional<Side> side;
  if (isSupported(op))
    side = findSide(op, {1, r, 1, 1}, {alpha, 1, 1, 1},
                    linalg::decomposeWinogradFilterTransformOp);
  if (!side)
    return refuse(op);
  ShapedType filter = op.getFilterOperandType();
  Side left = filter.getDimSize(op.getFilterHDim()) == 1 ? Side() : *side;
  Side right = filter.getDimSize(op.getFilterWDim()) == 1 ? Side() : *side;
  AffineExpr row, column, c, f, i, j;
  bindDims(op.getContext(), row, column, c, f, i, j);
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(6, 0, exprs, op.getContext());
  };
  Location loc = op.getLoc();
  Value matrix = makeMatrix(b, loc, filter.getElementType(), left, right);
  b.replaceOp(op, multiply(b, loc, matrix, op.getFilter(),
                           zeros(b, loc, op.getResult().getType()),
                           {map({row, column, i, j}), map({f, i, j, c}),
                            map({row, column, c, f})}));
  return success();
}

static LogicalResult decompose(RewriterBase &b, linalg::WinogradInputTransformOp op) {
  auto [m, r] = linalg::getFmrFromWinogradConv2DFmr(op.getFmr());
  int64_t alpha = m + r - 1;
  std::optional<Side> side;
  if (isSupported(op))
    side = findSide(op, {1, alpha, 1, 1}, {alpha, 1, 1, 1, 1, 1},
                    linalg::decomposeWinogradInputTransformOp);
  if (!side)
    return refuse(op);
  ShapedType result = op.getOutputOperandType();
  bool isFlat[] = {result.getDimSize(op.getOutputAlphaHDim()) == 1,
                   result.getDimSize(op.getOutputAlphaWDim()) == 1};
  Side left = isFlat[0] ? Side() : *side, right = isFlat[1] ? Side() : *side;
  AffineExpr row, column, y, x, n, c, i, j;
  bindDims(op.getContext(), row, column, y, x, n, c, i, j);
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(8, 0, exprs, op.getContext());
  };
  Location loc = op.getLoc();
  Value matrix = makeMatrix(b, loc, result.getElementType(), left, right);
  b.replaceOp(op, multiply(b, loc, matrix, op.getInput(),
                           zeros(b, loc, op.getResult().getType()),
                           {map({row, column, i, j}),
                            map({n, y * (isFlat[0] ? 1 : m) + i, x * (isFlat[1] ? 1 : m) + j, c}),
                            map({row, column, y, x, n, c})}));
  return success();
}

static LogicalResult decompose(RewriterBase &b, linalg::WinogradOutputTransformOp op) {
  auto [m, r] = linalg::getFmrFromWinogradConv2DFmr(op.getFmr());
  int64_t alpha = m + r - 1;
  std::optional<Side> side;
  if (isSupported(op))
    side = findSide(op, {alpha, 1, 1, 1, 1, 1}, {1, m, 1, 1},
                    linalg::decomposeWinogradOutputTransformOp);
  if (!side)
    return refuse(op);
  ShapedType values = op.getValueOperandType();
  auto type = cast<RankedTensorType>(op.getOutputOperandType());
  Side left = values.getDimSize(op.getValueAlphaHDim()) == 1 ? Side() : *side;
  Side right = values.getDimSize(op.getValueAlphaWDim()) == 1 ? Side() : *side;
  AffineExpr n, y, u, x, v, f, row, column;
  bindDims(op.getContext(), n, y, u, x, v, f, row, column);
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(8, 0, exprs, op.getContext());
  };
  // Rows of a tile lie between those of its neighbours: both are dims of their own.
  SmallVector<ReassociationIndices> joined = {{0}, {1, 2}, {3, 4}, {5}};
  RankedTensorType tiles = type.clone({type.getDimSize(0), type.getDimSize(1) / left.rows,
                                       left.rows, type.getDimSize(2) / right.rows,
                                       right.rows, type.getDimSize(3)});
  if (tiles.getNumElements() != type.getNumElements())
    return refuse(op);
  Location loc = op.getLoc();
  Value matrix = makeMatrix(b, loc, type.getElementType(), left, right);
  // Upstream adds to what is there.
  Value init = tensor::ExpandShapeOp::create(b, loc, tiles, op.getOutput(), joined);
  Value sum = multiply(b, loc, matrix, op.getValue(), init,
                       {map({u, v, row, column}), map({row, column, y, x, n, f}),
                        map({n, y, u, x, v, f})});
  b.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, type, sum, joined);
  return success();
}

namespace {
struct DecomposeWinogradPass
    : public tilewright::impl::DecomposeWinogradPassBase<DecomposeWinogradPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::WinogradFilterTransformOp, linalg::WinogradInputTransformOp,
              linalg::WinogradOutputTransformOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      LogicalResult done =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<linalg::WinogradFilterTransformOp, linalg::WinogradInputTransformOp,
                    linalg::WinogradOutputTransformOp>(
                  [&](auto transform) { return decompose(rewriter, transform); })
              .Default([](Operation *) { return failure(); });
      if (failed(done))
        return signalPassFailure();
    }
  }
};
} // namespace
