// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --explain says of a kernel of attention.

#include "AttentionConfigs.h"
#include "AttentionWarpgroups.h"
#include "ExplainConfig.h"
#include "Remarks.h"

using namespace mlir;
using namespace tilewright;

using Lines = SmallVectorImpl<std::string>;

void tilewright::explainStrategy(func::FuncOp kernel, AttentionOp op, TargetAttr target,
                                 Lines &explain) {
  explain.push_back("strategy attention: one kernel for both contractions and the softmax between "
                    "them; no scores in memory");
  explainEarlierStages(kernel, explain);
  if (op.getKeyParts()) {
    explain.push_back("keys in " + std::to_string(op.getNumKeyParts()) + " parts, multiples of " +
                      std::to_string(*op.getKeyParts()) +
                      " long, by blocks of their own; a second kernel combines their results by "
                      "log-sum-exp");
    return;
  }
  if (op->hasAttr(kConfigAttr))
    return;
  if (OrRefusal<KeySplit> split = chooseKeySplit(op, target); !split) {
    explain.push_back("keys are not taken in parts: " + split.why().str());
    remarkMissed(kernel, op, "key-parts", split.why());
  }
}

/// What the steps along the keys copy, of warpgroups.
static void explainCopies(AttentionOp op, const AttentionPlan &plan, Lines &explain) {
  if (plan.subgroup <= 1 || plan.copyThreads == 0)
    return;
  if (int64_t page = op.getPageSize(); page && page < plan.keys)
    explain.push_back("a step has " + std::to_string(plan.keys / page) + " pages of " +
                      std::to_string(page) + " keys, each with copies of its own");
  if (op.getLengths())
    explain.push_back(
        "a block copies and multiplies keys up to its length: the copies of the last step end "
        "there, those of its keys that the step before had are hidden");
}

/// Whether heads that share keys and values are rows of one block.
static void explainHeads(AttentionOp op, bool pinned, const OrRefusal<AttentionPlan> &plan,
                         Lines &explain) {
  if (plan && plan->heads > 1) {
    explain.push_back("rows of a block are " + std::to_string(plan->headQueries) +
                      " queries of each of " + std::to_string(plan->heads) +
                      " heads, which share keys and values: these are read once for all of them");
    return;
  }
  if (std::string why = pinned ? "" : findSharedRows(op).why().str(); !why.empty())
    explain.push_back("heads that share keys and values have blocks of their own: " + why);
}

/// Whether blocks are persistent, and whether they are of warpgroups.
static void explainWarpgroups(func::FuncOp kernel, AttentionOp op, TargetAttr target,
                              const AttentionDecision &decision, Lines &explain) {
  LoweringConfigAttr config = decision.config;
  if (config.getPersistent())
    explain.push_back(
        "as many blocks as multiprocessors compute tile after tile, there and back" +
        (config.getRaster() > 1 ? ", of " + std::to_string(config.getRaster()) +
                                      " heads side by side"
                                : ""));
  else if (config.hasRoles() && !decision.pinned)
    if (Refusal why = whyNotPersistent(op, target, config.getBlock()[0]))
      explain.push_back("a block computes one tile: " + why.str());
  if (target.has("warpgroup_mma") && !decision.pinned && !config.hasRoles())
    if (Refusal why = whyNotByWarpgroups(op, target)) {
      explain.push_back("not by warpgroups: " + why.str());
      remarkMissed(kernel, op, "warpgroups", why);
    }
}

static void explainInstruction(AttentionOp op, TargetAttr target, LoweringConfigAttr config,
                               Lines &explain) {
  if (config.getMma() && target.getFact("subgroup", 1) <= 1)
    explain.push_back("multiplied by '" + config.getMma().str() +
                      "': subnormal operands count as zero, subnormal sums become zero");
  if (target.getFacts().contains("mma") && !config.getMma())
    explain.push_back(
        findWarpInstruction(op, target)
            ? "not on matrix units: this config was pinned, or larger blocks do not fit"
            : "not on matrix units: no instruction of a warp has its types with f32 sums");
}

void tilewright::explainDecision(func::FuncOp kernel, AttentionOp op, TargetAttr target,
                                 const AttentionDecision &decision,
                                 const OrRefusal<AttentionPlan> &plan, Lines &explain) {
  if (plan)
    explainCopies(op, *plan, explain);
  llvm::append_range(explain, decision.refused);
  explainHeads(op, decision.pinned, plan, explain);
  if (plan && plan->slice)
    explain.push_back("queries and keys are multiplied in slices of " +
                      std::to_string(plan->slice) +
                      " of the depth, all of which shared memory has no room for");
  explain.push_back(decision.how + toString(decision.config));
  explainWarpgroups(kernel, op, target, decision, explain);
  explainInstruction(op, target, decision.config, explain);
  if (plan)
    if (std::string bound = describeAttentionBound(op, decision.config, *plan, target);
        !bound.empty())
      explain.push_back(bound);
}
