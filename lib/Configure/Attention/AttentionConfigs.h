// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What planning, listing and explaining configs of attention share.

#ifndef TILEWRIGHT_LIB_CONFIGURE_ATTENTIONCONFIGS_H
#define TILEWRIGHT_LIB_CONFIGURE_ATTENTIONCONFIGS_H

#include "tilewright/Configure/Attention.h"

namespace tilewright {

/// The element type of the queries.
mlir::Type elementTypeOf(AttentionOp op);

/// The instruction with the longest K that one warp or subgroup multiplies `op` by, with sums of
/// f32, or null.
mlir::StringAttr findWarpInstruction(AttentionOp op, TargetAttr target);

/// Configs in the order of preference; the first that fits is taken. `anyFragments`: also those
/// whose fragments a driver spills.
llvm::SmallVector<LoweringConfigAttr> listAttentionConfigs(AttentionOp op, TargetAttr target,
                                                           bool anyFragments = false);

/// A partition of the keys is a multiple of `key_parts`: that has to be one of the block's keys.
Refusal checkPartitions(AttentionOp op, const AttentionPlan &plan);

/// The plan's shared memory against what a block of the target can have.
Refusal checkSharedMemory(const AttentionPlan &plan, TargetAttr target);

/// How a config of a kernel was decided, for --explain.
struct AttentionDecision {
  LoweringConfigAttr config;
  /// "config (pinned): ", in front of it.
  std::string how = "config: ";
  bool pinned = false;
  /// Why a tuned config was not taken, where there was one.
  llvm::SmallVector<std::string> refused;
};

/// What is known before `op` has its config: the strategy, what earlier stages said, and
/// whether partitions share the keys.
void explainStrategy(mlir::func::FuncOp kernel, AttentionOp op, TargetAttr target,
                     llvm::SmallVectorImpl<std::string> &explain);

/// The decision, what its plan does, and why nothing better fits.
void explainDecision(mlir::func::FuncOp kernel, AttentionOp op, TargetAttr target,
                     const AttentionDecision &decision, const OrRefusal<AttentionPlan> &plan,
                     llvm::SmallVectorImpl<std::string> &explain);

/// How long `op` takes with a planned config, in words, marked as predicted; empty on CPUs, and
/// where sizes are not known.
std::string describeAttentionBound(AttentionOp op, LoweringConfigAttr config,
                                   const AttentionPlan &plan, TargetAttr target);

} // namespace tilewright

#endif
