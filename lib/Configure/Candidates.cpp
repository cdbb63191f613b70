// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All schedules of a kernel, ranked: enumerated by strategies, checked by
// `fits`, ordered by the cost model.

#include "CostModel.h"
#include "Strategy.h"
#include "tilewright/Configure/Configure.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

/// The same kernel where all that is not known is four times as long as assumed; nothing
/// where all is known.
static std::optional<KernelInfo> assumeMore(const KernelInfo &info) {
  std::optional<KernelInfo> larger;
  for (auto [number, loopClass] : llvm::enumerate(info.classes)) {
    if (!ShapedType::isDynamic(loopClass.extent) || loopClass.isSettled)
      continue;
    if (!larger)
      larger = info;
    larger->classes[number].nominal *= 4;
  }
  return larger;
}

std::vector<Candidate> tilewright::listConfigs(const KernelInfo &info,
                                               TargetAttr target) {
  std::vector<LoweringConfigAttr> configs;
  for (const ScheduleStrategy *strategy : strategiesFor(target))
    if (strategy->match(info, target))
      llvm::append_range(configs, strategy->enumerate(info, target));

  // A tile for all sizes is no best one for the size that is assumed.
  std::optional<KernelInfo> larger;
  if (target.getFact("subgroup", 1) > 1)
    larger = assumeMore(info);
  std::vector<Candidate> fitting, refused;
  auto tryConfig = [&](LoweringConfigAttr config) {
    Candidate candidate;
    candidate.config = config;
    OrRefusal<TilePlan> plan = fits(info, config, target);
    if (!plan) {
      candidate.refused = plan.why();
      refused.push_back(std::move(candidate));
      return;
    }
    candidate.cost = estimateTime(info, config, *plan, target);
    if (larger)
      candidate.cost =
          std::sqrt(candidate.cost * estimateTime(*larger, config, *plan, target));
    fitting.push_back(std::move(candidate));
  };
  llvm::for_each(configs, tryConfig);
  // The model compares like with like. Equals stay in the order of enumeration.
  std::vector<std::tuple<int, double, size_t>> order;
  for (auto [position, candidate] : llvm::enumerate(fitting))
    order.push_back({strategyOf(info, candidate.config, target).rank(), candidate.cost,
                     position});
  llvm::sort(order);
  // What nobody has measured yet is not the model's to choose: it stands behind the best
  // one, for sweeps to try.
  size_t known = fitting.size();
  if (!order.empty()) {
    LoweringConfigAttr best = fitting[std::get<2>(order.front())].config;
    llvm::for_each(strategyOf(info, best, target).neighbours(best), tryConfig);
  }
  for (auto [rank, cost, position] : order) {
    LoweringConfigAttr config = fitting[position].config;
    if (auto stream = strategyOf(info, config, target).stream(info, config, target)) {
      tryConfig(stream);
      break;
    }
  }
  std::vector<Candidate> ranked;
  for (auto [rank, cost, position] : order) {
    ranked.push_back(fitting[position]);
    if (ranked.size() == 1)
      ranked.insert(ranked.end(), fitting.begin() + known, fitting.end());
  }
  ranked.insert(ranked.end(), refused.begin(), refused.end());
  return ranked;
}
