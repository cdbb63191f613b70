// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of CPUs as panels of queries.

#ifndef TILEWRIGHT_LIB_CONFIGURE_ATTENTIONPANELS_H
#define TILEWRIGHT_LIB_CONFIGURE_ATTENTIONPANELS_H

#include "tilewright/Configure/Attention.h"

namespace tilewright {

/// The rest of the plan of a config with `thread`.
OrRefusal<AttentionPlan> planAttentionPanels(AttentionOp op, LoweringConfigAttr config,
                                             TargetAttr target, AttentionPlan plan);

/// Configs in the order of preference; none where a panel would be mostly empty.
llvm::SmallVector<LoweringConfigAttr> listAttentionPanels(AttentionOp op, TargetAttr target);

} // namespace tilewright

#endif
