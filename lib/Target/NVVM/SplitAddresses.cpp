// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SplitAddresses.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace tilewright::nvvm;

static constexpr unsigned kSharedSpace = 3;

/// A loop that carries more values has no registers left for what leaves it.
static constexpr unsigned kMostCarried = 120;

/// The terms of an index that may be added up in any width: additions that do not wrap
/// around, as they are or below a sign extension.
static void collectTerms(Value *index, SmallVectorImpl<Value *> &terms) {
  using namespace PatternMatch;
  Value *left, *right, *sum = index;
  match(index, m_SExt(m_Value(sum)));
  if (!match(sum, m_NSWAddLike(m_Value(left), m_Value(right)))) {
    terms.push_back(index);
    return;
  }
  collectTerms(left, terms);
  collectTerms(right, terms);
}

/// Whether the address got a step of its own for what `loop` does not change.
static bool split(GetElementPtrInst &address, const Loop &loop) {
  if (address.getAddressSpace() != kSharedSpace || address.getNumIndices() != 1 ||
      !loop.isLoopInvariant(address.getPointerOperand()) ||
      address.getType()->isVectorTy() ||
      !llvm::all_of(address.users(), llvm::IsaPred<IntrinsicInst, GetElementPtrInst>))
    return false;
  SmallVector<Value *> terms;
  collectTerms(*address.idx_begin(), terms);
  auto kindOf = [&](Value *term) {
    return isa<ConstantInt>(term) ? 2 : loop.isLoopInvariant(term) ? 0 : 1;
  };
  if (llvm::none_of(terms, [&](Value *term) { return kindOf(term) == 0; }) ||
      llvm::none_of(terms, [&](Value *term) { return kindOf(term) == 1; }))
    return false;
  llvm::stable_sort(terms,
                    [&](Value *a, Value *b) { return kindOf(a) < kindOf(b); });
  IRBuilder<> builder(&address);
  Value *pointer = address.getPointerOperand();
  for (Value *term : terms)
    pointer = builder.CreateGEP(address.getSourceElementType(), pointer, term);
  address.replaceAllUsesWith(pointer);
  address.eraseFromParent();
  return true;
}

PreservedAnalyses SplitAddressesPass::run(Function &function,
                                          FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  bool changed = false;
  for (BasicBlock &block : function)
    if (const Loop *loop = loops.getLoopFor(&block);
        loop && llvm::range_size(loop->getHeader()->phis()) <= kMostCarried)
      for (Instruction &instruction : llvm::make_early_inc_range(block))
        if (auto *address = dyn_cast<GetElementPtrInst>(&instruction))
          changed |= split(*address, *loop);
  if (!changed)
    return PreservedAnalyses::all();
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}
