// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Combiners of reductions that the text of a program vouches for.

#ifndef TILEWRIGHT_DIALECT_COMBINERS_H
#define TILEWRIGHT_DIALECT_COMBINERS_H

#include "llvm/ADT/StringRef.h"

namespace tilewright {

/// On a linalg.generic or linalg.reduce: its body combines two tuples of results, is
/// associative and commutative, and the array has a tuple that changes nothing, one
/// constant for each result:
///
///   tilewright.associative = [0.0 : f32, 0.0 : f32, 0.0 : f32]
///
/// Of results that are each combined by add, mul, min, max, … `unit` will do.
inline constexpr llvm::StringLiteral kAssociativeAttr = "tilewright.associative";

/// On an scf.for of a kernel: it is the loop of a tilewright.scan along its elements, with
/// the running sum as its one iter_arg. The combiner is associative, so the elements may be
/// combined in another grouping.
inline constexpr llvm::StringLiteral kScanLoopAttr = "tilewright.scan_loop";

} // namespace tilewright

#endif
