// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes panels of a contraction on a CPU (MatchPanels.cpp), and writes the loops that
// pack and multiply them (PackPanels.cpp, MultiplyPanels.cpp, TurnRows.cpp).

#ifndef TILEWRIGHT_LIB_PROMOTE_PACKER_H
#define TILEWRIGHT_LIB_PROMOTE_PACKER_H

#include "Chunks.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {

/// One operand of the product: its chain of ops, and where its panels lie.
struct Panel {
  unsigned number;
  /// The ops in the nest that compute its tile, in order.
  llvm::SmallVector<mlir::Operation *> chain;
  /// The loop over its tiles; null where it has one tile.
  mlir::scf::ForOp tiles;
  /// The tile's dims as they lie in memory: of columns, vectors are innermost.
  llvm::SmallVector<unsigned> order;
  /// The dim in memory that is summed over; of two the inner loop's.
  unsigned sumDim = 0;
  /// Of the tile's dims in memory, the loops of the product.
  mlir::AffineMap map;
  /// For an instruction: rows along the sum, instead of words.
  bool alongSum = false;
  /// [tiles x] steps x tile.
  mlir::Value memory;

  /// Of the tile in memory, for an instruction: words, the other dim, elements of a
  /// word; or the other dim, all elements of the sum.
  llvm::SmallVector<int64_t> getWordShape(MmaOp mma, int64_t perWord) const {
    auto type = llvm::cast<mlir::VectorType>(mma->getOperand(number).getType());
    int64_t sum = type.getDimSize(order[sumDim]),
            outer = type.getDimSize(order[1 - sumDim]);
    if (alongSum)
      return {outer, sum};
    return {sum / perWord, outer, perWord};
  }

  llvm::SmallVector<int64_t> getShape(MmaOp mma) const {
    auto type = llvm::cast<mlir::VectorType>(mma->getOperand(number).getType());
    llvm::SmallVector<int64_t> shape;
    for (unsigned dim : order)
      shape.push_back(type.getDimSize(dim));
    return shape;
  }
};

class Packer {
public:
  Packer(mlir::func::FuncOp kernel, MmaOp mma) : kernel(kernel), mma(mma) {}
  mlir::LogicalResult run();

private:
  mlir::LogicalResult match();
  mlir::LogicalResult matchPanel(Panel &panel);
  void allocate(int64_t rowTiles, int64_t columnTiles, int64_t steps);
  bool dependsOn(mlir::Value value, mlir::Value on, llvm::DenseSet<mlir::Value> &seen);
  bool dependsOn(mlir::Value value, mlir::Value on) {
    llvm::DenseSet<mlir::Value> seen;
    return dependsOn(value, on, seen);
  }
  void collect(mlir::ValueRange values, llvm::SetVector<mlir::Operation *> &ops);

  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  /// Builds `for iv = lower to upper step`, and continues inside of it.
  mlir::scf::ForOp enter(mlir::Value lower, mlir::Value upper, mlir::Value step) {
    auto loop = mlir::scf::ForOp::create(b, loc, lower, upper, step);
    b.setInsertionPointToStart(loop.getBody());
    return loop;
  }
  mlir::Value tileNumber(mlir::Value iv, mlir::Value lower, mlir::Value step);
  void pack(Panel &panel, mlir::IRMapping mapping, mlir::Value begin, mlir::Value end);
  mlir::Value isInside(mlir::VectorTransferOpInterface transfer, mlir::ValueRange indices,
                       mlir::Value inside);
  mlir::Value cloneIndices(Panel &panel, mlir::IRMapping &mapping);
  void cloneBeside(mlir::Operation &op, mlir::IRMapping &mapping);
  void writeTile(Panel &panel, mlir::IRMapping mapping, mlir::Value tile, mlir::Value step,
                 bool inside);
  mlir::Value readStep(Panel &panel, mlir::Value tile, mlir::Value step, mlir::Value element);
  mlir::LogicalResult matchRowsInPlace();
  llvm::SmallVector<mlir::Value> indexRows(mlir::IRMapping mapping, mlir::Value sumIndex);
  mlir::Value readRows(const mlir::IRMapping &mapping, mlir::Value sumIndex, bool whole);
  mlir::Value areRowsInside(const mlir::IRMapping &mapping, mlir::Value sumIndex);
  mlir::LogicalResult matchInstruction();
  mlir::Value readStepWords(Panel &panel, mlir::Value tile, mlir::Value step);
  mlir::Value multiplyWords(mlir::Value row, mlir::Value column, mlir::Value acc);
  bool turnsRows() const { return instruction && instruction->turnsRows(); }
  mlir::Value signBits(mlir::VectorType type);
  void turnInstruction();
  void allocateSurplus(int64_t columnTiles);
  void sumColumns(mlir::Value steps);
  mlir::Value subtractSurplus(mlir::Value init, mlir::Value column);
  mlir::Value carry(mlir::Value count, mlir::Value init,
                    llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> step);
  mlir::Value multiplyElement(mlir::Value row, mlir::Value column, mlir::Value acc);
  mlir::Value multiplyInPlace(const mlir::IRMapping &mapping, const Chunk &chunk,
                              mlir::Value column, mlir::Value init, bool whole);
  mlir::Value multiply(const mlir::IRMapping &mapping, const Chunk &chunk, mlir::Value column,
                       mlir::Value steps, mlir::Value init);
  void writeNest(const Chunk &chunk);

  mlir::func::FuncOp kernel;
  MmaOp mma;
  mlir::OpBuilder b{mma.getContext()};
  mlir::Location loc = mma.getLoc();
  mlir::scf::ForOp sum;
  /// The loop of the sum around `sum` where there are two, else `sum`; and how many steps
  /// one of it has.
  mlir::scf::ForOp outerSum;
  int64_t innerSteps = 1;
  /// Loops around `outerSum`, the outermost first.
  llvm::SmallVector<mlir::scf::ForOp> nest;
  /// `rows` is the operand that is broadcast, `columns` that of vectors.
  Panel rows, columns;
  /// The accumulators between chunks; null where there is one chunk.
  mlir::Value sums;
  /// Of turned rows: a step of one row of sign bits, and, [tiles x] columns, that row times the
  /// panels of the columns.
  mlir::Value signRow, surplus;
  /// What reads the rows' operand, if it is not packed.
  mlir::vector::TransferReadOp rowsInPlace;
  /// What multiplies the panels' elements as they are.
  std::optional<MatrixInstruction> instruction;
  /// As the products of packed words have them.
  mlir::ArrayAttr signedness;
  mlir::StringAttr name;
};

} // namespace tilewright

#endif
