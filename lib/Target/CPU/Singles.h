// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of f16 and bf16 is done in f32 on CPUs: the casts that it is put into.

#ifndef TILEWRIGHT_LIB_TARGET_CPU_SINGLES_H
#define TILEWRIGHT_LIB_TARGET_CPU_SINGLES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace tilewright {

/// Whether `cast` (arith.extf or truncf, or null) is one that arithmetic in f32 is put into, which
/// may as well be left out; the program's own casts are none.
template <typename Cast> bool isBetweenOps(Cast cast) {
  mlir::arith::FastMathFlagsAttr flags =
      cast ? cast.getFastmathAttr() : mlir::arith::FastMathFlagsAttr();
  if (!flags ||
      !bitEnumContainsAll(flags.getValue(), mlir::arith::FastMathFlags::contract))
    return false;
  mlir::Type in = getElementTypeOrSelf(cast.getIn()), out = getElementTypeOrSelf(cast.getType());
  bool isNarrowed = mlir::isa<mlir::arith::TruncFOp>(cast.getOperation());
  return (isNarrowed ? in : out).isF32() &&
         mlir::isa<mlir::Float16Type, mlir::BFloat16Type>(isNarrowed ? out : in);
}

} // namespace tilewright

#endif
