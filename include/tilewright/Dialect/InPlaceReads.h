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
//
// Of `tilewright.unread_padding` no element that is out of bounds is used, as of keys that are
// hidden and of queries that are not stored: some other element of the operand may stand there.

#ifndef TILEWRIGHT_DIALECT_INPLACEREADS_H
#define TILEWRIGHT_DIALECT_INPLACEREADS_H

#include "llvm/ADT/StringRef.h"

namespace tilewright {

inline constexpr llvm::StringLiteral kReadInPlaceAttr = "tilewright.read_in_place";
inline constexpr llvm::StringLiteral kFromBeforeAttr = "tilewright.from_before";
inline constexpr llvm::StringLiteral kUnreadPaddingAttr = "tilewright.unread_padding";

} // namespace tilewright

#endif
