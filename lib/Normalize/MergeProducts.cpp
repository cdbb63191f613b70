// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of one operand by several constant matrices are one, by the matrices side by
// side, as queries, keys and values are:
//
//   %q = linalg.generic <(m,n,k)->(m,k), (n,k), (m,n)> ins(%x, %wq)    // 48 x 128
//   %r = linalg.generic <(m,n)->(m,n), (n), (m,n)> ins(%q, %bq)        // a bias
//   %k = linalg.generic <product> ins(%x, %wk)                         // 48 x 64
//   %s = linalg.generic <bias> ins(%k, %bk)
// becomes
//   %w = tensor.insert_slice %wk into (tensor.insert_slice %wq into …) {tilewright.at_load}
//   %b = tensor.insert_slice %bk into (tensor.insert_slice %bq into …) {tilewright.at_load}
//   %p = linalg.generic <product> ins(%x, %w)                          // 48 x 192
//   %t = linalg.generic <bias> ins(%p, %b)
//   %r = tensor.extract_slice %t[0, 0] [48, 128] [1, 1]
//   %s = tensor.extract_slice %t[0, 128] [48, 64] [1, 1]
//
// That is one kernel, which reads %x once, and no slice is a copy: whoever reads the results
// reads them in place. Where a product has other work in its kernel, as the activation of one
// branch, or is written into a concatenation, merging it would cost a kernel; it stays.

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_MERGEPRODUCTSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// What vectors are aligned to.
static constexpr int64_t kRowBits = 128;

namespace {
/// A product and the elementwise ops on its result that take part, in order.
struct Branch {
  SmallVector<linalg::GenericOp> ops;
  unsigned shared = 0; // the product's operand that branches have in common
  unsigned column = 0; // dim of the results along which they are put side by side

  linalg::GenericOp op(unsigned number) const { return ops[number]; }
  Value resultOf(unsigned number) const { return op(number).getResult(0); }
  Value result() const { return resultOf(ops.size() - 1); }
  /// Whether `operand` of op `number` is the result of the op in front.
  bool isBetween(unsigned number, OpOperand &operand) const {
    return number && op(number).isDpsInput(&operand) && operand.get() == resultOf(number - 1);
  }
  /// What the sums begin with, everywhere.
  Value start() const {
    return op(0).getDpsInits()[0].getDefiningOp<linalg::FillOp>().getInputs()[0];
  }
  int64_t columns() const {
    return cast<RankedTensorType>(result().getType()).getDimSize(column);
  }
};
} // namespace

static bool isPlain(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op.getNumResults() == 1 && !op->hasAttr(kConfigAttr) &&
         !op->hasAttr(kAtLoadAttr) && !op.hasIndexSemantics();
}

/// A tensor of constants, or one that is computed when the program is loaded.
static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<arith::ConstantOp, LoadedOp>(op) &&
         cast<ShapedType>(value.getType()).hasStaticShape();
}

/// The dim of `operand` along the loop of the results' dim `column`, if there is one.
static std::optional<unsigned> getColumns(OpOperand &operand, unsigned column) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  AffineExpr loop = op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResult(column);
  return op.getMatchingIndexingMap(&operand).getResultPosition(loop);
}

/// The reader of `value` that is elementwise work of the same kernel, if it is the only one.
static linalg::GenericOp getEpilogue(Value value, AffineMap written) {
  if (!value.hasOneUse())
    return {};
  OpOperand &use = *value.use_begin();
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!op || !isPlain(op) || op.getNumReductionLoops() || isRelayout(op) ||
      !op.isDpsInput(&use) || op.getMatchingIndexingMap(&use) != op.getIndexingMapsArray().back() ||
      !op.getIndexingMapsArray().back().isIdentity() || !written.isProjectedPermutation() ||
      op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() == nullptr)
    return {};
  return op;
}

/// Whether `value` becomes a part of another tensor, or a result: a slice would be copied there.
static bool isPutElsewhere(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<tensor::InsertSliceOp>(user) || user->hasTrait<OpTrait::IsTerminator>() ||
           (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) &&
            isPutElsewhere(user->getResult(0)));
  });
}

/// Whether `value` is in memory in any case, and in whole: whoever reads it reads slices of a
/// wider one as well.
static bool isReadFromMemory(Value value) {
  bool isRead = false;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user)) {
      isRead |= isReadFromMemory(user->getResult(0));
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(user);
    isRead |= isa<tensor::ExtractSliceOp>(user) || (generic && isRelayout(generic)) ||
              (generic && matchProduct(generic));
  }
  return isRead;
}

/// `op` and what follows it, if it can be a part of a wider product.
static std::optional<Branch> matchBranch(linalg::GenericOp op, unsigned shared) {
  if (!isPlain(op) || op.getNumDpsInputs() != 2 ||
      !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return std::nullopt;
  std::optional<Contraction> product = matchContraction(op);
  if (!product || product->perElement != 1)
    return std::nullopt;
  const SmallVector<unsigned> &own = shared == product->a ? product->n : product->m;
  AffineMap written = op.getIndexingMapsArray().back();
  OpOperand &weights = op->getOpOperand(1 - shared);
  if (own.size() != 1 || !isConstant(weights.get()) || isConstant(op.getDpsInputs()[shared]) ||
      !written.isProjectedPermutation() ||
      !op.getMatchingIndexingMap(&weights).isProjectedPermutation() ||
      getElementTypeOrSelf(weights.get().getType()).getIntOrFloatBitWidth() < 8)
    return std::nullopt;
  unsigned bits = getElementTypeOrSelf(op.getResult(0).getType()).getIntOrFloatBitWidth();
  std::optional<unsigned> column =
      written.getResultPosition(getAffineDimExpr(own.front(), op.getContext()));
  if (!column)
    return std::nullopt;
  // Rows and parts of rows stay aligned, as far as they are read by vectors.
  if (*column + 1 == written.getNumResults() &&
      op.getStaticLoopRanges()[own.front()] * bits % kRowBits)
    return std::nullopt;
  Branch branch{{op}, shared, *column};
  while (linalg::GenericOp next = getEpilogue(branch.result(), written)) {
    // The merged op stands where the first product does.
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(next.getRegion(), captured);
    if (!llvm::all_of(captured, [](Value value) { return matchPattern(value, m_Constant()); }))
      return std::nullopt;
    for (OpOperand *input : next.getDpsInputOperands())
      if (input->get() != branch.result() &&
          (!isConstant(input->get()) ||
           !next.getMatchingIndexingMap(input).isProjectedPermutation()))
        return std::nullopt;
    branch.ops.push_back(next);
  }
  if (isPutElsewhere(branch.result()) || !isReadFromMemory(branch.result()))
    return std::nullopt;
  return branch;
}

/// Whether one operand can stand for `left` and `right`: the same, or constants side by side.
static bool canJoin(OpOperand &left, OpOperand &right, unsigned column) {
  if (!getColumns(left, column))
    return left.get() == right.get();
  // Tensors of one number have no data that the loader could put side by side.
  SplatElementsAttr one, other;
  bool isSplat = matchPattern(left.get(), m_Constant(&one)),
       isOtherSplat = matchPattern(right.get(), m_Constant(&other));
  return isSplat == isOtherSplat &&
         (!isSplat || one.getSplatValue<Attribute>() == other.getSplatValue<Attribute>());
}

static bool isAlike(linalg::GenericOp left, linalg::GenericOp right) {
  auto hasTypes = [](Value one, Value other) {
    return getElementTypeOrSelf(one.getType()) == getElementTypeOrSelf(other.getType());
  };
  return left.getIndexingMapsArray() == right.getIndexingMapsArray() &&
         left.getIteratorTypesArray() == right.getIteratorTypesArray() &&
         llvm::all_of(llvm::zip(left->getOperands(), right->getOperands()),
                      [&](auto pair) { return hasTypes(std::get<0>(pair), std::get<1>(pair)); }) &&
         OperationEquivalence::isRegionEquivalentTo(&left.getRegion(), &right.getRegion(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// Equal but for the number of columns.
static bool isAlike(const Branch &left, const Branch &right) {
  if (left.ops.size() != right.ops.size() || left.column != right.column ||
      left.start() != right.start())
    return false;
  for (unsigned number = 0; number < left.ops.size(); ++number) {
    linalg::GenericOp one = left.op(number), other = right.op(number);
    if (!isAlike(one, other))
      return false;
    for (auto [mine, theirs] : llvm::zip(one.getDpsInputOperands(), other.getDpsInputOperands())) {
      bool isBetween = left.isBetween(number, *mine);
      if (isBetween != right.isBetween(number, *theirs) ||
          (!isBetween && !canJoin(*mine, *theirs, left.column)))
        return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// `dim` of `shape` as long as those of all `values`.
static SmallVector<OpFoldResult> widen(OpBuilder &b, Location loc, Value first, unsigned dim,
                                       int64_t extent) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, first);
  sizes[dim] = b.getIndexAttr(extent);
  return sizes;
}

/// Constants side by side along `dim`, put there when the program is loaded.
static Value putSideBySide(OpBuilder &b, Location loc, ArrayRef<Value> parts, unsigned dim) {
  int64_t extent = 0;
  for (Value part : parts)
    extent += cast<RankedTensorType>(part.getType()).getDimSize(dim);
  auto type = cast<RankedTensorType>(parts.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = extent;
  SplatElementsAttr splat;
  if (matchPattern(parts.front(), m_Constant(&splat)))
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type.clone(shape), splat.getSplatValue<Attribute>()));
  Value whole = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  int64_t offset = 0;
  for (Value part : parts) {
    SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)),
        steps(shape.size(), b.getIndexAttr(1)), sizes = tensor::getMixedSizes(b, loc, part);
    offsets[dim] = b.getIndexAttr(offset);
    auto insert = tensor::InsertSliceOp::create(b, loc, part, whole, offsets, sizes, steps);
    insert->setAttr(kAtLoadAttr, b.getUnitAttr());
    whole = insert;
    offset += cast<RankedTensorType>(part.getType()).getDimSize(dim);
  }
  return whole;
}

/// Op `number` of `branches` as one; `before` is the one in front of it.
static Value mergeOps(OpBuilder &b, ArrayRef<Branch> branches, unsigned number, Value before,
                      int64_t columns) {
  const Branch &first = branches.front();
  linalg::GenericOp op = first.op(number);
  Location loc = op.getLoc();
  SmallVector<Value> inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    unsigned place = input->getOperandNumber();
    std::optional<unsigned> dim = getColumns(*input, first.column);
    if (first.isBetween(number, *input)) {
      inputs.push_back(before);
    } else if (dim) {
      SmallVector<Value> parts;
      for (const Branch &branch : branches)
        parts.push_back(branch.op(number)->getOperand(place));
      inputs.push_back(putSideBySide(b, loc, parts, *dim));
    } else {
      inputs.push_back(input->get());
    }
  }
  Value init = op.getDpsInits()[0];
  auto type = cast<RankedTensorType>(init.getType());
  Value empty = tensor::EmptyOp::create(
      b, loc, widen(b, loc, number ? before : init, first.column, columns), type.getElementType());
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    empty = linalg::FillOp::create(b, loc, fill.getInputs(), empty).getResult(0);
  auto made = linalg::GenericOp::create(b, loc, empty.getType(), inputs, empty,
                                        op.getIndexingMapsArray(), op.getIteratorTypesArray());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getRegion().cloneInto(&made.getRegion(), mapping);
  return made.getResult(0);
}

/// Constants that `op` reads or that its body has, in the same block.
static SetVector<Value> constantsOf(linalg::GenericOp op) {
  SetVector<Value> values;
  getUsedValuesDefinedAbove(op.getRegion(), values);
  values.insert_range(op.getDpsInputs());
  values.remove_if([&](Value value) {
    Operation *made = value.getDefiningOp();
    return !isa_and_nonnull<arith::ConstantOp, LoadedOp>(made) ||
           made->getBlock() != op->getBlock();
  });
  return values;
}

static void merge(ArrayRef<Branch> branches) {
  const Branch &first = branches.front();
  OpBuilder b(first.op(0));
  for (const Branch &branch : branches)
    for (linalg::GenericOp op : branch.ops)
      for (Value constant : constantsOf(op))
        if (first.op(0)->isBeforeInBlock(constant.getDefiningOp()))
          constant.getDefiningOp()->moveBefore(first.op(0));
  int64_t columns = 0;
  for (const Branch &branch : branches)
    columns += branch.columns();
  Value merged;
  for (unsigned number = 0; number < first.ops.size(); ++number)
    merged = mergeOps(b, branches, number, merged, columns);
  int64_t offset = 0;
  for (const Branch &branch : branches) {
    Value result = branch.result();
    Location loc = result.getLoc();
    int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), steps(rank, b.getIndexAttr(1));
    offsets[first.column] = b.getIndexAttr(offset);
    Value slice = tensor::ExtractSliceOp::create(
        b, loc, cast<RankedTensorType>(result.getType()), merged, offsets,
        widen(b, loc, merged, first.column, branch.columns()), steps);
    offset += branch.columns();
    result.replaceAllUsesWith(slice);
  }
  for (const Branch &branch : branches)
    for (linalg::GenericOp op : llvm::reverse(branch.ops))
      op->erase();
}

/// Branches that read the same operand and are alike, in the order of the program.
static SmallVector<SmallVector<Branch>> collect(Block &block) {
  llvm::MapVector<std::pair<Value, unsigned>, SmallVector<Branch>> byOperand;
  for (auto op : block.getOps<linalg::GenericOp>())
    for (unsigned shared = 0; shared < 2; ++shared)
      if (op.getNumDpsInputs() == 2)
        if (std::optional<Branch> branch = matchBranch(op, shared))
          byOperand[{op.getDpsInputs()[shared], shared}].push_back(*branch);
  SmallVector<SmallVector<Branch>> sets;
  for (auto &[operand, branches] : byOperand) {
    SmallVector<SmallVector<Branch>> alike;
    for (const Branch &branch : branches) {
      auto *known = llvm::find_if(
          alike, [&](ArrayRef<Branch> others) { return isAlike(others.front(), branch); });
      if (known == alike.end())
        alike.push_back({branch});
      else
        known->push_back(branch);
    }
    llvm::append_range(sets, alike);
  }
  return sets;
}

namespace {
struct MergeProductsPass : tilewright::impl::MergeProductsPassBase<MergeProductsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || isKernel(func) || func->hasAttr(kAtLoadAttr) ||
        !func.getNumArguments() || !func.getBody().hasOneBlock())
      return;
    for (ArrayRef<Branch> branches : collect(func.getBody().front()))
      if (branches.size() > 1) {
        addExplanation(func, Twine(branches.size()) +
                                 " products of one operand by constants are one; the constants "
                                 "are put side by side when the program is loaded");
        merge(branches);
      }
  }
};
} // namespace
