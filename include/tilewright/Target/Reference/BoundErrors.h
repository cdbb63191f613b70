// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Error bounds per element, computed by the oracle beside its results.

#ifndef TILEWRIGHT_TARGET_REFERENCE_BOUNDERRORS_H
#define TILEWRIGHT_TARGET_REFERENCE_BOUNDERRORS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace tilewright {

/// On the addition of a sum in a linalg.generic: the element type that the
/// program has for the sum. The accumulator is the first operand.
inline constexpr llvm::StringLiteral kAccumulatorAttr =
    "tilewright.accumulator";

/// On the module, [bits, terms]: some target keeps so many bits of sums of products of
/// 8-bit floats, over at most so many terms (0: any number), and f32 beyond.
inline constexpr llvm::StringLiteral kFloat8SumsAttr = "tilewright.float8_sums";

/// On an argument of a function that was a memref in the source: it is written.
inline constexpr llvm::StringLiteral kBufferAttr = "tilewright.buffer";

/// Behind the name of a function: the function with its bounds.
inline constexpr llvm::StringLiteral kBoundsSuffix = ".bounds";

/// Adds to every public function F of a bufferized module F.bounds: the same
/// results, then a bound (f64) for each element of each result, then of each
/// argument with kBufferAttr.
mlir::LogicalResult boundErrors(mlir::ModuleOp module);

} // namespace tilewright

#endif
