// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where upstream's conversions of TOSA refuse an op, or differ from the
// specification, and what is done about it.

#ifndef TILEWRIGHT_LIB_INPUT_TOSA_H
#define TILEWRIGHT_LIB_INPUT_TOSA_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tilewright {

/// Brings ops to a form that upstream converts (PrepareTosa.cpp):
///  * conditions of `tosa.cond_if` and `tosa.while_loop` have rank 0;
///  * `tosa.argmax` and `tosa.max_pool2d` of floats of 8 bits are of f16;
///  * `tosa.rescale` rounds once where the rounding is left open.
void prepareTosa(mlir::func::FuncOp func);

/// Ops whose reductions begin with the smallest or largest number of their
/// type. Upstream takes the finite one; the specification, the infinity.
bool isTosaExtremum(mlir::Operation *op);

/// Marks what is in `func` before upstream's conversions of these ops.
void markAsBefore(mlir::func::FuncOp func);

/// The constants in `func` that are not marked, which upstream's conversions of
/// these ops have made: finite ones become infinities, and a maximum over a
/// window that ignores NaN begins with NaN. Takes the marks away.
void beginWithInfinity(mlir::func::FuncOp func);

/// Bilinear `tosa.resize`, with positions in front of the first element, too
/// (ConvertTosaResize.cpp).
void populateTosaResize(mlir::RewritePatternSet &patterns);

/// A `tosa.tile` with a multiple of -1, for which upstream takes a size of the
/// input: it is refused (ConvertTosaTile.cpp).
bool isTileOfUnknownCount(mlir::Operation *op);

/// `tosa.tile`, with several dynamic sizes, too (ConvertTosaTile.cpp).
void populateTosaTile(mlir::RewritePatternSet &patterns);

/// `tosa.scatter` (ConvertTosaScatter.cpp).
void populateTosaScatter(mlir::RewritePatternSet &patterns);

/// Puts `value` in place of `op`, whose type may say less of the sizes, or more.
void replaceWithCast(mlir::RewriterBase &b, mlir::Operation *op, mlir::Value value);

} // namespace tilewright

#endif
