// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A notation for arithmetic in IR, so that an expansion reads like its formula:
//
//   MathBuilder m(builder, loc, value.getType());
//   Float x = m(value);
//   Float y = select(x < m(0.0), -x, x) * m(2.0);
//
// One text serves f32 and f64, scalars and vectors. Comparisons are ordered:
// false where an operand is NaN, so `select(x > limit, limit, x)` keeps NaN.
// Nothing here converts a float to an integer, which is undefined out of range:
// integers come from bits.

#ifndef TILEWRIGHT_TARGET_MATH_MATHBUILDER_H
#define TILEWRIGHT_TARGET_MATH_MATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright::math {

class MathBuilder;

/// A float, an integer of the same width, a truth value; one per lane.
template <int Kind> struct Number {
  mlir::Value value;
  MathBuilder *builder = nullptr;
};
using Float = Number<0>;
using Bits = Number<1>;
using Truth = Number<2>;

class MathBuilder {
public:
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : builder(builder), loc(loc), floatType(type) {
      isDouble = mlir::getElementTypeOrSelf(type).isF64();
    bitsType = withElement(builder.getIntegerType(isDouble ? 64 : 32));
  }

  Float operator()(mlir::Value value) { return {value, this}; }
  Float operator()(double value) {
    mlir::APFloat number(value);
    bool inexact;
    if (!isDouble)
      number.convert(llvm::APFloat::IEEEsingle(),
                     llvm::APFloat::rmNearestTiesToEven, &inexact);
    return {constant(floatType,
                     builder.getFloatAttr(
                         mlir::getElementTypeOrSelf(floatType), number)),
            this};
  }
  Bits bits(int64_t value) {
    return {constant(bitsType,
                     builder.getIntegerAttr(
                         mlir::getElementTypeOrSelf(bitsType), value)),
            this};
  }
  /// A number that depends on the precision.
  Float either(double single, double wide) {
    return (*this)(isDouble ? wide : single);
  }

  /// Format: stored bits of the mantissa, exponent bias.
  int mantissa() const { return isDouble ? 52 : 23; }
  int bias() const { return isDouble ? 1023 : 127; }
  double infinity() const { return std::numeric_limits<double>::infinity(); }
  double nan() const { return std::numeric_limits<double>::quiet_NaN(); }
  double minNormal() const { return isDouble ? 0x1p-1022 : 0x1p-126; }

  template <typename Op, int Result, typename... Args>
  Number<Result> make(Args... args) {
    return {Op::create(builder, loc, args.value...), this};
  }
  Truth compare(mlir::arith::CmpFPredicate predicate, Float a, Float b) {
    return {mlir::arith::CmpFOp::create(builder, loc, predicate, a.value, b.value),
            this};
  }
  Truth compare(mlir::arith::CmpIPredicate predicate, Bits a, Bits b) {
    return {mlir::arith::CmpIOp::create(builder, loc, predicate, a.value, b.value),
            this};
  }
  Bits toBits(Float a) {
    return {mlir::arith::BitcastOp::create(builder, loc, bitsType, a.value), this};
  }
  Float fromBits(Bits a) {
    return {mlir::arith::BitcastOp::create(builder, loc, floatType, a.value), this};
  }
  /// The integer as a float.
  Float toFloat(Bits a) {
    return {mlir::arith::SIToFPOp::create(builder, loc, floatType, a.value), this};
  }

  bool isDouble;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type floatType, bitsType;

private:
  mlir::Type withElement(mlir::Type element) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(floatType))
      return vector.clone(element);
    return element;
  }
  mlir::Value constant(mlir::Type type, mlir::TypedAttr element) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return mlir::arith::ConstantOp::create(
          builder, loc,
          mlir::DenseElementsAttr::get(vector, mlir::Attribute(element)));
    return mlir::arith::ConstantOp::create(builder, loc, element);
  }
};

inline Float operator+(Float a, Float b) {
  return a.builder->make<mlir::arith::AddFOp, 0>(a, b);
}
inline Float operator-(Float a, Float b) {
  return a.builder->make<mlir::arith::SubFOp, 0>(a, b);
}
inline Float operator*(Float a, Float b) {
  return a.builder->make<mlir::arith::MulFOp, 0>(a, b);
}
inline Float operator/(Float a, Float b) {
  return a.builder->make<mlir::arith::DivFOp, 0>(a, b);
}
inline Float operator-(Float a) {
  return a.builder->make<mlir::arith::NegFOp, 0>(a);
}
/// a * b + c, rounded once.
inline Float fma(Float a, Float b, Float c) {
  return a.builder->make<mlir::math::FmaOp, 0>(a, b, c);
}
inline Float abs(Float a) { return a.builder->make<mlir::math::AbsFOp, 0>(a); }
inline Float sqrt(Float a) { return a.builder->make<mlir::math::SqrtOp, 0>(a); }
inline Float copysign(Float a, Float b) {
  return a.builder->make<mlir::math::CopySignOp, 0>(a, b);
}

inline Bits operator+(Bits a, Bits b) {
  return a.builder->make<mlir::arith::AddIOp, 1>(a, b);
}
inline Bits operator-(Bits a, Bits b) {
  return a.builder->make<mlir::arith::SubIOp, 1>(a, b);
}
inline Bits operator&(Bits a, Bits b) {
  return a.builder->make<mlir::arith::AndIOp, 1>(a, b);
}
inline Bits operator^(Bits a, Bits b) {
  return a.builder->make<mlir::arith::XOrIOp, 1>(a, b);
}
inline Bits operator<<(Bits a, int n) {
  return a.builder->make<mlir::arith::ShLIOp, 1>(a, a.builder->bits(n));
}
/// Arithmetic shift.
inline Bits operator>>(Bits a, int n) {
  return a.builder->make<mlir::arith::ShRSIOp, 1>(a, a.builder->bits(n));
}
inline Bits divideUnsigned(Bits a, int n) {
  return a.builder->make<mlir::arith::DivUIOp, 1>(a, a.builder->bits(n));
}

inline Truth operator<(Float a, Float b) {
  return a.builder->compare(mlir::arith::CmpFPredicate::OLT, a, b);
}
inline Truth operator>(Float a, Float b) {
  return a.builder->compare(mlir::arith::CmpFPredicate::OGT, a, b);
}
inline Truth operator<=(Float a, Float b) {
  return a.builder->compare(mlir::arith::CmpFPredicate::OLE, a, b);
}
inline Truth operator==(Float a, Float b) {
  return a.builder->compare(mlir::arith::CmpFPredicate::OEQ, a, b);
}
inline Truth isNaN(Float a) {
  return a.builder->compare(mlir::arith::CmpFPredicate::UNO, a, a);
}
inline Truth operator==(Bits a, Bits b) {
  return a.builder->compare(mlir::arith::CmpIPredicate::eq, a, b);
}
inline Truth operator<(Bits a, Bits b) {
  return a.builder->compare(mlir::arith::CmpIPredicate::slt, a, b);
}
inline Truth operator&(Truth a, Truth b) {
  return a.builder->make<mlir::arith::AndIOp, 2>(a, b);
}
inline Truth operator|(Truth a, Truth b) {
  return a.builder->make<mlir::arith::OrIOp, 2>(a, b);
}
template <int Kind>
Number<Kind> select(Truth c, Number<Kind> a, Number<Kind> b) {
  return a.builder->template make<mlir::arith::SelectOp, Kind>(c, a, b);
}

/// c[0] + c[1] x + c[2] x^2 + …, by Horner's rule in fused multiply-adds.
Float polynomial(Float x, llvm::ArrayRef<double> coefficients);

//===----------------------------------------------------------------------===//
// Functions, in the precision of their argument
//===----------------------------------------------------------------------===//

Float exp(Float x);
Float exp2(Float x);
/// Of f32: 2^x where that is a normal number, and zero, or less than the least of these,
/// where it is less. Half of the operations of `exp2`.
Float exp2Flushed(Float x);
Float expm1(Float x);
Float log(Float x);
Float log2(Float x);
Float log10(Float x);
Float log1p(Float x);
Float pow(Float x, Float y);
Float sinh(Float x);
Float cosh(Float x);
Float tanh(Float x);
Float asinh(Float x);
Float acosh(Float x);
Float atanh(Float x);
Float sin(Float x);
Float cos(Float x);
Float tan(Float x);
Float asin(Float x);
Float acos(Float x);
Float atan(Float x);
Float atan2(Float y, Float x);
Float erf(Float x);
Float erfc(Float x);
Float cbrt(Float x);
Float remainder(Float x, Float y);

/// `value` in another precision.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                         mlir::Type element);

/// The precision in which a function of `type` is computed, or null; `wide`: f64.
mlir::Type getPrecision(mlir::Type type, bool wide);

/// Integers.cpp.
void populateIntegerPatterns(mlir::RewritePatternSet &patterns, bool wide);

} // namespace tilewright::math

#endif
