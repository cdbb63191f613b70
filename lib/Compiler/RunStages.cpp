// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stages on the input and on each target's programs, and what is kept of them in
// between: host code, explanations, the places of pinned configs.

#include "Compilation.h"
#include "ConfigFile.h"
#include "Explain.h"
#include "tilewright/Configure/Configure.h"
#include "tilewright/Configure/Pins.h"

#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace tilewright;

void Compilation::buildFor(Stage stage, KernelForm form, OpPassManager &pm) {
  if (stage != Stage::Configure || !options.listConfigs)
    return buildStage(stage, form, pm);
  ConfigureOptions configure;
  configure.listConfigs = true;
  populateConfigurePipeline(pm, configure);
}

void Compilation::loadDialectsOf(PassManager &pm) {
  DialectRegistry needed;
  pm.getDependentDialects(needed);
  context->appendDialectRegistry(needed);
  for (StringRef name : needed.getDialectNames())
    context->getOrLoadDialect(name);
}

LogicalResult Compilation::runOn(ModuleOp module, Stage stage, KernelForm form) {
  ObservedStep step(&watcher, "program",
                    getStageName(stage) + " of " +
                        module.getName().value_or("the input"));
  PassManager pm(context, ModuleOp::getOperationName());
  buildFor(stage, form, pm);
  if (options.watch.extend)
    options.watch.extend(stage, pm);
  watcher.watch(pm);
  return pm.run(module);
}

LogicalResult Compilation::runStage(Stage stage) {
  ObservedStep step(&watcher, kSharedStep, "stage " + getStageName(stage));
  watcher.aroundStage(/*before=*/true, stage, *module);
  if (stage < Stage::Clone)
    return runOn(*module, stage, KernelForm::Thread);
  if (stage == Stage::Clone) {
    std::vector<ParsedTarget> cloned;
    for (const Job &job : jobs)
      if (job.backend->getKernelForm() != KernelForm::None)
        cloned.push_back(*job.target);
    clonePrograms(*module, cloned);
    auto programs = module->getOps<ModuleOp>();
    auto next = programs.begin();
    for (Job &job : jobs)
      if (job.backend->getKernelForm() != KernelForm::None)
        for (size_t i = 0; i < job.target->variants.size(); ++i)
          job.programs.push_back(*next++);
    return success();
  }
  SmallVector<std::pair<ModuleOp, KernelForm>> programs;
  for (Job &job : jobs) {
    KernelForm form = job.backend->getKernelForm();
    for (ModuleOp program : job.programs)
      programs.push_back({program, form});
    PassManager pm(context, ModuleOp::getOperationName());
    buildFor(stage, form, pm);
    loadDialectsOf(pm);
  }
  return failableParallelForEach(context, programs, [&](auto &program) {
    return runOn(program.first, stage, program.second);
  });
}

LogicalResult Compilation::afterStage(Stage stage, bool &stop) {
  watcher.aroundStage(/*before=*/false, stage, *module);
  if (options.onStage)
    options.onStage(stage, toText(*module, options.debugInfo));
  if (failed(checkPins(stage)))
    return failure();
  if (stage == Stage::Place && failed(keepHostForms()))
    return failure();
  // Later stages add to what configure decided.
  if (stage >= Stage::Configure)
    collectExplanations();
  stop = options.stopAfter == stage ||
         (options.listConfigs && stage == Stage::Configure);
  if (options.stopAfter == stage)
    result.outputs.push_back({"", toText(*module, options.debugInfo)});
  return success();
}

/// No config may be lost on its way to configure.
LogicalResult Compilation::checkPins(Stage stage) {
  if (stage == Stage::Input)
    pinned = {findPinned(*module)};
  // A compilation that goes on from a dump has seen no earlier stage.
  if (stage == Stage::Normalize && !pinned.empty())
    return keepsPinned(*module, pinned.front());
  if (stage == Stage::Clone) {
    pinned.clear();
    for (auto program : module->getOps<ModuleOp>())
      pinned.push_back(findPinned(program));
  }
  // A config of the kernel replaces that of an op.
  if (stage == Stage::Configure && !pinned.empty() &&
      !(*module)->hasAttr(kPinsAttr))
    for (auto [program, before] : llvm::zip_equal(module->getOps<ModuleOp>(), pinned))
      if (failed(keepsPinned(program, before)))
        return failure();
  return success();
}

/// That a target's variants call the same kernels in the same way: the host code of the
/// first is that of all.
static LogicalResult checkSameHost(ArrayRef<ModuleOp> programs) {
  auto isSame = [](func::FuncOp first, func::FuncOp other) {
    if (isKernel(first) || isKernel(other))
      return isKernel(first) == isKernel(other) &&
             first.getName() == other.getName() &&
             first.getFunctionType() == other.getFunctionType();
    return OperationEquivalence::isEquivalentTo(first, other,
                                                OperationEquivalence::IgnoreLocations);
  };
  for (ModuleOp program : ArrayRef(programs).drop_front()) {
    ModuleOp front = programs.front();
    auto firsts = llvm::to_vector(front.getOps<func::FuncOp>()),
         others = llvm::to_vector(program.getOps<func::FuncOp>());
    for (auto [first, other] : llvm::zip(firsts, others))
      if (!isSame(first, other))
        return other.emitError() << "its dispatches for " << *program.getSymName()
                                 << " are not those for " << *front.getSymName()
                                 << "; compile for one of the two alone";
    if (firsts.size() != others.size())
      return program.emitError() << "has not as many functions as "
                                 << *front.getSymName();
  }
  return success();
}

LogicalResult Compilation::keepHostForms() {
  for (Job &job : jobs) {
    if (job.programs.empty())
      continue;
    if (failed(checkSameHost(job.programs)))
      return failure();
    job.hostForm = cast<ModuleOp>(job.programs.front()->clone());
  }
  if (options.explain)
    for (Job &job : jobs)
      if (!job.programs.empty())
        result.programs.push_back(explainProgram(*job.hostForm, *job.target));
  // What is said of a function is no part of its code.
  for (Job &job : jobs)
    if (!job.programs.empty())
      for (auto func : job.hostForm->getOps<func::FuncOp>())
        func->removeAttr(kExplainAttr);
  return success();
}

void Compilation::collectExplanations() {
  result.explanation.clear();
  for (Job &job : jobs)
    for (ModuleOp program : job.programs) {
      if (options.explain)
        collectKernelLines(program, result.explanation);
      if (options.listConfigs)
        collectConfigs(program, result.configs);
    }
}
