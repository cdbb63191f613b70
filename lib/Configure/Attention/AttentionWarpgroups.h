// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configs of attention by warpgroups, see AttentionWarpgroups.cpp.

#ifndef TILEWRIGHT_LIB_CONFIGURE_ATTENTIONWARPGROUPS_H
#define TILEWRIGHT_LIB_CONFIGURE_ATTENTIONWARPGROUPS_H

#include "tilewright/Configure/Attention.h"
#include "tilewright/Dialect/MatrixInstruction.h"

namespace tilewright {

/// `plan`, which has the block, depth and columns of the values, for a config whose
/// instruction is a warpgroup's; or why it cannot be carried out.
OrRefusal<AttentionPlan> planAttentionByWarpgroups(AttentionOp op, LoweringConfigAttr config,
                                                   TargetAttr target,
                                                   const MatrixInstruction &instruction,
                                                   AttentionPlan plan);

/// Configs by warpgroups in the order of preference, none where they cannot be used.
llvm::SmallVector<LoweringConfigAttr> listAttentionByWarpgroups(AttentionOp op,
                                                                TargetAttr target);

/// Why blocks of so many queries do not compute one tile after the other by default; empty if
/// they do.
Refusal whyNotPersistent(AttentionOp op, TargetAttr target, int64_t queries);
/// The `raster` of blocks that do.
int64_t headsSideBySide(AttentionOp op, TargetAttr target);

/// Why warpgroups cannot compute `op` at all.
Refusal whyNotByWarpgroups(AttentionOp op, TargetAttr target);

} // namespace tilewright

#endif
