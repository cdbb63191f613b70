// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of tilewright-avx512-math.

#ifndef TILEWRIGHT_LIB_TARGET_CPU_AVX512_H
#define TILEWRIGHT_LIB_TARGET_CPU_AVX512_H

#include "../Math/MathBuilder.h"
#include "Unroll.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tilewright::cpu {

/// Numbers of f32 or i32 of a register.
inline constexpr int64_t kLanes = 16;

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

/// Replaces `op` by `make` of each register of the rows of `operand`; what fills the last register
/// of a row is undefined.
void replaceByRegisters(mlir::PatternRewriter &rewriter, mlir::Operation *op, mlir::Value operand,
                        llvm::function_ref<mlir::Value(mlir::Value)> make);

/// An instruction of two registers and, maybe, an immediate number: of all lanes, rounded to
/// nearest.
mlir::Value callUnmasked(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                         mlir::Value a, mlir::Value b, std::optional<int32_t> immediate);

/// The polynomial in `d` whose coefficients the low bits of `shifted` look up, those of each
/// degree in a table of one register or two.
math::Float lookedUpSeries(llvm::ArrayRef<llvm::ArrayRef<float>> tables, math::Float shifted,
                           math::Float d);

/// The tables of a polynomial, for `lookedUpSeries`.
template <size_t Degrees, size_t Entries>
llvm::SmallVector<llvm::ArrayRef<float>> tablesOf(const float (&tables)[Degrees][Entries]) {
  return {std::begin(tables), std::end(tables)};
}

/// Greatest and least numbers of what is known to be no NaN, or no negative number
/// (Avx512Extrema.cpp).
void dropTestsForNaN(mlir::func::FuncOp func);
/// Greatest and least numbers of a register by halves.
void populateHalvesPatterns(mlir::RewritePatternSet &patterns);
/// GELU, by the error function or by tanh (Avx512Gelu.cpp).
void populateGeluPatterns(mlir::RewritePatternSet &patterns);
/// Numbers rounded to integers (Avx512Rounding.cpp).
void populateRoundingPatterns(mlir::RewritePatternSet &patterns);

} // namespace tilewright::cpu

#endif
