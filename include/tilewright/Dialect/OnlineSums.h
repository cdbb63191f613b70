// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that are taken in the loops of their maxima: what `tile` says of them, and
// `vectorize` carries out.

#ifndef TILEWRIGHT_DIALECT_ONLINESUMS_H
#define TILEWRIGHT_DIALECT_ONLINESUMS_H

#include "llvm/ADT/StringRef.h"

namespace tilewright {

/// On kernels, from `tile` to `vectorize`: how many there are.
inline constexpr llvm::StringLiteral kOnlineSumsAttr = "tilewright.online_sums";

} // namespace tilewright

#endif
