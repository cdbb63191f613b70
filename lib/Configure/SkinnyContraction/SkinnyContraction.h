// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of few rows or columns, whose time is that of reading the larger operand once:
// threads lie over that as it lies in memory, and share each sum.

#ifndef TILEWRIGHT_LIB_CONFIGURE_SKINNYCONTRACTION_SKINNYCONTRACTION_H
#define TILEWRIGHT_LIB_CONFIGURE_SKINNYCONTRACTION_SKINNYCONTRACTION_H

#include "Strategy.h"

namespace tilewright {

class SkinnyContraction : public ScheduleStrategy {
public:
  SkinnyContraction() : ScheduleStrategy(Strategy::SkinnyContraction) {}
  llvm::ArrayRef<ConfigField> fields() const override {
    static constexpr ConfigField kFields[] = {
        ConfigField::Warps, ConfigField::Splits, ConfigField::Raster};
    return kFields;
  }
  bool isFor(const KernelLoops &loops, TargetAttr target) const override;
  bool isAskedFor(const KernelLoops &loops, LoweringConfigAttr pinned,
                  TargetAttr target) const override;
  bool match(const KernelInfo &info, TargetAttr target) const override;
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
  llvm::SmallVector<llvm::SmallVector<int64_t>>
  warpSpellings(const KernelInfo &info, LoweringConfigAttr config,
                TargetAttr target) const override;
  bool sharesSums() const override { return true; }
  int64_t registers(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan, TargetAttr target) const override;
  int64_t liveBytes(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan) const override;
  std::optional<std::pair<double, double>>
  sharedSums(const KernelInfo &info, const TilePlan &plan, double results,
             double reduced) const override;
  std::string explain(const KernelInfo &info) const override;
  std::string whyNoInstruction() const override;
};

} // namespace tilewright

#endif
