// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code generator would take vectors of bf16 apart that are loaded, shuffled, stored, or
// selected, as rounding to bf16 does, and convert each element twice, where the processor has no
// instructions for bf16:
//
//   %v = load <32 x bfloat>, ptr %p
//   %s = shufflevector <32 x bfloat> %v, …
//   ->
//   %v = load <32 x i16>, ptr %p
//   %s = shufflevector <32 x i16> %v, …
//
// Likewise it converts f16 to integers one by one, but by way of f32, which has them exactly, all at
// once; optimizations take such a way for a detour.
//
//   %i = fptosi <16 x half> %h to <16 x i8>       ->  of fpext %h to <16 x float>

#include "MoveBits.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace tilewright;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

static bool isVectorOfBf16(llvm::Type *type) {
  auto *vector = dyn_cast<llvm::VectorType>(type);
  return vector && vector->getElementType()->isBFloatTy();
}

/// A vector of bf16 as integers.
static llvm::Value *bitsOf(llvm::IRBuilder<> &builder, llvm::Value *value) {
  llvm::Type *bits = llvm::VectorType::getInteger(cast<llvm::VectorType>(value->getType()));
  auto *cast = dyn_cast<llvm::BitCastInst>(value);
  return cast && cast->getSrcTy() == bits ? cast->getOperand(0)
                                          : builder.CreateBitCast(value, bits);
}

/// What only moves a vector of bf16, as an integer's; null for other instructions.
static llvm::Value *moveAsBits(llvm::IRBuilder<> &builder, llvm::Instruction &instruction) {
  if (auto *cast = dyn_cast<llvm::BitCastInst>(&instruction))
    return isVectorOfBf16(cast->getSrcTy())
               ? builder.CreateBitCast(bitsOf(builder, cast->getOperand(0)), cast->getDestTy())
               : nullptr;
  if (auto *store = dyn_cast<llvm::StoreInst>(&instruction)) {
    if (!isVectorOfBf16(store->getValueOperand()->getType()))
      return nullptr;
    llvm::StoreInst *moved =
        builder.CreateAlignedStore(bitsOf(builder, store->getValueOperand()),
                                   store->getPointerOperand(), store->getAlign());
    moved->copyMetadata(*store);
    return moved;
  }
  if (!isVectorOfBf16(instruction.getType()))
    return nullptr;
  auto bits = [&](unsigned operand) { return bitsOf(builder, instruction.getOperand(operand)); };
  llvm::Value *moved = nullptr;
  if (isa<llvm::SelectInst>(instruction))
    moved = builder.CreateSelect(instruction.getOperand(0), bits(1), bits(2));
  else if (auto *shuffle = dyn_cast<llvm::ShuffleVectorInst>(&instruction))
    moved = builder.CreateShuffleVector(bits(0), bits(1), shuffle->getShuffleMask());
  else if (auto *load = dyn_cast<llvm::LoadInst>(&instruction))
    moved = builder.CreateAlignedLoad(
        llvm::VectorType::getInteger(cast<llvm::VectorType>(load->getType())),
        load->getPointerOperand(), load->getAlign());
  return moved ? builder.CreateBitCast(moved, instruction.getType()) : nullptr;
}

void cpu::moveBf16AsIntegers(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      llvm::IRBuilder<> builder(&instruction);
      llvm::Value *moved = moveAsBits(builder, instruction);
      if (!moved)
        continue;
      if (!isa<llvm::StoreInst>(instruction))
        instruction.replaceAllUsesWith(moved);
      instruction.eraseFromParent();
    }
}

void cpu::convertHalvesBySingles(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      if (!isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction))
        continue;
      llvm::Value *halves = instruction.getOperand(0);
      auto *type = dyn_cast<llvm::FixedVectorType>(halves->getType());
      if (!type || !type->getElementType()->isHalfTy())
        continue;
      llvm::IRBuilder<> builder(&instruction);
      instruction.setOperand(
          0, builder.CreateFPExt(halves, llvm::FixedVectorType::get(builder.getFloatTy(),
                                                                    type->getNumElements())));
    }
}
