// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with parallel loops alone whose result lies along another dim than what is read.
// Tiles are square: rows of both sides are whole runs of memory, and the tile is transposed
// around in shared memory. The smallest strategy, which docs/adding-a-strategy.md
// goes through.

#ifndef TILEWRIGHT_LIB_CONFIGURE_TRANSPOSE_TRANSPOSE_H
#define TILEWRIGHT_LIB_CONFIGURE_TRANSPOSE_TRANSPOSE_H

#include "Streaming/Streaming.h"

namespace tilewright {

/// Its configs are called `streaming`: later stages do the same with both.
class Transpose : public Streaming {
public:
  /// Kernels are streaming's by what they compute.
  bool isFor(const KernelLoops &loops, TargetAttr target) const override { return false; }
  bool match(const KernelInfo &info, TargetAttr target) const override;
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
};

} // namespace tilewright

#endif
