// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An elementwise op that reads a concatenation reads the parts instead, where these have static
// sizes along that dim: it becomes an op for each part, and its result the concatenation of theirs,
// which kernels write where they lie. So rotary embedding, x * cos + concat(-x2, x1) * sin, needs
// no tensor of halves turned against each other:
//
//   %c = … insert %n into %e[0] [32] [1] … insert %x1 into …[32] [32] [1]      // concat(-x2, x1)
//   %r = linalg.generic ins(%x, %c, %cos, %sin) { x * cos + c * sin }
// becomes
//   %y1 = linalg.generic ins(%x1, %n, %cos1, %sin1) { x * cos + n * sin }
//   %y2 = linalg.generic ins(%x2, %x1, %cos2, %sin2) { x * cos + n * sin }
//   … insert %y1 into %e[0] [32] [1] … insert %y2 into …[32] [32] [1]

#include "Concats.h"
#include "Extent.h"

#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SPLITCONCATREADERSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// `value` with dims of one element more or less, so that it has type `type`; null where that
/// cannot be said.
static Value dropOrAddUnits(OpBuilder &b, Location loc, Value value, RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  bool drops = from.getRank() > type.getRank();
  auto groups = drops ? getReassociationIndicesForReshape(from, type)
                      : getReassociationIndicesForReshape(type, from);
  if (from.getRank() == type.getRank() || !groups)
    return {};
  if (drops)
    return tensor::CollapseShapeOp::create(b, loc, type, value, *groups);
  if (!type.hasStaticShape())
    return {};
  return tensor::ExpandShapeOp::create(b, loc, type, value, *groups);
}

/// The elements of `value`, of `sizes`, along `dim` that are beside those of `part`.
static Value sliceOf(OpBuilder &b, Location loc, Value value, SmallVector<OpFoldResult> sizes,
                     int64_t dim, const ConcatPart &part, int64_t step) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = part.size;
  // Of a concatenation in the same places, the slice is its part.
  if (std::optional<Concat> concat = matchConcat(value);
      concat && concat->dim == dim && concat->step == step)
    for (const ConcatPart &other : concat->parts)
      if (other.offset == part.offset && other.source.getType() == type.clone(shape))
        return other.source;
  // Of what is read elsewhere in its own dims, the slice is the same.
  if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>())
    if (std::optional<SmallVector<int64_t>> kept = keptDims(collapse)) {
      value = collapse.getSrc();
      dim = (*kept)[dim];
      SmallVector<OpFoldResult> all(collapse.getSrcType().getRank(), b.getIndexAttr(1));
      for (auto [size, place] : llvm::zip_equal(sizes, *kept))
        all[place] = size;
      sizes = all;
    }
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      steps(sizes.size(), b.getIndexAttr(1));
  offsets[dim] = b.getIndexAttr(part.offset);
  sizes[dim] = b.getIndexAttr(part.size);
  steps[dim] = b.getIndexAttr(step);
  return tensor::ExtractSliceOp::create(b, loc, type.clone(shape), value, offsets, sizes, steps);
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

/// The loop of `op` that runs along dim `dim` of `operand`.
static std::optional<unsigned> loopAlong(linalg::GenericOp op, OpOperand &operand, int64_t dim) {
  auto expr = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(dim));
  return expr ? std::optional(expr.getPosition()) : std::nullopt;
}

/// Whether a kernel that computes `value` might do what its only reader does, too.
static bool isEndOfKernel(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !value.hasOneUse())
    return false;
  return op.getNumReductionLoops() || llvm::any_of(op.getDpsInputs(), isEndOfKernel);
}

/// Whether `op` can be split along the loop that `use`, of a concatenation, has for its dim.
static bool maySplit(linalg::GenericOp op, OpOperand &use, const Concat &concat) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr) || op->hasAttr(kAtLoadAttr) ||
      classify(op) != GroupKind::Elementwise || gathers(op) || !op.isDpsInput(&use))
    return false;
  std::optional<unsigned> loop = loopAlong(op, use, concat.dim);
  if (!loop || !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
        return map.isProjectedPermutation();
      }))
    return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (readsInit(op, init) || !op.getMatchingIndexingMap(&init).isFunctionOfDim(*loop))
      return false;
  return llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return input != &use && isEndOfKernel(input->get());
  });
}

namespace {
/// What one part of a reader has for operands.
struct Piece {
  int64_t offset;
  SmallVector<Value> inputs, inits;
};

/// Writes the ops for the parts of one reader.
class Splitter {
public:
  Splitter(RewriterBase &b, linalg::GenericOp op, unsigned loop, int64_t step)
      : b(b), op(op), loop(loop), step(step), loc(op.getLoc()) {}

  LogicalResult run(OpOperand &use, const Concat &concat) {
    b.setInsertionPoint(op);
    for (const ConcatPart &part : concat.parts)
      if (failed(addPiece(use, concat, part)))
        return failure();
    SmallVector<linalg::GenericOp> made;
    for (const Piece &piece : pieces)
      made.push_back(create(piece));
    SmallVector<Value> wholes;
    for (unsigned number = 0; number < op.getNumResults(); ++number)
      wholes.push_back(join(number, made));
    b.replaceOp(op, wholes);
    return success();
  }

private:
  RewriterBase &b;
  linalg::GenericOp op;
  unsigned loop;
  int64_t step;
  Location loc;
  SmallVector<Piece> pieces;

  LogicalResult addPiece(OpOperand &use, const Concat &concat, const ConcatPart &part) {
    Piece piece{part.offset, {}, {}};
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      auto dim = map.getResultPosition(b.getAffineDimExpr(loop));
      if (input->get() == use.get() && dim == concat.dim) {
        auto type = cast<RankedTensorType>(use.get().getType());
        SmallVector<int64_t> shape(type.getShape());
        shape[concat.dim] = part.size;
        piece.inputs.push_back(dropOrAddUnits(b, loc, part.source, type.clone(shape)));
        if (!piece.inputs.back())
          return failure();
        continue;
      }
      piece.inputs.push_back(
          dim ? sliceOf(b, loc, input->get(), sizesOf(*input), *dim, part, step) : input->get());
    }
    for (OpOperand &init : op.getDpsInitsMutable()) {
      SmallVector<OpFoldResult> sizes = getMixedSizes(b, loc, init.get());
      AffineMap map = op.getMatchingIndexingMap(&init);
      sizes[*map.getResultPosition(b.getAffineDimExpr(loop))] = b.getIndexAttr(part.size);
      piece.inits.push_back(tensor::EmptyOp::create(
          b, loc, sizes, getElementTypeOrSelf(init.get().getType())));
    }
    pieces.push_back(piece);
    return success();
  }

  /// The sizes of an operand as those of the loops in the results: the same for all operands.
  SmallVector<OpFoldResult> sizesOf(OpOperand &operand) {
    SmallVector<OpFoldResult> sizes = getMixedSizes(b, loc, operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (OpOperand &init : op.getDpsInitsMutable()) {
      SmallVector<OpFoldResult> known = getMixedSizes(b, loc, init.get());
      AffineMap initMap = op.getMatchingIndexingMap(&init);
      for (auto [size, expr] : llvm::zip_equal(sizes, map.getResults()))
        if (auto dim = initMap.getResultPosition(expr))
          size = known[*dim];
    }
    return sizes;
  }

  linalg::GenericOp create(const Piece &piece) {
    auto made = linalg::GenericOp::create(b, loc, ValueRange(piece.inits).getTypes(),
                                          piece.inputs, piece.inits, op.getIndexingMapsArray(),
                                          op.getIteratorTypesArray());
    b.cloneRegionBefore(op.getRegion(), made.getRegion(), made.getRegion().begin());
    OpBuilder::InsertionGuard guard(b);
    made->walk([&](linalg::IndexOp index) { moveOn(index, piece.offset); });
    return made;
  }

  /// The coordinate along the split loop counts from the part's beginning.
  void moveOn(linalg::IndexOp index, int64_t offset) {
    if (index.getDim() != loop || (offset == 0 && step == 1))
      return;
    b.setInsertionPointAfter(index);
    Value moved = index, factor = arith::ConstantIndexOp::create(b, loc, step),
          first = arith::ConstantIndexOp::create(b, loc, offset);
    SmallPtrSet<Operation *, 2> own;
    if (step != 1)
      own.insert((moved = arith::MulIOp::create(b, loc, moved, factor)).getDefiningOp());
    own.insert((moved = arith::AddIOp::create(b, loc, moved, first)).getDefiningOp());
    index.getResult().replaceUsesWithIf(
        moved, [&](OpOperand &use) { return !own.contains(use.getOwner()); });
  }

  /// Result `number` of all pieces as one tensor.
  Value join(unsigned number, ArrayRef<linalg::GenericOp> made) {
    OpOperand &init = op.getDpsInitsMutable()[number];
    unsigned dim =
        *op.getMatchingIndexingMap(&init).getResultPosition(b.getAffineDimExpr(loop));
    SmallVector<OpFoldResult> sizes = getMixedSizes(b, loc, init.get()),
                              offsets(sizes.size(), b.getIndexAttr(0)),
                              steps(sizes.size(), b.getIndexAttr(1));
    steps[dim] = b.getIndexAttr(step);
    Value whole = tensor::EmptyOp::create(b, loc, sizes,
                                          getElementTypeOrSelf(init.get().getType()));
    for (auto [piece, part] : llvm::zip_equal(pieces, made)) {
      Value result = part->getResult(number);
      offsets[dim] = b.getIndexAttr(piece.offset);
      sizes[dim] = b.getIndexAttr(cast<RankedTensorType>(result.getType()).getDimSize(dim));
      whole = tensor::InsertSliceOp::create(b, loc, result, whole, offsets, sizes, steps);
    }
    return whole;
  }
};
} // namespace

/// The ops that read `value`, or it without dims of one element; nothing where another needs it
/// whole.
static bool findReaders(Value value, SmallVectorImpl<OpOperand *> &readers) {
  for (OpOperand &use : value.getUses()) {
    if (isa<tensor::DimOp>(use.getOwner()))
      continue;
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(use.getOwner());
    if (collapse && matchConcat(collapse.getResult())) {
      if (!findReaders(collapse.getResult(), readers))
        return false;
      continue;
    }
    auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
    std::optional<Concat> concat = op ? matchConcat(use.get()) : std::nullopt;
    if (!concat || !maySplit(op, use, *concat))
      return false;
    readers.push_back(&use);
  }
  return true;
}

/// Lets elementwise ops read the parts of the concatenation that ends with `last`, if all that
/// read it can.
static void splitConcatReaders(RewriterBase &b, tensor::InsertSliceOp last) {
  SmallVector<OpOperand *> readers;
  if (!matchConcat(last.getResult()) || !findReaders(last.getResult(), readers))
    return;
  // Of an op that reads it twice, the first operand: the op is replaced.
  llvm::SmallMapVector<Operation *, unsigned, 4> operands;
  for (OpOperand *use : readers) {
    unsigned &first = operands.insert({use->getOwner(), use->getOperandNumber()}).first->second;
    first = std::min(first, use->getOperandNumber());
  }
  for (auto [reader, number] : operands) {
    auto op = cast<linalg::GenericOp>(reader);
    OpOperand &use = op->getOpOperand(number);
    Concat concat = *matchConcat(use.get());
    auto func = op->getParentOfType<func::FuncOp>();
    std::string name = nameOpAndLine(op);
    if (succeeded(Splitter(b, op, *loopAlong(op, use, concat.dim), concat.step).run(use, concat)))
      addExplanation(func, name + ": each part of the concatenation that it reads is read by an op "
                                  "of its own");
  }
}

namespace {
struct SplitConcatReadersPass
    : tilewright::impl::SplitConcatReadersPassBase<SplitConcatReadersPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      return;
    SmallVector<tensor::InsertSliceOp> ops;
    getOperation().walk([&](tensor::InsertSliceOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (tensor::InsertSliceOp op : ops)
      splitConcatReaders(rewriter, op);
  }
};
} // namespace
