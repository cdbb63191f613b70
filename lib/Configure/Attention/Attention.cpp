// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configs of attention kernels.
//
//   %o = tilewright.attention …
//   -> %o = tilewright.attention … {tilewright.lowering_config =
//        #tilewright.lowering_config<strategy = attention, block = [64, 64],
//          warps = [4, 1], stages = 2, promote = [1], mma = "mma.m16n8k16.f16.f32">}
//
// A pinned config is checked, a tuned one taken where it fits; else the first that fits of
// ListAttentionConfigs.cpp. What a config means is in PlanAttention.cpp.

#include "AttentionConfigs.h"
#include "CostModel.h"
#include "ExplainConfig.h"
#include "Fields.h"

#include "tilewright/Configure/Configure.h"
#include "tilewright/Configure/Pins.h"
#include "tilewright/Configure/Tuning.h"

using namespace mlir;
using namespace tilewright;

AttentionOp tilewright::findAttention(func::FuncOp kernel) {
  if (kernel.isExternal())
    return {};
  auto ops = kernel.getBody().front().getOps<AttentionOp>();
  return ops.empty() ? AttentionOp() : *ops.begin();
}

ArrayRef<ConfigField> tilewright::attentionFields(bool isCpu) {
  static constexpr ConfigField kGpu[] = {
      ConfigField::Warps,      ConfigField::Stages, ConfigField::Promote,
      ConfigField::Mma,        ConfigField::Splits, ConfigField::Raster,
      ConfigField::Registers,  ConfigField::Persistent, ConfigField::TmaStore};
  static constexpr ConfigField kCpu[] = {ConfigField::Thread, ConfigField::Mma,
                                         ConfigField::Splits};
  if (isCpu)
    return kCpu;
  return kGpu;
}

/// Lists on the kernel the configs that fit, in the order of preference, and counts the others.
static void recordConfigs(func::FuncOp kernel, AttentionOp op, TargetAttr target) {
  SmallVector<Attribute> fitting;
  SmallVector<Refusal> refused;
  for (LoweringConfigAttr config : listAttentionConfigs(op, target))
    if (OrRefusal<AttentionPlan> plan = planAttention(op, config, target))
      fitting.push_back(config);
    else
      refused.push_back(plan.why());
  kernel->setAttr(kConfigsAttr, ArrayAttr::get(op.getContext(), fitting));
  kernel->setAttr(kRefusedAttr, countByKind(op.getContext(), refused));
}

/// Takes what was measured for the op's problem. Where that does not serve, a remark and a line
/// say why, and there is no config yet.
static void takeTuned(func::FuncOp kernel, AttentionOp op, TargetAttr target,
                      AttentionDecision &decision) {
  std::optional<TunedConfig> tuned =
      findTuned(kernel, describeProblem(op), describeShape(op));
  if (!tuned)
    return;
  std::string reason;
  if (auto config = dyn_cast<LoweringConfigAttr>(tuned->config)) {
    OrRefusal<AttentionPlan> plan = planAttention(op, config, target);
    if (plan) {
      decision.config = config;
      decision.how = "config (tuned, " + tuned->source + "): ";
      return;
    }
    reason = plan.why().str();
  } else {
    reason = cast<StringAttr>(tuned->config).str();
  }
  op->emitRemark() << "the tuned config (" << tuned->source
                   << ") is refused, the default is taken: " << reason;
  decision.refused.push_back("tuned config refused (" + tuned->source + "): " + reason);
}

/// The config that the kernel or the op pins, else what was measured, else the default.
static FailureOr<AttentionDecision> decide(func::FuncOp kernel, AttentionOp op,
                                           TargetAttr target) {
  AttentionDecision decision;
  decision.config = getPin(kernel);
  if (!decision.config)
    decision.config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (decision.config) {
    decision.pinned = true;
    decision.how = "config (pinned): ";
    OrRefusal<AttentionPlan> plan = planAttention(op, decision.config, target);
    if (!plan)
      return op.emitOpError() << "the pinned lowering config does not fit: " << plan.why().str();
    return decision;
  }
  takeTuned(kernel, op, target, decision);
  if (decision.config)
    return decision;
  OrRefusal<LoweringConfigAttr> chosen = chooseAttentionConfig(op, target);
  if (!chosen)
    return op.emitOpError() << "no schedule fits " << target.getName() << ": "
                            << chosen.why().str();
  decision.config = *chosen;
  return decision;
}

LogicalResult tilewright::configureAttention(func::FuncOp kernel, AttentionOp op,
                                             bool listAll) {
  TargetAttr target = getTarget(kernel);
  FailureOr<AttentionDecision> decision = decide(kernel, op, target);
  if (failed(decision))
    return failure();
  if (listAll) {
    recordConfigs(kernel, op, target);
    recordProblem(kernel, describeProblem(op), describeShape(op));
  }
  SmallVector<std::string> explain;
  explainStrategy(kernel, op, target, explain);
  op->setAttr(kConfigAttr, decision->config);
  OrRefusal<AttentionPlan> plan = planAttention(op, decision->config, target);
  if (plan && plan->subgroup > 1)
    recordPlan(kernel, decision->config, plan->threads, plan->copyThreads, plan->shared,
               plan->registers);
  explainDecision(kernel, op, target, *decision, plan, explain);
  setExplanation(kernel, explain);
  return success();
}
