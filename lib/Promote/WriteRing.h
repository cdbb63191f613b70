// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Promotion through a ring between warps with roles.

#ifndef TILEWRIGHT_LIB_PROMOTE_WRITERING_H
#define TILEWRIGHT_LIB_PROMOTE_WRITERING_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// Whether two products, in order, are of one step of a dual product: neither multiplies what
/// becomes of the other.
bool areDual(MmaOp first, MmaOp second);

/// Rewrites a kernel around the product of `products`, whose instruction is a warpgroup's:
/// a producer warpgroup fills a ring with both operands' tiles, the others
/// multiply them and do all that comes after; of two products that are not dual, the second
/// multiplies what becomes of the first. An error names what is not an argument's tile.
mlir::LogicalResult writeRing(mlir::func::FuncOp kernel, mlir::ArrayRef<MmaOp> products,
                              LoweringConfigAttr config);

} // namespace tilewright

#endif
