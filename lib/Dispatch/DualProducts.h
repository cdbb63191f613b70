// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two products of one operand in one kernel, whose results an op combines.

#ifndef TILEWRIGHT_LIB_DISPATCH_DUALPRODUCTS_H
#define TILEWRIGHT_LIB_DISPATCH_DUALPRODUCTS_H

#include "tilewright/Dispatch/Groups.h"
#include "tilewright/Support/Refusal.h"

namespace tilewright {

/// Moves the members of `other` into `base`, whose product reads an operand of the product in
/// `other`, if `op`, which has joined `base` with `loops`, combines the results of both element
/// by element: a dual product.
Refusal tryFuseDual(Group &base, llvm::ArrayRef<unsigned> loops, Group &other,
                    mlir::linalg::LinalgOp op, TargetAttr target);

/// Lets the group of a dual product take in what computes the operand that its products
/// share, of which it is the only reader now.
void fuseSharedProducer(llvm::MutableArrayRef<Group> groups, Group &group,
                        TargetAttr target);

} // namespace tilewright

#endif
