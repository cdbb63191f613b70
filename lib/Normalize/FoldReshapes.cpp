// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops between which a tensor has another shape run over the same loops, those of
// the shape with more dims:
//
//   %y = linalg.generic <(n, g, k)> ins(%x, %mean) …          // a norm of groups
//   %s = tensor.expand_shape %y into n x g x c x p
//   %t = tensor.collapse_shape %s into n x (g c) x p
//   %r = linalg.generic <(n, C, p)> ins(%t, %gain) …          // a gain of each channel
// becomes
//   %y = linalg.generic <(n, g, c, p)> ins(%x, %mean) …
//   %w = tensor.expand_shape %gain into g x c
//   %r = linalg.generic <(n, g, c, p)> ins(%y, %w) …
//   … tensor.collapse_shape %r
//
// and so are the reductions beside them that read what they read, so that all can be one kernel.
// A reshape by way of fewer dims, as front ends write one from n x (g x c x p) to n x (g x c) x p,
// goes by way of more first, and one with a dim of one element on the way goes without it.
//
// What is done to a product's result behind a reshape runs over the product's own loops, so that
// its kernel does it (an activation between two products of rows, batch x tokens of them).

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_FOLDRESHAPESPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// Not where a body computes with coordinates, which would be computed of more of them.
static bool mayHaveMoreLoops(linalg::GenericOp op) {
  return !op->hasAttr(kConfigAttr) && op.hasPureTensorSemantics() && !op.hasIndexSemantics();
}

/// Whether `op` only moves elements that its body finds (tilewright-read-rotations): then it is
/// computed by who reads it.
static bool movesByCoordinates(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && !op->hasAttr(kConfigAttr) &&
         op.getNumDpsInputs() == 0 && op.getNumResults() == 1 && op->hasOneUse() &&
         op.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
}

static bool isPointwise(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return generic && mayHaveMoreLoops(generic) && generic.getNumLoops() > 0 &&
         generic.getNumParallelLoops() == generic.getNumLoops();
}

/// A reduction of one tensor: no contraction.
static bool reducesOne(linalg::GenericOp op) {
  if (!mayHaveMoreLoops(op) || !op.getNumReductionLoops())
    return false;
  SmallVector<utils::IteratorType> loops = op.getIteratorTypesArray();
  auto isReduced = [&](OpOperand *input) {
    return llvm::any_of(op.getMatchingIndexingMap(input).getResults(), [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return !dim || loops[dim.getPosition()] == utils::IteratorType::reduction;
    });
  };
  return llvm::count_if(op.getDpsInputOperands(), isReduced) == 1;
}

/// Whether `op` can read what it reads with more dims.
static bool mayExpand(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && (isPointwise(generic) || reducesOne(generic));
}

/// Whether an elementwise op reads `value`, or what it is as another shape with fewer dims.
static bool isReadElementwise(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(user);
    return collapse ? llvm::any_of(collapse->getUsers(), isPointwise) : isPointwise(user);
  });
}

/// Whether `op` is computed element by element from sums of products, in whose kernel it may be.
static bool isEpilogue(Operation *op) {
  SetVector<Operation *> ops;
  ops.insert(op);
  for (size_t next = 0; next < ops.size(); ++next)
    for (Value value : ops[next]->getOperands()) {
      auto producer = value.getDefiningOp<linalg::LinalgOp>();
      if (producer && linalg::isaContractionOpInterface(producer))
        return true;
      if (isPointwise(producer))
        ops.insert(producer);
    }
  return false;
}

/// Whether the op that reads `operand`, what a product's kernel gives as a shape with more dims,
/// runs over the product's loops: all that it reads over its own is of that shape.
static bool shouldCollapse(OpOperand *operand) {
  auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
  auto op = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!expand || !op || !isPointwise(op))
    return false;
  auto source = expand.getSrc().getDefiningOp<linalg::LinalgOp>();
  if (!source || !(linalg::isaContractionOpInterface(source) ||
                   (isPointwise(source) && isEpilogue(source))))
    return false;
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    auto other = input->get().getDefiningOp<tensor::ExpandShapeOp>();
    return !type || type.getRank() <= 1 ||
           (other && other.getReassociation() == expand.getReassociation() &&
            op.getMatchingIndexingMap(input).isIdentity());
  });
}

/// Whether the op that writes or reads `operand`, on the other side of a reshape, gets the loops
/// of the shape with more dims.
static bool shouldExpand(OpOperand *operand) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner()))
    return isReadElementwise(expand.getResult()) &&
           (movesByCoordinates(operand->get().getDefiningOp<linalg::GenericOp>()) ||
            (isPointwise(operand->get().getDefiningOp()) &&
             !isEpilogue(operand->get().getDefiningOp()) &&
             llvm::all_of(operand->get().getUsers(), [&](Operation *user) {
               return user == expand || mayExpand(user);
             })));
  auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse || !mayExpand(operand->getOwner()))
    return false;
  Value source = collapse.getSrc();
  return isPointwise(source.getDefiningOp()) ||
         llvm::any_of(source.getUsers(), llvm::IsaPred<linalg::GenericOp>);
}

/// The dims between all of those that two shapes of the same elements have boundaries between:
/// 4 x 8 x 400 and 4 x 32 x 100 give 4 x 8 x 4 x 100. None where they do not divide each other.
static std::optional<SmallVector<int64_t>> refine(ArrayRef<int64_t> first,
                                                  ArrayRef<int64_t> second) {
  SmallVector<int64_t> bounds;
  for (ArrayRef<int64_t> shape : {first, second}) {
    int64_t bound = 1;
    for (int64_t size : shape) {
      if (ShapedType::isDynamic(size) || size < 2 || llvm::MulOverflow(bound, size, bound))
        return std::nullopt;
      bounds.push_back(bound);
    }
  }
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  SmallVector<int64_t> sizes;
  int64_t before = 1;
  for (int64_t bound : bounds) {
    if (bound % before)
      return std::nullopt;
    sizes.push_back(bound / before);
    before = bound;
  }
  return sizes;
}

/// Which dims of `fine` each dim of `coarse` has.
static SmallVector<ReassociationIndices> groupsOf(ArrayRef<int64_t> coarse,
                                                  ArrayRef<int64_t> fine) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (int64_t size : coarse) {
    groups.emplace_back();
    for (int64_t covered = 1; covered < size; ++next) {
      groups.back().push_back(next);
      covered *= fine[next];
    }
  }
  return groups;
}

namespace {
/// expand(collapse(x)), between ops of loops or in front of one, as collapse(expand(x)).
struct ReshapeByMoreDims : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto collapse = op.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
    if (!collapse || llvm::none_of(op->getUsers(), mayExpand))
      return failure();
    Value source = collapse.getSrc();
    auto structured = source.getDefiningOp<linalg::LinalgOp>();
    if (structured && !isPointwise(structured))
      return failure();
    ArrayRef<int64_t> from = collapse.getSrcType().getShape();
    ArrayRef<int64_t> to = op.getResultType().getShape();
    std::optional<SmallVector<int64_t>> fine = refine(from, to);
    if (!fine || ArrayRef<int64_t>(*fine) == from || ArrayRef<int64_t>(*fine) == to)
      return failure();
    auto type = RankedTensorType::get(*fine, op.getResultType().getElementType());
    Value more = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type, source,
                                               groupsOf(from, *fine));
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getResultType(), more,
                                                         groupsOf(to, *fine));
    return success();
  }
};
} // namespace

namespace {
/// collapse(expand(x)) by way of a dim of one element that both have beside others, without it:
///
///   x: ?x128 as ?x1x4x32 as ?x4x32, the 1 put into either of its neighbours
///
/// Then both spell the same shape in one way, of which readers can be one kernel.
struct DropUnitBetweenReshapes : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto expand = op.getSrc().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand)
      return failure();
    SmallVector<ReassociationIndices> before = expand.getReassociationIndices();
    SmallVector<ReassociationIndices> after = op.getReassociationIndices();
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    std::optional<int64_t> unit;
    for (int64_t dim = 0, rank = shape.size(); dim < rank && !unit; ++dim)
      if (shape[dim] == 1 && groupOf(before, dim)->size() > 1 && groupOf(after, dim)->size() > 1)
        unit = dim;
    if (!unit)
      return failure();
    SmallVector<int64_t> sizes(shape);
    SmallVector<OpFoldResult> outputs = expand.getMixedOutputShape();
    sizes.erase(sizes.begin() + *unit);
    outputs.erase(outputs.begin() + *unit);
    drop(before, *unit);
    drop(after, *unit);
    auto type = RankedTensorType::get(sizes, op.getSrcType().getElementType());
    Value fewer = expand.getSrc();
    if (type != fewer.getType())
      fewer = tensor::ExpandShapeOp::create(rewriter, expand.getLoc(), type, fewer, before,
                                            outputs);
    if (fewer.getType() == op.getType())
      rewriter.replaceOp(op, fewer);
    else
      rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getResultType(), fewer, after);
    return success();
  }

private:
  static ReassociationIndices *groupOf(MutableArrayRef<ReassociationIndices> groups, int64_t dim) {
    return llvm::find_if(groups, [&](ReassociationIndices &group) {
      return llvm::is_contained(group, dim);
    });
  }

  /// Takes `dim` out of its group; dims behind it count one less.
  static void drop(MutableArrayRef<ReassociationIndices> groups, int64_t dim) {
    for (ReassociationIndices &group : groups) {
      llvm::erase(group, dim);
      for (int64_t &other : group)
        other -= other > dim;
    }
  }
};
} // namespace

/// Coordinates of more dims are sums of products, by ops that bodies may have.
static void computeCoordinates(func::FuncOp func) {
  SmallVector<affine::AffineApplyOp> ops;
  func.walk([&](affine::AffineApplyOp op) {
    if (isa<linalg::GenericOp>(op->getParentOp()))
      ops.push_back(op);
  });
  for (affine::AffineApplyOp op : ops) {
    OpBuilder b(op);
    auto values = affine::expandAffineMap(b, op.getLoc(), op.getAffineMap(),
                                          SmallVector<Value>(op->getOperands()));
    if (!values)
      continue;
    op.getResult().replaceAllUsesWith(values->front());
    op.erase();
  }
}

LogicalResult tilewright::foldReshapes(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet collapsing(context);
  linalg::populateFoldReshapeOpsByCollapsingPatterns(collapsing, shouldCollapse);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(collapsing, context);
  tensor::populateFoldTensorEmptyPatterns(collapsing);
  if (failed(applyPatternsBounded(func, std::move(collapsing), "normalize",
                                  "folding of reshapes behind products")))
    return failure();
  RewritePatternSet patterns(context);
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, shouldExpand);
  patterns.add<ReshapeByMoreDims, DropUnitBetweenReshapes>(context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  if (failed(applyPatternsBounded(func, std::move(patterns), "normalize", "folding of reshapes")))
    return failure();
  computeCoordinates(func);
  return success();
}

namespace {
struct FoldReshapesPass : public tilewright::impl::FoldReshapesPassBase<FoldReshapesPass> {
  void runOnOperation() override {
    if (failed(foldReshapes(getOperation())))
      signalPassFailure();
  }
};
} // namespace
