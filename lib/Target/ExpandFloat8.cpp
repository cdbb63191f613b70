// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of 8 bits as bytes: they are stored, moved and converted, never
// computed with, so no back end needs the types. Conversions become integer
// arithmetic on the bits of f32 (of f64, where that is what is rounded: nothing
// is rounded twice), the same for all targets and exact:
//
//   %y = arith.extf %x : f8E4M3FN to f16
//   %b = arith.truncf %v : f32 to f8E4M3FN
// becomes
//   %w = <bits of the f32 that %x is>;  %y = arith.truncf %w : f32 to f16
//   %b = <to nearest, ties to even; too large or NaN: 0x7f> : i8
//
//   f8E4M3FN  s eeee mmm   bias 7; s1111111 is NaN, there is no infinity: what
//                          does not round to at most 448 becomes NaN
//   f8E5M2    s eeeee mm   bias 15, as IEEE 754: infinities, NaN (here 0x7e)
//   f8E4M3FNUZ, f8E5M2FNUZ   bias 8, 16; the one NaN is 0x80, there are no
//                            infinities and no -0
//
// Integers are converted by way of f32, which no result shows: what f32 rounds
// is beyond the largest number.

#include "Math/MathBuilder.h"

#include "tilewright/Dialect/Float8.h"
#include "tilewright/Target/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

namespace tilewright {
#define GEN_PASS_DEF_EXPANDFLOAT8PASS
#include "tilewright/Target/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using tilewright::math::Bits;
using tilewright::math::Float;
using tilewright::math::MathBuilder;

namespace {
struct Format {
  int mantissa, bias;
  /// Of the magnitude's bits: what overflows becomes, what NaN becomes. 0x80 of
  /// either is the whole number.
  int overflow, nan;

  bool hasInfinity() const { return overflow != nan; }
  /// NaN is where -0 would be.
  bool isUnsignedZero() const { return nan == 0x80; }
};
} // namespace

static Format formatOf(Type type) {
  return llvm::TypeSwitch<Type, Format>(getElementTypeOrSelf(type))
      .Case([](Float8E4M3FNType) { return Format{3, 7, 0x7f, 0x7f}; })
      .Case([](Float8E4M3FNUZType) { return Format{3, 8, 0x80, 0x80}; })
      .Case([](Float8E5M2FNUZType) { return Format{2, 16, 0x80, 0x80}; })
      .Default([](Type) { return Format{2, 15, 0x7c, 0x7e}; });
}

/// `type`, a scalar or a vector, with other elements.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The f32 of a number's bits (in i32).
static Float extend(MathBuilder &m, Bits x, Format format) {
  Bits sign = (x & m.bits(0x80)) << 24, magnitude = x & m.bits(0x7f);
  int shift = m.mantissa() - format.mantissa;
  Bits normal = (magnitude << shift) +
                m.bits(int64_t(m.bias() - format.bias) << m.mantissa());
  // Products of a small integer and a power of two: exact, and no subnormal
  // f32 that a target may take for zero.
  double least = std::ldexp(1.0, 1 - format.bias - format.mantissa);
  Bits subnormal = m.toBits(m.toFloat(magnitude) * m(least));
  Bits value =
      select(magnitude < m.bits(1 << format.mantissa), subnormal, normal);
  if (format.isUnsignedZero())
    return m.fromBits(select(x == m.bits(format.nan), m.bits(0x7fc00000),
                             value + sign));
  if (format.hasInfinity())
    value = select(magnitude == m.bits(format.overflow), m.bits(0x7f800000),
                   value);
  Bits special =
      m.bits(format.hasInfinity() ? format.overflow : format.nan - 1);
  value = select(special < magnitude, m.bits(0x7fc00000), value);
  return m.fromBits(value + sign);
}

/// The bits of the nearest number, in the low byte.
static Bits round(MathBuilder &m, Float x, Format format) {
  int width = m.isDouble ? 64 : 32, drop = m.mantissa() - format.mantissa;
  Bits bits = m.toBits(x);
  Bits sign = (bits >> (width - 8)) & m.bits(0x80);
  Bits magnitude = bits & m.bits(m.isDouble ? INT64_MAX : INT32_MAX);
  Bits odd = (magnitude >> drop) & m.bits(1);
  Bits normal = ((magnitude + m.bits((int64_t(1) << (drop - 1)) - 1) + odd) >>
                 drop) -
                m.bits(int64_t(m.bias() - format.bias) << format.mantissa);
  // Added to a number whose last place is worth the least subnormal, the
  // magnitude is rounded to a multiple of it.
  Float large = m(std::ldexp(
      1.0, 1 - format.bias - format.mantissa + m.mantissa()));
  Bits subnormal = m.toBits(m.fromBits(magnitude) + large) - m.toBits(large);
  Bits leastNormal =
      m.bits(int64_t(m.bias() + 1 - format.bias) << m.mantissa());
  Bits value = select(magnitude < leastNormal, subnormal, normal);
  Bits most = m.bits(format.overflow);
  value = select(most < value, most, value);
  Bits infinity = m.toBits(m(m.infinity()));
  value = select(infinity < magnitude, m.bits(format.nan), value);
  if (format.isUnsignedZero())
    sign = select((value & m.bits(0x7f)) == m.bits(0), m.bits(0), sign);
  return value + sign;
}

static Value convert(OpBuilder &b, Location loc, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  Type to = withElement(value.getType(), element);
  if (from == element)
    return value;
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, to, value);
  return arith::TruncFOp::create(b, loc, to, value);
}

static Value expandExtF(OpBuilder &b, arith::ExtFOp op) {
  Location loc = op.getLoc();
  Type type = op.getIn().getType();
  Value byte = arith::BitcastOp::create(
      b, loc, withElement(type, b.getI8Type()), op.getIn());
  MathBuilder m(b, loc, withElement(type, b.getF32Type()));
  Value bits = arith::ExtUIOp::create(b, loc, m.bitsType, byte);
  Float result = extend(m, {bits, &m}, formatOf(type));
  return convert(b, loc, result.value, getElementTypeOrSelf(op.getType()));
}

static Value expandTruncF(OpBuilder &b, arith::TruncFOp op) {
  Location loc = op.getLoc();
  Value in = op.getIn();
  // f16 and bf16 are f32 without loss.
  if (!getElementTypeOrSelf(in.getType()).isF64())
    in = convert(b, loc, in, b.getF32Type());
  MathBuilder m(b, loc, in.getType());
  Bits bits = round(m, m(in), formatOf(op.getType()));
  Value byte = arith::TruncIOp::create(
      b, loc, withElement(in.getType(), b.getI8Type()), bits.value);
  return arith::BitcastOp::create(b, loc, op.getType(), byte);
}

/// Conversions from and to integers, by way of f32.
static void expandIntegerConversions(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(
            op) &&
        (isFloat8(op->getOperand(0).getType()) ||
         isFloat8(op->getResult(0).getType())))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    Type f32 = withElement(to, Float32Type::get(op->getContext()));
    OpBuilder b(op);
    if (isFloat8(from)) {
      op->setOperand(
          0, arith::ExtFOp::create(b, op->getLoc(), f32, op->getOperand(0)));
      continue;
    }
    b.setInsertionPointAfter(op);
    op->getResult(0).setType(f32);
    auto narrow = arith::TruncFOp::create(b, op->getLoc(), to, op->getResult(0));
    op->getResult(0).replaceAllUsesExcept(narrow, narrow);
  }
}

static LogicalResult expandConversions(Operation *root) {
  expandIntegerConversions(root);
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
        (isFloat8(op->getOperand(0).getType()) ||
         isFloat8(op->getResult(0).getType())))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (isa<arith::ExtFOp>(op) == isFloat8(op->getResult(0).getType()))
      return op->emitOpError("converts between floats of 8 bits; convert to f32 "
                             "in between");
    OpBuilder b(op);
    auto extension = dyn_cast<arith::ExtFOp>(op);
    Value result = extension ? expandExtF(b, extension)
                             : expandTruncF(b, cast<arith::TruncFOp>(op));
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Anything else that looks into a number.
static LogicalResult checkNoArithmetic(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    if (!isFloat8Arithmetic(op))
      return WalkResult::advance();
    op->emitOpError() << "computes with floats of 8 bits, which are only stored "
                         "and converted; extend them to f32, compute, and "
                         "truncate the result";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static void retype(Operation *root) {
  Builder builder(root->getContext());
  Type i8 = builder.getI8Type();
  AttrTypeReplacer replacer;
  replacer.addReplacement([=](FloatType type) -> std::optional<Type> {
    return isFloat8(type) ? std::optional<Type>(i8) : std::nullopt;
  });
  using Replaced = std::optional<std::pair<Attribute, WalkResult>>;
  replacer.addReplacement([=](FloatAttr attr) -> Replaced {
    if (!isFloat8(attr.getType()))
      return std::nullopt;
    return {{IntegerAttr::get(i8, attr.getValue().bitcastToAPInt()),
             WalkResult::skip()}};
  });
  replacer.addReplacement([=](DenseElementsAttr attr) -> Replaced {
    if (!isFloat8(attr.getElementType()))
      return std::nullopt;
    return {{attr.bitcast(i8), WalkResult::skip()}};
  });
  replacer.addReplacement([=](DenseResourceElementsAttr attr) -> Replaced {
    if (!isFloat8(attr.getElementType()))
      return std::nullopt;
    return {{DenseResourceElementsAttr::get(attr.getShapedType().clone(i8),
                                            attr.getRawHandle()),
             WalkResult::skip()}};
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  root->walk([](arith::BitcastOp op) {
    if (op.getIn().getType() != op.getType())
      return;
    op.replaceAllUsesWith(op.getIn());
    op.erase();
  });
}

static bool hasFloat8(Operation *root) {
  auto isNarrow = [](Type type) { return isFloat8(type); };
  WalkResult result = root->walk([&](Operation *op) {
    bool found = llvm::any_of(op->getResultTypes(), isNarrow);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        found |= llvm::any_of(block.getArgumentTypes(), isNarrow);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

LogicalResult tilewright::expandFloat8(Operation *root) {
  if (!hasFloat8(root))
    return success();
  if (failed(expandConversions(root)) || failed(checkNoArithmetic(root)))
    return failure();
  retype(root);
  return success();
}

namespace {
struct ExpandFloat8Pass
    : tilewright::impl::ExpandFloat8PassBase<ExpandFloat8Pass> {
  void runOnOperation() override {
    if (failed(expandFloat8(getOperation())))
      signalPassFailure();
  }
};
} // namespace
