// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel shares with the outside (docs/abi.md): storage buffers, push
// constants, Workgroup memory, built-in ids.
//
//   func.func @k(%a: memref<?xf32>, %n: index)      // %a read as f32 and vec4
// becomes
//   spirv.GlobalVariable @arg0      bind(0, 0) {aliased, non_writable} :
//   struct{rtarray<f32>} spirv.GlobalVariable @arg0_4xf32 bind(0, 0) {aliased,
//   non_writable} : struct{rtarray<vec4>} spirv.GlobalVariable @scalars :
//   struct{i32 at 0}, PushConstant
//
// A buffer has one variable per type that it is accessed in, all of one
// binding. More than one are Aliased; a single one is Restrict, because the
// runtime checks that operands do not overlap. Shared memory is never aliased:
// an array that is accessed in vectors is an array of them, see Memory.cpp.

#include "KernelEmitter.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;

/// Vulkan guarantees this many bytes of push constants.
static constexpr int64_t kPushConstantBytes = 128;

/// A name for variables of this type: f32, 4xf32.
static std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto vector = dyn_cast<VectorType>(type))
    os << vector.getNumElements() << "x" << vector.getElementType();
  else
    os << type;
  return text;
}

static unsigned byteSize(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() *
                      vector.getElementType().getIntOrFloatBitWidth() / 8
                : type.getIntOrFloatBitWidth() / 8;
}

Value KernelEmitter::addressOf(spirv::GlobalVariableOp variable) {
  interface.push_back(variable);
  return spirv::AddressOfOp::create(top, kernel.getLoc(), variable);
}

LogicalResult KernelEmitter::declareArguments() {
  SmallVector<BlockArgument> scalars;
  for (BlockArgument arg : kernel.getArguments()) {
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type) {
      scalars.push_back(arg);
      continue;
    }
    if (!scalars.empty())
      return kernel.emitOpError("has a memref after a scalar argument; kernels "
                                "take their buffers first");
    if (type.getRank() != 1 || !type.getLayout().isIdentity() ||
        type.getMemorySpace())
      return kernel.emitOpError("has an argument of type ")
             << type << "; thread form takes memref<?xT> in global memory";
    Memory &memory = memories[arg];
    memory.element = type.getElementType();
    memory.binding = arg.getArgNumber();
  }
  if (failed(collectAccesses()))
    return failure();

  OpBuilder globals = OpBuilder::atBlockBegin(module.getBody());
  for (auto &[arg, memory] : memories) {
    if (memory.shared)
      continue;
    for (auto &[type, address] : memory.variables) {
      bool scalar = !isa<VectorType>(type);
      std::string name = "arg" + std::to_string(memory.binding) +
                         (scalar ? "" : "_" + typeName(type));
      auto array = spirv::RuntimeArrayType::get(type, byteSize(type));
      auto pointer =
          spirv::PointerType::get(spirv::StructType::get({array}, {0}),
                                  spirv::StorageClass::StorageBuffer);
      auto variable =
          spirv::GlobalVariableOp::create(globals, arg.getLoc(), pointer, name,
                                          /*descriptorSet=*/0, memory.binding);
      variable->setAttr(memory.variables.size() > 1 ? "aliased" : "restrict",
                        b.getUnitAttr());
      if (!memory.written)
        variable->setAttr("non_writable", b.getUnitAttr());
      address = addressOf(variable);
    }
  }
  return declareScalars(scalars);
}

/// Scalars stand one after the other at their natural alignment. Those of less
/// than 32 bits are passed as i32, as on the other targets.
LogicalResult KernelEmitter::declareScalars(ArrayRef<BlockArgument> scalars) {
  if (scalars.empty())
    return success();
  SmallVector<Type> members;
  SmallVector<spirv::StructType::OffsetInfo> offsets;
  int64_t size = 0;
  for (BlockArgument arg : scalars) {
    Type type = registerType(arg.getType());
    if (!type)
      return kernel.emitOpError("has an argument of type ")
             << arg.getType() << ", which cannot be passed to a kernel";
    if (type.getIntOrFloatBitWidth() < 32)
      type = b.getI32Type();
    int64_t bytes = byteSize(type);
    size = llvm::alignTo(size, bytes);
    members.push_back(type);
    offsets.push_back(size);
    size += bytes;
  }

  bool push = size <= kPushConstantBytes;
  auto storage =
      push ? spirv::StorageClass::PushConstant : spirv::StorageClass::Uniform;
  auto pointer = spirv::PointerType::get(
      spirv::StructType::get(members, offsets), storage);
  OpBuilder globals(function);
  auto variable =
      push ? spirv::GlobalVariableOp::create(globals, loc, pointer, "scalars")
           : spirv::GlobalVariableOp::create(globals, loc, pointer, "scalars",
                                             /*descriptorSet=*/1,
                                             /*binding=*/0);
  Value base = addressOf(variable);
  for (auto [i, arg] : llvm::enumerate(scalars)) {
    Value index = constant(b.getI32Type(), i);
    Value value = make<spirv::LoadOp>(
        make<spirv::AccessChainOp>(base, ValueRange(index)));
    Type type = registerType(arg.getType());
    if (unsigned width = type.getIntOrFloatBitWidth(); width < 32)
      value =
          bitcast(convertInteger(value, b.getIntegerType(width), false), type);
    setParts(arg, value);
  }
  return success();
}

void KernelEmitter::declareShared() {
  int64_t number = 0;
  OpBuilder globals(function);
  for (auto &[value, memory] : memories) {
    if (!memory.shared)
      continue;
    int64_t count = llvm::divideCeil(memory.size, memory.chunk);
    if (memory.variables.empty())
      continue;
    Type type = memory.variables.front().first;
    auto pointer = spirv::PointerType::get(spirv::ArrayType::get(type, count),
                                           spirv::StorageClass::Workgroup);
    auto variable = spirv::GlobalVariableOp::create(
        globals, value.getLoc(), pointer, "shared" + std::to_string(number++));
    memory.variables.front().second = addressOf(variable);
  }
}

Value KernelEmitter::builtin(spirv::BuiltIn id, int64_t component) {
  Value &known = builtins[{static_cast<uint32_t>(id), component}];
  if (known)
    return known;
  StringRef name = spirv::stringifyBuiltIn(id);
  auto variable = module.lookupSymbol<spirv::GlobalVariableOp>(name);
  Type word = b.getI32Type();
  bool isVector = component >= 0;
  if (!variable) {
    OpBuilder globals(function);
    auto pointer = spirv::PointerType::get(
        isVector ? Type(VectorType::get(3, word)) : word,
        spirv::StorageClass::Input);
    variable = spirv::GlobalVariableOp::create(globals, kernel.getLoc(),
                                               pointer, name, id);
    interface.push_back(variable);
  }
  Value address = spirv::AddressOfOp::create(top, kernel.getLoc(), variable);
  known = spirv::LoadOp::create(top, kernel.getLoc(), address);
  if (isVector)
    known = spirv::CompositeExtractOp::create(
        top, kernel.getLoc(), known,
        ArrayRef<int32_t>(static_cast<int32_t>(component)));
  return known;
}
