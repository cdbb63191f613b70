// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scatters of one dim of updates, scans along the second of three dims, and long scans
// in chunks (PrepareSorts.cpp: sorts); for all targets alike, the oracle included, so that all combine elements in
// the same order.
//
//   %r = tilewright.scan ins(%x : tensor<5000000xf32>) outs(%e) {dim = 0}
// becomes, with %v = %x as tensor<1x5000000x1xf32>,
//   %t = tilewright.scan ins(%v) chunk(%c4096) outs(…) {dim = 1, totals}   // 1 x 1221 x 1
//   %p = tilewright.scan ins(%t) outs(…) {dim = 1}                          // running totals
//   %s = tilewright.scan ins(%v) init(%p) chunk(%c4096) outs(…) {carried, dim = 1}
//
// in which chunks run side by side. That reads the input twice; where other dims alone
// give many scans, or the dim is short, one pass does. Of dynamic sizes the host decides.

#include "IrregularForms.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_PREPAREIRREGULARPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

/// Scans up to here run through at once; as many scans fill a machine.
static constexpr int64_t kShortScan = 256, kManyScans = 4096;
/// Chunks of scans up to (elements): about the square root, so that neither a chunk nor
/// their totals are long.
static constexpr std::pair<int64_t, int64_t> kChunks[] = {
    {1 << 14, 64}, {1 << 20, 512}, {INT64_MAX, 4096}};

/// An op on memrefs, which the oracle does not raise, as one on the tensors in them.
static Operation *onTensors(RewriterBase &b, DestinationStyleOpInterface op) {
  SmallVector<Value> dests(op.getDpsInits());
  if (!isa<MemRefType>(dests[0].getType()))
    return op;
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<Value> operands(op->getOperands());
  for (Value &operand : operands) {
    auto memref = dyn_cast<MemRefType>(operand.getType());
    if (!memref)
      continue;
    auto tensor = RankedTensorType::get(memref.getShape(), memref.getElementType());
    operand = bufferization::ToTensorOp::create(b, loc, tensor, operand, /*restrict=*/true,
                                                /*writable=*/llvm::is_contained(dests, operand));
  }
  SmallVector<Type> types;
  for (OpOperand &dest : op.getDpsInitsMutable())
    types.push_back(operands[dest.getOperandNumber()].getType());
  Operation *made = clone(b, op, types, operands);
  for (auto [result, dest] : llvm::zip_equal(made->getResults(), dests)) {
    auto store = bufferization::MaterializeInDestinationOp::create(b, loc, result, dest);
    store.setRestrict(true);
    store.setWritable(true);
  }
  b.eraseOp(op);
  return made;
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// Dims that count updates become one.
static void prepareScatter(RewriterBase &b, ScatterOp op) {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  int64_t batch = op.getIndicesType().getRank() - 1, rank = op.getUpdatesType().getRank();
  if (batch == 1)
    return;
  Value updates = op.getUpdates(), indices = op.getIndices();
  if (batch == 0) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, updates);
    sizes.insert(sizes.begin(), b.getIndexAttr(1));
    Groups groups;
    if (rank)
      groups.push_back({0, 1});
    for (int64_t dim = 1; dim < rank; ++dim)
      groups.push_back({dim + 1});
    updates = expand(b, loc, updates, groups, sizes);
    indices = expand(b, loc, indices, {{0, 1}},
                     {b.getIndexAttr(1), b.getIndexAttr(int64_t(op.getDims().size()))});
  } else {
    Groups ofUpdates, ofIndices;
    addGroup(ofUpdates, 0, batch);
    addGroup(ofIndices, 0, batch);
    ofIndices.push_back({batch});
    for (int64_t dim = batch; dim < rank; ++dim)
      ofUpdates.push_back({dim});
    updates = collapse(b, loc, updates, ofUpdates);
    indices = collapse(b, loc, indices, ofIndices);
  }
  b.modifyOpInPlace(op, [&] {
    op.getUpdatesMutable().assign(updates);
    op.getIndicesMutable().assign(indices);
  });
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

namespace {
class ScanWriter {
public:
  ScanWriter(RewriterBase &b, ScanOp op) : b(b), op(op), loc(op.getLoc()) {}
  void write();

private:
  Value scan(Value input, Value init, Value chunk, ArrayRef<OpFoldResult> sizes,
             ArrayRef<StringRef> flags);
  Value inOnePass();
  Value inChunks();
  OpFoldResult chooseChunk();
  Value toValue(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, loc, value);
  }
  Value compare(arith::CmpIPredicate how, OpFoldResult left, int64_t right) {
    return arith::CmpIOp::create(b, loc, how, toValue(left), toValue(b.getIndexAttr(right)));
  }

  RewriterBase &b;
  ScanOp op;
  Location loc;
  Value input, init;
  SmallVector<OpFoldResult> sizes; // outer, along, inner
};
} // namespace

/// A scan along the second dim into a new tensor; flags are its unit attributes.
Value ScanWriter::scan(Value from, Value start, Value chunk, ArrayRef<OpFoldResult> shape,
                       ArrayRef<StringRef> flags) {
  Value empty = tensor::EmptyOp::create(b, loc, shape, op.getInputType().getElementType());
  auto has = [&](StringRef flag) { return llvm::is_contained(flags, flag); };
  auto made = ScanOp::create(b, loc, TypeRange(empty.getType()), from, start, chunk, empty,
                             1, has("exclusive"), has("reverse"),
                             has("carried"), has("totals"));
  IRMapping mapping;
  op.getCombiner().cloneInto(&made.getCombiner(), mapping);
  return made.getResult(0);
}

Value ScanWriter::inOnePass() {
  SmallVector<StringRef> flags;
  if (op.getExclusive())
    flags.push_back("exclusive");
  if (op.getReverse())
    flags.push_back("reverse");
  return scan(input, init, {}, sizes, flags);
}

OpFoldResult ScanWriter::chooseChunk() {
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

Value ScanWriter::inChunks() {
  OpFoldResult length = chooseChunk();
  SmallVector<OpFoldResult> totalSizes = sizes;
  auto along = getConstantIntValue(sizes[1]), elements = getConstantIntValue(length);
  totalSizes[1] = along ? OpFoldResult(b.getIndexAttr(llvm::divideCeil(*along, *elements)))
                        : arith::CeilDivUIOp::create(b, loc, toValue(sizes[1]), toValue(length))
                              .getResult();
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

void ScanWriter::write() {
  b.setInsertionPoint(op);
  input = flattenAround(b, loc, op.getInput(), op.getDim());
  sizes = tensor::getMixedSizes(b, loc, input);
  if (op.getInit()) {
    // outer x inner
    int64_t dim = op.getDim(), rank = op.getInputType().getRank();
    Groups joined, split;
    addGroup(joined, 0, dim);
    addGroup(joined, dim, rank - 1 - dim);
    init = collapse(b, loc, op.getInit(), joined);
    if (dim > 0 && dim < rank - 1)
      split = {{0}, {1}};
    else if (rank > 1)
      split = {{0, 1}};
    init = expand(b, loc, init, split, {sizes[0], sizes[2]});
  }
  auto along = getConstantIntValue(sizes[1]);
  auto outer = getConstantIntValue(sizes[0]), inner = getConstantIntValue(sizes[2]);
  bool isShort = (along && *along <= kShortScan) ||
                 (outer && *outer >= kManyScans) || (inner && *inner >= kManyScans) ||
                 (outer && inner && *outer * *inner >= kManyScans);
  Value result;
  if (isShort) {
    result = inOnePass();
  } else if (along && outer && inner) {
    result = inChunks();
  } else {
    Value scans = arith::MulIOp::create(b, loc, toValue(sizes[0]), toValue(sizes[2]));
    Value isLong = arith::AndIOp::create(
        b, loc, compare(arith::CmpIPredicate::ugt, sizes[1], kShortScan),
        compare(arith::CmpIPredicate::ult, scans, kManyScans));
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    Type type = RankedTensorType::get(shape, op.getInputType().getElementType());
    auto branch = scf::IfOp::create(b, loc, type, isLong, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, loc, inChunks());
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, inOnePass());
    result = branch.getResult(0);
  }
  result = restoreAround(b, loc, result, tensor::getMixedSizes(b, loc, op.getInput()),
                         op.getDim());
  Type type = op.getOutput().getType();
  b.replaceOp(op, result.getType() == type
                      ? result
                      : tensor::CastOp::create(b, loc, type, result).getResult());
}

void tilewright::prepareIrregular(func::FuncOp func, bool keepSorts) {
  IRRewriter b(func.getContext());
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isIrregular(op) || isa<TopKOp, NonzeroOp, UniqueOp, FftOp>(op))
      ops.push_back(op);
  });
  for (size_t number = 0; number < ops.size(); ++number) {
    Operation *op = onTensors(b, cast<DestinationStyleOpInterface>(ops[number]));
    if (auto fourier = dyn_cast<FftOp>(op)) {
      decomposeFourier(b, fourier);
      continue;
    }
    if (auto unique = dyn_cast<UniqueOp>(op)) {
      llvm::append_range(ops, sortForUnique(b, unique));
      continue;
    }
    if (auto topK = dyn_cast<TopKOp>(op))
      op = sortForTopK(b, topK);
    if (auto nonzero = dyn_cast<NonzeroOp>(op))
      op = scanForNonzero(b, nonzero);
    if (auto scatter = dyn_cast<ScatterOp>(op))
      prepareScatter(b, scatter);
    else if (auto scan = dyn_cast<ScanOp>(op); scan && !scan.getChunk())
      ScanWriter(b, scan).write();
    else if (auto sort = dyn_cast<SortOp>(op); sort && !keepSorts)
      prepareSort(b, sort);
  }
}

namespace {
struct PrepareIrregularPass
    : public tilewright::impl::PrepareIrregularPassBase<PrepareIrregularPass> {
  using PrepareIrregularPassBase::PrepareIrregularPassBase;
  void runOnOperation() override { prepareIrregular(getOperation(), keepSorts); }
};
} // namespace
