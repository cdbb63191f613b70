// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running error analysis, one scalar op at a time: by how much the result of an
// op may differ between the oracle and any program that computes the same op
// right, given by how much its operands may.
//
//   %z = arith.mulf %x, %y : f16       // |x' - x| <= bx, |y' - y| <= by
//   bound of %z:  |x| by + |y| bx + bx by + 2 u |z| + floor
//
// u is the unit roundoff of the type. Two programs round once each, or one of
// them not at all (a fused multiply-add, an intermediate result kept wide), so
// an op that is correctly rounded contributes 2 u |z|. What targets compute
// less exactly contributes more: Vulkan's division is off by 2.5 units in the
// last place, which are 2 u each, and math functions by what ExpandMath.cpp
// says (without a fused multiply-add a little more). Monotone functions take
// their operand's bound through the function itself: both ends are evaluated in
// f64. The floor is what is lost below the normal numbers.
//
// Bounds are f64 values; none (a null value) says that every program computes
// the same. Of integers it is how far they may differ, of an i1 that it may
// differ at all (1 or 0), because floats that are not exact were compared or
// converted. Infinity says that nothing is known.

#ifndef TILEWRIGHT_LIB_TARGET_REFERENCE_ERRORRULES_H
#define TILEWRIGHT_LIB_TARGET_REFERENCE_ERRORRULES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tilewright {

class ErrorRules {
public:
  /// Ops are created where `builder` is.
  explicit ErrorRules(mlir::OpBuilder &builder) : builder(builder) {}

  /// The bound of the result of an op of arith, math or another dialect without
  /// memory, behind which `builder` is. `bounds`: of its operands.
  mlir::Value getBound(mlir::Operation *op, llvm::ArrayRef<mlir::Value> bounds);

  /// The bound of acc + term, a step of a sum whose terms may be added in any
  /// order: each brings in `perTerm` of itself once and for all.
  mlir::Value getSumBound(mlir::Value acc, mlir::Value term,
                          mlir::Value termValue, mlir::Value perTerm);

  /// A scalar as f64.
  mlir::Value widen(mlir::Value value);
  mlir::Value constant(double value);
  mlir::Value abs(mlir::Value value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  /// `unknown` where any of `bounds` is above 0, else 0; null if all are null.
  mlir::Value ifInexact(llvm::ArrayRef<mlir::Value> bounds, double unknown);
  /// The larger one, a null value counting as 0; numbers above NaN.
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value smaller(mlir::Value a, mlir::Value b);

private:
  mlir::Value sub(mlir::Value a, mlir::Value b);
  /// |value| · bound; 0 for no bound even of an infinite value, and infinity for an
  /// infinite bound even of 0.
  mlir::Value scale(mlir::Value value, mlir::Value bound);
  mlir::Value isAbove(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// `op` in f64 on other operands.
  mlir::Value evaluate(mlir::Operation *op, mlir::ValueRange operands);
  /// `bound` and the rounding of the op's result, `factor` unit roundoffs.
  mlir::Value round(mlir::Operation *op, mlir::Value bound, double factor);
  /// The largest |value - z| that counts: infinite where `value` is NaN and z
  /// is finite.
  mlir::Value distance(mlir::Value value, mlir::Value z);

  mlir::Value ofProduct(mlir::Value x, mlir::Value y, mlir::Value bx,
                        mlir::Value by);
  mlir::Value ofQuotient(mlir::Operation *op, mlir::Value bx, mlir::Value by);
  mlir::Value ofExtreme(mlir::Operation *op, mlir::Value bx, mlir::Value by,
                        bool isMax);
  mlir::Value ofComparison(mlir::Operation *op, mlir::Value bx, mlir::Value by);
  mlir::Value ofSelect(mlir::arith::SelectOp op,
                       llvm::ArrayRef<mlir::Value> bounds);
  mlir::Value ofMonotone(mlir::Operation *op, mlir::Value bx);
  mlir::Value ofPower(mlir::Operation *op, mlir::Value bx, mlir::Value by);
  mlir::Value ofAngle(mlir::Operation *op, mlir::Value by, mlir::Value bx);
  mlir::Value ofTruncation(mlir::Operation *op, mlir::Value bound);
  mlir::Value ofFloatOp(mlir::Operation *op,
                        llvm::ArrayRef<mlir::Value> bounds);
  mlir::Value ofIntegerOp(mlir::Operation *op,
                          llvm::ArrayRef<mlir::Value> bounds);

  mlir::OpBuilder &builder;
};

/// Unit roundoff of a float type: half the distance from 1 to the next number.
double getUnitRoundoff(mlir::Type type);

} // namespace tilewright

#endif
