// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose matrices a table names, as those of experts that tokens have chosen. The
// kernel has the tensor of all matrices as an argument of as many as the table has entries:
//
//   %we = tilewright.pick %w[%e] : tensor<8x512x1024xbf16>, tensor<24xi64> to tensor<24x512x1024xbf16>
//   %p = linalg.generic <batched product> ins(%x, %we)
// becomes
//   func.func private @f_matmul_0(%x: tensor<24x64x512xbf16>, %we: tensor<24x512x1024xbf16>,
//                                 %e: tensor<24xi64>, …)
//     attributes {tilewright.picks = [{argument = 1, table = 2, count = 8}]}
//
// A tile is of one entry; instead of matrix b of the argument it reads number %e[b], of
// `count` that there are. On the host %we is %w, whose sizes the runtime goes by.

#ifndef TILEWRIGHT_DIALECT_PICKS_H
#define TILEWRIGHT_DIALECT_PICKS_H

#include "tilewright/Dialect/Tilewright.h"

#include <optional>

#define GET_OP_CLASSES
#include "tilewright/Dialect/PickOps.h.inc"

namespace tilewright {

inline constexpr llvm::StringLiteral kPicksAttr = "tilewright.picks";

/// What a kernel says of an argument whose matrices a table names.
struct Pick {
  mlir::BlockArgument table;
  int64_t count; // of the matrices in memory
};

/// An entry of the kernel's attribute; `argument`, `table`: numbers of arguments.
mlir::Attribute makePick(mlir::MLIRContext *context, int64_t argument, int64_t table,
                         int64_t count);

/// Nothing where `value` is no such argument.
std::optional<Pick> getPick(mlir::Value value);

} // namespace tilewright

#endif
