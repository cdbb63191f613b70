// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns of what rings are made of on sm_90. Where NVVM has no operation that says all, PTX
// is written as it is. Everything here clobbers memory: what the copy engine writes, and who
// waits for it, LLVM does not see.

#ifndef TILEWRIGHT_LIB_TARGET_NVVM_RINGLOWERING_H
#define TILEWRIGHT_LIB_TARGET_NVVM_RINGLOWERING_H

#include "tilewright/Dialect/Rings.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace tilewright::nvvm {

inline mlir::Value createI32(mlir::OpBuilder &builder, mlir::Location loc, int64_t value) {
  return mlir::LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
}

inline mlir::Value toI32(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value) {
  mlir::Type i32 = builder.getI32Type();
  return value.getType() == i32
             ? value
             : mlir::LLVM::TruncOp::create(builder, loc, i32, value).getResult();
}

/// Where element `index` of shared memory `base` is.
inline mlir::Value elementAddress(mlir::OpBuilder &builder, mlir::Location loc,
                                  mlir::Type element, mlir::Value base, mlir::Value index) {
  return mlir::LLVM::GEPOp::create(builder, loc, base.getType(), element, base,
                                   llvm::ArrayRef<mlir::LLVM::GEPArg>{index});
}

/// A shared address as instructions take it.
inline mlir::Value sharedAddress(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value pointer) {
  return mlir::LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
}

inline mlir::Value inlinePTX(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type result,
                             mlir::ValueRange operands, const llvm::Twine &text,
                             const llvm::Twine &constraints) {
  auto op = mlir::LLVM::InlineAsmOp::create(
      builder, loc, result ? mlir::TypeRange(result) : mlir::TypeRange(), operands, text.str(),
      (constraints + (constraints.isTriviallyEmpty() ? "" : ",") + "~{memory}").str(),
      /*has_side_effects=*/true, /*is_align_stack=*/false, mlir::LLVM::TailCallKind::None,
      mlir::LLVM::AsmDialectAttr(), /*operand_attrs=*/mlir::ArrayAttr());
  return result ? op.getResult(0) : mlir::Value();
}

/// Each op's `lower` is a specialisation, in the file that is about the op.
template <typename Op> struct RingLowering : mlir::ConvertOpToLLVMPattern<Op> {
  using mlir::ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;
  using Adaptor = typename Op::Adaptor;

  static mlir::Value barrierAddress(mlir::OpBuilder &b, mlir::Location loc, mlir::Value base,
                                    mlir::Value index) {
    return elementAddress(b, loc, b.getI64Type(), base, index);
  }

  mlir::LogicalResult
  matchAndRewrite(Op op, Adaptor adaptor,
                  mlir::ConversionPatternRewriter &rewriter) const override {
    return lower(op, adaptor, rewriter);
  }
  static mlir::LogicalResult lower(Op op, Adaptor adaptor, mlir::ConversionPatternRewriter &b);
};

} // namespace tilewright::nvvm

#endif
