// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScaleAddresses.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace tilewright::nvvm;

static constexpr unsigned kSharedSpace = 3;

/// Whether the index of `address` is in bytes now.
static bool scale(GetElementPtrInst &address) {
  using namespace PatternMatch;
  Value *term = nullptr;
  const APInt *bits = nullptr;
  if (address.getAddressSpace() != kSharedSpace || address.getNumIndices() != 1 ||
      address.getType()->isVectorTy())
    return false;
  // A product that is not negative is extended by zeros, with or without a sign.
  Value *index = *address.idx_begin();
  bool isSigned = match(index, m_SExt(m_NSWShl(m_Value(term), m_APInt(bits))));
  if (!isSigned && !match(index, m_ZExt(m_NUWShl(m_Value(term), m_APInt(bits)))))
    return false;
  uint64_t size =
      address.getDataLayout().getTypeAllocSize(address.getSourceElementType());
  if (!isPowerOf2_64(size))
    return false;
  IRBuilder<> builder(&address);
  Value *wide = builder.CreateIntCast(term, index->getType(), isSigned);
  Value *bytes = builder.CreateShl(wide, bits->getZExtValue() + Log2_64(size), "",
                                   /*HasNUW=*/!isSigned, /*HasNSW=*/true);
  address.replaceAllUsesWith(builder.CreatePtrAdd(address.getPointerOperand(), bytes));
  address.eraseFromParent();
  return true;
}

PreservedAnalyses ScaleAddressesPass::run(Function &function,
                                          FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  bool changed = false;
  for (BasicBlock &block : function)
    if (loops.getLoopFor(&block))
      for (Instruction &instruction : llvm::make_early_inc_range(block))
        if (auto *address = dyn_cast<GetElementPtrInst>(&instruction))
          changed |= scale(*address);
  if (!changed)
    return PreservedAnalyses::all();
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}
