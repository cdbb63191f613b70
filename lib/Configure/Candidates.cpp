// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All schedules of a kernel, ranked: enumerated per strategy, checked by
// `fits`, ordered by the cost model.

#include "CostModel.h"
#include "Enumerate.h"
#include "tilewright/Configure/Configure.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

static std::vector<LoweringConfigAttr>
enumerateContractions(const KernelInfo &info, TargetAttr target) {
  std::vector<LoweringConfigAttr> configs = enumerateWarpgroups(info, target);
  llvm::append_range(configs, enumerateMatrix(info, target));
  llvm::append_range(configs, enumerateRingedMma(info, target));
  // Bytes that hold nibbles are multiplied by instructions only.
  if (matchContraction(info.root)->perElement == 1)
    llvm::append_range(configs, enumerateContraction(info, target));
  return configs;
}

static std::vector<LoweringConfigAttr>
enumerateSkinnyProducts(const KernelInfo &info, TargetAttr target) {
  std::vector<LoweringConfigAttr> configs;
  if (isForMatrixUnit(info.root, target)) {
    configs = enumerateWarpgroups(info, target);
    llvm::append_range(configs, enumerateMatrix(info, target));
  }
  if (matchProduct(info.root)->perElement > 1)
    return configs;
  std::string reason;
  std::vector<LoweringConfigAttr> shared = enumerateSkinny(info, target, true);
  if (llvm::none_of(shared, [&](LoweringConfigAttr config) {
        return succeeded(fits(info, config, target, reason));
      }))
    shared = enumerateSkinny(info, target, false);
  llvm::append_range(configs, shared);
  return configs;
}

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
  if (target.getFact("subgroup", 1) <= 1)
    configs = enumerateCpu(info, target);
  else if (info.strategy == Strategy::SimtContraction)
    configs = enumerateContractions(info, target);
  else if (info.strategy == Strategy::SkinnyContraction)
    configs = enumerateSkinnyProducts(info, target);
  else if (info.strategy == Strategy::Reduction)
    configs = enumerateReduction(info, target);
  else
    configs = enumerateStreaming(info, target);

  // A tile for all sizes is no best one for the size that is assumed.
  std::optional<KernelInfo> larger;
  if (target.getFact("subgroup", 1) > 1)
    larger = assumeMore(info);
  std::vector<Candidate> fitting, refused;
  auto tryConfig = [&](LoweringConfigAttr config) {
    Candidate candidate;
    candidate.config = config;
    FailureOr<TilePlan> plan = fits(info, config, target, candidate.refused);
    if (failed(plan)) {
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
  // What a matrix unit can compute it does, whatever the sizes, unless threads
  // share the sums of few rows; the model compares like with like, and knows nothing
  // yet of rings that warps' instructions read. Equals stay in the order of enumeration.
  auto classOf = [&](LoweringConfigAttr config) {
    // Of CPUs the model knows both.
    if (target.getFact("subgroup", 1) <= 1)
      return 0;
    if (config.getMma())
      return config.isWarpSpecialized() && !config.isForWarpgroups() ? 1 : 0;
    return info.strategy == Strategy::SimtContraction ? 2 : 0;
  };
  std::vector<std::tuple<int, double, size_t>> order;
  for (auto [position, candidate] : llvm::enumerate(fitting))
    order.push_back({classOf(candidate.config), candidate.cost, position});
  llvm::sort(order);
  // What nobody has measured yet is not the model's to choose: it stands behind the best
  // one, for sweeps to try.
  size_t known = fitting.size();
  if (!order.empty())
    if (auto best = fitting[std::get<2>(order.front())].config; best.isForWarpgroups())
      llvm::for_each(neighboursOf(best), tryConfig);
  for (auto [rank, cost, position] : order)
    if (LoweringConfigAttr stream = streamOf(info, fitting[position].config, target)) {
      tryConfig(stream);
      break;
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
