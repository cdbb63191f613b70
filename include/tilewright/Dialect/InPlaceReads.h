// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of global memory that no shared memory is left for. A thread reads the elements
// that it needs itself, however few of a row the lanes beside it read:
//
//   %m = vector.transfer_read %mask[%i, %j] … {tilewright.read_in_place} : vector<128x128xf16>
//   %s = arith.addf %scores, (arith.extf %m)
//
// Of `tilewright.from_before` an index may be negative: what lies in front of the first element
// is out of bounds, as what lies behind the last one is.

#ifndef TILEWRIGHT_DIALECT_INPLACEREADS_H
#define TILEWRIGHT_DIALECT_INPLACEREADS_H

#include "llvm/ADT/StringRef.h"

namespace tilewright {

inline constexpr llvm::StringLiteral kReadInPlaceAttr = "tilewright.read_in_place";
inline constexpr llvm::StringLiteral kFromBeforeAttr = "tilewright.from_before";

} // namespace tilewright

#endif
