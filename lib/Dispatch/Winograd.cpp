// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of 3 x 3 windows by Winograd's F(2 x 2, 3 x 3), 16 products where there
// are 36, in programs that allow it (`winograd` of tilewright.fp):
//
//   %w = tilewright.im2col %x[] {map = (y, i, x, j, c) -> (y + i, x + j, c)}
//   %r = linalg.generic <(y,x,f,i,j,c)->(y,i,x,j,c), (i,j,c,f), (y,x,f)> ins(%w, %g)
// becomes
//   %u = generic <(a,b,c,f,i,j)>         G g G^T, at load where %g is known then
//   %v = generic <(a,b,y,x,c,i,j)>       B^T d B of tiles of 4 x 4, two apart
//   %m = generic <(a,b,y,x,f,c)>         16 products of matrices
//   %t = generic <(y,u,x,v,f,a,b)>       A^T m A
//   %r = tensor.collapse_shape %t        y and u, x and v are one dim
//
// Each transform is one product with a constant matrix, both sides in one sum.

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Support/Refusal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_WINOGRADPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Fewer channels or filters than that, and transforms cost more than products save.
static constexpr int64_t kLeastChannels = 16;
/// Fewer tiles than that, and so does the transform of filters in each call.
static constexpr int64_t kLeastTiles = 64;

/// The transforms of F(2, 3), row by row, with the points 0, -1, 1 and infinity.
static constexpr double kFilter[] = {-1, 0, 0, .5, -.5, .5, .5, .5, .5, 0, 0, 1};
static constexpr double kImage[] = {-1, 0, 1, 0, 0, -1, 1, 0, 0, 1, 1, 0, 0, -1, 0, 1};
static constexpr double kResult[] = {1, 1, 1, 0, 0, -1, 1, 1};

namespace {
using LoopList = SmallVector<unsigned>;

/// A convolution by its loops.
struct Convolution {
  linalg::GenericOp op;
  unsigned image = 0, filter = 1; // inputs
  Im2colOp windows;
  /// Dims of the image that windows move along, and the loops over windows and inside.
  unsigned dims[2], places[2], inside[2];
  LoopList batch, channels, filters;
  SmallVector<int64_t> extents;
};
} // namespace

/// Whether the input `number` is windows that move along dims; where they are fits.
static bool findWindows(Convolution &conv, unsigned number) {
  conv.windows = conv.op.getDpsInputs()[number].getDefiningOp<Im2colOp>();
  return conv.windows &&
         llvm::any_of(llvm::seq<unsigned>(conv.windows.getSourceType().getRank()),
                      [&](unsigned dim) {
                        return llvm::count_if(conv.windows.getSteps(dim),
                                              [](int64_t step) { return step; }) > 1;
                      });
}

/// The loops of windows of 3 x 3 with steps of one.
static bool matchWindows(Convolution &conv, ArrayRef<utils::IteratorType> kinds) {
  AffineMap map = conv.op.getMatchingIndexingMap(conv.op.getDpsInputOperand(conv.image));
  unsigned found = 0;
  for (unsigned dim = 0; dim < conv.windows.getSourceType().getRank(); ++dim) {
    LoopList moving;
    for (auto [position, step] : llvm::enumerate(conv.windows.getSteps(dim))) {
      if (step > 1)
        return false;
      if (step)
        moving.push_back(map.getDimPosition(position));
    }
    if (moving.size() == 1)
      continue;
    if (moving.size() != 2 || found == 2)
      return false;
    if (kinds[moving[0]] == utils::IteratorType::reduction)
      std::swap(moving[0], moving[1]);
    if (kinds[moving[0]] == utils::IteratorType::reduction ||
        kinds[moving[1]] != utils::IteratorType::reduction || conv.extents[moving[1]] != 3)
      return false;
    conv.dims[found] = dim;
    conv.places[found] = moving[0];
    conv.inside[found++] = moving[1];
  }
  return found == 2;
}

/// The convolution that `op` is, or why it is computed as ever; of kind Unrelated where it is
/// none.
static OrRefusal<Convolution> matchConvolution(linalg::GenericOp op) {
  std::optional<Contraction> product = matchProduct(op);
  Convolution conv;
  conv.op = op;
  if (!product || !op.hasPureTensorSemantics())
    return refuse(Refused::Unrelated, "");
  if (!findWindows(conv, product->a)) {
    std::swap(product->a, product->b);
    std::swap(product->m, product->n);
    if (!findWindows(conv, product->a))
      return refuse(Refused::Unrelated, "");
  }
  conv.image = product->a, conv.filter = product->b;
  conv.extents = op.getStaticLoopRanges();
  for (Value operand : op->getOperands())
    if (!getElementTypeOrSelf(operand.getType()).isF32())
      return refuse(Refused::Types, "it is not of f32");
  if (op->hasAttr(kConfigAttr))
    return refuse(Refused::Pinned, "a lowering config is pinned on it");
  if (llvm::any_of(conv.extents, ShapedType::isDynamic))
    return refuse(Refused::DynamicExtents, "its sizes are not static");
  if (!matchWindows(conv, op.getIteratorTypesArray()))
    return refuse(Refused::Extents, "its windows are not 3 x 3 with steps of one");
  if (!product->batch.empty())
    return refuse(Refused::NotContraction, "its filters are in groups");
  auto others = [](ArrayRef<unsigned> loops, ArrayRef<unsigned> without) {
    return LoopList(llvm::make_filter_range(
        loops, [&](unsigned loop) { return !llvm::is_contained(without, loop); }));
  };
  conv.batch = others(product->m, conv.places);
  conv.channels = others(product->k, conv.inside);
  conv.filters = product->n;
  auto count = [&](ArrayRef<unsigned> loops) {
    int64_t result = 1;
    for (unsigned loop : loops)
      result *= conv.extents[loop];
    return result;
  };
  if (conv.extents[conv.places[0]] % 2 || conv.extents[conv.places[1]] % 2)
    return refuse(Refused::Extents, "rows or columns of its result are odd");
  if (count(conv.channels) < kLeastChannels || count(conv.filters) < kLeastChannels)
    return refuse(Refused::NotProfitable,
                  "it has fewer than " + Twine(kLeastChannels) + " channels or filters");
  AffineMap image = op.getMatchingIndexingMap(op.getDpsInputOperand(conv.image));
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto isLast = [](AffineMap map, ArrayRef<unsigned> loops) {
    return llvm::is_contained(loops, map.getDimPosition(map.getNumResults() - 1));
  };
  if (!isLast(image, conv.channels) || !isLast(result, conv.filters))
    return refuse(Refused::Layout, "channels are not innermost in its image and its result");
  int64_t tiles = count(conv.batch) * count(conv.places) / 4;
  if (tiles < kLeastTiles && !isLoaded(op.getDpsInputs()[conv.filter]))
    return refuse(Refused::NotProfitable, "its filters are no constants, and it has fewer than " +
                                              Twine(kLeastTiles) +
                                              " tiles of 2 x 2 to transform them for");
  return conv;
}

namespace {
/// Writes the four ops. Loops have names: those of the convolution, and new ones.
class Writer {
public:
  Writer(RewriterBase &b, Convolution &conv)
      : b(b), conv(conv), loc(conv.op.getLoc()), extents(conv.extents) {
    auto add = [&](int64_t extent) {
      extents.push_back(extent);
      return unsigned(extents.size() - 1);
    };
    for (unsigned side : {0, 1}) {
      rows[side] = add(4);  // of a transformed tile
      within[side] = add(4); // of a tile of the image
      tile[side] = add(extents[conv.places[side]] / 2);
      part[side] = add(2); // of a tile of the result
    }
  }

  tensor::CollapseShapeOp write() {
    b.setInsertionPoint(conv.op);
    LoopList weights = join({{rows[0], rows[1]}, conv.channels, conv.filters});
    LoopList image = join({{rows[0], rows[1]}, conv.batch, {tile[0], tile[1]}, conv.channels});
    LoopList products = join({{rows[0], rows[1]}, conv.batch, {tile[0], tile[1]}, conv.filters});

    Value filter = conv.op.getDpsInputs()[conv.filter];
    LoopList filterLoops = loopsOf(conv.op.getDpsInputOperand(conv.filter));
    Value u = multiply(matrix(kFilter, 4, 3), {rows[0], rows[1], conv.inside[0], conv.inside[1]},
                       filter, filterLoops, zeros(weights), weights);
    if (isLoaded(filter))
      u.getDefiningOp()->setAttr(kAtLoadAttr, b.getUnitAttr());
    auto [windows, windowLoops] = readTiles();
    Value v = multiply(matrix(kImage, 4, 4), {rows[0], rows[1], within[0], within[1]}, windows,
                       windowLoops, zeros(image), image);
    Value m = multiply(v, image, u, weights, zeros(products), products);
    return writeResult(m, products);
  }

private:
  static LoopList join(ArrayRef<LoopList> parts) {
    LoopList result;
    for (const LoopList &loops : parts)
      llvm::append_range(result, loops);
    return result;
  }

  LoopList loopsOf(OpOperand *operand) {
    LoopList loops;
    for (AffineExpr expr : conv.op.getMatchingIndexingMap(operand).getResults())
      loops.push_back(cast<AffineDimExpr>(expr).getPosition());
    return loops;
  }

  SmallVector<int64_t> shapeOf(ArrayRef<unsigned> loops) {
    return llvm::map_to_vector(loops, [&](unsigned loop) { return extents[loop]; });
  }

  Value zeros(ArrayRef<unsigned> loops) {
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    Value empty = tensor::EmptyOp::create(b, loc, shapeOf(loops), b.getF32Type());
    return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  }

  /// k[a, b, i, j] = L[a, i] * L[b, j].
  Value matrix(ArrayRef<double> side, int64_t rowCount, int64_t columns) {
    SmallVector<float> values;
    for (int64_t row = 0; row < rowCount; ++row)
      for (int64_t column = 0; column < rowCount; ++column)
        for (int64_t i = 0; i < columns; ++i)
          for (int64_t j = 0; j < columns; ++j)
            values.push_back(float(side[row * columns + i] * side[column * columns + j]));
    auto type = RankedTensorType::get({rowCount, rowCount, columns, columns}, b.getF32Type());
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(type, ArrayRef<float>(values)));
  }

  /// init + the sum of x * y over the loops that the result does not have.
  Value multiply(Value x, ArrayRef<unsigned> xLoops, Value y, ArrayRef<unsigned> yLoops,
                 Value init, ArrayRef<unsigned> result) {
    LoopList order(result);
    for (ArrayRef<unsigned> loops : {xLoops, yLoops})
      for (unsigned loop : loops)
        if (!llvm::is_contained(order, loop))
          order.push_back(loop);
    auto map = [&](ArrayRef<unsigned> loops) {
      SmallVector<AffineExpr> exprs;
      for (unsigned loop : loops)
        exprs.push_back(b.getAffineDimExpr(llvm::find(order, loop) - order.begin()));
      return AffineMap::get(order.size(), 0, exprs, b.getContext());
    };
    SmallVector<utils::IteratorType> kinds(result.size(), utils::IteratorType::parallel);
    kinds.resize(order.size(), utils::IteratorType::reduction);
    auto made = linalg::GenericOp::create(
        b, loc, init.getType(), ValueRange{x, y}, init,
        ArrayRef<AffineMap>{map(xLoops), map(yLoops), map(result)}, kinds,
        [](OpBuilder &body, Location at, ValueRange arguments) {
          Value term = arith::MulFOp::create(body, at, arguments[0], arguments[1]);
          Value sum = arith::AddFOp::create(body, at, arguments[2], term);
          linalg::YieldOp::create(body, at, sum);
        });
    return made.getResult(0);
  }

  /// The image's tiles of 4 x 4, two apart, as a view, and its loops.
  std::pair<Value, LoopList> readTiles() {
    AffineMap map = conv.op.getMatchingIndexingMap(conv.op.getDpsInputOperand(conv.image));
    LoopList loops;
    SmallVector<AffineExpr> exprs;
    for (unsigned dim = 0; dim < conv.windows.getSourceType().getRank(); ++dim) {
      AffineExpr next = b.getAffineDimExpr(loops.size());
      const unsigned *side = llvm::find(conv.dims, dim);
      if (side != std::end(conv.dims)) {
        unsigned number = side - std::begin(conv.dims);
        loops.append({tile[number], within[number]});
        exprs.push_back(next * 2 + b.getAffineDimExpr(loops.size() - 1));
        continue;
      }
      SmallVector<int64_t> steps = conv.windows.getSteps(dim);
      loops.push_back(map.getDimPosition(llvm::find(steps, 1) - steps.begin()));
      exprs.push_back(next);
    }
    auto type = RankedTensorType::get(shapeOf(loops), b.getF32Type());
    auto view = Im2colOp::create(
        b, loc, type, conv.windows.getSource(), ValueRange(),
        AffineMapAttr::get(AffineMap::get(loops.size(), 0, exprs, b.getContext())));
    return {view, loops};
  }

  tensor::CollapseShapeOp writeResult(Value products, ArrayRef<unsigned> productLoops) {
    LoopList loops;
    SmallVector<ReassociationIndices> joined;
    for (unsigned loop : loopsOf(conv.op.getDpsInitOperand(0))) {
      joined.push_back({int64_t(loops.size())});
      const unsigned *side = llvm::find(conv.places, loop);
      if (side == std::end(conv.places)) {
        loops.push_back(loop);
        continue;
      }
      unsigned number = side - std::begin(conv.places);
      loops.append({tile[number], part[number]});
      joined.back().push_back(loops.size() - 1);
    }
    auto type = RankedTensorType::get(shapeOf(loops), b.getF32Type());
    Value init = conv.op.getDpsInitOperand(0)->get();
    if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
      Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), b.getF32Type());
      init = linalg::FillOp::create(b, loc, fill.getInputs(), empty).getResult(0);
    } else {
      init = tensor::ExpandShapeOp::create(b, loc, type, init, joined);
    }
    Value sum = multiply(matrix(kResult, 2, 4), {part[0], part[1], rows[0], rows[1]}, products,
                         productLoops, init, loops);
    return b.replaceOpWithNewOp<tensor::CollapseShapeOp>(
        conv.op, conv.op.getResult(0).getType(), sum, joined);
  }

  RewriterBase &b;
  Convolution &conv;
  Location loc;
  SmallVector<int64_t> extents;
  unsigned rows[2], within[2], tile[2], part[2];
};
} // namespace

static bool allowsWinograd(func::FuncOp func) {
  auto program = func->getParentOfType<ModuleOp>();
  auto fp = program ? program->getAttrOfType<ArrayAttr>(kFpAttr) : ArrayAttr();
  return fp && llvm::is_contained(fp, StringAttr::get(func.getContext(), "winograd"));
}

namespace {
struct WinogradPass : tilewright::impl::WinogradPassBase<WinogradPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    TargetAttr target = getTarget(func);
    if (func.isExternal() || isKernel(func) || !allowsWinograd(func) || !target ||
        !target.getFact("dispatch_vector_bytes", 0))
      return;
    IRRewriter rewriter(&getContext());
    llvm::SmallPtrSet<Operation *, 8> written;
    SmallVector<linalg::GenericOp> ops;
    func.walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      OrRefusal<Convolution> conv = matchConvolution(op);
      if (!conv && conv.why().getKind() == Refused::Unrelated)
        continue;
      std::string name = nameOpAndLine(op);
      addExplanation(func,
                     conv ? name + " is computed by Winograd's F(2 x 2, 3 x 3)"
                          : name + " is not computed by Winograd's method: " + conv.why().str());
      if (conv)
        written.insert(Writer(rewriter, *conv).write());
    }
    // Elementwise ops on the result take its dims, too, and are in its kernel.
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [&](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
      return consumer && !consumer.getNumReductionLoops() && !consumer->hasAttr(kConfigAttr) &&
             written.contains(operand->get().getDefiningOp());
    });
    if (!written.empty() &&
        failed(applyPatternsBounded(func, std::move(patterns), "dispatch",
                                    "splitting of results of convolutions into tiles")))
      signalPassFailure();
  }
};
} // namespace
