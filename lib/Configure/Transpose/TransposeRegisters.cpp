// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers of a thread of a kernel that reads a tile along one dim and writes it along another
// (LiveValues.h).

#include "LiveValues.h"
#include "Footprint.h"
#include "ThreadTiles.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// What ptxas takes of `registers` where values need not all be there at once: those within
/// reach of what is free are loaded one after the other.
static int64_t withinFree(int64_t registers, int64_t free) {
  return registers > free && 3 * registers <= 4 * free ? free : registers;
}

int64_t tilewright::countTransposeRegisters(const KernelInfo &info, const TilePlan &plan,
                                            TargetAttr target) {
  // Each word has its place in shared memory, until there are many; those of chips from sm_90 on
  // are stored before the last are there.
  constexpr int64_t kFixed = 16;
  int64_t places = target.getFact("sm", 0) >= 90 ? 8 : 24;
  int64_t bytes = resultBytes(info, plan), free = freeRegisters(plan, target);
  for (OpOperand *input : rootInputs(info))
    if (isa<RankedTensorType>(input->get().getType()))
      bytes = std::max(bytes, tileElements(info, plan, *input) *
                                  bytesPerElement(input->get().getType()));
  int64_t words = llvm::divideCeil(bytes, 4 * plan.threads), edges = 0;
  for (OpOperand *input : rootInputs(info))
    if (isa<RankedTensorType>(input->get().getType())) {
      int64_t width = std::max<int64_t>(1, target.getFact("access_bytes", 16) /
                                               bytesPerElement(input->get().getType()));
      edges = std::max(edges, countAtEdges(info, plan, *input,
                                           llvm::divideCeil(tileElements(info, plan, *input),
                                                            plan.threads),
                                           width));
    }
  return edges / 2 +
         withinFree(std::min(kFixed + 2 * words, std::max(free, places + words)), free);
}
