// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Long scans, shared out among many threads.
//
//   %s = tilewright.scan ins(%v : tensor<1x5000000x1xf32>) outs(%e) {dim = 1}
// becomes, where blocks may wait for each other, one pass (Dialect/LookBack.h),
//   %z = linalg.fill ins(0) outs(%states : tensor<1261xi32>)
//   %s, _, _ = tilewright.scan ins(%v) chunk(%c4096) outs(%e) scratch(%z, %values) {dim = 1, look_back}
// and elsewhere
//   %t = tilewright.scan ins(%v) chunk(%c4096) outs(…) {dim = 1, totals}   // 1 x 1221 x 1
//   %p = tilewright.scan ins(%t) outs(…) {dim = 1}                          // running totals
//   %s = tilewright.scan ins(%v) init(%p) chunk(%c4096) outs(%e) {carried, dim = 1}
//
// in which chunks run side by side. That reads the input twice; where other dims alone
// give many scans (on CPUs a few of elements side by side), or the dim is short, one pass of a
// thread each does. Of dynamic sizes the host decides.

#include "tilewright/Dialect/LookBack.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SPLITSCANSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Scans up to here run through at once; as many scans fill a machine. A few threads of a CPU
/// that scan rows take most of what memory gives.
static constexpr int64_t kShortScan = 256, kManyScans = 4096, kManyRows = 8;
/// Chunks of scans up to (elements): about the square root, so that neither a chunk nor
/// their totals are long.
static constexpr std::pair<int64_t, int64_t> kChunks[] = {
    {1 << 14, 64}, {1 << 20, 512}, {INT64_MAX, 4096}};

namespace {
class ScanSplitter {
public:
  ScanSplitter(RewriterBase &b, ScanOp op, TargetAttr target)
      : b(b), op(op), loc(op.getLoc()), input(op.getInput()), init(op.getInit()),
        element(op.getInputType().getElementType()),
        lookBack(target && target.has("forward_progress") &&
                 op.getInputType().getDimSize(2) >= 1 && element.isIntOrFloat()),
        many(target && target.getFact("subgroup", 0) == 1 &&
                     op.getInputType().getDimSize(2) == 1
                 ? kManyRows
                 : kManyScans) {}
  void split();

private:
  Value scan(Value input, Value init, Value chunk, ArrayRef<OpFoldResult> sizes,
             ArrayRef<StringRef> flags, ValueRange scratch = {});
  Value whole() { return scan(input, init, {}, sizes, ownFlags({})); }
  Value inChunks();
  Value inTiles();
  OpFoldResult chooseChunk();
  SmallVector<StringRef> ownFlags(StringRef more);
  Value toValue(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, loc, value);
  }
  Value compare(arith::CmpIPredicate how, OpFoldResult left, int64_t right) {
    return arith::CmpIOp::create(b, loc, how, toValue(left), toValue(b.getIndexAttr(right)));
  }
  /// Of sizes that may be known.
  OpFoldResult ceil(OpFoldResult x, OpFoldResult y);
  OpFoldResult multiply(OpFoldResult x, OpFoldResult y);
  OpFoldResult add(OpFoldResult x, OpFoldResult y);

  RewriterBase &b;
  ScanOp op;
  Location loc;
  Value input, init;
  Type element;
  bool lookBack;
  /// So many scans are not split.
  int64_t many;
  SmallVector<OpFoldResult> sizes; // outer, along, inner
};
} // namespace

OpFoldResult ScanSplitter::ceil(OpFoldResult x, OpFoldResult y) {
  auto known = getConstantIntValue(x), by = getConstantIntValue(y);
  if (known && by)
    return b.getIndexAttr(llvm::divideCeil(*known, *by));
  return arith::CeilDivUIOp::create(b, loc, toValue(x), toValue(y)).getResult();
}

OpFoldResult ScanSplitter::multiply(OpFoldResult x, OpFoldResult y) {
  auto left = getConstantIntValue(x), right = getConstantIntValue(y);
  if (left && right)
    return b.getIndexAttr(*left * *right);
  return arith::MulIOp::create(b, loc, toValue(x), toValue(y)).getResult();
}

OpFoldResult ScanSplitter::add(OpFoldResult x, OpFoldResult y) {
  auto left = getConstantIntValue(x), right = getConstantIntValue(y);
  if (left && right)
    return b.getIndexAttr(*left + *right);
  return arith::AddIOp::create(b, loc, toValue(x), toValue(y)).getResult();
}

/// The op's own unit attributes, and one more.
SmallVector<StringRef> ScanSplitter::ownFlags(StringRef more) {
  SmallVector<StringRef> flags;
  if (op.getExclusive())
    flags.push_back("exclusive");
  if (op.getReverse())
    flags.push_back("reverse");
  if (!more.empty())
    flags.push_back(more);
  return flags;
}

/// A scan along the second dim into a new tensor; flags are its unit attributes.
Value ScanSplitter::scan(Value from, Value start, Value chunk, ArrayRef<OpFoldResult> shape,
                         ArrayRef<StringRef> flags, ValueRange scratch) {
  Value empty = tensor::EmptyOp::create(b, loc, shape, element);
  auto has = [&](StringRef flag) { return llvm::is_contained(flags, flag); };
  SmallVector<Type> types{empty.getType()};
  llvm::append_range(types, scratch.getTypes());
  auto made = ScanOp::create(b, loc, types, from, start, chunk, empty, scratch, 1,
                             has("exclusive"), has("reverse"), has("carried"), has("totals"),
                             has("look_back"));
  IRMapping mapping;
  op.getCombiner().cloneInto(&made.getCombiner(), mapping);
  return made.getResult(0);
}

OpFoldResult ScanSplitter::chooseChunk() {
  if (auto along = getConstantIntValue(sizes[1])) {
    const auto *found =
        llvm::find_if(kChunks, [&](auto entry) { return *along <= entry.first; });
    return b.getIndexAttr(found->second);
  }
  Value chunk = toValue(b.getIndexAttr(std::end(kChunks)[-1].second));
  for (auto [most, length] : llvm::reverse(ArrayRef(kChunks).drop_back()))
    chunk = arith::SelectOp::create(b, loc, compare(arith::CmpIPredicate::ule, sizes[1], most),
                                    toValue(b.getIndexAttr(length)), chunk);
  return chunk;
}

Value ScanSplitter::inChunks() {
  OpFoldResult length = chooseChunk();
  SmallVector<OpFoldResult> totalSizes = sizes;
  totalSizes[1] = ceil(sizes[1], length);
  Value chunk = toValue(length);
  SmallVector<StringRef> reverse;
  if (op.getReverse())
    reverse.push_back("reverse");
  auto with = [&](StringRef flag) {
    SmallVector<StringRef> flags = reverse;
    flags.push_back(flag);
    return flags;
  };
  // Chunks are numbered in the order in which they are scanned.
  Value totals = scan(input, {}, chunk, totalSizes, with("totals"));
  if (!init) {
    Value running = scan(totals, {}, {}, totalSizes, {});
    return scan(input, running, chunk, sizes, with("carried"));
  }
  Value before = scan(totals, init, {}, totalSizes, {"exclusive"});
  return scan(input, before, chunk, sizes, op.getExclusive() ? with("exclusive") : reverse);
}

/// In one pass, with scratch memory for what blocks publish.
Value ScanSplitter::inTiles() {
  int64_t inner = op.getInputType().getDimSize(2), columns = lookBackColumns(inner);
  OpFoldResult tile = b.getIndexAttr(lookBackTile(element, columns));
  OpFoldResult rowTiles = ceil(sizes[1], tile);
  OpFoldResult rowGroups = ceil(rowTiles, b.getIndexAttr(kLookBackGroup));
  OpFoldResult rows = multiply(sizes[0], b.getIndexAttr(llvm::divideCeil(inner, columns)));
  OpFoldResult tiles = multiply(rows, rowTiles), groups = multiply(rows, rowGroups);
  Type state = b.getI32Type();
  Value states = tensor::EmptyOp::create(
      b, loc, add(add(tiles, groups), b.getIndexAttr(1)), state);
  Value zero = arith::ConstantIntOp::create(b, loc, state, 0);
  states = linalg::FillOp::create(b, loc, zero, states).getResult(0);
  OpFoldResult published = add(tiles, multiply(groups, b.getIndexAttr(2)));
  Value values = tensor::EmptyOp::create(
      b, loc, multiply(published, b.getIndexAttr(columns)), element);
  return scan(input, init, toValue(tile), sizes, ownFlags("look_back"), {states, values});
}

void ScanSplitter::split() {
  b.setInsertionPoint(op);
  sizes = tensor::getMixedSizes(b, loc, input);
  auto along = getConstantIntValue(sizes[1]);
  auto outer = getConstantIntValue(sizes[0]), inner = getConstantIntValue(sizes[2]);
  // A block has a row of its own where it looks back, however many there are; threads with a
  // scan each read neighbours where scans lie side by side.
  bool isRow = lookBack && inner == 1;
  bool isMany = !isRow && ((outer && *outer >= many) || (inner && *inner >= many) ||
                           (outer && inner && *outer * *inner >= many));
  if ((along && *along <= kShortScan) || isMany)
    return;
  auto inParts = [&] { return lookBack ? inTiles() : inChunks(); };
  if (along && (isRow || (outer && inner)))
    return b.replaceOp(op, inParts());
  Value isLong = compare(arith::CmpIPredicate::ugt, sizes[1], kShortScan);
  if (!isRow) {
    Value scans = toValue(multiply(sizes[0], sizes[2]));
    isLong = arith::AndIOp::create(b, loc, isLong,
                                   compare(arith::CmpIPredicate::ult, scans, many));
  }
  auto branch = scf::IfOp::create(b, loc, op.getResultTypes(), isLong, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, loc, inParts());
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, whole());
  }
  b.replaceOp(op, branch.getResults());
}

namespace {
struct SplitScansPass : public tilewright::impl::SplitScansPassBase<SplitScansPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      return;
    SmallVector<ScanOp> ops;
    getOperation().walk([&](ScanOp op) {
      if (!op.getChunk() && op.getInputType().getRank() == 3 && op.getDim() == 1 &&
          isa<RankedTensorType>(op.getOutput().getType()))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (ScanOp op : ops)
      ScanSplitter(rewriter, op, getTarget(getOperation())).split();
  }
};
} // namespace
