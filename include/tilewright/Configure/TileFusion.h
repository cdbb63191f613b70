// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What may run on the tile of a matrix product while it is on chip. Dispatch asks
// before it puts ops into one kernel, so that configure finds a schedule for what it
// gets; the limits stand here and nowhere else.
//
//   sums and maxima along n   a block's tile has all of n: n is static, at most 256
//                             (128 where shared memory is small), and the product
//                             runs on matrix units
//   a second product          (x w) v: both on matrix units, by the same instruction;
//                             a tile has all columns of v, so that nothing of x w is
//                             computed twice; the rows of x are short, since a block
//                             reads them once for each tile of x w, or warpgroups keep
//                             all of that in registers (up to 256 columns)

// Beside it:
//
//   a product of the same operand   x w and x v, whose results are combined element by
//                         element (a dual product): one loop over the sum reads x once for
//                         two accumulators. On GPUs; by warpgroups if one kernel is
//                         predicted to take no longer than both and a launch; where
//                         warpgroups multiply each alone and cannot multiply both, as an
//                         operand is computed, if what they are faster by is less than a
//                         launch and the result that is not written.
//
// And in front of it:
//
//   what computes a       element by element, on its way from memory into the tile: on
//   operand                GPUs, where computing it again in each block that reads it
//                         costs less than writing it and reading it back. A cast of
//                         i8 weights pays for eight rows of blocks, their
//                         dequantisation for some, exp for one.
//   a norm of the LHS's   reductions along the rows of an operand (along all of the
//   rows                  product's K) and what normalises elements by them: on GPUs,
//                         where each block can read its rows once more for less than a
//                         kernel of its own costs, its launch included. Both a root mean
//                         square of 128 x 512 in front of 1536 columns, none in front of
//                         thousands of rows.

#ifndef TILEWRIGHT_CONFIGURE_TILEFUSION_H
#define TILEWRIGHT_CONFIGURE_TILEFUSION_H

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Support/Refusal.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace tilewright {

/// Why the result of `product` may not be reduced along its loops `loops` in the
/// product's own kernel.
Refusal checkReducedTile(mlir::linalg::LinalgOp product, llvm::ArrayRef<unsigned> loops,
                         TargetAttr target);

/// Why `second`, whose operand `number` is computed from the result of
/// `first` element by element, may not run in the kernel of `first`.
Refusal checkChain(mlir::linalg::LinalgOp first, mlir::linalg::LinalgOp second, unsigned number,
                   TargetAttr target);

/// Why `producers`, the elementwise ops that compute operand `number` of `product`
/// and nothing else, should run in the kernel of `product`, or why not. `products`: how many
/// of a dual product read the operand.
OrRefusal<std::string> mayFuseProducers(llvm::ArrayRef<mlir::linalg::LinalgOp> producers,
                                        mlir::linalg::LinalgOp product, unsigned number,
                                        unsigned products, TargetAttr target);

/// The same of `producers` that reduce along the rows of the operand (over all of the
/// product's K) and compute its elements by the results.
OrRefusal<std::string> mayFuseNorm(llvm::ArrayRef<mlir::linalg::LinalgOp> producers,
                                   mlir::linalg::LinalgOp product, unsigned number,
                                   unsigned products, TargetAttr target);

/// The two kernels that a dual product is made of.
struct DualParts {
  /// The ops of each, in program order; the last of `after` combines the results of both.
  llvm::ArrayRef<mlir::linalg::LinalgOp> before, after;
  /// What the second would read of the first.
  llvm::ArrayRef<mlir::Value> between;
  /// No operand of either product is computed in its kernel.
  bool inMemory;
};

/// Why `first` and `second`, which share operand `number`, should run side by side in one
/// kernel, a dual product, so that what is between `parts` is never written, or why not.
OrRefusal<std::string> mayFuseDual(mlir::linalg::LinalgOp first, mlir::linalg::LinalgOp second,
                                   unsigned number, const DualParts &parts, TargetAttr target);

} // namespace tilewright

#endif
