// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranges of the indices in a body, and what of them 32 bits hold.

#ifndef TILEWRIGHT_ANALYSIS_INDEXRANGES_H
#define TILEWRIGHT_ANALYSIS_INDEXRANGES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

/// Whether `function` is a kernel, made for a target, that computes indices with 32 bits.
bool hasNarrowIndices(mlir::func::FuncOp function);

/// Numbers from `low` to `high`, both included.
struct IndexRange {
  int64_t low = INT64_MIN, high = INT64_MAX;

  bool fits() const { return low >= INT32_MIN && high <= INT32_MAX; }
  bool isNatural() const { return low >= 0; }
};

class IndexRanges {
public:
  /// What unknown extents, and numbers from outside of the body, are taken to be: so small that
  /// 32 bits hold sums of two, or anything.
  enum class Unknown { Small, Any };

  explicit IndexRanges(mlir::linalg::LinalgOp op, Unknown unknown = Unknown::Small)
      : body(*op.getBlock()), extents(op.getStaticLoopRanges()), unknown(unknown) {}

  /// The range that an index of 64 bits has.
  IndexRange get(mlir::Value value);
  /// Computed with 32 bits it is the same number.
  bool isExact(mlir::Value value);
  /// Computed with 32 bits, of clamped casts, it is the nearest number that those have.
  bool isNearest(mlir::Value value);
  /// Computed with 32 bits, it has the lower half of the number.
  bool hasLowBits(mlir::Value value);
  /// With 32 bits it is the same coordinate, if it is one of a tensor.
  bool isCoordinate(mlir::Value value);
  /// Whether every comparison of the two comes out the same with 32 bits.
  bool compareAlike(mlir::Value left, mlir::Value right);
  /// What `op` gives for all numbers of the ranges.
  std::optional<bool> decide(mlir::arith::CmpIOp op);
  /// Whether `decide` had an answer.
  bool hasDecided() const { return decided; }

private:
  IndexRange compute(mlir::Value value);
  IndexRange ofOperation(mlir::Operation *op);
  bool isArithmetic(mlir::Operation *op);
  bool hasSameMeaning(mlir::Operation *op);

  mlir::Block &body;
  llvm::SmallVector<int64_t> extents;
  Unknown unknown;
  llvm::DenseMap<mlir::Value, IndexRange> ranges;
  llvm::DenseMap<mlir::Value, bool> exact, nearest, lowBits, coordinates;
  bool decided = false;
};

} // namespace tilewright

#endif
