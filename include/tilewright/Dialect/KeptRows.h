// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that a block keeps in shared memory from the first op that reads them on: what
// `tile` says of them, and `promote` carries out.

#ifndef TILEWRIGHT_DIALECT_KEPTROWS_H
#define TILEWRIGHT_DIALECT_KEPTROWS_H

#include "llvm/ADT/StringRef.h"

namespace tilewright {

/// On kernels, from `tile` to `promote`: numbers of the arguments whose rows stay.
inline constexpr llvm::StringLiteral kKeptRowsAttr = "tilewright.kept_rows";

} // namespace tilewright

#endif
