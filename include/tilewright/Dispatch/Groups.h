// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which structured ops share a kernel.
//
// A group has one iteration space, the loops of its first op. For every tensor
// that a member reads or writes, the group knows which of those loops each of
// the tensor's dims follows. An op may join when those known tensors fix all of
// its loops, so that the group's tile also is a tile of the op:
//
//   op \ group    | elementwise        | reduction             | contraction
//   --------------+--------------------+-----------------------+------------
//   elementwise   | the same loops     | all parallel loops,   | all loops that
//                 |                    | and all or none of    | are spread over
//                 |                    | the reduction loops   | blocks, in order
//   reduction     | the same loops,    | the same parallel and | of its rows or
//                 | some parallel      | reduction loops       | columns, if a tile
//                 |                    |                       | has all of them
//   contraction   | no                 | no                    | of the group's
//                 |                    |                       | result, if a tile
//                 |                    |                       | has all columns
//
// What a tile of a product has all of is asked of Configure/TileFusion.h.
//
// The other way round, a product that opens a group takes in the elementwise group
// that computes one of its operands, if nobody else reads the operand and computing it
// again for each tile costs less than writing it (mayFuseProducers of the same file); and
// the group of a norm, which reduces all that the product sums of the operand, if reading
// its rows again in each block costs less than a launch (mayFuseNorm).
//
// Example, a softmax over rows, (i, j) with j reduced:
//   max(i)   reduction    opens the group
//   e(i, j)  elementwise  exp(x - max): x is known to follow (i, j)
//   s(i)     reduction    over the same j
//   r(i, j)  elementwise  e / s
//
// Two products that read one operand, and whose results an elementwise op combines, are one
// group, a dual product, where neither result is of other use and one kernel costs less than
// two (mayFuseDual of the same file). What computes the operand has one reader then.
//
// A group is dispatched where its last op stands. An op therefore joins only
// while nobody outside the group that stands before it reads a group's result;
// that also excludes cycles.

#ifndef TILEWRIGHT_DISPATCH_GROUPS_H
#define TILEWRIGHT_DISPATCH_GROUPS_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilewright {

enum class GroupKind { Elementwise, Reduction, Contraction };

/// What `op` is by its maps and body. linalg.fill is elementwise.
GroupKind classify(mlir::linalg::LinalgOp op);

struct Group {
  GroupKind kind = GroupKind::Elementwise;
  /// Members in program order. Fills that only initialise are not members.
  llvm::SmallVector<mlir::linalg::LinalgOp> ops;
  /// For each loop of the group, whether some member reduces over it.
  llvm::SmallVector<bool> reduced;
  /// The same for contractions alone; what they sum up, nobody else has.
  llvm::SmallVector<bool> summed;
  /// Loop of the group that each dim of a known tensor follows.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> dims;
  /// Why the first member did not join its producers, where that is worth saying.
  std::string apart;
  /// What else is worth saying of the kernel.
  std::vector<std::string> notes;

  bool contains(mlir::Operation *op) const {
    return llvm::is_contained(ops, op);
  }
};

/// The groups of the structured ops of `block`, in the order of their last
/// members, for `target` (null: whatever needs one stays apart). With `fuse` false
/// each op is a group of its own.
llvm::SmallVector<Group, 0> formGroups(mlir::Block &block, TargetAttr target,
                                    bool fuse = true);

/// True if `init` of `op` holds values that `op` reads.
bool readsInit(mlir::linalg::LinalgOp op, mlir::OpOperand &init);

/// True if the body of `op` reads elements of tensors by coordinates of its own.
bool gathers(mlir::linalg::LinalgOp op);

/// True if `fill` only gives initial values to structured ops, so that each of
/// them has a copy in its kernel.
bool isOnlyInit(mlir::linalg::FillOp fill);

/// True if the values of `init` that `op` reads come from outside of its kernel, which repeats
/// the fills that only give initial values.
bool readsOutsideInit(mlir::linalg::LinalgOp op, mlir::OpOperand &init);

} // namespace tilewright

#endif
