// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions by a combiner of their own take their terms one by one. Where the program
// says that the combiner is associative and commutative (`tilewright.associative`), there
// are parts instead, each of which takes every n-th element, so that neighbouring threads
// (lanes of a vector) read neighbours:
//
//   %r:2 = linalg.generic {tilewright.associative = [-inf, 0.0]} (k) ins(%m, %s : 4096)
//          outs(%m0, %s0) { merge }
// becomes
//   %x:2 = tensor.expand_shape %m, %s [[0, 1]] : 4096 into 64 x 64
//   %p:2 = linalg.generic (k, p) -> (p) ins(%x#0, %x#1) outs(filled with -inf, 0.0) { merge }
//   %r:2 = linalg.generic (p) ins(%p#0, %p#1) outs(%m0, %s0) { merge }
//
// Many parts are combined in the same way. What elementwise ops compute of elements is
// computed in the bodies. Where the extent is no multiple of the parts, or is not known,
// the elements behind the last whole step are what the first parts begin with.

#include "CombineParts.h"
#include "tilewright/Configure/Splits.h"
#include "tilewright/Dialect/Combiners.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Dispatch/Groups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SPLITMARKEDPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Threads that fill a multiprocessor, and lanes of vectors that fill a CPU.
static constexpr int64_t kThreadsEach = 1024, kCpuLanes = 256;
/// Terms that are worth a part, and of the last step, which has no parts.
static constexpr int64_t kMinTerms = 32, kMostTerms = 64;
/// What is assumed of dynamic extents.
static constexpr int64_t kParallel = 1024, kReduced = int64_t(1) << 20;

namespace {
/// A marked reduction: its combiner is `merge`, on (element…, accumulator…).
struct Marked {
  linalg::GenericOp op;
  SmallVector<TypedAttr> identity;
  Region *merge = nullptr;
  unsigned loop = 0;
  int64_t parts = 1;
  bool isRagged = false;
};

class Splitter {
public:
  Splitter(RewriterBase &b, Marked marked)
      : b(b), m(std::move(marked)), op(m.op), loc(op.getLoc()) {}
  /// Returns the op that combines the parts.
  linalg::GenericOp split();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value extent();
  Value elements(OpOperand &input, unsigned dim, bool behind);
  SmallVector<Value> starts(ValueRange empties);
  /// `op`'s body on the arguments of the current block, with `at` for the index of the
  /// loop.
  SmallVector<Value> cloneBody(OpBuilder &b, ValueRange arguments,
                               llvm::function_ref<Value(OpBuilder &)> at);

  RewriterBase &b;
  Marked m;
  linalg::GenericOp op;
  Location loc;
  /// Whole steps, and the elements in them; where the extent is ragged.
  Value steps, whole, left;
};
} // namespace

//===----------------------------------------------------------------------===//
// Which, and how many parts
//===----------------------------------------------------------------------===//

/// The tuple that changes nothing, or what is missing.
static OrRefusal<SmallVector<TypedAttr>> identityOf(linalg::GenericOp op) {
  SmallVector<TypedAttr> identity;
  size_t results = op.getNumDpsInits();
  Attribute mark = op->getAttr(kAssociativeAttr);
  if (auto given = dyn_cast<ArrayAttr>(mark)) {
    for (auto [value, init] : llvm::zip(given, op.getDpsInits())) {
      auto typed = dyn_cast<TypedAttr>(value);
      if (typed && typed.getType() == getElementTypeOrSelf(init.getType()))
        identity.push_back(typed);
    }
    if (identity.size() == results && given.size() == results)
      return identity;
    return refuse(Refused::Types, "the identity has " + Twine(given.size()) +
                                      " constants; one of its type is for each of the " +
                                      Twine(results) + " results");
  }
  SmallVector<Operation *> combiners =
      matchCombiners(cast<linalg::LinalgOp>(op.getOperation()));
  for (Operation *combiner : combiners)
    if (std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner))
      identity.push_back(*neutral);
  if (identity.size() == results)
    return identity;
  return refuse(Refused::Numerics, "its identity is not known: the mark has to have it, a "
                                   "constant for each result");
}

/// Why the body is none that combines two tuples of results; none if it is.
static Refusal whyNoMerge(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != op.getNumDpsInits())
    return refuse(
        Refused::NotContraction,
        "it has " + std::to_string(op.getNumDpsInputs()) + " inputs and " +
            std::to_string(op.getNumDpsInits()) +
            " results; its body has to combine an element for each result with what there is "
            "of it");
  if (op.hasIndexSemantics())
    return refuse(Refused::Neighbours,
                  "its body asks for the index of a loop; compute it in front, as an input");
  for (auto [input, init] : llvm::zip(op.getDpsInputs(), op.getDpsInits()))
    if (getElementTypeOrSelf(input.getType()) != getElementTypeOrSelf(init.getType()))
      return refuse(Refused::Types, "its inputs are not of the types of its results");
  if (!llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return refuse(Refused::Layout, "it reads an input other than by its loops, each once");
  return {};
}

/// Chooses loop and parts; false where parts are not worth it.
static bool chooseParts(Marked &m, TargetAttr target) {
  SmallVector<int64_t> extents = m.op.getStaticLoopRanges();
  int64_t results = 1, longest = -1, reductions = 0;
  for (auto [loop, type] : llvm::enumerate(m.op.getIteratorTypesArray())) {
    bool isDynamic = ShapedType::isDynamic(extents[loop]);
    if (type == utils::IteratorType::parallel) {
      if (llvm::MulOverflow(results, isDynamic ? kParallel : extents[loop], results))
        results = INT64_MAX;
      continue;
    }
    ++reductions;
    int64_t extent = isDynamic ? kReduced : extents[loop];
    if (extent > longest) {
      longest = extent;
      m.loop = loop;
    }
  }
  if (results == 0 || longest <= kMostTerms)
    return false;
  // As many as fill the machine and, along memory, those of a warp or vector at least, for
  // accesses of neighbours.
  bool lanes = target.getFact("subgroup", 1) > 1;
  int64_t fill = lanes ? kThreadsEach * multiprocessorsOf(target) : kCpuLanes;
  AffineMap map = m.op.getMatchingIndexingMap(m.op.getDpsInputOperand(0));
  bool alongMemory = map.getNumResults() && map.getDimPosition(map.getNumResults() - 1) == m.loop;
  int64_t wanted = std::max<int64_t>(fill / results, !alongMemory ? 1 : lanes ? 32 : 8);
  wanted = llvm::bit_floor(uint64_t(std::min(wanted, longest / kMinTerms)));
  if (wanted < 2)
    return false;
  m.parts = wanted;
  int64_t extent = extents[m.loop];
  m.isRagged = ShapedType::isDynamic(extent) || extent % wanted;
  for (int64_t parts = wanted; m.isRagged && !ShapedType::isDynamic(extent) &&
                               parts >= std::max<int64_t>(2, wanted / 2);
       --parts)
    if (extent % parts == 0) {
      m.parts = parts;
      m.isRagged = false;
    }
  return !m.isRagged || reductions == 1;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value Splitter::extent() {
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (auto dim = map.getResultPosition(b.getAffineDimExpr(m.loop)))
      return b.createOrFold<tensor::DimOp>(loc, input->get(), *dim);
  }
  return {};
}

/// The elements of `input` in whole steps, or those behind them as many as there are
/// parts, zeros where there are none.
Value Splitter::elements(OpOperand &input, unsigned dim, bool behind) {
  Value x = input.get();
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      strides(sizes.size(), b.getIndexAttr(1));
  if (m.isRagged) {
    offsets[dim] = behind ? OpFoldResult(whole) : OpFoldResult(b.getIndexAttr(0));
    sizes[dim] = behind ? left : whole;
    x = tensor::ExtractSliceOp::create(b, loc, x, offsets, sizes, strides);
  }
  if (behind) {
    SmallVector<OpFoldResult> low(sizes.size(), b.getIndexAttr(0)), high = low;
    high[dim] = arith::SubIOp::create(b, loc, constant(m.parts), left).getResult();
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = m.parts;
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
    return tensor::PadOp::create(b, loc, type.clone(shape), x, low, high, zero);
  }
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> expanded;
  for (int64_t number = 0, rank = type.getRank(); number < rank; ++number) {
    groups.push_back({int64_t(shape.size())});
    int64_t size = type.getDimSize(number);
    if (number != dim) {
      shape.push_back(size);
      expanded.push_back(sizes[number]);
      continue;
    }
    groups.back().push_back(shape.size() + 1);
    shape.append({m.isRagged ? ShapedType::kDynamic : size / m.parts, m.parts});
    expanded.push_back(m.isRagged ? OpFoldResult(steps)
                                  : OpFoldResult(b.getIndexAttr(size / m.parts)));
    expanded.push_back(b.getIndexAttr(m.parts));
  }
  return tensor::ExpandShapeOp::create(b, loc, type.clone(shape), x, groups, expanded);
}

SmallVector<Value>
Splitter::cloneBody(OpBuilder &b, ValueRange arguments,
                    llvm::function_ref<Value(OpBuilder &)> at) {
  IRMapping mapping;
  mapping.map(op.getBody()->getArguments(), arguments);
  for (Operation &inner : op.getBody()->without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(inner);
    if (index && index.getDim() == m.loop)
      mapping.map(index.getResult(), at(b));
    else
      b.clone(inner, mapping);
  }
  SmallVector<Value> results;
  for (Value yielded : op.getBody()->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(yielded));
  return results;
}

/// What the parts begin with: nothing, or an element behind the whole steps.
SmallVector<Value> Splitter::starts(ValueRange empties) {
  SmallVector<Value> filled;
  if (!m.isRagged) {
    for (auto [empty, value] : llvm::zip_equal(empties, m.identity)) {
      Value scalar = arith::ConstantOp::create(b, loc, value);
      filled.push_back(linalg::FillOp::create(b, loc, scalar, empty).getResult(0));
    }
    return filled;
  }
  // The one reduction loop counts parts here.
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  MLIRContext *context = op.getContext();
  unsigned numLoops = op.getNumLoops();
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    auto dim = map.getResultPosition(b.getAffineDimExpr(m.loop));
    inputs.push_back(dim ? elements(*input, *dim, /*behind=*/true) : input->get());
    maps.push_back(map);
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<AffineExpr> results(op.getMatchingIndexingMap(&init).getResults());
    results.push_back(getAffineDimExpr(m.loop, context));
    maps.push_back(AffineMap::get(numLoops, 0, results, context));
  }
  SmallVector<utils::IteratorType> iterators(numLoops, utils::IteratorType::parallel);
  auto first = linalg::GenericOp::create(
      b, loc, empties.getTypes(), inputs, empties, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        SmallVector<Value> values(arguments.take_front(inputs.size())), none;
        for (TypedAttr value : m.identity)
          none.push_back(arith::ConstantOp::create(b, loc, value));
        llvm::append_range(values, none);
        Value part = linalg::IndexOp::create(b, loc, m.loop);
        SmallVector<Value> begun = cloneBody(b, values, [&](OpBuilder &b) -> Value {
          return arith::AddIOp::create(b, loc, whole, part);
        });
        Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, part, left);
        SmallVector<Value> results;
        for (auto [value, otherwise] : llvm::zip_equal(begun, none))
          results.push_back(arith::SelectOp::create(b, loc, inside, value, otherwise));
        linalg::YieldOp::create(b, loc, results);
      });
  return first.getResults();
}

linalg::GenericOp Splitter::split() {
  b.setInsertionPoint(op);
  MLIRContext *context = op.getContext();
  unsigned numLoops = op.getNumLoops();
  if (m.isRagged) {
    Value all = extent();
    steps = arith::DivUIOp::create(b, loc, all, constant(m.parts));
    whole = arith::MulIOp::create(b, loc, steps, constant(m.parts));
    left = arith::SubIOp::create(b, loc, all, whole);
  }

  // 1. The parts: one more loop behind the one that is cut.
  SmallVector<Value> inputs, empties;
  SmallVector<AffineMap> maps;
  AffineExpr part = getAffineDimExpr(numLoops, context);
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    SmallVector<AffineExpr> results(map.getResults());
    Value x = input->get();
    if (auto dim = map.getResultPosition(b.getAffineDimExpr(m.loop))) {
      x = elements(*input, *dim, /*behind=*/false);
      results.insert(results.begin() + *dim + 1, part);
    }
    inputs.push_back(x);
    maps.push_back(AffineMap::get(numLoops + 1, 0, results, context));
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<AffineExpr> results(op.getMatchingIndexingMap(&init).getResults());
    results.push_back(part);
    maps.push_back(AffineMap::get(numLoops + 1, 0, results, context));
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, init.get());
    sizes.push_back(b.getIndexAttr(m.parts));
    empties.push_back(tensor::EmptyOp::create(b, loc, sizes,
                                              getElementTypeOrSelf(init.get().getType())));
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.push_back(utils::IteratorType::parallel);
  SmallVector<Value> begin = starts(empties);
  auto parts = linalg::GenericOp::create(
      b, loc, ValueRange(begin).getTypes(), inputs, begin, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        auto at = [&](OpBuilder &b) -> Value {
          Value step = linalg::IndexOp::create(b, loc, m.loop);
          Value number = linalg::IndexOp::create(b, loc, numLoops);
          Value count = arith::ConstantIndexOp::create(b, loc, m.parts);
          return arith::AddIOp::create(
              b, loc, arith::MulIOp::create(b, loc, step, count), number);
        };
        linalg::YieldOp::create(b, loc, cloneBody(b, arguments, at));
      });

  // 2. Their combination, over the parallel loops and the parts.
  PartsCombination combination = combineParts(op, /*partsFirst=*/false);
  auto combined = linalg::GenericOp::create(b, loc, op.getResultTypes(), parts.getResults(),
                                            op.getOutputs(), combination.maps, combination.loops);
  b.cloneRegionBefore(*m.merge, combined.getRegion(), combined.getRegion().end());
  combined->setAttr(kAssociativeAttr,
                    b.getArrayAttr(SmallVector<Attribute>(m.identity.begin(),
                                                          m.identity.end())));
  b.replaceOp(op, combined.getResults());
  return combined;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Computes in the body what elementwise ops compute of the elements for it alone.
static linalg::GenericOp fuseProducers(RewriterBase &b, linalg::GenericOp op) {
  for (bool changed = true; changed;) {
    changed = false;
    for (OpOperand &operand : op->getOpOperands()) {
      auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
      if (!producer || op.isDpsInit(&operand) || producer->hasAttr(kConfigAttr) ||
          producer->getBlock() != op->getBlock() ||
          classify(producer) != GroupKind::Elementwise ||
          !llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == op; }) ||
          !linalg::areElementwiseOpsFusable(&operand))
        continue;
      b.setInsertionPoint(op);
      FailureOr<linalg::ElementwiseOpFusionResult> fused =
          linalg::fuseElementwiseOps(b, &operand);
      if (failed(fused))
        continue;
      SmallVector<Value> results;
      for (Value result : op.getResults())
        results.push_back(fused->replacements.lookup(result));
      b.replaceOp(op, results);
      op = cast<linalg::GenericOp>(fused->fusedOp);
      changed = true;
      break;
    }
  }
  return op;
}

/// Cuts a reduction that is marked `tilewright.associative` into parts, or says why it
/// takes its terms one by one.
static void splitMarked(RewriterBase &b, linalg::GenericOp op, TargetAttr target) {
  auto leave = [&](const Refusal &why) {
    op.emitRemark() << "takes its terms one by one, though it is marked '" << kAssociativeAttr
                    << "': " << why.str();
    op->removeAttr(kAssociativeAttr);
  };
  Marked marked;
  if (Refusal why = whyNoMerge(op))
    return leave(why);
  OrRefusal<SmallVector<TypedAttr>> identity = identityOf(op);
  if (!identity)
    return leave(identity.why());
  marked.op = op;
  marked.identity = *identity;
  // Reductions that have a form of their own need no parts from here.
  if (!isSequentialReduction(cast<linalg::LinalgOp>(op.getOperation())) ||
      !chooseParts(marked, target)) {
    op->removeAttr(kAssociativeAttr);
    return;
  }
  Region merge;
  IRMapping mapping;
  op.getRegion().cloneInto(&merge, mapping);
  marked.merge = &merge;
  marked.op = fuseProducers(b, op);
  linalg::GenericOp combined = Splitter(b, marked).split();
  splitMarked(b, combined, target);
}

namespace {
struct SplitMarkedPass : public tilewright::impl::SplitMarkedPassBase<SplitMarkedPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    if (isKernel(getOperation()) || !target)
      return;
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op->hasAttr(kAssociativeAttr) && op.hasPureTensorSemantics())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      splitMarked(rewriter, op, target);
  }
};
} // namespace
