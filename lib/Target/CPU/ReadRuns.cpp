// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A body that reads a tensor by coordinates reads neighbours where the last coordinate goes along
// the lanes: rows of an embedding, images that are resized with their channels last, reversed
// rows. Gathers of them are one element at a time; a read and perhaps a shuffle will do:
//
//   %i = addi (broadcast %row * 1024), minsi (addi %k, step), 1023
//   %v = vector.gather %t[0, 0] [%i] : memref<32000x1024xf32>, …, vector<64xf32>
//   ->
//   %v = scf.if (%k <= 1023 && 1023 - %k >= 63) { transfer_read %t[%row * 1024 + %k .. + 63] }
//        else { the gather }
//
// Lanes of an index are %base + stride * lane where no bound that it is held to comes into effect,
// which is a condition on the first and the last of them.

#include "Unroll.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_READRUNSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {
/// Integers in lanes that go up or down evenly, of one row of a vector. Finds their strides first;
/// code is written for what has one only.
class EvenLanes {
public:
  EvenLanes(OpBuilder &b, Location loc, ArrayRef<int64_t> position, int64_t lanes)
      : b(b), loc(loc), position(position), lanes(lanes) {}
  /// What lies between two lanes, if that is known.
  std::optional<int64_t> findStride(Value vector);
  /// Lane 0 of a vector with a stride, if `getCondition()` holds.
  Value writeBase(Value vector);
  /// Null: always.
  Value getCondition() const { return condition; }
  void require(Value holds);

private:
  std::optional<int64_t> strideOf(Operation *op);
  Value baseOf(Operation *op);
  Value baseOfBounded(Operation *op);
  Value baseOfWidened(Operation *op);
  Value constant(Type type, int64_t value);

  OpBuilder &b;
  Location loc;
  ArrayRef<int64_t> position;
  int64_t lanes;
  llvm::DenseMap<Value, std::optional<int64_t>> strides;
  llvm::DenseMap<Value, Value> bases;
  Value condition;
};
} // namespace

/// Whether a row of the result is one number in all lanes, as the op itself says.
static bool isSpread(Operation *op) {
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return !isa<VectorType>(broadcast.getSourceType());
  auto read = dyn_cast<vector::TransferReadOp>(op);
  return read && isa<AffineConstantExpr>(read.getPermutationMap().getResults().back());
}

std::optional<int64_t> EvenLanes::findStride(Value vector) {
  if (auto known = strides.find(vector); known != strides.end())
    return known->second;
  // So that the distance of the last lane from the first fits any type.
  constexpr int64_t kMost = 64;
  std::optional<int64_t> stride;
  if (getConstantIntValue(vector))
    stride = 0;
  else if (Operation *op = vector.getDefiningOp())
    stride = strideOf(op);
  if (stride && std::abs(*stride) > kMost)
    stride = std::nullopt;
  return strides[vector] = stride;
}

std::optional<int64_t> EvenLanes::strideOf(Operation *op) {
  if (isa<vector::StepOp>(op))
    return 1;
  if (isSpread(op))
    return 0;
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    auto row = cast<VectorType>(broadcast.getSourceType());
    return row.getShape() == ArrayRef(lanes) ? findStride(broadcast.getSource()) : std::nullopt;
  }
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isPure(op) ||
      !OpTrait::hasElementwiseMappableTraits(op))
    return std::nullopt;
  SmallVector<int64_t> own;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> stride =
        isa<VectorType>(operand.getType()) ? findStride(operand) : std::nullopt;
    if (!stride)
      return std::nullopt;
    own.push_back(*stride);
  }
  if (llvm::all_of(own, [](int64_t stride) { return stride == 0; }))
    return 0;
  if (isa<arith::AddIOp>(op))
    return own[0] + own[1];
  if (isa<arith::SubIOp>(op))
    return own[0] - own[1];
  if (isa<arith::MulIOp>(op))
    for (unsigned i : {0, 1})
      if (std::optional<int64_t> factor = getConstantIntValue(op->getOperand(i)))
        return own[1 - i] * *factor;
  bool isBounded = isa<arith::MinSIOp, arith::MaxSIOp>(op) && (own[0] == 0 || own[1] == 0);
  if (isBounded || isa<arith::IndexCastOp>(op))
    return own[0] ? own[0] : own.back();
  return std::nullopt;
}

Value EvenLanes::constant(Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

void EvenLanes::require(Value holds) {
  condition = condition ? arith::AndIOp::create(b, loc, condition, holds).getResult() : holds;
}

Value EvenLanes::writeBase(Value vector) {
  if (Value known = bases.lookup(vector))
    return known;
  Value base;
  if (std::optional<int64_t> splat = getConstantIntValue(vector))
    base = constant(getElementTypeOrSelf(vector.getType()), *splat);
  else
    base = baseOf(vector.getDefiningOp());
  return bases[vector] = base;
}

Value EvenLanes::baseOf(Operation *op) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<vector::StepOp>(op))
    return constant(type, 0);
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return isSpread(op) ? broadcast.getSource() : writeBase(broadcast.getSource());
  if (isSpread(op)) {
    SmallVector<int64_t> first(position);
    first.push_back(0);
    return vector::ExtractOp::create(b, loc, op->getResult(0), first);
  }
  if (*findStride(op->getResult(0)) != 0) {
    if (isa<arith::MinSIOp, arith::MaxSIOp>(op))
      return baseOfBounded(op);
    if (isa<arith::IndexCastOp>(op))
      return baseOfWidened(op);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(writeBase(operand));
  Operation *made =
      b.create(loc, op->getName().getIdentifier(), operands, type, op->getAttrs());
  SmallVector<Value> folded;
  if (failed(b.tryFold(made, folded)))
    return made->getResult(0);
  made->erase();
  return folded.front();
}

/// The lanes themselves, none of which the bound changes. Differences of what is known to be
/// greater do not wrap around as numbers without a sign.
Value EvenLanes::baseOfBounded(Operation *op) {
  bool isFirst = *findStride(op->getOperand(0)) != 0, isLeast = isa<arith::MinSIOp>(op);
  Value own = op->getOperand(isFirst ? 0 : 1);
  Value base = writeBase(own), bound = writeBase(op->getOperand(isFirst ? 1 : 0));
  require(arith::CmpIOp::create(
      b, loc, isLeast ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge, base, bound));
  int64_t last = *findStride(own) * (lanes - 1);
  if ((last > 0) != isLeast)
    return base;
  Value room = arith::SubIOp::create(b, loc, isLeast ? bound : base, isLeast ? base : bound);
  require(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, room,
                                constant(room.getType(), std::abs(last))));
  return base;
}

/// Lanes that do not wrap around before they are widened.
Value EvenLanes::baseOfWidened(Operation *op) {
  Value own = op->getOperand(0), narrow = writeBase(own);
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  Value base = arith::IndexCastOp::create(b, loc, type, narrow);
  auto from = dyn_cast<IntegerType>(narrow.getType());
  if (!from || from.getWidth() >= 64)
    return base;
  int64_t last = *findStride(own) * (lanes - 1);
  int64_t limit = last > 0 ? APInt::getSignedMaxValue(from.getWidth()).getSExtValue()
                           : APInt::getSignedMinValue(from.getWidth()).getSExtValue();
  require(arith::CmpIOp::create(
      b, loc, last > 0 ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge, base,
      constant(type, limit - last)));
  return base;
}

/// A row of the memory from element `first` on, or down from there.
static Value readRun(OpBuilder &b, Location loc, Value base, VectorType type, Value first,
                     int64_t stride) {
  int64_t count = type.getNumElements();
  if (stride < 0)
    first = arith::SubIOp::create(b, loc, first,
                                  arith::ConstantIndexOp::create(b, loc, count - 1));
  int64_t size = stride == 0 ? 1 : count;
  auto from = cast<MemRefType>(base.getType());
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1});
  Value memory = memref::ReinterpretCastOp::create(
      b, loc,
      MemRefType::get({size}, from.getElementType(), layout, from.getMemorySpace()), base,
      OpFoldResult(first), ArrayRef<OpFoldResult>{b.getIndexAttr(size)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  if (stride == 0)
    return vector::BroadcastOp::create(b, loc, type,
                                       memref::LoadOp::create(b, loc, memory, zero));
  Value read = vector::LoadOp::create(b, loc, type, memory, zero);
  if (stride > 0)
    return read;
  SmallVector<int64_t> order(llvm::reverse(llvm::seq<int64_t>(0, count)));
  return vector::ShuffleOp::create(b, loc, read, read, order);
}

/// The scalar that is the mask of all lanes, null where it is true; none where lanes differ.
static std::optional<Value> sharedMaskOf(vector::GatherOp op) {
  if (matchPattern(op.getMask(), m_One()))
    return Value();
  auto broadcast = op.getMask().getDefiningOp<vector::BroadcastOp>();
  if (!broadcast || isa<VectorType>(broadcast.getSource().getType()))
    return std::nullopt;
  return broadcast.getSource();
}

/// One row of what `op` gathers, null where its lanes are not known to be even. `mask` may be
/// null.
static Value readRow(OpBuilder &b, vector::GatherOp op, ArrayRef<int64_t> position, Value mask) {
  Location loc = op.getLoc();
  int64_t count = op.getVectorType().getShape().back();
  EvenLanes lanes(b, loc, position, count);
  std::optional<int64_t> stride = lanes.findStride(op.getIndices());
  if (!stride || std::abs(*stride) > 1)
    return {};
  Value first = lanes.writeBase(op.getIndices());
  if (mask)
    lanes.require(mask);
  auto type = VectorType::get(count, op.getVectorType().getElementType());
  Value condition = lanes.getCondition();
  if (!condition)
    return readRun(b, loc, op.getBase(), type, first, *stride);
  auto row = [&](Value vector) {
    return position.empty() ? vector
                            : vector::ExtractOp::create(b, loc, vector, position).getResult();
  };
  auto branch = scf::IfOp::create(b, loc, type, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, readRun(b, loc, op.getBase(), type, first, *stride));
  b.setInsertionPointToStart(branch.elseBlock());
  Value gathered = vector::GatherOp::create(b, loc, type, op.getBase(), op.getOffsets(),
                                            row(op.getIndices()), row(op.getMask()),
                                            row(op.getPassThru()));
  scf::YieldOp::create(b, loc, gathered);
  return branch.getResult(0);
}

static void readAsRuns(vector::GatherOp op) {
  auto from = dyn_cast<MemRefType>(op.getBase().getType());
  VectorType type = op.getVectorType();
  std::optional<Value> mask = sharedMaskOf(op);
  bool isIndex = getElementTypeOrSelf(op.getIndices().getType()).isIndex();
  if (!from || !from.getLayout().isIdentity() || type.getRank() < 1 || type.isScalable() ||
      !mask || !isIndex || from.getElementType() != type.getElementType() ||
      type.getElementTypeBitWidth() < 8 ||
      !llvm::all_of(op.getOffsets(), [](Value at) { return matchPattern(at, m_Zero()); }))
    return;
  OpBuilder b(op);
  SmallVector<Value> rows;
  for (const SmallVector<int64_t> &position : cpu::getRowPositions(type)) {
    rows.push_back(readRow(b, op, position, *mask));
    if (!rows.back())
      return;
  }
  op.replaceAllUsesWith(cpu::fromRows(b, op.getLoc(), type, rows));
  op.erase();
}

namespace {
struct ReadRunsPass : tilewright::impl::ReadRunsPassBase<ReadRunsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isKernel(func) || func.isExternal())
      return;
    SmallVector<vector::GatherOp> gathers;
    func.walk([&](vector::GatherOp op) { gathers.push_back(op); });
    for (vector::GatherOp op : gathers)
      readAsRuns(op);
  }
};
} // namespace
