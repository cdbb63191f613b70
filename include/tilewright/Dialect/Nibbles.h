// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two numbers of 4 bits that a byte holds, as arithmetic on bytes, and how it
// is recognised:
//
//   low, signed      shrsi (shli %x, 4), 4        high, signed     shrsi %x, 4
//   low, unsigned    andi %x, 15                  high, unsigned   shrui %x, 4

#ifndef TILEWRIGHT_DIALECT_NIBBLES_H
#define TILEWRIGHT_DIALECT_NIBBLES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tilewright {

/// The attribute on a product of numbers of 4 bits that says why it runs as one of
/// bytes.
inline constexpr llvm::StringLiteral kUnpackedAttr = "tilewright.unpacked";

/// How many numbers of type `element` share a byte in memory: 2 of i4, 4 of i2, of
/// others 1.
inline int64_t elementsPerByte(mlir::Type element) {
  return element.isInteger(4) ? 2 : element.isInteger(2) ? 4 : 1;
}

struct Nibble {
  mlir::Value byte;
  bool isHigh = false, isUnsigned = false;
};

/// A nibble of an i8, as an i8.
mlir::Value takeNibble(mlir::OpBuilder &b, mlir::Location loc, Nibble nibble);

/// Nothing where `value` is no nibble of a byte.
std::optional<Nibble> matchNibble(mlir::Value value);

} // namespace tilewright

#endif
