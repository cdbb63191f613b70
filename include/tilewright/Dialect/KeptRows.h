// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that a block keeps in shared memory from the first op that reads them on: what
// `tile` says of them, and `promote` carries out.

#ifndef TILEWRIGHT_DIALECT_KEPTROWS_H
#define TILEWRIGHT_DIALECT_KEPTROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// On kernels, from `tile` to `promote`: numbers of the arguments whose rows stay.
inline constexpr llvm::StringLiteral kKeptRowsAttr = "tilewright.kept_rows";

/// On an asynchronous copy, bytes of its runs (keptRowCopies): those that are outside of the
/// source along their own dim are left out, not zeroed. Memory behind a row's end is others'.
inline constexpr llvm::StringLiteral kClippedAttr = "tilewright.clipped";

/// Bytes (16, 8 or 4) of the asynchronous copies by which rows of `argument` along dim
/// `along` come into shared memory, `step` elements at a time; 0: they come by way of
/// registers, as the target has no such copies, or rows end or begin at no multiple of 4
/// bytes, lie across memory, or are written, too.
int64_t keptRowCopies(mlir::func::FuncOp kernel, mlir::BlockArgument argument,
                      int64_t along, int64_t step);

/// How many of `steps` steps of `bytes` each copies start ahead of the one that is read: so
/// many bytes are under way to a multiprocessor that one block has, and no more steps than
/// are worth their code.
int64_t keptStepsAhead(int64_t bytes, int64_t steps);

} // namespace tilewright

#endif
