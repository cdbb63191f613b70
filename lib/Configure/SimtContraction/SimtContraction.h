// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose threads multiply and add rows and columns of their own out of tiles in
// shared memory: of types, or on targets, that no matrix instruction is for.

#ifndef TILEWRIGHT_LIB_CONFIGURE_SIMTCONTRACTION_SIMTCONTRACTION_H
#define TILEWRIGHT_LIB_CONFIGURE_SIMTCONTRACTION_SIMTCONTRACTION_H

#include "Strategy.h"

namespace tilewright {

class SimtContraction : public ScheduleStrategy {
public:
  SimtContraction() : ScheduleStrategy(Strategy::SimtContraction) {}
  llvm::ArrayRef<ConfigField> fields() const override {
    static constexpr ConfigField kFields[] = {
        ConfigField::Warps, ConfigField::Stages, ConfigField::Promote,
        ConfigField::Splits, ConfigField::Raster};
    return kFields;
  }
  bool isFor(const KernelLoops &loops, TargetAttr target) const override;
  /// Also by matrix instructions: these kernels are theirs to take.
  bool isAskedFor(const KernelLoops &loops, LoweringConfigAttr pinned,
                  TargetAttr target) const override;
  bool match(const KernelInfo &info, TargetAttr target) const override;
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
  /// What a matrix unit can compute it does, whatever the sizes, unless threads share the
  /// sums of few rows.
  int rank() const override { return 2; }
  bool contracts() const override { return true; }
  Refusal check(const KernelInfo &info, LoweringConfigAttr config, const TilePlan &plan,
                TargetAttr target) const override;
  int64_t registers(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan, TargetAttr target) const override;
  llvm::ArrayRef<mlir::linalg::LinalgOp>
  getProducts(const KernelInfo &info) const override;
  void countProduct(Counter &counter, mlir::linalg::LinalgOp op) const override;
  std::string explain(const KernelInfo &info) const override;
};

} // namespace tilewright

#endif
