// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with parallel loops alone: elementwise ops, broadcasts, padding. Tiles are filled
// along contiguous memory. Those that lie along another dim than what is read are
// Transpose's.

#ifndef TILEWRIGHT_LIB_CONFIGURE_STREAMING_STREAMING_H
#define TILEWRIGHT_LIB_CONFIGURE_STREAMING_STREAMING_H

#include "Strategy.h"

namespace tilewright {

class Streaming : public ScheduleStrategy {
public:
  Streaming() : ScheduleStrategy(Strategy::Streaming) {}
  llvm::ArrayRef<ConfigField> fields() const override {
    static constexpr ConfigField kFields[] = {
        ConfigField::Warps, ConfigField::Raster};
    return kFields;
  }
  bool isFor(const KernelLoops &loops, TargetAttr target) const override { return true; }
  bool match(const KernelInfo &info, TargetAttr target) const override;
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
  llvm::SmallVector<llvm::SmallVector<int64_t>>
  warpSpellings(const KernelInfo &info, LoweringConfigAttr config,
                TargetAttr target) const override;
  int64_t registers(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan, TargetAttr target) const override;
  int64_t liveBytes(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan) const override;
  std::string explain(const KernelInfo &info) const override;
};

} // namespace tilewright

#endif
