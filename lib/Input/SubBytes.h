// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of elements that share bytes, i4 and i2, and the bytes that hold them.

#ifndef TILEWRIGHT_LIB_INPUT_SUBBYTES_H
#define TILEWRIGHT_LIB_INPUT_SUBBYTES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tilewright::sub_bytes {

/// A tensor of elements that share bytes, or null.
mlir::RankedTensorType packedType(mlir::Value value);

/// Elements of `type` that share a byte, and the bits of each.
int64_t perByte(mlir::RankedTensorType type);
int64_t bitsOf(mlir::RankedTensorType type);

/// Whether rows of `type` do not end where bytes do, so that all of it is one row.
bool isOneRow(mlir::RankedTensorType type);

/// The bytes of a tensor of elements that share them.
mlir::RankedTensorType bytesOf(mlir::RankedTensorType type);

/// The element at `indices` of a tensor of `packed`, as a number of i8.
mlir::Value elementAt(mlir::OpBuilder &b, mlir::Location loc, mlir::Value bytes,
                      mlir::RankedTensorType packed, mlir::ValueRange indices, bool isUnsigned);

/// All elements of a tensor of `packed`, as numbers of i8.
mlir::Value unpack(mlir::OpBuilder &b, mlir::Value bytes, mlir::RankedTensorType packed,
                   bool isUnsigned);

} // namespace tilewright::sub_bytes

#endif
