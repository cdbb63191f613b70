// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scan waits for the sum of the elements before each one. Its combiner is associative: the
// elements of a line are combined with those before them in a few steps that wait for
// nothing else, and lines with what is before them, once each:
//
//   %s = scf.for %i … iter_args(%sum) { %n = load %x[%i]; %c = addf %sum, %n; store %c, %r[%i] }
//       {tilewright.scan_loop}
//   ->
//   scf.for %i … step 16 iter_args(%before) {                 // the same in all lanes
//     %v = vector.load %x[%i] : vector<16xf32>
//     %a = lanes 1 to 15: %v shifted by one lane + %v         // then by 2, 4 and 8
//     %c = addf %before, %d;  vector.store %c, %r[%i]
//     %after = addf %before, last lane of %d }
//
// and as before in front of the first whole line and behind the last. Elements of f16 and bf16 are
// widened there, and sums rounded where they are stored. Loops without the mark may look the same,
// as the one of a reduction with a combiner that is not associative does.

#include "tilewright/Dialect/Combiners.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_SCANVECTORSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static constexpr int64_t kLineBits = 512;

namespace {
/// A loop that scans elements which lie side by side.
struct Scan {
  scf::ForOp loop;
  memref::LoadOp load;
  /// Null where elements have the type of the sum, which f16 and bf16 have not.
  arith::ExtFOp widen;
  arith::TruncFOp narrow;
  /// Null where the last sum alone is asked for.
  memref::StoreOp store;
  /// Computes the next sum out of the carried one and the loaded element.
  SmallVector<Operation *> combiner;
  bool isExclusive = false;

  Value getCarried() { return loop.getRegionIterArg(0); }
  Value getCombined() { return loop.getYieldedValues()[0]; }
  Value getElement() { return widen ? widen.getResult() : load.getResult(); }
  Value getStored() { return narrow ? narrow.getIn() : store.getValue(); }
};

/// Emits a scan of whole lines.
class LineScan {
public:
  LineScan(OpBuilder &b, Scan scan)
      : b(b), scan(scan), loc(scan.loop.getLoc()),
        lanes(kLineBits / scan.getElement().getType().getIntOrFloatBitWidth()),
        type(VectorType::get(lanes, scan.getElement().getType())) {}
  void write();

private:
  Value combine(Value before, Value next);
  Value shuffle(Value first, Value second, llvm::function_ref<int64_t(int64_t)> lane);
  Value scanLine(Value line);
  scf::ForOp cloneFor(Value from, Value to, Value sum);

  OpBuilder &b;
  Scan scan;
  Location loc;
  int64_t lanes;
  VectorType type;
};
} // namespace

/// The indices are the same in each step, but for one that goes up with it: no other dim
/// behind that one has more than one element.
static bool isAlong(scf::ForOp loop, ValueRange indices, MemRefType type) {
  if (!type.getLayout().isIdentity())
    return false;
  int64_t dim = type.getRank() - 1;
  while (dim >= 0 && type.getDimSize(dim) == 1 && loop.isDefinedOutsideOfLoop(indices[dim]))
    --dim;
  for (int64_t outer = 0; outer < dim; ++outer)
    if (!loop.isDefinedOutsideOfLoop(indices[outer]))
      return false;
  if (dim < 0)
    return false;
  Value step = loop.getInductionVar();
  if (indices[dim] == step)
    return true;
  auto sum = indices[dim].getDefiningOp<arith::AddIOp>();
  return sum && ((sum.getRhs() == step && loop.isDefinedOutsideOfLoop(sum.getLhs())) ||
                 (sum.getLhs() == step && loop.isDefinedOutsideOfLoop(sum.getRhs())));
}

static std::optional<Scan> matchScan(scf::ForOp loop) {
  if (!loop->hasAttr(kScanLoopAttr) || loop.getNumResults() != 1 ||
      getConstantIntValue(loop.getStep()) != 1)
    return std::nullopt;
  Scan scan{loop};
  Type element = loop.getResult(0).getType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8)
    return std::nullopt;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (scan.load || !isAlong(loop, load.getIndices(), load.getMemRefType()))
        return std::nullopt;
      scan.load = load;
    } else if (auto widen = dyn_cast<arith::ExtFOp>(op);
               widen && scan.load && widen.getIn() == scan.load.getResult() &&
               widen.getIn().hasOneUse()) {
      scan.widen = widen;
    } else if (auto narrow = dyn_cast<arith::TruncFOp>(op);
               narrow && narrow->hasOneUse() &&
               isa<memref::StoreOp>(*narrow->user_begin())) {
      scan.narrow = narrow;
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (scan.store || !isAlong(loop, store.getIndices(), store.getMemRefType()))
        return std::nullopt;
      scan.store = store;
    } else if (llvm::all_of(op.getResultTypes(), llvm::IsaPred<IndexType>)) {
      if (!isa<arith::AddIOp>(op))
        return std::nullopt;
    } else if (OpTrait::hasElementwiseMappableTraits(&op) && isPure(&op) &&
               op.getNumResults() == 1) {
      scan.combiner.push_back(&op);
    } else {
      return std::nullopt;
    }
  }
  if (!scan.load || scan.getElement().getType() != element || scan.combiner.empty() ||
      scan.combiner.back()->getResult(0) != scan.getCombined())
    return std::nullopt;
  if (!scan.store)
    return scan;
  // What is read of a buffer that is written, too, is the same element.
  scan.isExclusive = scan.getStored() == scan.getCarried();
  if ((!scan.isExclusive && scan.getStored() != scan.getCombined()) ||
      (scan.store.getMemRef() == scan.load.getMemRef() &&
       scan.store.getIndices() != scan.load.getIndices()))
    return std::nullopt;
  return scan;
}

/// The combiner of vectors.
Value LineScan::combine(Value before, Value next) {
  IRMapping mapping;
  mapping.map(scan.getCarried(), before);
  mapping.map(scan.getElement(), next);
  for (Operation *op : scan.combiner) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value own = mapping.lookupOrNull(operand);
      if (!own)
        own = vector::BroadcastOp::create(b, loc, VectorType::get(lanes, operand.getType()),
                                          operand);
      operands.push_back(own);
    }
    Type result = VectorType::get(lanes, op->getResult(0).getType());
    Operation *made = b.create(loc, op->getName().getIdentifier(), operands, result,
                               op->getAttrs());
    mapping.map(op->getResult(0), made->getResult(0));
  }
  return mapping.lookup(scan.getCombined());
}

Value LineScan::shuffle(Value first, Value second,
                        llvm::function_ref<int64_t(int64_t)> lane) {
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < lanes; ++i)
    order.push_back(lane(i));
  return vector::ShuffleOp::create(b, loc, first, second, order);
}

/// Each lane of `line` combined with those before it.
Value LineScan::scanLine(Value line) {
  for (int64_t by = 1; by < lanes; by *= 2) {
    Value before = shuffle(line, line, [&](int64_t i) { return (i - by + lanes) % lanes; });
    SmallVector<bool> has(lanes);
    for (int64_t i = 0; i < lanes; ++i)
      has[i] = i >= by;
    Value mask = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(VectorType::get(lanes, b.getI1Type()), has));
    line = arith::SelectOp::create(b, loc, mask, combine(before, line), line);
  }
  return line;
}

/// The loop as it was, from `from` to `to`.
scf::ForOp LineScan::cloneFor(Value from, Value to, Value sum) {
  auto loop = cast<scf::ForOp>(b.clone(*scan.loop));
  loop->removeAttr(kScanLoopAttr);
  loop.setLowerBound(from);
  loop.setUpperBound(to);
  loop.getInitArgsMutable()[0].set(sum);
  return loop;
}

void LineScan::write() {
  Value line = arith::ConstantIndexOp::create(b, loc, lanes);
  Value less = arith::ConstantIndexOp::create(b, loc, lanes - 1);
  Value from = scan.loop.getLowerBound(), to = scan.loop.getUpperBound();
  // Lines of a buffer that begins with one, as rows of so many elements do.
  Value up = arith::DivUIOp::create(b, loc, arith::AddIOp::create(b, loc, from, less), line);
  Value first =
      arith::MinUIOp::create(b, loc, arith::MulIOp::create(b, loc, up, line), to);
  Value rest =
      arith::RemUIOp::create(b, loc, arith::SubIOp::create(b, loc, to, first), line);
  Value last = arith::SubIOp::create(b, loc, to, rest);

  Value sum = cloneFor(from, first, scan.loop.getInitArgs()[0]).getResult(0);
  Value sums = vector::BroadcastOp::create(b, loc, type, sum);
  auto loop = scf::ForOp::create(b, loc, first, last, line, sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    IRMapping mapping;
    mapping.map(scan.loop.getInductionVar(), loop.getInductionVar());
    for (Operation &op : scan.loop.getBody()->getOperations())
      if (isa<arith::AddIOp>(op) && isa<IndexType>(op.getResult(0).getType()))
        b.clone(op, mapping);
    auto indicesOf = [&](ValueRange indices) {
      return llvm::map_to_vector(indices,
                                 [&](Value index) { return mapping.lookupOrDefault(index); });
    };
    Value read = vector::LoadOp::create(b, loc, VectorType::get(lanes, scan.load.getType()),
                                        scan.load.getMemRef(),
                                        indicesOf(scan.load.getIndices()));
    if (scan.widen)
      read = arith::ExtFOp::create(b, loc, type, read, scan.widen.getFastmathAttr());
    Value own = scanLine(read), before = loop.getRegionIterArg(0);
    Value combined = combine(before, own);
    if (scan.store) {
      // Lane 0 of `before`, then the others.
      Value result = scan.isExclusive ? shuffle(before, combined, [&](int64_t i) {
        return i ? lanes + i - 1 : 0;
      }) : combined;
      if (scan.narrow)
        result = arith::TruncFOp::create(
            b, loc, VectorType::get(lanes, scan.narrow.getType()), result,
            scan.narrow.getRoundingmodeAttr(), scan.narrow.getFastmathAttr());
      vector::StoreOp::create(b, loc, result, scan.store.getMemRef(),
                              indicesOf(scan.store.getIndices()));
    }
    // Not the last lane of `combined`: the next line waits for one combination alone.
    Value total = shuffle(own, own, [&](int64_t) { return lanes - 1; });
    scf::YieldOp::create(b, loc, combine(before, total));
  }
  sum = vector::ExtractOp::create(b, loc, loop.getResult(0), int64_t(0));
  scan.loop.replaceAllUsesWith(cloneFor(last, to, sum));
  scan.loop.erase();
}

namespace {
struct ScanVectorsPass : tilewright::impl::ScanVectorsPassBase<ScanVectorsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isKernel(func) || func.isExternal())
      return;
    SmallVector<Scan> scans;
    func.walk([&](scf::ForOp loop) {
      if (std::optional<Scan> scan = matchScan(loop))
        scans.push_back(*scan);
    });
    for (Scan &scan : scans) {
      OpBuilder builder(scan.loop);
      LineScan(builder, scan).write();
    }
  }
};
} // namespace
