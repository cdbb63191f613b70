// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attribute that holds what was measured to be best (Configure/Tuning.h).

#ifndef TILEWRIGHT_DIALECT_TUNING_H
#define TILEWRIGHT_DIALECT_TUNING_H

#include "llvm/ADT/StringRef.h"

namespace tilewright {

/// Attribute of a module, an array of records: dictionaries of
///   target   a string
///   record   its number in the file, an integer
///   problem  a dictionary
///   shape    array<i64>
///   config   a lowering config, or a string: why the record has none that is understood
inline constexpr llvm::StringLiteral kTuningAttr = "tilewright.tuning";

} // namespace tilewright

#endif
