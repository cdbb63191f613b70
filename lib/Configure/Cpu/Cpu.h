// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same kinds of kernels on CPUs: a block is what one task of the thread pool computes,
// `thread` the register tile. Names of configs are those of GPUs.

#ifndef TILEWRIGHT_LIB_CONFIGURE_CPU_CPU_H
#define TILEWRIGHT_LIB_CONFIGURE_CPU_CPU_H

#include "Reduction/Reduction.h"
#include "SimtContraction/SimtContraction.h"
#include "Streaming/Streaming.h"

namespace tilewright {

/// What a GPU's strategy is on CPUs.
template <typename OfGpu> class CpuStrategy : public OfGpu {
public:
  bool isAskedFor(const KernelLoops &loops, LoweringConfigAttr pinned,
                  TargetAttr target) const override {
    return false;
  }
  Refusal checkPlan(const KernelInfo &info, LoweringConfigAttr config,
                    TargetAttr target) const override;
  Refusal check(const KernelInfo &info, LoweringConfigAttr config, const TilePlan &plan,
                TargetAttr target) const override;
  int64_t operandBytes(const KernelInfo &info, LoweringConfigAttr config,
                       const TilePlan &plan, TargetAttr target) const override {
    return 0;
  }
  /// Vectors.
  int64_t registers(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan, TargetAttr target) const override;
};

/// Products, read in place or packed into panels (Panels.cpp).
class CpuContraction : public CpuStrategy<SimtContraction> {
public:
  llvm::ArrayRef<ConfigField> fields() const override {
    static constexpr ConfigField kFields[] = {
        ConfigField::Thread, ConfigField::Promote, ConfigField::Mma,
        ConfigField::Splits};
    return kFields;
  }
  bool isFor(const KernelLoops &loops, TargetAttr target) const override;
  bool isAskedFor(const KernelLoops &loops, LoweringConfigAttr pinned,
                  TargetAttr target) const override;
  bool match(const KernelInfo &info, TargetAttr target) const override;
  bool accepts(const KernelInfo &info, LoweringConfigAttr config) const override;
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
  /// The model knows products with and without instructions.
  int rank() const override { return 0; }
  bool isPacked(LoweringConfigAttr config) const override {
    return !config.getPromote().empty();
  }
  void explainMore(const KernelInfo &info, LoweringConfigAttr config,
                   llvm::StringRef wasChosen,
                   llvm::SmallVectorImpl<std::string> &lines) const override;
};

class CpuReduction : public CpuStrategy<Reduction> {
public:
  llvm::ArrayRef<ConfigField> fields() const override {
    static constexpr ConfigField kFields[] = {
        ConfigField::Thread, ConfigField::Splits};
    return kFields;
  }
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
};

class CpuStreaming : public CpuStrategy<Streaming> {
public:
  llvm::ArrayRef<ConfigField> fields() const override {
    static constexpr ConfigField kFields[] = {
        ConfigField::Thread};
    return kFields;
  }
  /// Transposes among them.
  bool match(const KernelInfo &info, TargetAttr target) const override {
    return info.strategy == getName();
  }
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
};

/// Why a CPU does not pack what `promote` names: it packs both operands of a contraction, that of
/// the columns alone, or none.
Refusal checkPacked(const ScheduleStrategy &strategy, const KernelInfo &info,
                    LoweringConfigAttr config);

/// Why the register tile of a packed product is not whole tiles of its instruction.
Refusal checkPanelInstruction(const KernelInfo &info, LoweringConfigAttr config, TargetAttr target);

} // namespace tilewright

#endif
