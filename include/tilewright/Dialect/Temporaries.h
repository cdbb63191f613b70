// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a host function's temporaries, as attributes.

#ifndef TILEWRIGHT_DIALECT_TEMPORARIES_H
#define TILEWRIGHT_DIALECT_TEMPORARIES_H

#include "llvm/ADT/StringRef.h"

namespace tilewright {

/// On a host function: `[bytes, live]`, i64: the size of the one allocation that
/// its planned temporaries share, and how many bytes of them are alive at once.
inline constexpr llvm::StringLiteral kArenaAttr = "tilewright.arena";

/// On a tensor.empty of its first block: `[number, offset]`, i64: which one it is
/// (so that two are never taken for one), and where it begins there, in bytes.
inline constexpr llvm::StringLiteral kTemporaryAttr = "tilewright.temporary";

} // namespace tilewright

#endif
