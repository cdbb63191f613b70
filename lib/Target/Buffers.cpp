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

Value tilewright::createStridedBuffer(OpBuilder &builder, Location loc,
                                      Value pointer, Value offset,
                                      MemRefType type, ValueRange sizes,
                                      ValueRange strides) {
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type();
  int64_t rank = type.getRank();
  SmallVector<int64_t> staticStrides;
  int64_t staticOffset;
  (void)type.getStridesAndOffset(staticStrides, staticOffset);
  if (!ShapedType::isDynamic(staticOffset)) {
    // The descriptor must say what the type says: move the pointer instead.
    Type element = type.getElementType();
    Type stored = element.isIndex() ? i64 : element;
    if (element.isInteger(1))
      stored = builder.getI8Type();
    Value by = arith::SubIOp::create(
        builder, loc, offset, createI64(builder, loc, staticOffset));
    pointer = LLVM::GEPOp::create(builder, loc, pointer.getType(), stored,
                                  pointer, ArrayRef<LLVM::GEPArg>{by});
    offset = createI64(builder, loc, staticOffset);
  }
  SmallVector<Type> members = {pointer.getType(), pointer.getType(), i64};
  if (rank)
    members.append(2, LLVM::LLVMArrayType::get(i64, rank));
  auto descriptorType = LLVM::LLVMStructType::getLiteral(context, members);
  Value descriptor = LLVM::PoisonOp::create(builder, loc, descriptorType);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
  };
  insert(pointer, 0);
  insert(pointer, 1);
  insert(offset, 2);
  auto insertAll = [&](int64_t member, ArrayRef<int64_t> known,
                       ValueRange dynamic) {
    for (auto [d, value] : llvm::enumerate(known)) {
      Value inserted;
      if (ShapedType::isDynamic(value)) {
        inserted = arith::IndexCastOp::create(builder, loc, i64, dynamic.front());
        dynamic = dynamic.drop_front();
      } else {
        inserted = createI64(builder, loc, value);
      }
      insert(inserted, {member, int64_t(d)});
    }
  };
  insertAll(3, type.getShape(), sizes);
  insertAll(4, staticStrides, strides);
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
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
