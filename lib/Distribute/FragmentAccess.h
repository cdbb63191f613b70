// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which reads and writes of block vectors a matrix instruction can make itself,
// between its opaque fragments and memory.

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_FRAGMENTACCESS_H
#define TILEWRIGHT_LIB_DISTRIBUTE_FRAGMENTACCESS_H

#include "LayoutRules.h"

#include "mlir/Interfaces/VectorInterfaces.h"

namespace tilewright {

/// What there is to say of one access.
struct FragmentAccess {
  /// Why it cannot be made by fragments; empty: it can.
  std::string whyNot;
  /// Vector dims along which the tile may leave the memory: fragments have no
  /// masks, so that only whole tiles are accessed so.
  llvm::SmallVector<int64_t> clipped;

  bool isPossible() const { return whyNot.empty(); }
};

/// Fragments go straight to and from memory that has rows or columns without
/// gaps, which begin where Vulkan asks them to: at multiples of 16 bytes, or of
/// what one row of a matrix takes if that is less. `op` is a transfer_read or a
/// transfer_write in block form.
FragmentAccess planFragmentAccess(mlir::VectorTransferOpInterface op,
                                  const DistributedLayout &layout);

/// Whether the target has accumulators of this type in the layout's shape.
bool isAccumulator(mlir::Operation *op, const DistributedLayout &layout,
                   mlir::Type element);

/// "operand 2": the number of a kernel's buffer, as launches count.
std::string nameBuffer(mlir::Value memref);

} // namespace tilewright

#endif
