// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Target/Buffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilewright;

static Value createI64(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc,
                                  builder.getI64IntegerAttr(value));
}

Value tilewright::createBuffer(OpBuilder &builder, Location loc, Value pointer,
                              Value bytes, MemRefType type, ValueRange sizes) {
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type();
  auto array = LLVM::LLVMArrayType::get(i64, 1);
  auto descriptorType = LLVM::LLVMStructType::getLiteral(
      context, {pointer.getType(), pointer.getType(), i64, array, array});
  Value zero = createI64(builder, loc, 0), one = createI64(builder, loc, 1);
  Value descriptor = LLVM::PoisonOp::create(builder, loc, descriptorType);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
  };
  insert(pointer, 0);
  insert(pointer, 1);
  insert(zero, 2);
  insert(bytes, {3, 0});
  insert(one, {4, 0});
  auto flat = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  Value buffer =
      UnrealizedConversionCastOp::create(builder, loc, flat, descriptor)
          .getResult(0);
  Value offset = arith::ConstantIndexOp::create(builder, loc, 0);
  return memref::ViewOp::create(builder, loc, type, buffer, offset, sizes);
}

Value tilewright::createByteCount(OpBuilder &builder, Location loc, MemRefType type,
                             ValueRange sizes) {
  Type element = type.getElementType();
  int64_t bytes = element.isIndex()
                      ? 8
                      : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  Value total = createI64(builder, loc, bytes);
  for (int64_t size : type.getShape()) {
    Value factor;
    if (ShapedType::isDynamic(size)) {
      factor = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                          sizes.front());
      sizes = sizes.drop_front();
    } else {
      factor = createI64(builder, loc, size);
    }
    total = arith::MulIOp::create(builder, loc, total, factor);
  }
  return total;
}
