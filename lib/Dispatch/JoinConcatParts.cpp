// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops that compute parts of one tensor from the same inputs become one op, which reads
// these once:
//
//   %y1 = linalg.generic ins(%x1, %x2, %c) { x1 * c - x2 }
//   %y2 = linalg.generic ins(%x2, %x1, %c) { x2 * c + x1 }
//   %i = tensor.insert_slice %y1 into %e[0] [32] [1]
//   %r = tensor.insert_slice %y2 into %i[32] [32] [1]
// becomes
//   %y:2 = linalg.generic ins(%x1, %x2, %c, %x2, %x1, %c) { x1 * c - x2;  x2 * c + x1 }
//   … the same insertions of %y#0 and %y#1
//
// Its kernel writes both windows (tilewright-place-windows). What is put together only to be put
// into another tensor is put there at once, part by part.

#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Dialect/Windows.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_JOINCONCATPARTSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Most parts that one op computes: each brings its operands along.
static constexpr size_t kMostParts = 4;

/// Reshapes between a part and `insert`, and that: the last first.
static SmallVector<Operation *> pathTo(tensor::InsertSliceOp insert) {
  SmallVector<Operation *> path{insert};
  while (true) {
    Operation *before = path.back()->getOperand(0).getDefiningOp();
    if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(before) ||
        !before->hasOneUse())
      return path;
    path.push_back(before);
  }
}

/// The elementwise op that computes what `insert` inserts, reshapes aside.
static linalg::GenericOp partOf(tensor::InsertSliceOp insert) {
  auto op = pathTo(insert).back()->getOperand(0).getDefiningOp<linalg::GenericOp>();
  return op && op.getNumResults() == 1 && op.hasPureTensorSemantics() &&
                 op->getBlock() == insert->getBlock() && !op->hasAttr(kConfigAttr) &&
                 !op->hasAttr(kAtLoadAttr) && op.getNumLoops() &&
                 classify(op) == GroupKind::Elementwise && !gathers(op) &&
                 !readsInit(op, op.getDpsInitsMutable()[0])
             ? op
             : linalg::GenericOp();
}

/// Whether an input of both has the extent of `loop`.
static bool sharesExtent(linalg::GenericOp a, linalg::GenericOp b, unsigned loop) {
  AffineExpr dim = getAffineDimExpr(loop, a.getContext());
  return llvm::any_of(a.getDpsInputOperands(), [&](OpOperand *own) {
    AffineMap map = a.getMatchingIndexingMap(own);
    return map.getResultPosition(dim) &&
           llvm::any_of(b.getDpsInputOperands(), [&](OpOperand *other) {
             return other->get() == own->get() && b.getMatchingIndexingMap(other) == map;
           });
  });
}

/// Whether both run over the same loops in the same order, and read a tensor that is the same.
static bool belongTogether(linalg::GenericOp a, linalg::GenericOp b) {
  for (auto [loop, extent] : llvm::enumerate(a.getStaticLoopRanges()))
    if (ShapedType::isDynamic(extent) && !sharesExtent(a, b, loop))
      return false;
  return a->getResultTypes() == b->getResultTypes() &&
         a.getMatchingIndexingMap(a.getDpsInitOperand(0)) ==
             b.getMatchingIndexingMap(b.getDpsInitOperand(0)) &&
         llvm::any_of(a.getDpsInputs(), [&](Value input) {
           return llvm::is_contained(b.getDpsInputs(), input);
         });
}

/// One op for all `parts`, whose bodies follow each other.
static linalg::GenericOp createJoined(RewriterBase &b, ArrayRef<linalg::GenericOp> parts) {
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps, ofInits;
  for (linalg::GenericOp part : parts) {
    llvm::append_range(inputs, part.getDpsInputs());
    llvm::append_range(inits, part.getDpsInits());
    SmallVector<AffineMap> own = part.getIndexingMapsArray();
    ofInits.push_back(own.pop_back_val());
    llvm::append_range(maps, own);
  }
  llvm::append_range(maps, ofInits);
  linalg::GenericOp last = parts.back();
  return linalg::GenericOp::create(
      b, last.getLoc(), ValueRange(inits).getTypes(), inputs, inits, maps,
      last.getIteratorTypesArray(), [&](OpBuilder &inner, Location at, ValueRange arguments) {
        SmallVector<Value> yielded;
        for (linalg::GenericOp part : parts) {
          IRMapping mapping;
          unsigned own = part.getNumDpsInputs();
          for (auto [old, fresh] :
               llvm::zip(part.getBody()->getArguments(), arguments.take_front(own)))
            mapping.map(old, fresh);
          arguments = arguments.drop_front(own);
          for (Operation &op : part.getBody()->without_terminator())
            inner.clone(op, mapping);
          yielded.push_back(
              mapping.lookupOrDefault(part.getBody()->getTerminator()->getOperand(0)));
        }
        linalg::YieldOp::create(inner, at, yielded);
      });
}

//===----------------------------------------------------------------------===//
// Parts of parts
//===----------------------------------------------------------------------===//

/// The sum of two offsets, where it needs no arithmetic.
static std::optional<OpFoldResult> addOffsets(Builder &b, OpFoldResult a, OpFoldResult c) {
  std::optional<int64_t> first = getConstantIntValue(a), second = getConstantIntValue(c);
  if (second == 0)
    return a;
  if (first == 0)
    return c;
  return first && second ? std::optional<OpFoldResult>(b.getIndexAttr(*first + *second))
                         : std::nullopt;
}

namespace {
struct Window {
  SmallVector<OpFoldResult> offsets, sizes, steps;
};
} // namespace

/// Where `inner` is after all that it is put into has gone where `outer` puts it.
static std::optional<Window> windowIn(Builder &b, tensor::InsertSliceOp outer,
                                      tensor::InsertSliceOp inner) {
  Window window{outer.getMixedOffsets(), outer.getMixedSizes(), outer.getMixedStrides()};
  llvm::SmallBitVector dropped = outer.getDroppedDims();
  int64_t next = 0;
  for (size_t dim = 0; dim < window.offsets.size(); ++dim) {
    if (dropped.test(dim))
      continue;
    std::optional<OpFoldResult> sum =
        addOffsets(b, window.offsets[dim], inner.getMixedOffsets()[next]);
    if (!sum)
      return std::nullopt;
    window.offsets[dim] = *sum;
    window.sizes[dim] = inner.getMixedSizes()[next];
    window.steps[dim] = inner.getMixedStrides()[next++];
  }
  return window;
}

/// Puts the parts of what `outer` puts into a tensor there one by one, where nobody else reads it.
static void insertPartsOfParts(RewriterBase &b, tensor::InsertSliceOp outer) {
  SmallVector<tensor::InsertSliceOp> inner;
  SmallVector<Window> places;
  Value whole = outer.getSource();
  while (auto insert = whole.getDefiningOp<tensor::InsertSliceOp>()) {
    std::optional<Window> window = windowIn(b, outer, insert);
    if (!whole.hasOneUse() || insert->getBlock() != outer->getBlock() || !window)
      return;
    inner.push_back(insert);
    places.push_back(*window);
    whole = insert.getDest();
  }
  if (inner.empty() || !outer.hasUnitStride() || !whole.getDefiningOp<tensor::EmptyOp>())
    return;
  b.setInsertionPoint(outer);
  Value dest = outer.getDest();
  for (auto [insert, window] : llvm::reverse(llvm::zip_equal(inner, places)))
    dest = tensor::InsertSliceOp::create(b, insert.getLoc(), insert.getSource(), dest,
                                         window.offsets, window.sizes, window.steps);
  b.replaceOp(outer, dest);
  for (tensor::InsertSliceOp insert : inner)
    b.eraseOp(insert);
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// Lets one op compute `parts`, which `inserts` put into their places.
static void join(RewriterBase &b, ArrayRef<linalg::GenericOp> parts,
                 ArrayRef<tensor::InsertSliceOp> inserts) {
  Operation *latest = parts.front(); // all operands are there
  for (linalg::GenericOp part : parts)
    latest = latest->isBeforeInBlock(part) ? part.getOperation() : latest;
  addExplanation(latest->getParentOfType<func::FuncOp>(),
                 nameOpAndLine(parts.front()) + ": one op computes " + Twine(parts.size()) +
                     " parts of a concatenation, which read the same");
  b.setInsertionPoint(latest);
  linalg::GenericOp joined = createJoined(b, parts);
  for (auto [number, insert] : llvm::enumerate(inserts)) {
    Operation *reader = pathTo(insert).back();
    Value part = joined.getResult(number);
    b.modifyOpInPlace(reader, [&] { reader->setOperand(0, part); });
  }
  for (linalg::GenericOp part : llvm::SetVector<linalg::GenericOp>(parts.begin(), parts.end()))
    b.eraseOp(part);
}

/// Lets one op compute the parts that are put into a tensor by `last` and the insertions in front
/// of it.
static void joinConcatParts(RewriterBase &b, tensor::InsertSliceOp last) {
  SmallVector<tensor::InsertSliceOp> inserts{last};
  while (auto before = inserts.back().getDest().getDefiningOp<tensor::InsertSliceOp>()) {
    if (getInsertionRoot(last) == before.getResult() || !before->hasOneUse() ||
        before->getBlock() != last->getBlock())
      break;
    inserts.push_back(before);
  }
  std::reverse(inserts.begin(), inserts.end());
  SmallVector<linalg::GenericOp> parts = llvm::map_to_vector(inserts, partOf);
  bool joins = false;
  for (size_t first = 0; first < parts.size(); ++first) {
    SmallVector<linalg::GenericOp> together;
    SmallVector<tensor::InsertSliceOp> theirs;
    for (size_t i = first; i < parts.size() && parts[first] && together.size() < kMostParts; ++i)
      if (parts[i] && belongTogether(parts[first], parts[i])) {
        together.push_back(parts[i]);
        theirs.push_back(inserts[i]);
      }
    if (together.size() < 2 || llvm::any_of(together, [&](linalg::GenericOp part) {
          // Read elsewhere, too.
          return llvm::range_size(part->getUses()) != size_t(llvm::count(together, part));
        }))
      continue;
    if (!joins) // insertions, in their order, are behind all that computes parts
      for (tensor::InsertSliceOp insert : inserts)
        for (Operation *op : llvm::reverse(pathTo(insert)))
          if (op != last)
            b.moveOpBefore(op, last);
    joins = true;
    join(b, together, theirs);
    for (linalg::GenericOp &part : parts)
      if (llvm::is_contained(together, part))
        part = nullptr;
  }
}

namespace {
struct JoinConcatPartsPass : tilewright::impl::JoinConcatPartsPassBase<JoinConcatPartsPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      return;
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::InsertSliceOp> all;
    getOperation().walk([&](tensor::InsertSliceOp op) { all.push_back(op); });
    for (tensor::InsertSliceOp op : all) // what is erased is this one, or in front of it
      insertPartsOfParts(rewriter, op);
    // The last insertions of their chains: no other inserts into what they make.
    SmallVector<tensor::InsertSliceOp> ops;
    getOperation().walk([&](tensor::InsertSliceOp op) {
      if (llvm::none_of(op->getUsers(), [&](Operation *user) {
            auto next = dyn_cast<tensor::InsertSliceOp>(user);
            return next && next.getDest() == op.getResult();
          }))
        ops.push_back(op);
    });
    for (tensor::InsertSliceOp op : ops)
      joinConcatParts(rewriter, op);
  }
};
} // namespace
