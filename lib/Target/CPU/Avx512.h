// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of tilewright-avx512-math.

#ifndef TILEWRIGHT_LIB_TARGET_CPU_AVX512_H
#define TILEWRIGHT_LIB_TARGET_CPU_AVX512_H

#include "MathRegisters.h"

namespace tilewright::cpu {

/// Numbers of f32 or i32 of a register.
inline constexpr int64_t kLanes = 16;

/// `table[index mod 16]` for each lane of a register, or, of two registers, `table[index mod 32]`.
mlir::Value lookUpIn512(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<float> table,
                        mlir::Value index);

/// An instruction of two registers and, maybe, an immediate number: of all lanes, rounded to
/// nearest.
mlir::Value callUnmasked(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                         mlir::Value a, mlir::Value b, std::optional<int32_t> immediate);

/// GELU of a register (Avx512Gelu.cpp).
mlir::Value geluOf512(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value row, Gelu kind);
/// Numbers rounded to integers (Avx512Rounding.cpp).
void populateRoundingPatterns(mlir::RewritePatternSet &patterns);

} // namespace tilewright::cpu

#endif
