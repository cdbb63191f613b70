// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops whose memory accesses depend on data, or on each other: tilewright.scatter and
// tilewright.scan. IrregularOps.td says what they compute. Each is a kernel of its own,
// written for one thread (lib/Bufferize/Irregular.cpp); in between it stays an op.

#ifndef TILEWRIGHT_DIALECT_IRREGULAR_H
#define TILEWRIGHT_DIALECT_IRREGULAR_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#define GET_OP_CLASSES
#include "tilewright/Dialect/IrregularOps.h.inc"

namespace tilewright {
inline bool isIrregular(mlir::Operation *op) {
  return mlir::isa_and_nonnull<ScatterOp, ScanOp>(op);
}

/// The irregular op that a kernel is made of, or null.
mlir::Operation *findIrregular(mlir::func::FuncOp kernel);

/// The combiner's ops on `first` and `second`, at the insertion point of `b`.
mlir::Value combine(mlir::OpBuilder &b, mlir::Region &combiner, mlir::Value first,
                    mlir::Value second);
} // namespace tilewright

#endif
