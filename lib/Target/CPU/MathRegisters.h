// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of rows of f32 by registers: what tilewright-avx512-math and tilewright-avx2-math
// share. The code generator would compute all registers of a row step by step, with more numbers
// at hand than there may be registers.

#ifndef TILEWRIGHT_LIB_TARGET_CPU_MATHREGISTERS_H
#define TILEWRIGHT_LIB_TARGET_CPU_MATHREGISTERS_H

#include "../Math/MathBuilder.h"
#include "Unroll.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tilewright::cpu {

inline mlir::Value callIntrinsic(mlir::OpBuilder &builder, mlir::Location loc,
                                 llvm::StringRef name, mlir::Type type,
                                 mlir::ValueRange arguments) {
  return mlir::LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name),
                                             arguments)
      .getResult(0);
}

inline bool isSingle(mlir::Type type) {
  auto vector = llvm::dyn_cast<mlir::VectorType>(type);
  return vector && vector.getElementType().isF32() && !vector.isScalable() &&
         vector.getRank() >= 1;
}

/// `make` for each row of the operands.
void replaceByRows(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                   llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> make);

/// Registers of f32: their lanes, and how many of a row are computed step by step. A function's
/// steps wait for each other, but each register more has numbers of its own at hand.
struct Registers {
  int64_t lanes;
  int64_t together = 1;
};

/// Replaces `op` by `make` of each register of the rows of `operand`; what fills the last register
/// of a row is undefined. `make` makes the same ops for all.
void replaceByRegisters(mlir::PatternRewriter &rewriter, mlir::Operation *op, mlir::Value operand,
                        Registers registers, llvm::function_ref<mlir::Value(mlir::Value)> make);

/// `lookUp` of each degree's table.
using LookUp = mlir::Value (*)(mlir::OpBuilder &, mlir::Location, llvm::ArrayRef<float> table,
                               mlir::Value index);

/// The polynomial in `d` whose coefficients the low bits of `shifted` look up, those of each
/// degree in a table.
math::Float lookedUpSeries(llvm::ArrayRef<llvm::ArrayRef<float>> tables, math::Float shifted,
                           math::Float d, LookUp lookUp);

/// The tables of a polynomial, for `lookedUpSeries`.
template <size_t Degrees, size_t Entries>
llvm::SmallVector<llvm::ArrayRef<float>> tablesOf(const float (&tables)[Degrees][Entries]) {
  return {std::begin(tables), std::end(tables)};
}

/// How a function of a register is computed.
using RegisterFunction = mlir::Value (*)(mlir::OpBuilder &, mlir::Location, mlir::Value);

template <typename Op> struct FunctionOfRegisters : mlir::OpRewritePattern<Op> {
  FunctionOfRegisters(mlir::MLIRContext *context, Registers registers, RegisterFunction function)
      : mlir::OpRewritePattern<Op>(context), registers(registers), function(function) {}
  mlir::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return rewriter.notifyMatchFailure(op, "no vectors of f32");
    replaceByRegisters(rewriter, op, op.getOperand(), registers, [&](mlir::Value part) {
      return function(rewriter, op.getLoc(), part);
    });
    return mlir::success();
  }
  Registers registers;
  RegisterFunction function;
};

/// Of 16-bit floats in f32, rounded once.
template <typename Op> struct WidenFunction : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    auto type = llvm::dyn_cast<mlir::VectorType>(op.getType());
    if (!type || type.isScalable() || type.getRank() == 0 ||
        !llvm::isa<mlir::Float16Type, mlir::BFloat16Type>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "no vectors of 16-bit floats");
    auto wide = type.clone(rewriter.getF32Type());
    mlir::Value x = mlir::arith::ExtFOp::create(rewriter, op.getLoc(), wide, op.getOperand());
    mlir::Value y = Op::create(rewriter, op.getLoc(), x, op.getFastmath());
    rewriter.replaceOpWithNewOp<mlir::arith::TruncFOp>(op, type, y);
    return mlir::success();
  }
};

enum class Gelu { ByErf, ByTanh };
/// GELU of a register.
using GeluFunction = mlir::Value (*)(mlir::OpBuilder &, mlir::Location, mlir::Value, Gelu);
/// GELU, by the error function or by tanh, as one function (MatchGelu.cpp).
void populateGeluPatterns(mlir::RewritePatternSet &patterns, Registers registers,
                          GeluFunction function);

/// Greatest and least numbers (ChooseExtrema.cpp): by halves of a register, without tests for
/// NaN of what is known to be no NaN, or no negative number, and as calls of LLVM's intrinsics.
mlir::LogicalResult chooseExtrema(mlir::func::FuncOp func);
/// The first lane for which a condition holds, by its bits (FirstLane.cpp).
void populateFirstLanePatterns(mlir::RewritePatternSet &patterns);
/// What becomes a call of an intrinsic.
void populateExtremaCalls(mlir::RewritePatternSet &patterns);

/// What a processor's registers compute.
struct RegisterMath {
  Registers registers;
  GeluFunction gelu;
  /// Functions that have a form of their own.
  void (*populate)(mlir::RewritePatternSet &);
};

/// Extrema, GELU and functions of f32 in a kernel by registers, those of 16-bit floats in f32.
mlir::LogicalResult computeByRegisters(mlir::func::FuncOp func, const RegisterMath &math);

} // namespace tilewright::cpu

#endif
