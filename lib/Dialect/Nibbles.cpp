// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/Nibbles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

Value tilewright::takeNibble(OpBuilder &b, Location loc, Nibble nibble) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(value));
  };
  Value byte = nibble.byte;
  if (nibble.isUnsigned && !nibble.isHigh)
    return arith::AndIOp::create(b, loc, byte, constant(15));
  Value four = constant(4);
  if (nibble.isUnsigned)
    return arith::ShRUIOp::create(b, loc, byte, four);
  if (!nibble.isHigh)
    byte = arith::ShLIOp::create(b, loc, byte, four);
  return arith::ShRSIOp::create(b, loc, byte, four);
}

/// `value` if it is an op of that kind whose second operand is the constant.
template <typename Op> static Op matchWith(Value value, int64_t constant) {
  auto op = value.getDefiningOp<Op>();
  APInt right;
  if (!op || !matchPattern(op.getRhs(), m_ConstantInt(&right)) ||
      right != uint64_t(constant))
    return {};
  return op;
}

std::optional<Nibble> tilewright::matchNibble(Value value) {
  if (!value.getType().isInteger(8))
    return std::nullopt;
  if (auto op = matchWith<arith::AndIOp>(value, 15))
    return Nibble{op.getLhs(), false, true};
  if (auto op = matchWith<arith::ShRUIOp>(value, 4))
    return Nibble{op.getLhs(), true, true};
  if (auto op = matchWith<arith::ShRSIOp>(value, 4)) {
    if (auto left = matchWith<arith::ShLIOp>(op.getLhs(), 4))
      return Nibble{left.getLhs(), false, false};
    return Nibble{op.getLhs(), true, false};
  }
  return std::nullopt;
}
