// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Padding without padded memory. A tensor.pad with one value everywhere is a
// view: its elements lie where those of its source lie, and where the source has
// none, whoever reads finds the value. Windows of it (tilewright.im2col) are such
// views, too.
//
//   %p = tensor.pad %x low[1, 0] high[1, 0] { tensor.yield %zero }
//          : tensor<8x4xf16> to tensor<10x4xf16>
//   %v = tilewright.im2col %p[] {map = (i, k, c) -> (i + k, c)} : … to tensor<8x3x4xf16>
//
// The address of element 0 is in front of the source's memory; a kernel may only
// touch what is inside. It is told so by an attribute, one entry per tensor or
// memref argument, which holds for every read of that argument:
//
//   tilewright.padding = [{inside = affine_set<(i, k, c) : (i + k - 1 >= 0, 8 - i - k >= 0)>,
//                          symbols = array<i64>, fill = 0.0 : f16}, unit]

#ifndef TILEWRIGHT_DIALECT_PADDING_H
#define TILEWRIGHT_DIALECT_PADDING_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IntegerSet.h"

namespace tilewright {

inline constexpr llvm::StringLiteral kPaddingAttr = "tilewright.padding";

//===----------------------------------------------------------------------===//
// On the host
//===----------------------------------------------------------------------===//

/// The constant that `pad` fills with; null where that is no constant.
mlir::TypedAttr getConstantFill(mlir::tensor::PadOp pad);

/// The padding that `value` looks into, through casts and windows, or null.
mlir::tensor::PadOp getPad(mlir::Value value);

/// What a reader of a padded value has to know.
struct PaddedView {
  /// Where the view, by its dims, has elements.
  mlir::IntegerSet inside;
  /// Values of the set's symbols.
  llvm::SmallVector<mlir::Value> symbols;
  mlir::TypedAttr fill;
};

/// Describes `value`, of which getPad is not null; asks for dims at the insertion
/// point of `b`.
PaddedView describePadding(mlir::OpBuilder &b, mlir::Value value);

//===----------------------------------------------------------------------===//
// In kernels
//===----------------------------------------------------------------------===//

struct Padding {
  mlir::IntegerSet inside;
  /// The kernel's arguments that are the set's symbols.
  llvm::SmallVector<mlir::BlockArgument> symbols;
  mlir::TypedAttr fill;

  /// Whether dim `dim` has a say in what is inside.
  bool constrains(unsigned dim) const;
};

/// The attribute's entry for an operand with padding. `symbols`: argument numbers.
mlir::Attribute makePadding(mlir::IntegerSet inside,
                            llvm::ArrayRef<int64_t> symbols,
                            mlir::TypedAttr fill);

/// What the kernel says of its tensor or memref argument; nothing where all of it
/// is in memory.
std::optional<Padding> getPadding(mlir::Value argument);

/// True for zeros: what an edge is filled with, too.
bool isZeroFill(mlir::TypedAttr fill);

} // namespace tilewright

#endif
