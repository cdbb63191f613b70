// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums, maxima and other reductions, and what is computed from them: softmax,
// normalisation. Threads of a block share each result; rows that are read more than once
// stay in registers where they fit, then in shared memory.

#ifndef TILEWRIGHT_LIB_CONFIGURE_REDUCTION_REDUCTION_H
#define TILEWRIGHT_LIB_CONFIGURE_REDUCTION_REDUCTION_H

#include "Strategy.h"

namespace tilewright {

class Reduction : public ScheduleStrategy {
public:
  Reduction() : ScheduleStrategy(Strategy::Reduction) {}
  llvm::ArrayRef<ConfigField> fields() const override {
    static constexpr ConfigField kFields[] = {
        ConfigField::Warps, ConfigField::Promote, ConfigField::Splits,
        ConfigField::Raster, ConfigField::Cluster};
    return kFields;
  }
  bool isFor(const KernelLoops &loops, TargetAttr target) const override;
  /// A product of vectors may have either config.
  bool isAskedFor(const KernelLoops &loops, LoweringConfigAttr pinned,
                  TargetAttr target) const override;
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
  llvm::SmallVector<llvm::SmallVector<int64_t>>
  warpSpellings(const KernelInfo &info, LoweringConfigAttr config,
                TargetAttr target) const override;
  Refusal checkPlan(const KernelInfo &info, LoweringConfigAttr config,
                    TargetAttr target) const override;
  bool sharesSums() const override { return true; }
  bool keepsRows() const override { return true; }
  std::optional<unsigned> sharedLoop(LoweringConfigAttr config) const override;
  int64_t operandBytes(const KernelInfo &info, LoweringConfigAttr config,
                       const TilePlan &plan, TargetAttr target) const override;
  /// Rows stay until they are read for the last time.
  bool takesTurns(const KernelInfo &info) const override { return false; }
  int64_t registers(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan, TargetAttr target) const override;
  int64_t liveBytes(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan) const override;
  std::string explain(const KernelInfo &info) const override;
  void explainMore(const KernelInfo &info, LoweringConfigAttr config,
                   llvm::StringRef wasChosen,
                   llvm::SmallVectorImpl<std::string> &lines) const override;
};

/// The same config with as many blocks to a row as have all of it (SharedRows.cpp); null
/// where none share.
LoweringConfigAttr withSharedRows(const KernelInfo &info, LoweringConfigAttr config,
                                  TargetAttr target);

/// Why a block cannot keep the rows that `config` promotes (KeptRows.cpp); none if it can.
Refusal whyNotKept(const KernelInfo &info, LoweringConfigAttr config, TargetAttr target);

/// Bytes of shared memory for them.
int64_t keptBytes(const KernelInfo &info, LoweringConfigAttr config);

/// The same config with the rows that are read again and fit in shared memory kept there;
/// null where none is.
LoweringConfigAttr withKeptRows(const KernelInfo &info, LoweringConfigAttr config,
                                TargetAttr target);

/// The configs, also of a skinny product without a loop to fill a tile along.
std::vector<LoweringConfigAttr> enumerateReduction(const KernelInfo &info,
                                                   TargetAttr target);

} // namespace tilewright

#endif
