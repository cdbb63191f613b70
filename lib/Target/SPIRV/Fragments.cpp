// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opaque fragments: vectors of rank 2 in thread form become cooperative matrices
// (SPV_KHR_cooperative_matrix) of the subgroup.
//
//   %a = tilewright.load_fragment "a" %s[%i] stride %c40 : … -> vector<16x16xf16>
//   %d = tilewright.mma_fragment "coopmat.m16n16k16.f16.f32" (%a) (%b) (%c)
//   tilewright.store_fragment %d, %o[%j] stride %n : vector<16x16xf32>, memref<?xf32>
// becomes
//   %p = spirv.AccessChain %shared0[%i / 4]
//   %a = spirv.KHR.CooperativeMatrixLoad %p, 10, <RowMajor> : … MatrixA
//   %d = spirv.KHR.CooperativeMatrixMulAdd %a, %b, %c
//   %q = spirv.AccessChain %arg2[0, %j]
//   spirv.KHR.CooperativeMatrixStore %q, %d, %n, <RowMajor>
//
// Strides count what the array holds: chunks of four elements of the shared one
// above, single elements of buffers.
//
// Arithmetic (map_fragments) takes one of two forms. SPIR-V adds, subtracts,
// multiplies, divides and negates whole matrices: a body of nothing else is that.
// Any other body is run on the components that each invocation has, in a loop, for
// nobody but the driver knows how many those are: matrices go through variables of
// the function, and the loop's body is the scalar code of any other kernel, so that
// whatever can be computed on scalars can be here, comparisons and functions
// included. (There is no third way: CooperativeMatrixPerElementOp is another
// extension.) Components of one number are the same element in matrices of one type
// only; from type to type whole matrices are converted.

#include "KernelEmitter.h"

#include "tilewright/Dialect/MatrixInstruction.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVEnums.h"
#include "mlir/IR/Matchers.h"

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
  Type element = vector.getElementType();
  if (signedSums && element.isInteger(32) &&
      use == CooperativeMatrixUseKHR::MatrixAcc)
    element = IntegerType::get(type.getContext(), 32, IntegerType::Signed);
  return spirv::CooperativeMatrixType::get(element, vector.getDimSize(0),
                                           vector.getDimSize(1),
                                           spirv::Scope::Subgroup, use);
}

/// Casts between types of accumulators.
static bool isConversion(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp>(
      op);
}

/// Drivers are seen to take the sign of a matrix that they convert from its type,
/// not from the instruction, so that such kernels have sums of a type with a sign.
/// Everywhere else in SPIR-V kernels the instruction says it.
void KernelEmitter::chooseSigns() {
  kernel.walk([&](Operation *op) {
    signedSums |= isa<arith::SIToFPOp, arith::FPToSIOp>(op) &&
                  isFragment(op->getResult(0).getType());
  });
}

Value KernelEmitter::splatFragment(Type type, Value scalar) {
  Type element = cast<spirv::CooperativeMatrixType>(type).getElementType();
  return make<spirv::CompositeConstructOp>(
      type, ValueRange(element.isBF16() ? scalar : bitcast(scalar, element)));
}

Outcome KernelEmitter::emitFragmentAccess(Operation *op) {
  auto load = dyn_cast<LoadFragmentOp>(op);
  auto store = dyn_cast<StoreFragmentOp>(op);
  Memory &memory = memories.find(load ? load.getBase() : store.getBase())->second;
  Value stride = load ? load.getStride() : store.getStride();
  if (APInt known; matchPattern(stride, m_ConstantInt(&known)) &&
                   known.getSExtValue() % memory.chunk) {
    op->emitOpError("has rows ")
        << known.getSExtValue() << " elements apart, in an array of chunks of "
        << memory.chunk;
    return Outcome::Failed;
  }
  Value index = part(load ? load.getOffset() : store.getOffset());
  Value address =
      memory.shared
          ? make<spirv::AccessChainOp>(
                memory.variables.front().second,
                ValueRange(divideIndex(index, memory.chunk)))
          : make<spirv::AccessChainOp>(
                memory.variables.lookup(storageType(memory.element)),
                ValueRange{constant(b.getI32Type(), 0), index});
  Value distance = divideIndex(part(stride), memory.chunk);
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

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Whether SPIR-V does all that a body does with whole matrices.
static bool isWholeArithmetic(MapFragmentsOp map) {
  return llvm::all_of(
      map.getBody().front().without_terminator(), [](Operation &op) {
        return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
                   arith::NegFOp, arith::AddIOp, arith::SubIOp, arith::MulIOp>(
            op);
      });
}

Value KernelEmitter::emitWholeArithmetic(Operation *op, ValueRange args) {
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
  return make<spirv::IMulOp>(args[0], args[1]);
}

Value KernelEmitter::emitWholeBody(MapFragmentsOp map, Type type) {
  Block &body = map.getBody().front();
  for (auto [argument, fragment] :
       llvm::zip_equal(body.getArguments(), map.getFragments()))
    setParts(argument, part(fragment));
  // Scalars from outside are matrices of equal elements here.
  auto matrix = [&](Value value) {
    Value known = part(value);
    return known.getType() == type
               ? known
               : splatFragment(type, known);
  };
  contract = contractAllowed;
  for (Operation &op : body.without_terminator()) {
    Parts args;
    for (Value operand : op.getOperands())
      args.push_back(matrix(operand));
    setParts(op.getResult(0), emitWholeArithmetic(&op, args));
  }
  return matrix(cast<YieldOp>(body.getTerminator()).getValue());
}

/// The body on every component of the matrices: they are put into variables, whose
/// components a loop goes through.
Value KernelEmitter::emitEachComponent(MapFragmentsOp map, Type type) {
  auto pointer = spirv::PointerType::get(type, spirv::StorageClass::Function);
  SmallVector<Value> variables;
  for (Value fragment : map.getFragments()) {
    Value variable =
        spirv::VariableOp::create(top, loc, pointer,
                                  spirv::StorageClass::Function, Value());
    spirv::StoreOp::create(b, loc, variable, part(fragment));
    variables.push_back(variable);
  }
  Type word = b.getI32Type();
  Value count = make<spirv::KHRCooperativeMatrixLengthOp>(
      word, TypeAttr::get(type));
  Value zero = constant(word, 0), one = constant(word, 1);
  auto loop =
      spirv::LoopOp::create(b, loc, TypeRange(), spirv::LoopControl::None);
  Block &scalars = map.getBody().front();
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
    Parts places;
    for (auto [variable, argument] :
         llvm::zip_equal(variables, scalars.getArguments())) {
      places.push_back(make<spirv::AccessChainOp>(variable, ValueRange(i)));
      setParts(argument, bitcast(make<spirv::LoadOp>(places.back()),
                                 argument.getType()));
    }
    if (failed(emitBody(scalars)))
      return {};
    spirv::StoreOp::create(
        b, loc, places.front(),
        bitcast(part(cast<YieldOp>(scalars.getTerminator()).getValue()),
                cast<spirv::CooperativeMatrixType>(type).getElementType()));
    spirv::BranchOp::create(b, loc, next);
    b.setInsertionPointToEnd(next);
    spirv::BranchOp::create(b, loc, header, make<spirv::IAddOp>(i, one));
    b.setInsertionPointToEnd(merge);
    spirv::MergeOp::create(b, loc, ValueRange());
  }
  return make<spirv::LoadOp>(variables.front());
}

/// From one type of accumulators to another.
Value KernelEmitter::emitFragmentConversion(Operation *op, Type type) {
  Value arg = part(op->getOperand(0));
  if (isa<arith::SIToFPOp>(op))
    return make<spirv::ConvertSToFOp>(type, arg);
  if (isa<arith::FPToSIOp>(op))
    return make<spirv::ConvertFToSOp>(type, arg);
  return make<spirv::FConvertOp>(type, arg);
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
    setParts(result, splatFragment(type, part(broadcast.getSource())));
    return Outcome::Done;
  }
  if (auto map = dyn_cast<MapFragmentsOp>(op)) {
    Value value = isWholeArithmetic(map) ? emitWholeBody(map, type)
                                         : emitEachComponent(map, type);
    if (!value)
      return Outcome::Failed;
    setParts(result, value);
    return Outcome::Done;
  }
  if (isConversion(op)) {
    setParts(result, emitFragmentConversion(op, type));
    return Outcome::Done;
  }
  op->emitOpError("is not done on whole cooperative matrices; put it into a "
                  "tilewright.map_fragments");
  return Outcome::Failed;
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
