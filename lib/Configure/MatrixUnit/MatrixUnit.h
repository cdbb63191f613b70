// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products on matrix units, by instructions of a warp or a subgroup that reads registers.
// It takes kernels that are simt_contraction's or skinny_contraction's by default.

#ifndef TILEWRIGHT_LIB_CONFIGURE_MATRIXUNIT_MATRIXUNIT_H
#define TILEWRIGHT_LIB_CONFIGURE_MATRIXUNIT_MATRIXUNIT_H

#include "Strategy.h"
#include "tilewright/Analysis/Instructions.h"

namespace tilewright {

/// Why the target has no instruction `name`: none of its lists `facts` has it.
Refusal whyNotListed(mlir::StringAttr name, llvm::ArrayRef<llvm::StringRef> facts,
                     llvm::StringRef what, TargetAttr target);

/// Whether the config has A (the oriented contraction's) in registers, of instructions that
/// read B in shared memory.
bool hasAInRegisters(LoweringConfigAttr config, const Contraction &product);

/// What all strategies with matrix instructions have in common.
class InstructionStrategy : public ScheduleStrategy {
public:
  using ScheduleStrategy::ScheduleStrategy;
  bool match(const KernelInfo &info, TargetAttr target) const override;
  bool accepts(const KernelInfo &info, LoweringConfigAttr config) const override;
  bool contracts() const override { return true; }
  Refusal checkPlan(const KernelInfo &info, LoweringConfigAttr config,
                    TargetAttr target) const override;
  Refusal check(const KernelInfo &info, LoweringConfigAttr config, const TilePlan &plan,
                TargetAttr target) const override;
  llvm::ArrayRef<mlir::linalg::LinalgOp>
  getProducts(const KernelInfo &info) const override;
  void countProduct(Counter &counter, mlir::linalg::LinalgOp op) const override;
  std::string explain(const KernelInfo &info) const override;

protected:
  /// Why the target does not have the instruction `name`.
  virtual Refusal checkInstruction(mlir::StringAttr name, TargetAttr target) const = 0;
  /// Why the tiles are not whole tiles of `instruction`, which computes the root.
  virtual Refusal checkTiles(const KernelInfo &info, LoweringConfigAttr config,
                             const MatrixInstruction &instruction, const MatrixLoops &loops,
                             TargetAttr target) const = 0;
};

class MatrixUnit : public InstructionStrategy {
public:
  MatrixUnit() : InstructionStrategy(Strategy::MatrixUnit) {}
  llvm::ArrayRef<ConfigField> fields() const override {
    static constexpr ConfigField kFields[] = {
        ConfigField::Warps, ConfigField::Stages, ConfigField::Promote,
        ConfigField::Mma, ConfigField::Splits, ConfigField::Raster};
    return kFields;
  }
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
  int64_t operandBytes(const KernelInfo &info, LoweringConfigAttr config,
                       const TilePlan &plan, TargetAttr target) const override;
  bool takesTurns(const KernelInfo &info) const override;
  int64_t registers(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan, TargetAttr target) const override;

protected:
  Refusal checkInstruction(mlir::StringAttr name, TargetAttr target) const override;
  Refusal checkTiles(const KernelInfo &info, LoweringConfigAttr config,
                     const MatrixInstruction &instruction, const MatrixLoops &loops,
                     TargetAttr target) const override;
};

} // namespace tilewright

#endif
