// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What indices, and the dims and strides of a kernel's buffers, are known to be
// multiples of: decides whether an address is aligned for a wide access. Indices
// are walked through constants, arithmetic, affine.apply and induction
// variables; dims and strides are known from types, and from what the guard of a
// kernel's variant promises (`tilewright.divisible`, `tilewright.aligned`).

#ifndef TILEWRIGHT_DIALECT_DIVISIBILITY_H
#define TILEWRIGHT_DIALECT_DIVISIBILITY_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tilewright {

/// Stands for "a multiple of anything", which zero is.
inline constexpr int64_t kAnyDivisor = int64_t(1) << 30;

/// A divisor of `value` that is known at compile time (at least 1).
int64_t knownDivisor(mlir::Value value, int depth = 0);
int64_t knownDivisor(mlir::OpFoldResult value);

/// Divisors of a buffer's dims, of its strides, and of the offset of its first
/// element from the buffer's base (which is aligned for every access).
struct BufferDivisors {
  mlir::SmallVector<int64_t> sizes, strides;
  int64_t offset = kAnyDivisor;
};

/// Of argument `argument` of a kernel in block form, a memref with strides.
BufferDivisors argumentDivisors(mlir::func::FuncOp kernel,
                                mlir::BlockArgument argument,
                                int64_t accessBytes);

/// Position of an argument of a kernel among those that are tensors or buffers.
int64_t operandNumber(mlir::BlockArgument argument);

/// Whether `kernel` reads that argument and never writes it, by its kAccessAttr.
bool isReadOnly(mlir::func::FuncOp kernel, mlir::BlockArgument argument);

/// Layout of tensor `operand` of a kernel in program form if it is a window of a
/// larger tensor, else null.
mlir::StridedLayoutAttr getView(mlir::func::FuncOp kernel, int64_t operand);

/// Of which images tensor `operand` of a kernel is the pixels, or null.
ImageAttr getImage(mlir::func::FuncOp kernel, int64_t operand);

/// How many leading dims of what the host gives as tensor `operand` are one dim of the
/// kernel's.
int64_t getMergedDims(mlir::func::FuncOp kernel, int64_t operand);

/// A dim as the host gives it: the product of so many of its dims, and of `times`.
struct HostDims {
  mlir::SmallVector<int64_t> dims;
  int64_t times = 1;
};

/// Dim `dim` of the kernel's `operand`, which is open, by dims of what the host gives: where
/// the kernel counts pixels, the host counts images, and their rows and columns.
HostDims getHostDims(mlir::func::FuncOp kernel, int64_t operand, int64_t dim);

/// How many pixels an image has, if dim `dim` of the kernel's `operand` counts pixels where
/// the host counts images, kDynamic if that is open; else 1.
int64_t pixelsPerImage(mlir::func::FuncOp kernel, int64_t operand, int64_t dim);

/// What dim `dim` of `operand` is promised to be a multiple of: 1 where nothing is.
int64_t promisedDivisor(mlir::func::FuncOp kernel, int64_t operand, int64_t dim);

/// On a kernel that is for a class of shapes, triples (operand, dim, most): the guard of
/// the variant promises that the dim is no larger.
inline constexpr llvm::StringLiteral kAtMostAttr = "tilewright.at_most";

/// The same of what a dim is at least.
inline constexpr llvm::StringLiteral kAtLeastAttr = "tilewright.at_least";

/// What dim `dim` of `operand` is promised to be at most; kDynamic where nothing is.
int64_t promisedMost(mlir::func::FuncOp kernel, int64_t operand, int64_t dim);

/// The strides of a memref that is a window of a larger tensor; false: dense.
bool getWindowStrides(mlir::MemRefType type,
                      mlir::SmallVectorImpl<int64_t> &strides);

} // namespace tilewright

#endif
