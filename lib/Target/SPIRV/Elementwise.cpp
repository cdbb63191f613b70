// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops of arith and math, one scalar at a time.
//
// bf16 has no arithmetic in Vulkan: an op on bf16 widens its operands to f32,
// which is exact, computes there and rounds to nearest even. For addition,
// subtraction, multiplication, division and square root that is the correctly
// rounded result (24 >= 2 * 8 + 2 bits).

#include "KernelEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;

static bool isSmallFloat(Type type) {
  auto number = dyn_cast<FloatType>(type);
  return number && number.getWidth() == 8;
}

/// One scalar of an op that is neither a cast nor a select.
Value KernelEmitter::emitScalar(Operation *op, ValueRange args) {
  Type type = args.front().getType();
  if (isa<FloatType>(type))
    return emitFloat(op, args);
  return type.isInteger(1) ? emitBool(op, args) : emitInteger(op, args);
}

/// The ops with two results: sum and carry, low and high half of a product.
Outcome KernelEmitter::emitExtended(Operation *op) {
  Parts lhs = parts(op->getOperand(0)), rhs = parts(op->getOperand(1));
  Parts first, second;
  for (auto [l, r] : llvm::zip(lhs, rhs)) {
    auto pair = spirv::StructType::get({l.getType(), l.getType()});
    Value both;
    if (isa<arith::MulSIExtendedOp>(op))
      both = make<spirv::SMulExtendedOp>(pair, l, r);
    else if (isa<arith::MulUIExtendedOp>(op))
      both = make<spirv::UMulExtendedOp>(pair, l, r);
    else
      both = make<spirv::IAddCarryOp>(pair, l, r);
    first.push_back(extract(both, 0));
    Value high = extract(both, 1);
    if (isa<arith::AddUIExtendedOp>(op))
      high = make<spirv::INotEqualOp>(high, constant(l.getType(), 0));
    second.push_back(high);
  }
  setParts(op->getResult(0), first);
  setParts(op->getResult(1), second);
  return Outcome::Done;
}

Outcome KernelEmitter::emitElementwise(Operation *op) {
  if (!isa_and_present<arith::ArithDialect, math::MathDialect>(
          op->getDialect()))
    return Outcome::Unknown;
  SmallVector<Type> types;
  for (Type type :
       llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (failed(appendPartTypes(op, type, types)))
      return Outcome::Failed;
  if (isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp,
          arith::AddUIExtendedOp>(op)) {
    if (parts(op->getOperand(0)).front().getType().isInteger(1))
      return Outcome::Unknown;
    return emitExtended(op);
  }
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return Outcome::Unknown;

  contract = contractAllowed;
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    if (auto flags = fast.getFastMathFlagsAttr())
      contract |= arith::bitEnumContainsAny(flags.getValue(),
                                            arith::FastMathFlags::contract);

  Type from = getElementTypeOrSelf(op->getOperand(0));
  Type to = getElementTypeOrSelf(op->getResult(0));
  bool isCast = isa<CastOpInterface>(op);
  bool isSelect = isa<arith::SelectOp>(op);
  if (!isSelect && !isa<arith::BitcastOp>(op) &&
      (isSmallFloat(from) || isSmallFloat(to)))
    return Outcome::Unknown;

  SmallVector<Parts> operands;
  for (Value operand : op->getOperands())
    operands.push_back(parts(operand));
  Parts result;
  for (int64_t i = 0, n = numElements(op->getResult(0).getType()); i < n; ++i) {
    Parts args;
    for (auto [list, operand] : llvm::zip(operands, op->getOperands())) {
      // A select's condition may be one for the whole vector.
      Value arg = list[list.size() == 1 ? 0 : i];
      if (!isCast && !isSelect &&
          getElementTypeOrSelf(operand.getType()).isBF16())
        arg = widenBF16(arg);
      args.push_back(arg);
    }
    Value value;
    if (isSelect) {
      value = select(args[0], args[1], args[2]);
    } else if (isCast) {
      value = emitCast(op, args.front(), from, to);
    } else {
      value = emitScalar(op, args);
      if (value && to.isBF16())
        value = narrowBF16(value);
    }
    if (!value)
      return Outcome::Unknown;
    result.push_back(value);
  }
  setParts(op->getResult(0), result);
  return Outcome::Done;
}
