// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of one block of attention, see AttentionBlock.cpp.

#ifndef TILEWRIGHT_LIB_TILE_ATTENTIONBLOCK_H
#define TILEWRIGHT_LIB_TILE_ATTENTIONBLOCK_H

#include "tilewright/Configure/Attention.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace tilewright {

class AttentionBlock {
public:
  AttentionBlock(mlir::OpBuilder &builder, AttentionOp op, const AttentionPlan &plan);

  /// Writes the block in front of the op; returns the new values of its results.
  mlir::SmallVector<mlir::Value> build();

  /// Tiles along each batch loop and the queries, as expressions over symbols, and
  /// the symbols: (tensor argument, dim) pairs.
  mlir::SmallVector<mlir::AffineExpr> tileCounts;
  mlir::SmallVector<std::pair<mlir::Value, unsigned>> countDims;

private:
  /// What the loop along the keys carries: of each row the largest score so far, in
  /// powers of two, the sum of its powers, and the row of the result that they weigh.
  struct Carried {
    mlir::Value largest, sum, result;
  };

  // Scalars, all of them the same for the whole block.
  mlir::Value constant(int64_t value);
  mlir::Value extent(unsigned loop);
  mlir::Value add(mlir::Value left, mlir::Value right);
  mlir::Value subtract(mlir::Value left, mlir::Value right);
  void placeBlock();
  void placeKeys();
  mlir::Value findWholeKeys();

  // Vectors.
  mlir::VectorType floats(mlir::ArrayRef<int64_t> shape);
  mlir::Value splat(mlir::VectorType type, double value);
  mlir::Value read(mlir::Value tensor, mlir::AffineMap map, unsigned row,
                   unsigned column, mlir::ArrayRef<int64_t> shape, mlir::Value key);
  mlir::Value write(mlir::Value vector, mlir::Value tensor, mlir::AffineMap map,
                    mlir::ArrayRef<unsigned> loops);
  mlir::SmallVector<mlir::Value> indicesOf(mlir::AffineMap map, mlir::Value key);
  bool isInside(unsigned loop, int64_t size);
  /// A vector with an element a row, repeated along the columns of `shape`.
  mlir::Value alongRows(mlir::Value rows, mlir::ArrayRef<int64_t> shape);
  mlir::Value multiply(mlir::Value left, mlir::Value right, mlir::Value acc,
                       bool rightIsTransposed, mlir::StringAttr instruction);
  mlir::Value convert(mlir::Value value, mlir::Type element);

  // The steps of a block of keys.
  mlir::Value scaleScores(mlir::Value scores);
  mlir::Value maskScores(mlir::Value scores, mlir::Value key);
  mlir::Value hideKeys(mlir::Value scores, mlir::Value key);
  Carried step(const Carried &before, mlir::Value key);
  mlir::SmallVector<mlir::Value> finish(const Carried &last);

  mlir::OpBuilder &b;
  AttentionOp op;
  const AttentionPlan &plan;
  mlir::Location loc;
  mlir::SmallVector<int64_t> extents;
  /// Where the block is along each batch loop and the queries.
  mlir::SmallVector<mlir::Value> position;
  /// First key on the diagonal of query 0.
  mlir::Value diagonal;
  /// The block's first query, and the block of queries itself.
  mlir::Value query, queryBlock;
  /// The keys that the block walks along, and the end of those before which no block of
  /// keys has hidden ones; null where each may have, or none has.
  mlir::Value firstKey, endKey, endOfWhole;
  /// Scores are multiplied by this to be powers of two; 0: they are scaled before.
  double powerScale = 0;
};

} // namespace tilewright

#endif
