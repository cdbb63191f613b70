// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constant weights of products on CPUs are stored in strips of as many columns as a
// register tile has, when the program is loaded:
//
//   %w = tilewright.loaded @main.at_load[0] : tensor<512x2048xf32>
//   %r = linalg.generic <(m,n,k)->(m,k), (k,n), (m,n)> ins(%x, %w)
// becomes
//   %e = tensor.expand_shape %w : tensor<512x64x32xf32>
//   %p = linalg.generic <(g,k,n)->(k,g,n), (g,k,n)> ins(%e) {tilewright.at_load}
//   %s = linalg.generic <(m,g,n,k)->(m,k), (g,k,n), (m,g,n)> ins(%x, %p)
//   %r = tensor.collapse_shape %s : 49x64x32 to 49x2048
//
// A tile then reads its columns one after the other. As they are written, each row of a
// strip is in another page, and memory gives half as much. The result lies as before:
// what is done with its elements takes both loops, too.

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Weights up to this size stay in a second-level cache, however they lie.
static constexpr int64_t kKeptBytes = 256 * 1024;

/// Vectors that a register tile has in a row.
static constexpr int64_t kVectors = 2;

bool tilewright::isLoaded(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<LoadedOp>(op))
      return true;
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return !isa<SplatElementsAttr>(constant.getValue());
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) || !value.hasOneUse())
      return false;
    value = op->getOperand(0);
  }
  return false;
}

namespace {
struct Strips {
  Contraction product;
  unsigned dim;  // of the weights: the columns
  int64_t width; // columns in a strip
};
} // namespace

static std::optional<Strips> findStrips(linalg::GenericOp op, int64_t vectorBytes) {
  if (op->hasAttr(kAtLoadAttr)) // is computed once
    return std::nullopt;
  std::optional<Contraction> product = matchContractionByRows(op);
  if (!product || product->perElement != 1 || product->n.empty() || op->hasAttr(kConfigAttr) ||
      !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2)
    return std::nullopt;
  OpOperand &weights = op->getOpOperand(product->b);
  auto type = cast<RankedTensorType>(weights.get().getType());
  Type element = type.getElementType();
  // Narrower types are packed for instructions of their own, in every call.
  if (!element.isF32() && !element.isF64())
    return std::nullopt;
  auto hasType = [&](Value value) { return getElementTypeOrSelf(value.getType()) == element; };
  if (!llvm::all_of(op->getOperands(), hasType) || !type.hasStaticShape() ||
      !weights.get().hasOneUse() || !isLoaded(weights.get()))
    return std::nullopt;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t width = kVectors * vectorBytes / bytes;
  int64_t columns = extents[product->n.back()];
  if (columns % width || columns < 2 * width ||
      type.getNumElements() * bytes <= kKeptBytes)
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&weights);
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  std::optional<unsigned> dim =
      map.getResultPosition(getAffineDimExpr(product->n.back(), op.getContext()));
  if (!dim || !map.isProjectedPermutation() || !result.isProjectedPermutation() ||
      result.getDimPosition(result.getNumResults() - 1) != product->n.back())
    return std::nullopt;
  return Strips{*product, *dim, width};
}

/// Dim `dim` of a tensor of `rank` dims as two.
static SmallVector<ReassociationIndices> splitDim(int64_t rank, int64_t dim) {
  SmallVector<ReassociationIndices> result;
  for (int64_t d = 0, next = 0; d < rank; ++d) {
    result.push_back({next++});
    if (d == dim)
      result.back().push_back(next++);
  }
  return result;
}

static RankedTensorType splitType(RankedTensorType type, int64_t dim, int64_t width) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= width;
  shape.insert(shape.begin() + dim + 1, width);
  return type.clone(shape);
}

/// The weights as strips x what they had around the columns x columns of a strip.
static Value packStrips(OpBuilder &b, Location loc, Value weights, const Strips &strips) {
  auto type = cast<RankedTensorType>(weights.getType());
  RankedTensorType split = splitType(type, strips.dim, strips.width);
  Value expanded = tensor::ExpandShapeOp::create(b, loc, split, weights,
                                                 splitDim(type.getRank(), strips.dim));
  int64_t rank = split.getRank();
  SmallVector<int64_t> order{int64_t(strips.dim)};
  for (int64_t d = 0; d < rank; ++d)
    if (d != int64_t(strips.dim) && d != int64_t(strips.dim) + 1)
      order.push_back(d);
  order.push_back(strips.dim + 1);
  SmallVector<int64_t> shape = applyPermutation(split.getShape(), order);
  SmallVector<unsigned> reads(rank);
  for (auto [to, from] : llvm::enumerate(order))
    reads[from] = to;
  MLIRContext *context = b.getContext();
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  auto packed = linalg::GenericOp::create(
      b, loc, empty.getType(), expanded, empty,
      ArrayRef<AffineMap>{AffineMap::getPermutationMap(reads, context),
                          AffineMap::getMultiDimIdentityMap(rank, context)},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](OpBuilder &inside, Location at, ValueRange arguments) {
        linalg::YieldOp::create(inside, at, arguments.front());
      });
  packed->setAttr(kAtLoadAttr, b.getUnitAttr());
  return packed.getResult(0);
}

/// The product over strips and their columns, two loops where there was one.
static void rewrite(RewriterBase &rewriter, linalg::GenericOp op, const Strips &strips) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  unsigned columns = strips.product.n.back();
  MLIRContext *context = op.getContext();
  // The new loop stands behind that of the strips.
  SmallVector<AffineExpr> toNew;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    toNew.push_back(getAffineDimExpr(loop + (loop > columns), context));
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin() + columns, utils::IteratorType::parallel);
  auto widen = [&](AffineMap map) {
    return map.replaceDimsAndSymbols(toNew, {}, op.getNumLoops() + 1, 0);
  };
  auto withResults = [&](AffineMap map, ArrayRef<AffineExpr> results) {
    return AffineMap::get(map.getNumDims(), 0, results, context);
  };
  AffineExpr inner = getAffineDimExpr(columns + 1, context);
  SmallVector<Value> inputs(op.getDpsInputs());
  SmallVector<AffineMap> maps;
  for (AffineMap map : op.getIndexingMapsArray())
    maps.push_back(widen(map));
  AffineMap &weights = maps[strips.product.b];
  SmallVector<AffineExpr> read{getAffineDimExpr(columns, context)};
  for (auto [dim, expr] : llvm::enumerate(weights.getResults()))
    if (dim != strips.dim)
      read.push_back(expr);
  read.push_back(inner);
  weights = withResults(weights, read);
  inputs[strips.product.b] = packStrips(rewriter, loc, inputs[strips.product.b], strips);
  SmallVector<AffineExpr> written(maps.back().getResults());
  written.push_back(inner);
  maps.back() = withResults(maps.back(), written);

  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  int64_t last = type.getRank() - 1;
  SmallVector<ReassociationIndices> split = splitDim(type.getRank(), last);
  RankedTensorType wide = splitType(type, last, strips.width);
  Value init = op.getDpsInitOperand(0)->get();
  if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, fill.getOutputs()[0]);
    sizes.back() = rewriter.getIndexAttr(type.getDimSize(last) / strips.width);
    sizes.push_back(rewriter.getIndexAttr(strips.width));
    Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    init = linalg::FillOp::create(rewriter, loc, fill.getInputs(), empty).getResult(0);
  } else {
    init = tensor::ExpandShapeOp::create(rewriter, loc, wide, init, split);
  }
  auto made = linalg::GenericOp::create(rewriter, loc, wide, inputs, init, maps, iterators);
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(), made.getRegion().end());
  rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, type, made.getResult(0), split);
}

/// Whether `collapse` only joins the last two dims of what an op computes.
static bool joinsColumns(tensor::CollapseShapeOp collapse) {
  if (!collapse || !collapse.getSrc().getDefiningOp<linalg::GenericOp>())
    return false;
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  return groups.back().size() == 2 &&
         llvm::all_of(ArrayRef(groups).drop_back(),
                      [](const ReassociationIndices &group) { return group.size() == 1; });
}

/// Stores constant weights of products in strips, as wide as two vectors of
/// `vectorBytes`; true if there are any.
static bool packWeights(func::FuncOp func, int64_t vectorBytes) {
  IRRewriter rewriter(func.getContext());
  int64_t products = 0;
  for (auto op : llvm::to_vector(func.getBody().front().getOps<linalg::GenericOp>()))
    if (std::optional<Strips> strips = findStrips(op, vectorBytes)) {
      rewrite(rewriter, op, *strips);
      ++products;
    }
  if (products)
    addExplanation(func, "constant weights of " + Twine(products) +
                             (products == 1 ? " product" : " products") +
                             " are stored in strips of columns when the program is loaded");
  return products;
}

namespace {
struct PackWeightsPass : tilewright::impl::PackWeightsPassBase<PackWeightsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    TargetAttr target = getTarget(func);
    int64_t vectorBytes = target ? target.getFact("dispatch_vector_bytes", 0) : 0;
    if (!vectorBytes || func.isExternal() || isKernel(func) || func->hasAttr(kAtLoadAttr) ||
        !packWeights(func, vectorBytes))
      return;
    // Elementwise ops on the result take both loops, too.
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
      return consumer && !consumer.getNumReductionLoops() && !consumer->hasAttr(kConfigAttr) &&
             joinsColumns(operand->get().getDefiningOp<tensor::CollapseShapeOp>());
    });
    if (failed(applyPatternsBounded(func, std::move(patterns), "dispatch",
                                    "splitting of the columns of products")))
      signalPassFailure();
  }
};
} // namespace
