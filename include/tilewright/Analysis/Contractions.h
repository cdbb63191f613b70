// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products, and the roles of their loops: what dispatch, configure, specialize and
// vectorize ask of a linalg op alike. All of them read what a body computes and which
// operands have which loop, never the op's name: a convolution whose windows are read by
// an op in front of it is a contraction with several loops of each kind.

#ifndef TILEWRIGHT_ANALYSIS_CONTRACTIONS_H
#define TILEWRIGHT_ANALYSIS_CONTRACTIONS_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tilewright {

/// A linalg op that is a sum of products over loops that both operands have.
struct Contraction {
  /// Numbers (among the inputs) of the operands, in the order of the
  /// multiplication.
  unsigned a = 0, b = 1;
  /// "signed" / "unsigned" per operand where an integer is extended, or null.
  llvm::StringRef signedness[2];
  /// Numbers in one element along the last k loop: 2 where bytes hold nibbles, and
  /// the products of both are summed.
  int64_t perElement = 1;
  llvm::SmallVector<unsigned> batch, m, n, k;
};

/// Matches `acc + ext(a) * ext(b)`, or the same of both nibbles of bytes (Nibbles.h),
/// over loops that both operands have; `m` or
/// `n` may be empty (a matrix times a vector, a dot).
std::optional<Contraction> matchProduct(mlir::linalg::LinalgOp op);
/// The same with at least one loop of its own for each operand.
std::optional<Contraction> matchContraction(mlir::linalg::LinalgOp op);
/// The same in the order of a matrix in memory: the last of `n` is the loop of the result's
/// last dim, along which vectors of a CPU lie. The operands of a convolution whose result
/// has channels first change places.
std::optional<Contraction> matchContractionByRows(mlir::linalg::LinalgOp op);
/// The contraction of `op` as the config's instruction multiplies it: its rows are A.
/// Warpgroups that lie along the columns (`warps = [1, 8, 1]`) swap the operands,
/// (A B)^T = B^T A^T, so that few rows become the instruction's columns.
std::optional<Contraction> matchOriented(mlir::linalg::LinalgOp op,
                                         LoweringConfigAttr config);
/// What matchOriented() makes of an op's contraction.
Contraction orient(const Contraction &contraction, LoweringConfigAttr config);
/// The same with the operands swapped: the transposed result.
Contraction swapped(Contraction contraction);

/// Of two products of one kernel that make a dual product, A B0 and A B1, the number of the
/// operand that both read: their loops, maps of that operand and of the result, and types are
/// equal, and neither reads what becomes of the other.
std::optional<unsigned> sharedOperand(mlir::linalg::LinalgOp first,
                                      mlir::linalg::LinalgOp second);

/// The loops that run over an instruction's rows, columns and depth.
struct MatrixLoops {
  unsigned m, n, k;
};
/// Of each kind the one loop with a tile of more than one element, if there is
/// one.
std::optional<MatrixLoops> findMatrixLoops(const Contraction &contraction,
                                           LoweringConfigAttr config);

/// The loop of sums along which an operand's rows lie in memory, if it has some
/// elements: steps along it read whole rows. That of groups, each with a scale of
/// its own, is another one.
std::optional<unsigned> contiguousSum(mlir::linalg::LinalgOp op,
                                      const Contraction &contraction);
/// Whether an operand's rows in memory run along a loop that is summed.
bool runsAlongSum(mlir::OpOperand &operand);

/// The extents of the loops of `op`: of a dynamic one what the guard of the kernel
/// promises it to be at most, if anything.
llvm::SmallVector<int64_t> promisedExtents(mlir::linalg::LinalgOp op);

/// A product that reuses little of its larger operand: at most 16 rows or
/// columns. Its time is that of reading the larger operand once.
bool isSkinny(mlir::linalg::LinalgOp op, const Contraction &contraction);

/// A product of one row by a matrix that lies along the sum: a CPU reads vectors of the
/// matrix's rows and adds them up, rather than gather its columns.
bool isRowAlongSum(mlir::linalg::LinalgOp op);

} // namespace tilewright

#endif
