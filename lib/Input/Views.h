// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of memrefs that are seen through to the memref itself: what they are
// of, and the check that no op reads and writes one memref at different places.

#ifndef TILEWRIGHT_LIB_INPUT_VIEWS_H
#define TILEWRIGHT_LIB_INPUT_VIEWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// The memref that `value` is a view of, or null.
mlir::Value viewedBy(mlir::Value value);

/// The memref behind all views.
mlir::Value rootOf(mlir::Value memref);

/// Refuses ops that write a part of a memref and read, or write, an overlapping
/// part at another place; where that depends on sizes and offsets of a run,
/// adds a `cf.assert` in front of the op.
mlir::LogicalResult checkOverlaps(mlir::func::FuncOp func);

} // namespace tilewright

#endif
