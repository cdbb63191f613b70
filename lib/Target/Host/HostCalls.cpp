// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Target/Host/HostCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace tilewright;

Value host::createI32(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc,
                                  builder.getI32IntegerAttr(value));
}

Value host::createI64(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc,
                                  builder.getI64IntegerAttr(value));
}

/// The op of `name` among those of `module`, or null.
static Operation *lookUp(Operation *module, StringRef name, SymbolTable *symbols) {
  return symbols ? symbols->lookup(name) : SymbolTable::lookupSymbolIn(module, name);
}

Value host::callSupport(OpBuilder &builder, Location loc, StringRef name, Type result,
                        ValueRange operands, SymbolTable *symbols) {
  MLIRContext *context = builder.getContext();
  Type type = result ? result : LLVM::LLVMVoidType::get(context);
  auto module = builder.getInsertionBlock()
                    ->getParentOp()
                    ->getParentWithTrait<OpTrait::SymbolTable>();
  auto functionType =
      LLVM::LLVMFunctionType::get(type, SmallVector<Type>(operands.getTypes()));
  if (!lookUp(module, name, symbols)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&module->getRegion(0).front());
    auto func = LLVM::LLVMFuncOp::create(builder, builder.getUnknownLoc(), name, functionType);
    if (symbols)
      symbols->insert(func);
  }
  auto call = LLVM::CallOp::create(builder, loc, functionType, name, operands);
  return result ? call.getResult() : Value();
}

Value host::getCallContext(Operation *op) {
  return op->getParentOfType<func::FuncOp>().getArgument(0);
}

Value host::createArray(OpBuilder &builder, Location loc, Type element,
                        ValueRange values) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (values.empty())
    return LLVM::ZeroOp::create(builder, loc, pointer);
  Value array;
  {
    // Stack space is taken once per call, however often the code runs.
    OpBuilder::InsertionGuard guard(builder);
    auto func = builder.getInsertionBlock()->getParentOp();
    auto host = dyn_cast<func::FuncOp>(func);
    if (!host)
      host = func->getParentOfType<func::FuncOp>();
    builder.setInsertionPointToStart(&host.getBody().front());
    array = LLVM::AllocaOp::create(builder, loc, pointer, element,
                                   createI64(builder, loc, values.size()));
  }
  for (auto [number, value] : llvm::enumerate(values)) {
    Value address =
        LLVM::GEPOp::create(builder, loc, pointer, element, array,
                            ArrayRef<LLVM::GEPArg>{int32_t(number)});
    LLVM::StoreOp::create(builder, loc, value, address);
  }
  return array;
}

Value host::createString(OpBuilder &builder, Location loc, StringRef text,
                         SymbolTable *symbols) {
  Operation *module = builder.getInsertionBlock()
                          ->getParentOp()
                          ->getParentWithTrait<OpTrait::SymbolTable>();
  // Named after its text: equal texts are one global, and a module of many
  // functions is not searched for free numbers.
  std::string bytes = text.str() + '\0';
  std::string name = "twh_string_" + llvm::utohexstr(llvm::xxh3_64bits(bytes));
  Operation *known;
  while ((known = lookUp(module, name, symbols))) {
    auto global = dyn_cast<LLVM::GlobalOp>(known);
    if (global && global.getValueOrNull() == builder.getStringAttr(bytes))
      break;
    name += "_";
  }
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&module->getRegion(0).front());
    auto global = LLVM::GlobalOp::create(
        builder, loc,
        LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        builder.getStringAttr(bytes));
    if (symbols)
      symbols->insert(global);
  }
  return LLVM::AddressOfOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), name);
}

Value host::toSlot(OpBuilder &builder, Location loc, Value scalar) {
  Type type = scalar.getType();
  Type i64 = builder.getI64Type();
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, scalar);
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    scalar = arith::BitcastOp::create(builder, loc,
                                      builder.getIntegerType(bits), scalar);
    return bits == 64 ? scalar
                      : arith::ExtUIOp::create(builder, loc, i64, scalar);
  }
  if (bits == 64)
    return scalar;
  if (bits == 1)
    return arith::ExtUIOp::create(builder, loc, i64, scalar);
  return arith::ExtSIOp::create(builder, loc, i64, scalar);
}

Value host::fromSlot(OpBuilder &builder, Location loc, Value slot, Type type) {
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, slot);
  unsigned bits = type.getIntOrFloatBitWidth();
  Value value = slot;
  if (bits < 64)
    value = arith::TruncIOp::create(builder, loc, builder.getIntegerType(bits),
                                    value);
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(builder, loc, type, value);
  return value;
}

Type host::getPointer(OpBuilder &builder) {
  return LLVM::LLVMPointerType::get(builder.getContext());
}

Value host::createDims(OpBuilder &builder, Location loc,
                       ArrayRef<int64_t> shape, ValueRange dynamic) {
  SmallVector<Value> dims;
  for (int64_t size : shape) {
    if (!ShapedType::isDynamic(size)) {
      dims.push_back(createI64(builder, loc, size));
      continue;
    }
    dims.push_back(arith::IndexCastOp::create(
        builder, loc, builder.getI64Type(), dynamic.front()));
    dynamic = dynamic.drop_front();
  }
  return createArray(builder, loc, builder.getI64Type(), dims);
}

Value host::share(OpBuilder &builder, Location loc, Value context, Value view) {
  callSupport(builder, loc, "twh_retain", Type(), {context, view});
  return view;
}
