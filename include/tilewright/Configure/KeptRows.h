// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that a block keeps in shared memory: `promote` of strategy reduction.

#ifndef TILEWRIGHT_CONFIGURE_KEPTROWS_H
#define TILEWRIGHT_CONFIGURE_KEPTROWS_H

#include "tilewright/Configure/KernelInfo.h"

namespace tilewright {

/// The arguments of the kernel whose rows `config` keeps, as an op reads them: those that
/// operands of the root are, or are computed from.
llvm::SmallVector<mlir::OpOperand *> keptRows(const KernelInfo &info,
                                              LoweringConfigAttr config);

/// Rows of a dynamic extent that a block of a reduction reads more than once.
struct DynamicRows {
  /// The class of their loop.
  unsigned number = 0;
  /// Bytes of them for each iteration of that loop.
  int64_t bytes = 0;
  /// Bytes of shared memory in which a block moves elements of a step between threads, beside
  /// the rows that it keeps.
  int64_t moved = 0;
};

/// Nothing where there are none, or several loops have dynamic extents.
std::optional<DynamicRows> findDynamicRows(const KernelInfo &info);

/// Bytes of the asynchronous copies by which the rows that `row` reads come into shared memory
/// where `config` keeps them; 0: they come by way of registers (Dialect/KeptRows.h).
int64_t keptRowCopies(const KernelInfo &info, LoweringConfigAttr config,
                      mlir::OpOperand &row);

} // namespace tilewright

#endif
