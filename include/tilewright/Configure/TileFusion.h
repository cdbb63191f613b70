// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What may run on the tile of a matrix product while it is on chip. Dispatch asks
// before it puts ops into one kernel, so that configure finds a schedule for what it
// gets; the limits stand here and nowhere else.
//
//   sums and maxima along n   a block's tile has all of n: n is static, at most 256,
//                             and the product runs on matrix units

#ifndef TILEWRIGHT_CONFIGURE_TILEFUSION_H
#define TILEWRIGHT_CONFIGURE_TILEFUSION_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace tilewright {

/// Whether the result of `product` may be reduced along its loops `loops` in the
/// product's own kernel; if not, `reason` says why.
bool mayReduceTile(mlir::linalg::LinalgOp product,
                   llvm::ArrayRef<unsigned> loops, TargetAttr target,
                   std::string &reason);

} // namespace tilewright

#endif
