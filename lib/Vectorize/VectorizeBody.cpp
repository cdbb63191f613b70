// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar bodies of linalg ops -> the same ops on vectors. A value that is the
// same for all elements stays a scalar until it meets a vector.
//
//   ^bb0(%x: f32, %b: f32, %o: f32):            %x: vector<64x64xf32>
//     %s = arith.addf %x, %b                    -> arith.addf : vector<64x64xf32>
//     %i = linalg.index 1                       -> vector.step : vector<64xindex>,
//                                                  broadcast to 64x64
//     %t = tensor.extract %table[%i]            -> vector.gather

#include "Vectorizer.h"
#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Gathers.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

/// Replaces affine.apply in `body` by arithmetic, which has a vector form.
static LogicalResult expandAffine(Block *body) {
  for (Operation &op : llvm::make_early_inc_range(*body)) {
    auto apply = dyn_cast<affine::AffineApplyOp>(op);
    if (!apply)
      continue;
    OpBuilder b(apply);
    auto values = affine::expandAffineMap(
        b, apply.getLoc(), apply.getAffineMap(),
        SmallVector<Value>(apply->getOperands()));
    if (!values)
      return apply.emitOpError("has no vector form");
    apply.getResult().replaceAllUsesWith(values->front());
    apply.erase();
  }
  return success();
}

/// Longest runs that anybody reads at once: 16 bytes.
static constexpr int64_t kLongestRun = 16;

/// Whether `value` of the body of `op` may differ between elements along `loop`.
static bool variesAlong(linalg::LinalgOp op, Value value, unsigned loop,
                        llvm::SmallPtrSetImpl<Operation *> &same) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == op.getBlock() &&
           op.getMatchingIndexingMap(&op->getOpOperand(argument.getArgNumber()))
               .isFunctionOfDim(loop);
  Operation *def = value.getDefiningOp();
  if (def->getBlock() != op.getBlock() || !same.insert(def).second)
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(def))
    return index.getDim() == loop;
  return def->getNumRegions() || llvm::any_of(def->getOperands(), [&](Value operand) {
           return variesAlong(op, operand, loop, same);
         });
}

static bool variesAlong(linalg::LinalgOp op, Value value, unsigned loop) {
  llvm::SmallPtrSet<Operation *, 8> same; // what has been looked at
  return variesAlong(op, value, loop, same);
}

/// The loop that the last coordinate of `extract` counts, where no other coordinate depends on it,
/// and of how many elements runs are that surely lie side by side.
static std::optional<std::pair<unsigned, int64_t>> findRuns(linalg::LinalgOp op,
                                                            tensor::ExtractOp extract) {
  auto source = extract.getTensor().getType();
  if (!source.getRank() || source.isDynamicDim(source.getRank() - 1))
    return std::nullopt;
  linalg::IndexOp counted;
  int64_t divisor = std::gcd(kLongestRun, source.getShape().back());
  SmallVector<Value> terms{extract.getIndices().back()}, fixed(extract.getIndices().drop_back());
  while (!terms.empty()) {
    Value term = terms.pop_back_val();
    if (auto sum = term.getDefiningOp<arith::AddIOp>(); sum && sum->getBlock() == op.getBlock()) {
      terms.append({sum.getLhs(), sum.getRhs()});
      continue;
    }
    auto index = term.getDefiningOp<linalg::IndexOp>();
    if (index && !counted) {
      counted = index;
      continue;
    }
    fixed.push_back(term);
    divisor = std::gcd(divisor, knownDivisor(term));
  }
  if (!counted || divisor < 2 || llvm::any_of(fixed, [&](Value value) {
        return variesAlong(op, value, counted.getDim());
      }))
    return std::nullopt;
  return std::pair(unsigned(counted.getDim()), divisor);
}

/// The element of `op`'s tensor at `coordinates`, or 0 of a tensor without elements.
static Value readIfAny(OpBuilder &b, tensor::ExtractOp op, ValueRange coordinates, Value any) {
  return scf::IfOp::create(
             b, op.getLoc(), any,
             [&](OpBuilder &b, Location loc) {
               Value element = tensor::ExtractOp::create(b, loc, op.getTensor(), coordinates);
               scf::YieldOp::create(b, loc, element);
             },
             [&](OpBuilder &b, Location loc) {
               Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(op.getType()));
               scf::YieldOp::create(b, loc, none);
             })
      .getResult(0);
}

/// tensor.extract of a whole tensor. Lanes outside of the tile have coordinates of
/// no meaning, and a program may have wrong ones: whatever they are, they are moved
/// inside, and of a tensor without elements nothing is read.
///
///   %v = tensor.extract %t[%i, %j]     %i, %j: vector<64xindex>, %t: 50 x ?
/// becomes
///   %l = min(max(%i, 0), 49) * %n + min(max(%j, 0), %n - 1)
///   %v = vector.gather %t[%c0, %c0] [%l], %any, %zeros
LogicalResult Vectorizer::vectorizeExtract(OpState &state,
                                           tensor::ExtractOp op) {
  Location loc = op.getLoc();
  auto source = cast<RankedTensorType>(op.getTensor().getType());
  Type index = b.getIndexType();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto wide = [&](Value value) { return toVector(state, value, state.order); };
  Value linear = zero, any;
  SmallVector<Value> coordinates;
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    Value at = op.getIndices()[dim];
    if (Value mapped = state.values.lookup(at))
      at = mapped;
    Value size, last;
    if (source.isDynamicDim(dim)) {
      size = tensor::DimOp::create(b, loc, op.getTensor(), dim);
      last = arith::SubIOp::create(b, loc, size, one);
      Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                         size, zero);
      any = any ? arith::AndIOp::create(b, loc, any, some).getResult() : some;
    } else {
      size = arith::ConstantIndexOp::create(b, loc, source.getDimSize(dim));
      last = arith::ConstantIndexOp::create(
          b, loc, std::max<int64_t>(source.getDimSize(dim), 1) - 1);
    }
    Value low = zero;
    if (isa<VectorType>(at.getType()))
      low = wide(low), last = wide(last);
    at = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, at, last),
                                low);
    coordinates.push_back(at);
    if (dim == 0) {
      linear = at;
      continue;
    }
    if (isa<VectorType>(linear.getType()) || isa<VectorType>(at.getType()))
      linear = wide(linear), at = wide(at), size = wide(size);
    linear = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, linear, size), at);
  }
  // One element, and there is one: a scalar is read, no vector of one.
  if (state.order.empty() && source.hasStaticShape() &&
      source.getNumElements() > 0) {
    state.values[op] =
        tensor::ExtractOp::create(b, loc, op.getTensor(), coordinates);
    return success();
  }
  if (llvm::is_contained(source.getShape(), 0))
    any = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 0);
  else if (!any)
    any = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
  if (state.order.empty()) {
    state.values[op] = readIfAny(b, op, coordinates, any);
    return success();
  }
  VectorType type = state.getType(state.order, source.getElementType());
  auto spread = [&](Value value, Type element) -> Value {
    if (isa<VectorType>(value.getType()))
      return value;
    return vector::BroadcastOp::create(b, loc, type.clone(element), value);
  };
  Value none =
      arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
  SmallVector<Value> start(source.getRank(), zero);
  auto gather = vector::GatherOp::create(
      b, loc, type, op.getTensor(), start, spread(linear, index),
      spread(any, b.getI1Type()), none);
  if (auto runs = findRuns(state.op, op); runs && llvm::is_contained(state.order, runs->first)) {
    gather->setAttr(kGatherRunsAttr,
                    b.getDenseI64ArrayAttr({llvm::find(state.order, runs->first) -
                                                state.order.begin(),
                                            runs->second}));
    if (!op->hasAttr(kColumnInsideAttr))
      gather->setAttr(kGatherOutsideAttr, b.getUnitAttr());
  }
  state.values[op] = gather;
  return success();
}

LogicalResult Vectorizer::vectorizeBodyOp(OpState &state, Operation &op) {
  Location loc = op.getLoc();
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    unsigned loop = index.getDim();
    if (!state.extents[loop]) {
      state.values[index] = arith::ConstantIndexOp::create(b, loc, 0);
      return success();
    }
    Value step = vector::StepOp::create(
        b, loc, VectorType::get({state.extents[loop]}, b.getIndexType()));
    FailureOr<Value> value = reorder(state, step, {loop}, state.order);
    if (failed(value))
      return failure();
    state.values[index] = *value;
    return success();
  }

  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return vectorizeExtract(state, extract);

  SmallVector<Value> operands;
  bool anyVector = false;
  for (Value operand : op.getOperands()) {
    Value mapped = state.values.lookup(operand);
    if (!mapped) {
      Operation *def = operand.getDefiningOp();
      bool inside = def ? def->getBlock() == op.getBlock()
                        : cast<BlockArgument>(operand).getOwner() ==
                              op.getBlock();
      // The accumulator, or something computed from it: if it is anything
      // but the combination at the end, `reduce` reports it.
      if (inside)
        return success();
      mapped = operand;
    }
    anyVector |= isa<VectorType>(mapped.getType());
    operands.push_back(mapped);
  }
  if (op.getNumRegions() || !isMemoryEffectFree(&op) ||
      (anyVector && !OpTrait::hasElementwiseMappableTraits(&op)))
    return op.emitOpError() << "in the body of " << state.op->getName()
                            << " has no vector form; only elementwise arith "
                               "and math ops, tensor.extract and linalg.index do";

  SmallVector<Type> types(op.getResultTypes());
  if (anyVector) {
    for (Value &operand : operands)
      operand = toVector(state, operand, state.order);
    for (Type &type : types)
      type = state.getType(state.order, type);
  }
  OperationState copy(loc, op.getName(), operands, types, op.getAttrs());
  Operation *vectorized = b.create(copy);
  for (auto [before, now] :
       llvm::zip_equal(op.getResults(), vectorized->getResults()))
    state.values[before] = now;
  return success();
}

/// True if `op` is a product that a result of `root` is the sum of: its multiply-add is
/// one operation.
static bool isSummedProduct(linalg::LinalgOp root, Operation &op) {
  auto product = dyn_cast<arith::MulFOp>(op);
  if (!product || product.getType().getIntOrFloatBitWidth() < 16)
    return false;
  return llvm::any_of(llvm::seq<unsigned>(root.getNumDpsInits()), [&](unsigned i) {
    Combiner combiner = matchCombiner(root, i);
    return combiner.op && combiner.element == product.getResult() &&
           combiner.kind == vector::CombiningKind::ADD;
  });
}

static void allowContraction(arith::MulFOp product) {
  product.setFastmath(product.getFastmath() | arith::FastMathFlags::contract);
}

LogicalResult Vectorizer::vectorizeBody(OpState &state) {
  Block *body = state.op.getBlock();
  if (failed(expandAffine(body)))
    return failure();
  for (Operation &op : body->without_terminator()) {
    // Combinations are written by `reduce`.
    bool combines = false;
    bool reduces =
        state.op.getNumReductionLoops() && !isSequentialReduction(state.op);
    if (reduces)
      for (unsigned i = 0, e = state.op.getNumDpsInits(); i < e; ++i)
        combines |= matchCombiner(state.op, i).op == &op;
    if (combines)
      continue;
    if (failed(vectorizeBodyOp(state, op)))
      return failure();
    if (reduces && isSummedProduct(state.op, op))
      if (Value value = state.values.lookup(op.getResult(0)))
        allowContraction(value.getDefiningOp<arith::MulFOp>());
  }
  return success();
}
