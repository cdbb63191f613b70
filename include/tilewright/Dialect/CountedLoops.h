// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that count their iterations, since a number behind the last one may not exist, and would
// be the least one of the type, and a distance between the bounds may have no number with a sign:
//
//   scf.for %i = %a to %b step %s : i64 { … }
// becomes
//   %n = %a < %b ? (%b - %a - 1) /u max(%s, 1) + 1 : 0
//   scf.for unsigned %k = %c0 to %n step %c1 : i64 { %i = %a + %k * %s … }

#ifndef TILEWRIGHT_DIALECT_COUNTEDLOOPS_H
#define TILEWRIGHT_DIALECT_COUNTEDLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright {

/// Makes `loop`, of any bounds and step, count from 0 in steps of 1, in place.
void countIterations(mlir::scf::ForOp loop);

} // namespace tilewright

#endif // TILEWRIGHT_DIALECT_COUNTEDLOOPS_H
