// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any stage alone, for tilewright-opt, on what --dump-stages wrote after the one
// before it:
//
//   tilewright-opt -tilewright-stage=name=tile layer.06-configure.mlir
//
// Programs of several targets lie side by side in one module; each takes the
// stage in the form that its own back end asks for, as in a compilation.

#include "tilewright/Stages/Stages.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct RunStagePass : PassWrapper<RunStagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RunStagePass)

  RunStagePass() = default;
  RunStagePass(const RunStagePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tilewright-stage"; }
  StringRef getDescription() const override {
    return "runs one stage of a compilation on every program of the module";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerStageDialects(registry);
  }

  void runOnOperation() override {
    std::optional<Stage> stage = lookupStage(name);
    if (!stage) {
      // At the place alone: the module's text would follow.
      auto names = llvm::map_range(getStages(), getStageName);
      emitError(getOperation().getLoc()) << "there is no stage '" << name
                                         << "'; there are " << llvm::join(names, ", ");
      return signalPassFailure();
    }
    if (*stage == Stage::Clone)
      return clone();
    if (*stage < Stage::Clone)
      return run(getOperation(), *stage, KernelForm::Thread);
    SmallVector<ModuleOp> programs(getOperation().getOps<ModuleOp>());
    if (getOperation()->hasAttr(kTargetAttr))
      programs = {getOperation()};
    if (programs.empty()) {
      getOperation().emitError()
          << "stage '" << name << "' runs on programs, modules with '"
          << kTargetAttr << "', which stage 'clone' makes";
      return signalPassFailure();
    }
    TargetRegistry registry = createTargetRegistry();
    for (ModuleOp program : programs) {
      auto target = program->getAttrOfType<TargetAttr>(kTargetAttr);
      const TargetBackend *backend = registry.lookup(target);
      if (!backend) {
        program.emitError() << "has no '" << kTargetAttr
                            << "' of a back end that this build has";
        return signalPassFailure();
      }
      run(program, *stage, backend->getKernelForm());
    }
  }

  void run(ModuleOp module, Stage stage, KernelForm form) {
    OpPassManager pm(ModuleOp::getOperationName());
    buildStage(stage, form, pm);
    if (failed(runPipeline(pm, module)))
      signalPassFailure();
  }

  void clone() {
    TargetRegistry registry = createTargetRegistry();
    llvm::Expected<std::vector<ParsedTarget>> parsed =
        registry.parseList(&getContext(), targets);
    if (!parsed) {
      getOperation().emitError() << llvm::toString(parsed.takeError());
      return signalPassFailure();
    }
    llvm::erase_if(*parsed, [&](const ParsedTarget &target) {
      return registry.lookupBackend(target.backend)->getKernelForm() ==
             KernelForm::None;
    });
    clonePrograms(getOperation(), *parsed);
  }

  Option<std::string> name{*this, "name",
                           llvm::cl::desc("the stage, as --stop-after has it")};
  Option<std::string> targets{
      *this, "targets", llvm::cl::desc("of stage clone: as of --target")};
};
} // namespace

void tilewright::registerStageDialects(DialectRegistry &registry) {
  createTargetRegistry().registerDialects(registry);
  for (Stage stage : getStages())
    for (KernelForm form : {KernelForm::Thread, KernelForm::Block}) {
      OpPassManager pm(ModuleOp::getOperationName());
      buildStage(stage, form, pm);
      pm.getDependentDialects(registry);
    }
}

namespace tilewright {
void registerStagesPasses() { PassRegistration<RunStagePass>(); }
} // namespace tilewright
