// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of LLVM's intrinsics for NVPTX, and the type that most of them compute in.

#ifndef TILEWRIGHT_LIB_TARGET_NVVM_INTRINSICS_H
#define TILEWRIGHT_LIB_TARGET_NVVM_INTRINSICS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tilewright {

inline mlir::Value callIntrinsic(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                                 const llvm::Twine &name, mlir::ValueRange operands) {
  return mlir::LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands)
      .getResult(0);
}

/// The f32 value of a float of up to 32 bits.
inline mlir::Value widen(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value) {
  return value.getType().isF32() ? value
                                 : mlir::arith::ExtFOp::create(b, loc, b.getF32Type(), value);
}

} // namespace tilewright

#endif
