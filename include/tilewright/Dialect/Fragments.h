// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps that a matrix product takes along its sum, as far as its instruction
// is deep each, and the parts of its operands that a step multiplies.

#ifndef TILEWRIGHT_DIALECT_FRAGMENTS_H
#define TILEWRIGHT_DIALECT_FRAGMENTS_H

#include "tilewright/Dialect/Tilewright.h"

namespace tilewright {

class FragmentSteps {
public:
  /// Of a product by instruction. One step where an operand is in registers
  /// already, or where no single loop is summed over.
  explicit FragmentSteps(MmaOp op);

  /// What a step reads of operand 0 or 1, `tile`: rows that lie in boxes (of (k, n
  /// floordiv 64, n mod 64)) are one dim of it.
  static mlir::VectorType typeOf(mlir::MemRefType tile, mlir::ArrayAttr maps,
                                 unsigned operand, llvm::StringRef instruction);
  int64_t count() const { return extent / step; }
  /// Elements along the sum that a step takes.
  int64_t size() const { return step; }
  using Fragments = std::pair<mlir::Value, mlir::Value>;
  /// Reads the operands of step `number` out of the memory `a` and `b`;
  /// what is in registers already stays as it is.
  Fragments load(mlir::OpBuilder &b, mlir::Value left, mlir::Value right,
                 int64_t number);
  /// The same of the step that begins at `from`, an index.
  Fragments loadFrom(mlir::OpBuilder &b, mlir::Value left, mlir::Value right,
                     mlir::Value from);
  /// What one step that begins at `from` reads of operand 0 or 1, in the memory `tile`.
  mlir::Value loadOperand(mlir::OpBuilder &b, unsigned operand, mlir::Value tile,
                          mlir::Value from) {
    return load(b, tile, maps[operand], from);
  }
  /// `acc` and the products of one step.
  mlir::Value multiply(mlir::OpBuilder &b, Fragments fragments, mlir::Value acc);

private:
  mlir::Value load(mlir::OpBuilder &b, mlir::Value operand, mlir::AffineMap map,
                   mlir::Value from);

  MmaOp op;
  mlir::AffineMap maps[2];
  unsigned reduced = 0;         // the loop that is summed over
  int64_t extent = 1, step = 1; // of that loop
};

} // namespace tilewright

#endif
