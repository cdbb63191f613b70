// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the enumerations of a CPU's schedules share.

#ifndef TILEWRIGHT_LIB_CONFIGURE_CPU_ENUMERATECPU_H
#define TILEWRIGHT_LIB_CONFIGURE_CPU_ENUMERATECPU_H

#include "CostModel.h"

#include "llvm/Support/MathExtras.h"

namespace tilewright {

/// Elements of a vector register, of the widest type that the kernel computes with.
int64_t lanesOf(const KernelInfo &info, TargetAttr target);

/// A config of blocks and register tiles, nothing of it packed.
LoweringConfigAttr makeConfig(const KernelInfo &info, llvm::ArrayRef<int64_t> block,
                              llvm::ArrayRef<int64_t> thread);

/// A tile of `size` along a dim of `extent` would be a vector that is neither whole
/// registers nor within one, of which LLVM makes single elements.
inline bool isOddVector(int64_t extent, int64_t size, int64_t lanes) {
  return extent < size && extent > lanes && extent % lanes;
}

/// The smallest multiple of `unit` that covers `extent` in as few pieces as pieces of
/// `most` would.
inline int64_t evenPiece(int64_t extent, int64_t most, int64_t unit) {
  int64_t count = llvm::divideCeil(extent, most);
  return llvm::alignTo(llvm::divideCeil(extent, count), unit);
}

/// Products of a vector and a matrix that no cache keeps, a few rows of it side by side.
void addChunked(const KernelInfo &info, TargetAttr target, int64_t lanes,
                std::vector<LoweringConfigAttr> &configs);

} // namespace tilewright

#endif
