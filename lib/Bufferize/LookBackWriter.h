// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a scan in one pass over memory: LookBack.cpp what a block does of its own,
// LookBackBlocks.cpp what it tells other blocks and learns of them.

#ifndef TILEWRIGHT_LIB_BUFFERIZE_LOOKBACKWRITER_H
#define TILEWRIGHT_LIB_BUFFERIZE_LOOKBACKWRITER_H

#include "IrregularWriter.h"
#include "tilewright/Dialect/LookBack.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tilewright {

class LookBackWriter : public IrregularWriter {
public:
  LookBackWriter(mlir::OpBuilder &b, mlir::func::FuncOp kernel, ScanOp op,
                 const mlir::IRMapping &memory, LoweringConfigAttr config, LaunchAttr launch)
      : IrregularWriter(b, kernel, op, memory, config, launch), op(op),
        element(op.getInputType().getElementType()), threads(launch.getThreads()),
        columns(config.getBlock()[2]), parts(threads / columns),
        perThread(config.getBlock()[1] / parts) {}
  void write();

private:
  using Step = llvm::function_ref<void(mlir::Value thread)>;

  mlir::Value shared(mlir::Type type, int64_t elements);
  mlir::Value integer(int64_t value) {
    return mlir::arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
  }
  mlir::Value isEqual(mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::eq, x, y);
  }
  /// `body` by each thread of the block, and then a barrier.
  void step(Step body) {
    eachThread(threads, body);
    mlir::gpu::BarrierOp::create(b, loc);
  }
  void first(mlir::Value thread, Body body) { when(isEqual(thread, index(0)), body); }
  /// `body` by the first thread of each column.
  void firsts(mlir::Value thread, llvm::function_ref<void(mlir::Value column)> body);
  /// Publishes `state` by the first thread: what threads of columns have written before.
  void publish(int64_t state, mlir::Value place);
  mlir::Value column(mlir::Value thread) { return modulo(thread, columns); }
  /// Number of a thread's part of its column, from the beginning of the tile on.
  mlir::Value part(mlir::Value thread) { return divide(thread, columns); }
  /// Where numbers of all columns lie one behind the other: that of `column`.
  mlir::Value ofColumn(mlir::Value number, mlir::Value column) {
    return columns == 1 ? number : add(multiply(number, index(columns)), column);
  }
  /// `condition`, which may be null, and that a column is one of the tensor's; null if all are.
  mlir::Value inColumns(mlir::Value column, mlir::Value condition);
  mlir::Value choose(mlir::Value condition, llvm::function_ref<mlir::Value()> yes,
                     llvm::function_ref<mlir::Value()> no);
  mlir::Value join(mlir::Value before, mlir::Value next) {
    return combine(b, op.getCombiner(), {before, next});
  }
  /// `from` with what `memref` has of `column` in [begin, end), from left to right.
  mlir::Value fold(mlir::Value from, mlir::Value memref, mlir::Value begin, mlir::Value end,
                   mlir::Value column);

  // What a block does of its own.
  mlir::Value isUsed(mlir::Value thread);
  void findTile();
  mlir::SmallVector<mlir::Value> placeOf(mlir::Value number);
  mlir::Value padded(mlir::Value number);
  void moveTile(bool loads);
  void combineThreads();
  void finishTile();

  // Between blocks.
  void publishTile();
  void copyColumns(mlir::Value thread, mlir::Value count, mlir::Value to,
                   llvm::function_ref<mlir::Value(mlir::Value number)> from);
  mlir::Value publishedBy(mlir::Value group, mlir::Value state);
  mlir::Value nearestPrefix();
  void combineGroup();
  void lookBack();
  void combineGroups();
  /// Waits until `isDone` of a state, from the thread's own; gives the state.
  mlir::Value waitFor(mlir::Value place, llvm::function_ref<mlir::Value(mlir::Value state)> isDone);

  ScanOp op;
  mlir::Type element;
  int64_t threads, columns, parts, perThread;
  // Global memory.
  mlir::Value input, output, init, states, values;
  // Shared memory: the tile; what threads have, twice; tiles of the group, and other groups.
  mlir::Value tile, sums, tiles, groups, groupStates, inner, before;
  int64_t result = 0; // which of `sums`
  // Of the row, which has columns: elements of each, its number, tiles, groups; where it is.
  // Of all rows: tiles.
  mlir::Value length, row, rowTiles, rowGroups, outer, firstColumn, allTiles;
  // Of the tile: its number, that in its row, and of each column elements before it,
  // elements, threads with any.
  mlir::Value number, inRow, begin, count, used, isFull;
  // Its group's number in the row and among all, its own in the group.
  mlir::Value group, groupNumber, inGroup;
};

} // namespace tilewright

#endif
