// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Members of groups and their loops, for the rules by which groups grow: Groups.cpp has the table,
// ChainContractions.cpp, FuseProducers.cpp and DualProducts.cpp those of contractions.

#ifndef TILEWRIGHT_LIB_DISPATCH_GROUPMEMBERS_H
#define TILEWRIGHT_LIB_DISPATCH_GROUPMEMBERS_H

#include "tilewright/Dispatch/Groups.h"
#include "tilewright/Support/Refusal.h"

namespace tilewright {

/// Tensors that a kernel reads or writes at most, where ops could be left out of it: each takes
/// registers for its address and for what is read of it.
inline constexpr size_t kMostTensors = 32;

/// It has nothing to do with the group, which nobody has to be told.
inline Refusal unrelated() { return refuse(Refused::Unrelated, ""); }

bool isContraction(mlir::linalg::LinalgOp op);
unsigned countContractions(const Group &group);
/// The product that opened `group`; what computes its operands stands before it.
mlir::linalg::LinalgOp firstContraction(const Group &group);

/// True if the inputs alone tell every loop's extent; needed of ops whose result
/// is not a result of the kernel.
bool extentsFollowFromInputs(mlir::linalg::LinalgOp op);

/// Adds `op`, whose loop l is loop `loops[l]` of the group.
void addMember(Group &group, mlir::linalg::LinalgOp op, llvm::ArrayRef<unsigned> loops);

/// Puts members that were added out of order back into program order.
void sortMembers(Group &group);

/// The loop of `group` that each loop of `op` is, as far as the tensors that
/// both know tell; nothing if they contradict or leave a loop open.
std::optional<llvm::SmallVector<unsigned>> matchLoops(const Group &group,
                                                      mlir::linalg::LinalgOp op);

/// The loops of `member` of `group`, loop l of which becomes `to[l]`.
llvm::SmallVector<unsigned> mapLoops(const Group &group, mlir::linalg::LinalgOp member,
                                     llvm::ArrayRef<std::optional<unsigned>> to);

/// Nobody outside of `group` that stands before `op` reads a result, and `op` reads
/// none of them other than by its maps.
bool mayMoveTo(const Group &group, mlir::Operation *op);

/// Groups that compute inputs of `op`, the latest first, each once.
llvm::SmallVector<Group *> producersOf(llvm::MutableArrayRef<Group> groups,
                                       mlir::linalg::LinalgOp op);

/// Joins `op`, a product of what the product in `group` becomes, if it may: its
/// columns are a new loop of the group.
Refusal tryChain(Group &group, mlir::linalg::LinalgOp op, TargetAttr target);

/// Moves the members of `producer` into `group`, which `product` has just opened, if
/// they compute one of its operands and that is better done tile by tile.
Refusal tryFuseProducers(Group &group, Group &producer, mlir::linalg::LinalgOp product,
                         TargetAttr target);

/// What the user is told of `why` a group is apart; what is there stays where it is nothing.
void say(const Refusal &why, std::string &apart);

} // namespace tilewright

#endif
