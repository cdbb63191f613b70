// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention through rings between warps with roles, see WriteAttentionRings.cpp.

#ifndef TILEWRIGHT_LIB_PROMOTE_WRITEATTENTIONRINGS_H
#define TILEWRIGHT_LIB_PROMOTE_WRITEATTENTIONRINGS_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// Rewrites a kernel whose two products, by a warpgroup's instruction, stand in a loop
/// along the keys. An error names what is not so.
mlir::LogicalResult writeAttentionRings(mlir::func::FuncOp kernel,
                                        mlir::ArrayRef<MmaOp> products,
                                        LoweringConfigAttr config);

} // namespace tilewright

#endif
