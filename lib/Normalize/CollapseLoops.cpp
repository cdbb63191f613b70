// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of a contraction that run side by side through all of its tensors
// become one, so that a tile has rows of all of them: a convolution by a window
// of 1 x 1, stride 1, is a product of n * oh * ow rows.
//
//   maps = [(n,h,w,o,c)->(n,h,w,c), (n,h,w,o,c)->(c,o), (n,h,w,o,c)->(n,h,w,o)]
// becomes
//   %x1 = tensor.collapse_shape %x [[0, 1, 2], [3]]
//   maps = [(m,o,c)->(m,c), (m,o,c)->(c,o), (m,o,c)->(m,o)]
//   %r1 = tensor.expand_shape %r [[0, 1, 2], [3]]
//
// Reshapes are views on the host, and kernels are not formed across them: so
// what reads the result (bias, activation, residual, a reduction of its rows)
// is collapsed along with it, and where any reader cannot be, nothing is.

#include "tilewright/Dialect/Combiners.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilewright {
#define GEN_PASS_DEF_COLLAPSELOOPSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// On the reshapes that this pass made: what reads them follows.
static constexpr StringLiteral kCollapsedAttr = "tilewright.collapsed";

/// Neighbouring loops, outermost first.
using Group = SmallVector<int64_t>;

/// Whether both operands have all loops: sums of rows, of which none is read again.
static bool isOfRows(linalg::GenericOp op) {
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    return op.getMatchingIndexingMap(operand).getNumResults() == op.getNumLoops();
  });
}

static bool isContraction(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 || isOfRows(op))
    return false;
  Operation *add = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) &&
         llvm::any_of(add->getOperands(), [](Value operand) {
           Operation *product = operand.getDefiningOp();
           // A sum of squares has one operand, however many inputs.
           return isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product) &&
                  product->getOperand(0) != product->getOperand(1);
         });
}

/// Whether `value` is what the kernel of a contraction writes: its result, or what
/// elementwise ops make of it.
static bool isOfContraction(Value value, llvm::SmallDenseSet<Operation *> &seen) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !seen.insert(op).second)
    return false;
  if (op.getNumReductionLoops())
    return isContraction(op);
  return llvm::any_of(op.getDpsInputs(),
                      [&](Value input) { return isOfContraction(input, seen); });
}

/// Whether `value` is pooled from windows of images, which a kernel of its own does.
static bool isPooled(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  return op && op.getNumReductionLoops() &&
         llvm::any_of(op.getDpsInputs(), [](Value input) {
           return input.getDefiningOp<Im2colOp>() != nullptr;
         });
}

/// Whether `value` lies in memory as it is, and may be seen under other dims.
static bool isDense(Value value) {
  llvm::SmallDenseSet<Operation *> seen;
  return isa<BlockArgument>(value) ||
         isa<tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             linalg::FillOp>(value.getDefiningOp()) ||
         value.getDefiningOp()->hasAttr(kCopiesAttr) || isPooled(value) ||
         isOfContraction(value, seen);
}

/// Where `map` has the group: the dim of its first loop; -1: it has none of them;
/// failure: it has some, or elsewhere than side by side.
static FailureOr<int64_t> positionIn(AffineMap map, ArrayRef<int64_t> group) {
  SmallVector<int64_t> dims;
  for (int64_t loop : group)
    if (auto dim = map.getResultPosition(
            getAffineDimExpr(loop, map.getContext())))
      dims.push_back(*dim);
  if (dims.empty())
    return int64_t(-1);
  if (dims.size() != group.size())
    return failure();
  for (size_t i = 1; i < dims.size(); ++i)
    if (dims[i] != dims[0] + int64_t(i))
      return failure();
  return dims[0];
}

/// Whether the group's loops can be one in `op`, operand `but` aside, which is
/// computed by what is collapsed as well.
static bool canCollapse(linalg::GenericOp op, ArrayRef<int64_t> group,
                        OpOperand *but = nullptr) {
  if (op->hasAttr(kConfigAttr) || op->hasAttr(kAssociativeAttr) ||
      !op.hasPureTensorSemantics() || op.hasIndexSemantics())
    return false;
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t numDynamic = 0;
  for (int64_t loop : group) {
    if (types[loop] != types[group[0]])
      return false;
    numDynamic += ShapedType::isDynamic(extents[loop]);
  }
  // What a result is expanded to follows from its other dims.
  if (numDynamic > 1)
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation())
      return false;
    FailureOr<int64_t> position = positionIn(map, group);
    if (failed(position))
      return false;
    if (*position >= 0 && &operand != but && !isDense(operand.get()))
      return false;
  }
  return true;
}

/// The loops of `op` that run over dims `first` … of `operand`.
static Group loopsOver(linalg::GenericOp op, OpOperand &operand, int64_t first,
                       size_t count) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Group loops;
  for (size_t i = 0; i < count; ++i) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(first + i));
    if (!dim || (i && int64_t(dim.getPosition()) != loops.back() + 1))
      return {};
    loops.push_back(dim.getPosition());
  }
  return loops;
}

/// Whether everything that reads dims `first` … of `value`, and would be in a kernel with
/// what computes it, can be collapsed. `seen` has the (value, first) that were asked for
/// before: those of a diamond's two paths are.
static bool readersFollow(Value value, int64_t first, size_t count,
                          llvm::SmallDenseSet<std::pair<Value, int64_t>> &seen) {
  if (!seen.insert({value, first}).second)
    return true;
  for (OpOperand &use : value.getUses()) {
    // Of kernels behind a view of it, or of their own.
    if (isa<func::ReturnOp, tensor::DimOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp, tensor::PadOp, Im2colOp>(use.getOwner()))
      continue;
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader)
      return false;
    if (isContraction(reader))
      continue;
    Group loops = loopsOver(reader, use, first, count);
    if (loops.empty() || !canCollapse(reader, loops, &use))
      return false;
    for (OpResult result : reader->getResults()) {
      AffineMap map = reader.getIndexingMapMatchingResult(result);
      int64_t position = *positionIn(map, loops);
      if (position >= 0 && !readersFollow(result, position, count, seen))
        return false;
    }
  }
  return true;
}

/// The longest groups of loops of a contraction that can be one each.
static SmallVector<Group> groupsOf(linalg::GenericOp op) {
  SmallVector<Group> groups;
  auto works = [&](ArrayRef<int64_t> group) {
    if (!canCollapse(op, group))
      return false;
    AffineMap map = op.getIndexingMapMatchingResult(op->getResult(0));
    int64_t position = *positionIn(map, group);
    llvm::SmallDenseSet<std::pair<Value, int64_t>> seen;
    return position < 0 ||
           readersFollow(op->getResult(0), position, group.size(), seen);
  };
  for (int64_t loop = 0; loop < op.getNumLoops();) {
    Group group{loop}, best;
    while (group.back() + 1 < op.getNumLoops()) {
      group.push_back(group.back() + 1);
      if (works(group))
        best = group;
    }
    if (!best.empty())
      groups.push_back(best);
    loop = best.empty() ? loop + 1 : best.back() + 1;
  }
  return groups;
}

/// What a reader has to follow: the groups that its expanded operands had.
static SmallVector<Group> groupsToFollow(linalg::GenericOp op) {
  SmallVector<Group> groups;
  for (OpOperand &operand : op->getOpOperands()) {
    auto expand = operand.get().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || !expand->hasAttr(kCollapsedAttr))
      continue;
    for (const ReassociationIndices &dims : expand.getReassociationIndices()) {
      if (dims.size() < 2)
        continue;
      Group group = loopsOver(op, operand, dims.front(), dims.size());
      if (!group.empty() && canCollapse(op, group) &&
          !llvm::is_contained(groups, group))
        groups.push_back(group);
    }
  }
  llvm::sort(groups, [](const Group &a, const Group &b) { return a[0] < b[0]; });
  return groups;
}

bool tilewright::collapseLoops(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<Group> groups = groupsToFollow(op);
  if (groups.empty() && isContraction(op))
    groups = groupsOf(op);
  for (size_t i = 1; i < groups.size(); ++i)
    if (groups[i][0] <= groups[i - 1].back())
      return false;
  if (groups.empty())
    return false;
  SmallVector<ReassociationIndices> loops;
  for (const Group &group : groups)
    loops.push_back(ReassociationIndices(group.begin(), group.end()));
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, loops, rewriter);
  if (failed(collapsed))
    return false;
  for (Value result : collapsed->results)
    if (auto expand = result.getDefiningOp<tensor::ExpandShapeOp>())
      expand->setAttr(kCollapsedAttr, rewriter.getUnitAttr());
  rewriter.replaceOp(op, collapsed->results);
  return true;
}

/// What is filled under other dims.
static void foldIntoFill(RewriterBase &rewriter, tensor::CollapseShapeOp op) {
  auto fill = op.getSrc().getDefiningOp<linalg::FillOp>();
  if (!fill)
    return;
  rewriter.setInsertionPoint(op);
  Value place = tensor::CollapseShapeOp::create(
      rewriter, op.getLoc(), op.getType(), fill.getDpsInits()[0],
      op.getReassociationIndices());
  rewriter.replaceOpWithNewOp<linalg::FillOp>(op, fill.getInputs(), place);
}

/// A tensor that is only a place is made with the dims that it is seen under.
static void foldIntoEmpty(RewriterBase &rewriter, tensor::CollapseShapeOp op) {
  auto empty = op.getSrc().getDefiningOp<tensor::EmptyOp>();
  if (!empty)
    return;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes, from = empty.getMixedSizes();
  for (const ReassociationIndices &dims : op.getReassociationIndices()) {
    int64_t known = 1;
    Value product;
    for (int64_t dim : dims) {
      if (std::optional<int64_t> size = getConstantIntValue(from[dim]))
        known *= *size;
      else
        product = cast<Value>(from[dim]);
    }
    if (product && known != 1)
      product = arith::MulIOp::create(
          rewriter, loc, product,
          arith::ConstantIndexOp::create(rewriter, loc, known));
    sizes.push_back(product ? OpFoldResult(product)
                            : rewriter.getIndexAttr(known));
  }
  rewriter.replaceOpWithNewOp<tensor::EmptyOp>(
      op, sizes, op.getType().getElementType());
}

/// The size of what is expanded, as it was given: who asks for it does not read the tensor.
static void readSize(RewriterBase &rewriter, tensor::DimOp op) {
  auto expand = op.getSource().getDefiningOp<tensor::ExpandShapeOp>();
  std::optional<int64_t> dim = op.getConstantIndex();
  if (!expand || !dim)
    return;
  rewriter.setInsertionPoint(op);
  rewriter.replaceOp(op, getValueOrCreateConstantIndexOp(rewriter, op.getLoc(),
                                                         expand.getMixedOutputShape()[*dim]));
}

namespace {
struct CollapseLoopsPass
    : public tilewright::impl::CollapseLoopsPassBase<CollapseLoopsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    // Products first: a reader follows what it reads.
    bool changed = false;
    for (linalg::GenericOp op : ops)
      changed |= collapseLoops(rewriter, op);
    if (!changed)
      return;
    getOperation().walk([&](Operation *op) {
      if (isa<tensor::ExpandShapeOp>(op))
        op->removeAttr(kCollapsedAttr);
      else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
        foldIntoFill(rewriter, collapse);
    });
    getOperation().walk([&](tensor::CollapseShapeOp op) {
      foldIntoEmpty(rewriter, op);
    });
    getOperation().walk([&](tensor::DimOp op) { readSize(rewriter, op); });
  }
};
} // namespace
