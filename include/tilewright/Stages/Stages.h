// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ordered list of stages and how each is built. What follows the last one
// here, lowering and emission, belongs to the back ends (Target/Target.h).

#ifndef TILEWRIGHT_STAGES_STAGES_H
#define TILEWRIGHT_STAGES_STAGES_H

#include "tilewright/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <optional>

namespace tilewright {

enum class Stage {
#define STAGE(Name, text, summary) Name,
#include "tilewright/Stages/Stages.def"
};

llvm::StringRef getStageName(Stage stage);
llvm::StringRef getStageSummary(Stage stage);
/// All stages in order.
llvm::ArrayRef<Stage> getStages();
std::optional<Stage> lookupStage(llvm::StringRef name);

/// Adds a stage to `pm`, which is anchored on builtin.module: the whole input
/// up to normalize, one program from dispatch on. `form` is where the
/// program's back end takes over; stages past it add nothing. Stage::Clone is
/// no pass: see clonePrograms.
void buildStage(Stage stage, KernelForm form, mlir::OpPassManager &pm);

/// Every dialect that some stage reads or writes.
void registerStageDialects(mlir::DialectRegistry &registry);

/// Moves the input into one program per variant of `targets`: nested modules
/// named after target and tag ("cuda_sm_80", "vulkan_sg32").
void clonePrograms(mlir::ModuleOp input,
                   llvm::ArrayRef<ParsedTarget> targets);

/// The symbol of a program: target text and tag in letters, digits and '_'.
std::string programName(const ParsedTarget &target,
                        const TargetVariant &variant);
std::string targetFolder(const ParsedTarget &target);

} // namespace tilewright

#endif
