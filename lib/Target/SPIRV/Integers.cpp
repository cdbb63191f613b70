// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer and bool arithmetic of arith and math.
//
// Vulkan leaves OpSRem undefined for negative operands, so a signed remainder
// is a - a / b * b. Bit counts exist for 32 bits and are put together from
// that.

#include "KernelEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;

/// The 32-bit word that a 64-bit integer is the sign extension of; null: none.
static Value wordOf(OpBuilder &b, Value value) {
  if (!value.getType().isInteger(64))
    return {};
  if (auto convert = value.getDefiningOp<spirv::SConvertOp>()) {
    Value word = convert.getOperand();
    return word.getType().isInteger(32) ? word : Value();
  }
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || !number.isSignedIntN(32))
    return {};
  return spirv::ConstantOp::create(b, value.getLoc(), b.getI32Type(),
                                   b.getIntegerAttr(b.getI32Type(),
                                                    number.trunc(32)));
}

Value KernelEmitter::emitCompare(arith::CmpIPredicate predicate, Value lhs,
                                 Value rhs) {
  using P = arith::CmpIPredicate;
  if (lhs.getType().isInteger(1)) {
    if (predicate == P::eq)
      return make<spirv::LogicalEqualOp>(lhs, rhs);
    if (predicate == P::ne)
      return make<spirv::LogicalNotEqualOp>(lhs, rhs);
    // true is 1 unsigned and -1 signed.
    Type word = b.getI32Type();
    bool isSigned = predicate == P::slt || predicate == P::sle ||
                    predicate == P::sgt || predicate == P::sge;
    Value one = constant(word, isSigned ? -1 : 1), zero = constant(word, 0);
    lhs = select(lhs, one, zero);
    rhs = select(rhs, one, zero);
  }
  // Words compare as what they are extended to, and in fewer instructions; and
  // Mesa 22.3 takes OpSLessThan of an extended word and a constant for false.
  Value left = wordOf(b, lhs), right = left ? wordOf(b, rhs) : Value();
  if (left && right)
    return emitCompare(predicate, left, right);
  switch (predicate) {
  case P::eq:
    return make<spirv::IEqualOp>(lhs, rhs);
  case P::ne:
    return make<spirv::INotEqualOp>(lhs, rhs);
  case P::slt:
    return make<spirv::SLessThanOp>(lhs, rhs);
  case P::sle:
    return make<spirv::SLessThanEqualOp>(lhs, rhs);
  case P::sgt:
    return make<spirv::SGreaterThanOp>(lhs, rhs);
  case P::sge:
    return make<spirv::SGreaterThanEqualOp>(lhs, rhs);
  case P::ult:
    return make<spirv::ULessThanOp>(lhs, rhs);
  case P::ule:
    return make<spirv::ULessThanEqualOp>(lhs, rhs);
  case P::ugt:
    return make<spirv::UGreaterThanOp>(lhs, rhs);
  case P::uge:
    return make<spirv::UGreaterThanEqualOp>(lhs, rhs);
  }
  return {};
}

Value KernelEmitter::emitBool(Operation *op, ValueRange args) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return emitCompare(compare.getPredicate(), args[0], args[1]);
  if (isa<arith::AndIOp, arith::MulIOp, arith::MinUIOp, arith::MaxSIOp>(op))
    return make<spirv::LogicalAndOp>(args[0], args[1]);
  if (isa<arith::OrIOp, arith::MaxUIOp, arith::MinSIOp>(op))
    return make<spirv::LogicalOrOp>(args[0], args[1]);
  if (isa<arith::XOrIOp, arith::AddIOp, arith::SubIOp>(op))
    return make<spirv::LogicalNotEqualOp>(args[0], args[1]);
  if (isa<arith::ShLIOp, arith::ShRUIOp>(op)) // by 1, all of it goes
    return make<spirv::LogicalAndOp>(args[0], make<spirv::LogicalNotOp>(args[1]));
  // A divisor that is not 0 is 1 or -1; the sign that a shift fills in is the value itself.
  if (isa<arith::ShRSIOp, arith::DivUIOp, arith::DivSIOp, arith::CeilDivUIOp, arith::CeilDivSIOp,
          arith::FloorDivSIOp, math::AbsIOp, math::CtPopOp>(op))
    return args[0];
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return constant(b.getI1Type(), 0);
  if (isa<math::CountLeadingZerosOp, math::CountTrailingZerosOp>(op))
    return make<spirv::LogicalNotOp>(args[0]);
  return {};
}

/// Leading or trailing zeros, or set bits, of a value of 8 to 64 bits.
Value KernelEmitter::emitBitCount(Operation *op, Value value) {
  Type type = value.getType(), word = b.getI32Type();
  int64_t width = type.getIntOrFloatBitWidth();
  auto count = [&](Value bits) -> Value {
    if (isa<math::CtPopOp>(op))
      return make<spirv::BitCountOp>(bits);
    if (isa<math::CountLeadingZerosOp>(op)) // FindUMsb(0) is -1
      return make<spirv::ISubOp>(
          constant(word, std::min<int64_t>(width, 32) - 1),
          make<spirv::GLFindUMsbOp>(bits));
    Value low = make<spirv::GLFindILsbOp>(bits);
    return select(make<spirv::IEqualOp>(bits, constant(word, 0)),
                  constant(word, std::min<int64_t>(width, 32)), low);
  };
  if (width < 64)
    return convertInteger(count(convertInteger(value, word, false)), type,
                          false);
  Parts words = toWords(value);
  Value low = count(words[0]), high = count(words[1]), all;
  if (isa<math::CtPopOp>(op)) {
    all = make<spirv::IAddOp>(low, high);
  } else {
    bool leading = isa<math::CountLeadingZerosOp>(op);
    Value first = leading ? words[1] : words[0];
    Value near = leading ? high : low, far = leading ? low : high;
    all = select(make<spirv::IEqualOp>(first, constant(word, 0)),
                 make<spirv::IAddOp>(far, constant(word, 32)), near);
  }
  return convertInteger(all, type, false);
}

Value KernelEmitter::emitInteger(Operation *op, ValueRange args) {
  Value lhs = args[0], rhs = args.size() > 1 ? args[1] : Value();
  Type type = lhs.getType();
  Value zero = constant(type, 0), one = constant(type, 1);
  auto remainder = [&](Value quotient) {
    return make<spirv::ISubOp>(lhs, make<spirv::IMulOp>(quotient, rhs));
  };
  // 1 where the exact quotient is not `quotient` and has the given sign.
  auto inexact = [&](Value quotient, bool negative) {
    Value rest = remainder(quotient);
    Value signs =
        make<spirv::LogicalNotEqualOp>(make<spirv::SLessThanOp>(rest, zero),
                                       make<spirv::SLessThanOp>(rhs, zero));
    if (!negative)
      signs = make<spirv::LogicalNotOp>(signs);
    Value both =
        make<spirv::LogicalAndOp>(make<spirv::INotEqualOp>(rest, zero), signs);
    return select(both, one, zero);
  };

  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::CmpIOp compare) {
        return emitCompare(compare.getPredicate(), lhs, rhs);
      })
      .Case([&](arith::AddIOp) { return make<spirv::IAddOp>(lhs, rhs); })
      .Case([&](arith::SubIOp) { return make<spirv::ISubOp>(lhs, rhs); })
      .Case([&](arith::MulIOp) { return make<spirv::IMulOp>(lhs, rhs); })
      .Case([&](arith::DivSIOp) { return make<spirv::SDivOp>(lhs, rhs); })
      .Case([&](arith::DivUIOp) { return make<spirv::UDivOp>(lhs, rhs); })
      .Case([&](arith::RemUIOp) { return make<spirv::UModOp>(lhs, rhs); })
      .Case([&](arith::RemSIOp) {
        return remainder(make<spirv::SDivOp>(lhs, rhs));
      })
      .Case([&](arith::FloorDivSIOp) {
        Value quotient = make<spirv::SDivOp>(lhs, rhs);
        return make<spirv::ISubOp>(quotient, inexact(quotient, true));
      })
      .Case([&](arith::CeilDivSIOp) {
        Value quotient = make<spirv::SDivOp>(lhs, rhs);
        return make<spirv::IAddOp>(quotient, inexact(quotient, false));
      })
      .Case([&](arith::CeilDivUIOp) {
        Value quotient = make<spirv::UDivOp>(lhs, rhs);
        Value rest = make<spirv::INotEqualOp>(remainder(quotient), zero);
        return make<spirv::IAddOp>(quotient, select(rest, one, zero));
      })
      .Case([&](arith::AndIOp) { return make<spirv::BitwiseAndOp>(lhs, rhs); })
      .Case([&](arith::OrIOp) { return make<spirv::BitwiseOrOp>(lhs, rhs); })
      .Case([&](arith::XOrIOp) { return make<spirv::BitwiseXorOp>(lhs, rhs); })
      .Case([&](arith::ShLIOp) {
        return make<spirv::ShiftLeftLogicalOp>(lhs, rhs);
      })
      .Case([&](arith::ShRSIOp) {
        return make<spirv::ShiftRightArithmeticOp>(lhs, rhs);
      })
      .Case([&](arith::ShRUIOp) {
        return make<spirv::ShiftRightLogicalOp>(lhs, rhs);
      })
      .Case([&](arith::MinSIOp) { return make<spirv::GLSMinOp>(lhs, rhs); })
      .Case([&](arith::MaxSIOp) { return make<spirv::GLSMaxOp>(lhs, rhs); })
      .Case([&](arith::MinUIOp) { return make<spirv::GLUMinOp>(lhs, rhs); })
      .Case([&](arith::MaxUIOp) { return make<spirv::GLUMaxOp>(lhs, rhs); })
      .Case([&](math::AbsIOp) { return make<spirv::GLSAbsOp>(lhs); })
      .Case<math::CtPopOp, math::CountLeadingZerosOp,
            math::CountTrailingZerosOp>(
          [&](Operation *count) { return emitBitCount(count, lhs); })
      .Default([](Operation *) { return Value(); });
}
