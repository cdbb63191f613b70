// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops whose memory accesses depend on data, or on each other: tilewright.scatter,
// tilewright.scan and tilewright.sort; and tilewright.gemm, which a library computes.
// IrregularOps.td says what they compute. Each is a kernel of its own, written for one
// thread (lib/Bufferize/Irregular.cpp); in between it stays an op, a gemm until the back
// end writes the call.

#ifndef TILEWRIGHT_DIALECT_IRREGULAR_H
#define TILEWRIGHT_DIALECT_IRREGULAR_H

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Support/Refusal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#define GET_OP_CLASSES
#include "tilewright/Dialect/IrregularOps.h.inc"

namespace tilewright {
inline bool isIrregular(mlir::Operation *op) {
  return mlir::isa_and_nonnull<ScatterOp, ScanOp, SortOp, GemmOp>(op);
}

/// The irregular op that a kernel is made of, or null.
mlir::Operation *findIrregular(mlir::func::FuncOp kernel);

/// The combiner's ops on `arguments`, at the insertion point of `b`.
mlir::Value combine(mlir::OpBuilder &b, mlir::Region &combiner, mlir::ValueRange arguments);

/// Of a program: the library that computes its products, a string.
inline constexpr llvm::StringLiteral kExternalBlasAttr = "tilewright.external_blas";

/// The loops of a tilewright.gemm, by their numbers in its maps.
struct GemmLoops {
  llvm::SmallVector<unsigned> batch;
  unsigned m = 0, n = 0, k = 0;
};
/// The loops of a product with these indexing maps, of A, B and C, if a function of
/// CBLAS computes it; else why none does. C has its columns last.
OrRefusal<GemmLoops> matchGemm(mlir::ArrayRef<mlir::AffineMap> maps);

/// Elements of a run that a thread sorts, and of what it merges; and of a run that a block
/// makes of those: powers of four times the former.
constexpr int64_t kSortedRun = 32, kBlockRun = 512;

/// Whether elements `first` (one of each operand) go in front of `second`.
mlir::Value goesBefore(mlir::OpBuilder &b, SortOp op, mlir::ValueRange first,
                       mlir::ValueRange second);
} // namespace tilewright

#endif
