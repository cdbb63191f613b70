// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of f32 rounded to integers: one conversion rounds, and integers of several registers
// are narrowed together.
//
//   %n = math.roundeven %x                        ->  vcvtps2dq of each register
//   %i = arith.fptosi %n : vector<64xf32> to vector<64xi8>
//                                                 ->  vpackssdw twice, vpacksswb, vpermd
//
// What is out of an integer's range may become any integer.

#include "Avx512.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// The nearest integers of a register, even ones where two are as near.
static Value roundRegister(OpBuilder &builder, Location loc, Value numbers) {
  constexpr int32_t kCurrentDirection = 4;
  auto type = VectorType::get(kLanes, builder.getI32Type());
  Value none = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value all = arith::ConstantOp::create(builder, loc, builder.getI16IntegerAttr(-1));
  Value mode = arith::ConstantOp::create(builder, loc,
                                         builder.getI32IntegerAttr(kCurrentDirection));
  return callIntrinsic(builder, loc, "llvm.x86.avx512.mask.cvtps2dq.512", type,
                       {numbers, none, all, mode});
}

/// Integers of four registers as bytes of one. vpack* takes 128 bits of each register in turn.
static Value packBytes(OpBuilder &builder, Location loc, ArrayRef<Value> registers) {
  constexpr int64_t kRegisters = 4;
  auto words = VectorType::get(2 * kLanes, builder.getI16Type()),
       bytes = VectorType::get(4 * kLanes, builder.getI8Type()),
       parts = VectorType::get(kLanes, builder.getI32Type());
  auto pack = [&](StringRef name, Type type, Value a, Value b) {
    return callIntrinsic(builder, loc, name, type, {a, b});
  };
  constexpr StringLiteral kToWords = "llvm.x86.avx512.packssdw.512";
  Value packed = pack("llvm.x86.avx512.packsswb.512", bytes,
                      pack(kToWords, words, registers[0], registers[1]),
                      pack(kToWords, words, registers[2], registers[3]));
  SmallVector<int64_t> order;
  for (int64_t number = 0; number < kRegisters; ++number)
    for (int64_t part = 0; part < kRegisters; ++part)
      order.push_back(part * kRegisters + number);
  Value row = vector::BitCastOp::create(builder, loc, parts, packed);
  row = vector::ShuffleOp::create(builder, loc, row, row, order);
  return vector::BitCastOp::create(builder, loc, bytes, row);
}

static Value roundToBytes(OpBuilder &builder, Location loc, Value row) {
  int64_t lanes = cast<VectorType>(row.getType()).getNumElements();
  auto type = VectorType::get(lanes, builder.getI8Type());
  Value result = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  for (int64_t first = 0; first < lanes; first += 4 * kLanes) {
    SmallVector<Value> registers;
    for (int64_t part = first; part < first + 4 * kLanes; part += kLanes)
      registers.push_back(roundRegister(
          builder, loc,
          vector::ExtractStridedSliceOp::create(builder, loc, row, part, kLanes,
                                                /*strides=*/1)));
    result = vector::InsertStridedSliceOp::create(
        builder, loc, packBytes(builder, loc, registers), result, first, /*strides=*/1);
  }
  return result;
}

namespace {
struct RoundToBytes : OpRewritePattern<arith::FPToSIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::FPToSIOp op, PatternRewriter &rewriter) const override {
    auto round = op.getIn().getDefiningOp<mlir::math::RoundEvenOp>();
    auto type = dyn_cast<VectorType>(op.getIn().getType());
    if (!round || !type || !isSingle(type) || type.getShape().back() % (4 * kLanes) ||
        !getElementTypeOrSelf(op.getType()).isInteger(8))
      return rewriter.notifyMatchFailure(op, "no rows of rounded f32 as bytes");
    Location loc = op.getLoc();
    SmallVector<Value> rows;
    for (Value row : getRows(rewriter, loc, round.getOperand()))
      rows.push_back(roundToBytes(rewriter, loc, row));
    rewriter.replaceOp(op, fromRows(rewriter, loc, cast<VectorType>(op.getType()), rows));
    return success();
  }
};
} // namespace

void tilewright::cpu::populateRoundingPatterns(RewritePatternSet &patterns) {
  patterns.add<RoundToBytes>(patterns.getContext());
}
