// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk that turns the code of one block into vectors.
//
// Every tensor value of a tiled kernel is one of four things, and the walker
// keeps a table of which:
//
//   memory    a window (offsets, sizes) into a kernel argument, or into the
//             argument after some tiles of it were written
//   register  a computed tile: a vector, or a scalar where no dim has more
//             than one element
//   splat     a constant tensor: one scalar
//   empty     nothing was computed yet (tensor.empty)
//
// Ops are visited in order; slices only move windows, linalg ops read windows
// (vector.transfer_read) and produce registers, tensor.insert_slice writes a
// register into a window (vector.transfer_write).
//
// Upstream's vectorizer masks whole ops and leaves poison in the lanes outside;
// here every read says what the lanes outside hold, so that a tile can go
// through shared memory or shuffles.

#ifndef TILEWRIGHT_LIB_VECTORIZE_VECTORIZER_H
#define TILEWRIGHT_LIB_VECTORIZE_VECTORIZER_H

#include "tilewright/Dialect/Clusters.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace tilewright {

struct Tile {
  enum Kind { Memory, Register, Splat, Empty };
  Kind kind = Empty;
  /// Memory: the whole tensor. Register: vector or scalar. Splat: scalar.
  mlir::Value value;
  /// Memory: where the window starts, per dim of the whole tensor.
  llvm::SmallVector<mlir::OpFoldResult> offsets;
  /// Elements that are there, per dim of the tensor value.
  llvm::SmallVector<mlir::OpFoldResult> sizes;
  /// Register: extent of the vector per dim of the tensor value; 0 where the
  /// dim is no dim of the vector.
  llvm::SmallVector<int64_t> extents;
  /// Memory: two elements lie in a byte of `value`, the whole tensor, whose last dim
  /// is half as long as the offsets and sizes here tell.
  bool packed = false, isUnsigned = false;
};

/// The op that combines the accumulator of a result with a new value,
/// and that value; null where the body is no such combination.
struct Combiner {
  mlir::Operation *op = nullptr;
  mlir::Value element;
  mlir::vector::CombiningKind kind = mlir::vector::CombiningKind::ADD;
};

class Vectorizer {
public:
  explicit Vectorizer(mlir::func::FuncOp kernel)
      : kernel(kernel), b(kernel.getContext()) {}

  mlir::LogicalResult run();

private:
  /// Loops of the op being vectorized that are dims of a vector, in order.
  using Loops = llvm::ArrayRef<unsigned>;
  /// The op being vectorized.
  struct OpState {
    mlir::linalg::LinalgOp op;
    /// Per loop: extent of the vector dim (0: none) and elements there.
    llvm::SmallVector<int64_t> extents;
    llvm::SmallVector<mlir::OpFoldResult> sizes;
    llvm::SmallVector<mlir::AffineMap> maps;
    /// Dims of the vectors of the body: first those of the results.
    llvm::SmallVector<unsigned> order;
    /// The op is a product that the config says few rows or columns have, and
    /// the number of its larger operand.
    bool skinny = false;
    int64_t larger = -1;
    /// What each value of the body became.
    llvm::DenseMap<mlir::Value, mlir::Value> values;

    /// Some lanes along `loop` may lie outside.
    bool isPartial(unsigned loop) const;
    mlir::VectorType getType(Loops loops, mlir::Type element) const;
    /// The loops of dims of operand `number` that are vector dims, in order.
    llvm::SmallVector<unsigned> loopsOf(unsigned number) const;
  };

  // Vectorize.cpp: structure.
  mlir::LogicalResult visitBlock(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitSlice(mlir::tensor::ExtractSliceOp op);
  mlir::LogicalResult visitInsert(mlir::tensor::InsertSliceOp op);
  mlir::LogicalResult visitScatter(ClusterScatterOp op);
  mlir::LogicalResult visitFor(mlir::scf::ForOp op);
  mlir::FailureOr<Tile> carryTile(mlir::scf::ForOp op, mlir::Value init,
                                  mlir::BlockArgument argument);
  mlir::LogicalResult yieldTiles(mlir::scf::ForOp loop);
  mlir::LogicalResult visitReturn(mlir::func::ReturnOp op);
  const Tile *lookup(mlir::Value value);
  mlir::Value writeTile(mlir::Location loc, const Tile &tile,
                        const Tile &window);

  // VectorizeOp.cpp: linalg ops.
  mlir::LogicalResult visitLinalg(mlir::linalg::LinalgOp op);
  mlir::FailureOr<OpState> prepare(mlir::linalg::LinalgOp op);
  mlir::LogicalResult visitGeneric(OpState &state);
  void setResult(OpState &state, unsigned result, mlir::Value value);
  LoweringConfigAttr getConfig() {
    return kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  }

  // VectorizeOperands.cpp: their operands.
  /// Operand `number` as a vector over `loops` (broadcast along those that it
  /// lacks), or as a scalar where it has none of them.
  mlir::FailureOr<mlir::Value> readOperand(OpState &state, unsigned number,
                                           Loops loops, mlir::Attribute pad);
  /// The same of a tile of memory with two elements to a byte (VectorizePacked.cpp).
  mlir::FailureOr<mlir::Value> readPacked(OpState &state, unsigned number,
                                          Loops loops);
  mlir::FailureOr<mlir::Value> reorder(OpState &state, mlir::Value value,
                                       Loops from, Loops to);
  mlir::Value toVector(OpState &state, mlir::Value value, Loops loops);
  /// True in the lanes of `order` that are inside along `loops`.
  mlir::Value makeMask(OpState &state, Loops order, Loops loops);
  /// `value` in those lanes, `outside` in the others.
  mlir::Value keepInside(OpState &state, mlir::Value value, Loops order,
                         Loops loops, mlir::Attribute outside);

  // VectorizeContraction.cpp.
  mlir::LogicalResult visitContraction(OpState &state);

  // VectorizeReduction.cpp.
  /// The pad of an input: the neutral element where the only use of the input
  /// is to be reduced, else zero.
  mlir::Attribute choosePad(OpState &state, unsigned number);
  /// Whether lanes outside along `reduced` are neutral already, as they come so from memory.
  bool isNeutralOutside(OpState &state, const Combiner &combiner, mlir::Attribute neutral,
                        Loops reduced);
  mlir::FailureOr<mlir::Value> reduce(OpState &state, unsigned result);

  // VectorizeBody.cpp: scalar bodies.
  mlir::LogicalResult vectorizeBody(OpState &state);
  mlir::LogicalResult vectorizeExtract(OpState &state, mlir::tensor::ExtractOp op);
  mlir::LogicalResult vectorizeBodyOp(OpState &state, mlir::Operation &op);

  mlir::func::FuncOp kernel;
  mlir::OpBuilder b;
  llvm::DenseMap<mlir::Value, Tile> tiles;
  /// Ops that were replaced, in the order of visiting.
  llvm::SmallVector<mlir::Operation *> dead;
};

/// Of result `number`.
Combiner matchCombiner(mlir::linalg::LinalgOp op, unsigned number);

/// `acc` combined with `term`; a product that may be contracted is multiplied and
/// added in one.
mlir::Value combineTerm(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::vector::CombiningKind kind, mlir::Value term,
                        mlir::Value acc);

} // namespace tilewright

#endif
