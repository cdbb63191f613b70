// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opaque fragments: vectors of rank 2 in thread form become cooperative matrices
// (SPV_KHR_cooperative_matrix) of the subgroup.
//
//   %a = tilewright.load_fragment "a" %s[%i] stride 40 : … -> vector<16x16xf16>
//   %d = tilewright.mma_fragment "coopmat.m16n16k16.f16.f32" (%a) (%b) (%c)
// becomes
//   %p = spirv.AccessChain %shared0[%i / 4]
//   %a = spirv.KHR.CooperativeMatrixLoad %p, 10, <RowMajor> : … MatrixA
//   %d = spirv.KHR.CooperativeMatrixMulAdd %a, %b, %c
//
// Strides count what the array holds, chunks of four elements above. SPIR-V adds,
// multiplies and converts whole matrices; other arithmetic goes through the
// components that each invocation has, in a loop, for nobody but the driver
// knows how many those are.

#include "KernelEmitter.h"

#include "tilewright/Dialect/MatrixInstruction.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVEnums.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;
using spirv::CooperativeMatrixLayoutKHR;
using spirv::CooperativeMatrixUseKHR;

bool KernelEmitter::isFragment(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 2 && vector.hasStaticShape() &&
         !vector.isScalable();
}

spirv::CooperativeMatrixType
KernelEmitter::fragmentType(Type type, CooperativeMatrixUseKHR use) const {
  auto vector = cast<VectorType>(type);
  return spirv::CooperativeMatrixType::get(
      vector.getElementType(), vector.getDimSize(0), vector.getDimSize(1),
      spirv::Scope::Subgroup, use);
}

Outcome KernelEmitter::emitFragmentAccess(Operation *op) {
  auto load = dyn_cast<LoadFragmentOp>(op);
  auto store = dyn_cast<StoreFragmentOp>(op);
  Memory &memory = memories.find(load ? load.getBase() : store.getBase())->second;
  int64_t stride = load ? load.getStride() : store.getStride();
  if (stride % memory.chunk) {
    op->emitOpError("has rows ")
        << stride << " elements apart, in an array of chunks of "
        << memory.chunk;
    return Outcome::Failed;
  }
  Value index = part(load ? load.getOffset() : store.getOffset());
  Value address = make<spirv::AccessChainOp>(
      memory.variables.front().second,
      ValueRange(divideIndex(index, memory.chunk)));
  Value distance = constant(b.getI32Type(), stride / memory.chunk);
  bool transposed = load ? load.getTransposed() : store.getTransposed();
  auto order = transposed ? CooperativeMatrixLayoutKHR::ColumnMajor
                          : CooperativeMatrixLayoutKHR::RowMajor;
  if (store) {
    spirv::KHRCooperativeMatrixStoreOp::create(
        b, loc, address, part(store.getValue()), order, distance,
        spirv::MemoryAccessAttr(), IntegerAttr());
    return Outcome::Done;
  }
  auto use = llvm::StringSwitch<CooperativeMatrixUseKHR>(load.getUse())
                 .Case("a", CooperativeMatrixUseKHR::MatrixA)
                 .Case("b", CooperativeMatrixUseKHR::MatrixB)
                 .Default(CooperativeMatrixUseKHR::MatrixAcc);
  setParts(load.getResult(),
           Value(spirv::KHRCooperativeMatrixLoadOp::create(
               b, loc, fragmentType(load.getResult().getType(), use), address,
               order, distance, spirv::MemoryAccessAttr(), IntegerAttr())));
  return Outcome::Done;
}

/// `op` on every component of the matrices: they are put into variables, whose
/// components a loop goes through.
Value KernelEmitter::emitEachComponent(Operation *op, Type type,
                                       ValueRange args) {
  auto matrix = cast<spirv::CooperativeMatrixType>(type);
  auto pointer = spirv::PointerType::get(matrix, spirv::StorageClass::Function);
  SmallVector<Value> variables;
  for (Value arg : args) {
    Value variable =
        spirv::VariableOp::create(top, loc, pointer,
                                  spirv::StorageClass::Function, Value());
    spirv::StoreOp::create(b, loc, variable, arg);
    variables.push_back(variable);
  }
  Type word = b.getI32Type();
  Value count = make<spirv::KHRCooperativeMatrixLengthOp>(
      word, TypeAttr::get(matrix));
  Value zero = constant(word, 0), one = constant(word, 1);
  auto loop =
      spirv::LoopOp::create(b, loc, TypeRange(), spirv::LoopControl::None);
  bool good = true;
  {
    OpBuilder::InsertionGuard guard(b);
    Region &region = loop.getBody();
    Block *blocks[5];
    for (Block *&block : blocks)
      block = &region.emplaceBlock();
    auto [entry, header, body, next, merge] = blocks;
    Value i = header->addArgument(word, loc);
    b.setInsertionPointToEnd(entry);
    spirv::BranchOp::create(b, loc, header, zero);
    b.setInsertionPointToEnd(header);
    Value more = make<spirv::ULessThanOp>(i, count);
    spirv::BranchConditionalOp::create(b, loc, more, body, ValueRange(), merge,
                                       ValueRange());
    b.setInsertionPointToEnd(body);
    Parts components, places;
    for (Value variable : variables) {
      places.push_back(make<spirv::AccessChainOp>(variable, ValueRange(i)));
      components.push_back(make<spirv::LoadOp>(places.back()));
    }
    Value value = emitScalar(op, components);
    good = value != nullptr;
    if (good)
      spirv::StoreOp::create(b, loc, places.front(), value);
    spirv::BranchOp::create(b, loc, next);
    b.setInsertionPointToEnd(next);
    spirv::BranchOp::create(b, loc, header, make<spirv::IAddOp>(i, one));
    b.setInsertionPointToEnd(merge);
    spirv::MergeOp::create(b, loc, ValueRange());
  }
  return good ? make<spirv::LoadOp>(variables.front()) : Value();
}

Value KernelEmitter::emitFragmentArithmetic(Operation *op, Type type,
                                            ValueRange args) {
  if (isa<arith::AddFOp>(op))
    return makeExact<spirv::FAddOp>(args[0], args[1]);
  if (isa<arith::SubFOp>(op))
    return makeExact<spirv::FSubOp>(args[0], args[1]);
  if (isa<arith::MulFOp>(op))
    return makeExact<spirv::FMulOp>(args[0], args[1]);
  if (isa<arith::DivFOp>(op))
    return makeExact<spirv::FDivOp>(args[0], args[1]);
  if (isa<arith::NegFOp>(op))
    return make<spirv::FNegateOp>(args[0]);
  if (isa<arith::AddIOp>(op))
    return make<spirv::IAddOp>(args[0], args[1]);
  if (isa<arith::SubIOp>(op))
    return make<spirv::ISubOp>(args[0], args[1]);
  if (isa<arith::MulIOp>(op))
    return make<spirv::IMulOp>(args[0], args[1]);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return make<spirv::FConvertOp>(type, args[0]);
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp>(op))
    return emitEachComponent(op, type, args);
  return {};
}

Outcome KernelEmitter::emitFragment(Operation *op) {
  if (isa<LoadFragmentOp, StoreFragmentOp>(op))
    return emitFragmentAccess(op);
  if (op->getNumResults() != 1 || !isFragment(op->getResult(0).getType()))
    return Outcome::Unknown;
  Value result = op->getResult(0);
  Type type = fragmentType(result.getType(), CooperativeMatrixUseKHR::MatrixAcc);
  if (auto product = dyn_cast<MmaFragmentOp>(op)) {
    auto instruction =
        MatrixInstruction::parse(op->getContext(), product.getInstruction());
    if (!instruction || !instruction->opaque || product.getA().size() != 1 ||
        product.getB().size() != 1 || product.getAcc().size() != 1)
      return Outcome::Unknown;
    using Operands = spirv::CooperativeMatrixOperandsKHR;
    Operands operands = Operands::None;
    if (instruction->signedness[0] == "signed")
      operands = operands | Operands::ASigned;
    if (instruction->signedness[1] == "signed")
      operands = operands | Operands::BSigned;
    if (product.getInstruction().rsplit('.').second.starts_with("s"))
      operands = operands | Operands::CSigned | Operands::ResultSigned;
    spirv::CooperativeMatrixOperandsKHRAttr attr;
    if (operands != Operands::None)
      attr = spirv::CooperativeMatrixOperandsKHRAttr::get(op->getContext(),
                                                          operands);
    setParts(result, make<spirv::KHRCooperativeMatrixMulAddOp>(
                         type, part(product.getA()[0]), part(product.getB()[0]),
                         part(product.getAcc()[0]), attr));
    return Outcome::Done;
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    setParts(result, make<spirv::CompositeConstructOp>(
                         type, parts(broadcast.getSource())));
    return Outcome::Done;
  }
  contract = contractAllowed;
  Value value =
      emitFragmentArithmetic(op, type, parts(op->getOperands()));
  if (!value) {
    op->emitOpError("is not done on cooperative matrices; compute it on the "
                    "elements of threads");
    return Outcome::Failed;
  }
  setParts(result, value);
  return Outcome::Done;
}

/// Under the Vulkan memory model, which cooperative matrices come with, what
/// other invocations write and read must be marked, and a barrier says that it
/// makes it available and visible.
void KernelEmitter::useVulkanMemoryModel() {
  module->setAttr("memory_model",
                  spirv::MemoryModelAttr::get(module.getContext(),
                                              spirv::MemoryModel::Vulkan));
  auto access = spirv::MemoryAccessAttr::get(
      module.getContext(), spirv::MemoryAccess::NonPrivatePointer);
  auto isShared = [](Value pointer) {
    auto storage =
        cast<spirv::PointerType>(pointer.getType()).getStorageClass();
    return storage == spirv::StorageClass::Workgroup ||
           storage == spirv::StorageClass::StorageBuffer;
  };
  module.walk([&](Operation *op) {
    if (auto load = dyn_cast<spirv::LoadOp>(op)) {
      if (isShared(load.getPtr()))
        load.setMemoryAccessAttr(access);
    } else if (auto store = dyn_cast<spirv::StoreOp>(op)) {
      if (isShared(store.getPtr()))
        store.setMemoryAccessAttr(access);
    } else if (auto load = dyn_cast<spirv::KHRCooperativeMatrixLoadOp>(op)) {
      load.setMemoryOperandAttr(access);
    } else if (auto store = dyn_cast<spirv::KHRCooperativeMatrixStoreOp>(op)) {
      store.setMemoryOperandAttr(access);
    } else if (auto barrier = dyn_cast<spirv::ControlBarrierOp>(op)) {
      barrier.setMemorySemantics(barrier.getMemorySemantics() |
                                 spirv::MemorySemantics::MakeAvailable |
                                 spirv::MemorySemantics::MakeVisible);
    }
  });
}
