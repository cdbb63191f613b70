// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of one block of attention, in the order of reading:
//
//   AttentionBlock.cpp    where the block is, and how it reads and writes operands
//   AttentionKeys.cpp     which keys it walks along, and which steps hide some
//   AttentionPages.cpp    keys in pages, and sequences of lengths of their own
//   AttentionMask.cpp     scores that a mask or their coordinates hide
//   OnlineSoftmax.cpp     what is carried from step to step
//   AttentionVectors.cpp  the loop over vectors as large as the block, which GPUs distribute
//   AttentionPanels.cpp   the loop over register tiles of CPUs; AttentionTiles.cpp by AMX

#ifndef TILEWRIGHT_LIB_TILE_ATTENTIONBLOCK_H
#define TILEWRIGHT_LIB_TILE_ATTENTIONBLOCK_H

#include "tilewright/Configure/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace tilewright {

class AttentionBlock {
public:
  AttentionBlock(mlir::OpBuilder &builder, AttentionOp op, const AttentionPlan &plan);
  virtual ~AttentionBlock() = default;

  /// Writes the block in front of the op; returns the new values of its results.
  mlir::SmallVector<mlir::Value> build();

  /// Tiles along each batch loop and the queries, as expressions over symbols, and
  /// the symbols: (tensor argument, dim) pairs.
  mlir::SmallVector<mlir::AffineExpr> tileCounts;
  mlir::SmallVector<std::pair<mlir::Value, unsigned>> countDims;

protected:
  /// A rectangle of scores: rows of queries, or (of panels) of keys.
  struct Scores {
    int64_t queries, keys;
    bool keysFirst = false;
    llvm::SmallVector<int64_t> shape() const {
      return keysFirst ? llvm::SmallVector<int64_t>{keys, queries}
                       : llvm::SmallVector<int64_t>{queries, keys};
    }
  };

  /// The loop along the keys, and what comes in front of and behind it.
  virtual llvm::SmallVector<mlir::Value> buildLoop() = 0;

  /// What the loop along the keys carries, in this order: of each row the largest score so
  /// far, the same in powers of two where scores are not (null else), the sum of its powers,
  /// and the row of the result that they weigh.
  struct Carried {
    mlir::Value largest, scaled, sum, result;
  };

  /// Decides in which units scores are compared.
  void choosePowerScale();

  // Scalars, all of them the same for the whole block.
  mlir::Value constant(int64_t value);
  mlir::Value extent(unsigned loop);
  mlir::Value add(mlir::Value left, mlir::Value right);
  mlir::Value subtract(mlir::Value left, mlir::Value right);
  void placeBlock();
  void placeTile(mlir::ArrayRef<mlir::Value> counts);
  /// The rows of the block from `first` on are read and written next.
  void placeRows(mlir::Value first);
  void placeKeys();
  void findWholeSteps();
  mlir::Value keyOf(mlir::Value step);
  mlir::Value isWholeStep(mlir::Value step, bool isPeeled);
  /// The block of keys from `key` on is read next.
  void enterKeys(mlir::Value key);
  void placeSlices(mlir::Value page);
  void placeBox();
  int64_t boxKeys();
  bool cutsBoxes();
  mlir::Value shiftOf(mlir::Value key);
  /// Of the elements of a step, keys x index: rows of their boxes, and how far behind the step's
  /// first key row 0 is; the first row whose key is the box's own.
  struct BoxKeys {
    mlir::Value rows, base, firstOwn;
  };
  BoxKeys keysOfBoxes(int64_t keys);
  mlir::Value pageNumber();
  mlir::SmallVector<mlir::Value> sliceIndices(mlir::AffineMap map);
  mlir::SmallVector<mlir::Value> boxIndices(mlir::AffineMap map);
  /// Of a table or lengths, at the position.
  mlir::Value element(mlir::Value tensor, mlir::AffineMap map);

  // Vectors.
  mlir::VectorType floats(mlir::ArrayRef<int64_t> shape);
  mlir::Value splat(mlir::VectorType type, double value);
  /// `isWholeStep`: no key of the step is hidden.
  mlir::Value read(mlir::Value tensor, mlir::AffineMap map, unsigned row,
                   unsigned column, mlir::ArrayRef<int64_t> shape, bool isWholeStep = false);
  mlir::Value write(mlir::Value vector, mlir::Value tensor, mlir::AffineMap map,
                    mlir::ArrayRef<unsigned> loops);
  /// What a vector's dims along `loops` are in memory: of rows that heads share, heads
  /// and queries of each.
  struct Dims {
    llvm::SmallVector<unsigned> loops;
    llvm::SmallVector<int64_t> shape;
  };
  Dims dimsOf(mlir::ArrayRef<unsigned> loops, mlir::ArrayRef<int64_t> shape);
  mlir::Value castShape(mlir::Value vector, mlir::ArrayRef<int64_t> shape);
  mlir::SmallVector<mlir::Value> indicesOf(mlir::AffineMap map);
  bool isInside(unsigned loop, int64_t size);
  bool isWhole(unsigned loop);
  /// A vector with an element a row, repeated along the columns of `shape`.
  mlir::Value alongRows(mlir::Value rows, mlir::ArrayRef<int64_t> shape);
  /// A vector with an element for each query or key of `scores`, repeated along the other.
  mlir::Value alongQueries(mlir::Value vector, const Scores &scores);
  mlir::Value alongKeys(mlir::Value vector, const Scores &scores);
  mlir::Value convert(mlir::Value value, mlir::Type element);

  // The steps of a block of keys, of scores at the position.
  mlir::Value scaleScores(mlir::Value values);
  mlir::Value maskScores(mlir::Value values, const Scores &scores, bool isWholeStep = false);
  mlir::Value hideKeys(mlir::Value values, const Scores &scores);
  mlir::VectorType indices(int64_t size);
  mlir::Value spread(mlir::Value scalar, int64_t size);
  mlir::Value queryOfRows(const Scores &scores);
  mlir::Value readMask(mlir::Value tensor, mlir::AffineMap map, const Scores &scores,
                       bool isWholeStep);
  mlir::Value computeMask(mlir::linalg::GenericOp producer, const Scores &scores,
                          bool isWholeStep);
  mlir::Value coordinateOf(unsigned loop, const Scores &scores);
  Carried start(mlir::VectorType rows);
  void largestOf(Carried &after, mlir::Value largest);
  mlir::Value powersOf(mlir::Value values, const Carried &after, const Scores &scores);
  mlir::Value differenceOf(const Carried &before, const Carried &after);
  mlir::Value shrinkOf(mlir::Value difference);
  mlir::Value inverseOf(mlir::Value sum, mlir::Value &isEmpty);
  mlir::Value logSumExp(const Carried &last, mlir::Value isEmpty);

  mlir::OpBuilder &b;
  AttentionOp op;
  const AttentionPlan &plan;
  mlir::Location loc;
  mlir::SmallVector<int64_t> extents;
  /// The loop of heads that share the block's rows.
  std::optional<unsigned> group;
  /// Where along each loop what is read and written next begins.
  mlir::SmallVector<mlir::Value> position;
  /// How many keys there are for the block.
  mlir::Value numKeys;
  /// What the block reads keys and values from, where these end at a length or lie in
  /// pages: its keys alone, or those of a page, and the first of them.
  mlir::Value keySlice, valueSlice, firstOfSlice;
  /// Where copy engines bring boxes: the page that the next one is of, if there are pages, and
  /// its first row in memory.
  mlir::Value boxPage, boxRow;
  /// The first key of the step, where some of its boxes begin in front of their keys and bring
  /// other ones, too; else null.
  mlir::Value ownKeys;
  /// First key on the diagonal of query 0.
  mlir::Value diagonal;
  /// The block's first query, and first head of those that share its rows.
  mlir::Value query, head;
  /// The keys that the block walks along, which are its steps, too: from the first key on, or from
  /// the last block of keys to the first, if this is not null.
  mlir::Value firstKey, endKey, lastBlock;
  /// The steps between which no block of keys has hidden ones: null where the first or the last
  /// ones have none either, both null where each may.
  mlir::Value startOfWhole, endOfWhole;
  /// Scores are multiplied by this to be powers of two; 0: they are scaled before.
  double powerScale = 0;
  /// What is rounded to 16 bits may be approximate.
  mlir::arith::FastMathFlags powerFlags = mlir::arith::FastMathFlags::none;
};

/// The block as vectors, which GPUs distribute to their threads.
class AttentionVectors : public AttentionBlock {
public:
  using AttentionBlock::AttentionBlock;

private:
  llvm::SmallVector<mlir::Value> buildLoop() override;
  mlir::Value multiply(mlir::Value left, mlir::Value right, mlir::Value acc,
                       bool rightIsTransposed, mlir::StringAttr instruction);
  mlir::Value readRows(mlir::Value tensor, mlir::AffineMap map, unsigned column,
                       int64_t columns);
  mlir::Value readQueries(int64_t depth);
  mlir::Value multiplyKeys(mlir::Value queries, const Scores &block);
  Carried step(mlir::Value at, const Carried &before, mlir::Value queries);
  mlir::SmallVector<mlir::Value> finish(const Carried &last);
};

/// The block as panels of queries in memory of the thread, and register tiles of them.
class AttentionPanels : public AttentionBlock {
public:
  AttentionPanels(mlir::OpBuilder &builder, AttentionOp op, const AttentionPlan &plan)
      : AttentionBlock(builder, op, plan) {
    // One unit in the last place, or flushed where it is nothing beside the largest.
    powerFlags = mlir::arith::FastMathFlags::afn;
  }

protected:
  // The steps that differ by who multiplies.
  virtual void allocateOperands();
  virtual void packQueries(mlir::Value rows, mlir::Value panel, mlir::Value depth);
  virtual void copyValues();
  virtual mlir::Value buildScores(mlir::Value panel, mlir::Value largest);
  virtual void storePowers(mlir::Value powers, mlir::Value first);
  virtual void buildResult(mlir::Value panel, mlir::Value shrink);

  void enterRows(mlir::Value key);
  void copyRows(mlir::Value tensor, mlir::AffineMap map, unsigned loop, mlir::Value to);
  mlir::Value finishScores(mlir::Value values, mlir::Value first);
  mlir::Value largestRow(mlir::Value values, mlir::Value others);

  // Memory of the thread.
  mlir::Value allocate(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value load(mlir::Value memory, mlir::ValueRange indices,
                   llvm::ArrayRef<int64_t> shape);
  void store(mlir::Value vector, mlir::Value memory, mlir::ValueRange indices);

  // Loops.
  using Body = llvm::function_ref<mlir::SmallVector<mlir::Value>(mlir::Value,
                                                                 mlir::ValueRange)>;
  mlir::SmallVector<mlir::Value> forEach(mlir::Value begin, mlir::Value end, int64_t step,
                                         mlir::ValueRange carried, Body body);
  mlir::SmallVector<mlir::Value> forEach(int64_t end, int64_t step,
                                         mlir::ValueRange carried, Body body);

  /// The step of the walk, and panels of the block that have queries.
  mlir::Value step, panels;
  /// panels x depth x queries of a panel: the queries, transposed; keys x depth; keys x
  /// columns; keys x queries: the scores of a panel, then their powers; panels x columns x
  /// queries: the result, transposed; panels x queries: what `Carried` has of each query.
  mlir::Value queryMemory, keyMemory, valueMemory, scoreMemory, resultMemory;
  mlir::Value largestMemory, sumMemory;

private:
  llvm::SmallVector<mlir::Value> buildLoop() override;
  void allocateAll();
  void placePanel(mlir::Value panel);
  void startPanels();
  void buildPanel(mlir::Value panel);
  mlir::Value buildPowers(const Carried &after);
  mlir::SmallVector<mlir::Value> finish();
  Carried loadState(mlir::Value panel);
  void storeState(const Carried &state, mlir::Value panel);
  mlir::Value multiply(int64_t terms, llvm::function_ref<mlir::Value(int64_t, mlir::Value)> left,
                       llvm::function_ref<mlir::Value(mlir::Value)> right);
};

/// Panels whose products are in tile registers: their operands are 16 bits wide, and lie in
/// words of two neighbours along the sum.
class AttentionTiles : public AttentionPanels {
public:
  using AttentionPanels::AttentionPanels;

private:
  void allocateOperands() override;
  void packQueries(mlir::Value rows, mlir::Value panel, mlir::Value depth) override;
  void copyValues() override;
  mlir::Value buildScores(mlir::Value panel, mlir::Value largest) override;
  void storePowers(mlir::Value powers, mlir::Value first) override;
  void buildResult(mlir::Value panel, mlir::Value shrink) override;

  mlir::Value multiply(int64_t terms, mlir::Value rows, mlir::Value firstRow,
                       mlir::Value words, mlir::ValueRange outer, mlir::Value init);

  /// Where words are written: the two last dims of `queryMemory` and of the powers' memory
  /// as one.
  mlir::Value queryRows, powerRows, powerMemory;
};

} // namespace tilewright

#endif
