// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compilation begins with: targets, the program's text, parameters, pinned configs,
// what options say of the whole module.

#include "Compilation.h"
#include "ConfigFile.h"
#include "Source.h"
#include "TuningFile.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Nibbles.h"
#include "tilewright/Input/Input.h"
#include "tilewright/Target/Reference/BoundErrors.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace tilewright;

/// Programs without kernels never see a stage that could refuse one.
LogicalResult Compilation::checkRequirements() {
  if (options.require.empty())
    return success();
  auto hasNoKernels = [&](const ParsedTarget &target) {
    return registry.lookupBackend(target.backend)->getKernelForm() ==
           KernelForm::None;
  };
  bool all = llvm::all_of(targets, hasNoKernels);
  for (const ParsedTarget &target : targets)
    if (hasNoKernels(target))
      result.diagnostics += std::string(all ? "error" : "warning") + ": " +
                            target.name + " has no kernels, and nothing in it runs on " +
                            "matrix units: --require=matrix-unit " +
                            (all ? "cannot hold; name a target that has them\n"
                                 : "holds for the other targets only\n");
  return failure(all);
}

LogicalResult Compilation::parse(llvm::SourceMgr &sources) {
  ObservedStep step(&watcher, kSharedStep, "parse");
  llvm::Expected<std::vector<ParsedTarget>> parsed =
      registry.parseList(context, options.targets);
  if (!parsed) {
    result.diagnostics +=
        "error: " + llvm::toString(parsed.takeError()) + "\n";
    return failure();
  }
  targets = std::move(*parsed);
  if (failed(checkRequirements()))
    return failure();
  if (options.startAt)
    loadStageDialects();
  module = parseSource(sources, *context, options.startAt.has_value());
  if (!module)
    return failure();
  keepNames(sources, *module);
  names = getArgumentNames(*module);
  if (failed(parameters.read(*module, sources.getMemoryBuffer(1)->getBufferIdentifier(),
                             options.parameters)))
    return failure();
  std::string wrong;
  if (!options.configs.empty() &&
      failed(applyConfigFile(*module, options.configs, registry, wrong))) {
    result.diagnostics += "error: " + options.configsName + ": " + wrong + "\n";
    return failure();
  }
  if (failed(checkPinTargets(*module, registry)))
    return failure();
  if (!options.tuning.empty() &&
      failed(applyTuningFile(*module, options.tuning, options.tuningChip, wrong))) {
    result.diagnostics += "error: " + options.tuningName + ": " + wrong + "\n";
    return failure();
  }
  auto note = [&](StringRef attribute, const std::vector<std::string> &values) {
    SmallVector<StringRef> list(values.begin(), values.end());
    if (!list.empty())
      module->getOperation()->setAttr(attribute,
                                      Builder(context).getStrArrayAttr(list));
  };
  note(kFpAttr, options.fp);
  if (!options.asserts)
    module->getOperation()->setAttr(kAssertsAttr,
                                    StringAttr::get(context, "off"));
  note(kRequireAttr, options.require);
  if (!options.externalBlas.empty())
    module->getOperation()->setAttr(kExternalBlasAttr,
                                    StringAttr::get(context, options.externalBlas));
  for (auto func : module->getOps<func::FuncOp>())
    if (llvm::any_of(func.getArgumentTypes(), [](Type type) {
          return elementsPerByte(getElementTypeOrSelf(type)) > 1;
        }))
      subByteSignatures[func.getName()] = func.getFunctionType();
  for (const ParsedTarget &target : targets) {
    Job &job = jobs.emplace_back();
    job.target = &target;
    job.backend = registry.lookupBackend(target.backend);
    if (job.backend->getKernelForm() == KernelForm::None) {
      job.hostForm = cast<ModuleOp>(module->getOperation()->clone());
      job.hostForm.get()->setAttr(kTargetAttr, target.variants.front().target);
      if (DenseI64ArrayAttr sums = float8Sums())
        job.hostForm.get()->setAttr(kFloat8SumsAttr, sums);
    }
  }
  return options.startAt ? findPrograms() : success();
}

void Compilation::loadStageDialects() {
  DialectRegistry needed;
  registerStageDialects(needed);
  context->appendDialectRegistry(needed);
  context->loadAllAvailableDialects();
}

/// What the oracle allows sums of 8-bit floats: as few bits as a target keeps of them,
/// over a step of sums in two levels, or over all terms (--fp=fast-f8-sums).
DenseI64ArrayAttr Compilation::float8Sums() {
  constexpr int64_t kStep = 128;
  int64_t bits = 0;
  for (const ParsedTarget &target : targets)
    for (const TargetVariant &variant : target.variants)
      if (int64_t kept = variant.target.getFact("float8_sum_bits"))
        bits = bits ? std::min(bits, kept) : kept;
  bool isFast = llvm::is_contained(options.fp, "fast-f8-sums");
  return bits ? DenseI64ArrayAttr::get(context, {bits, isFast ? 0 : kStep})
              : DenseI64ArrayAttr();
}

/// Of IR from behind stage clone: which program is whose.
LogicalResult Compilation::findPrograms() {
  Stage start = *options.startAt;
  auto error = [&] {
    return emitError(module->getLoc()) << "--start-at=" << getStageName(start);
  };
  OwningOpRef<ModuleOp> placed;
  if (start > Stage::Place) {
    placed = parseSourceString<ModuleOp>(options.placed, context);
    if (!placed)
      return error() << ": the IR after stage place does not parse";
  }
  for (Job &job : jobs) {
    if (job.backend->getKernelForm() == KernelForm::None) {
      if (start != Stage::Input)
        return error() << ": " << job.target->name
                       << " compiles the program as it was written; leave it "
                          "out of --target";
      continue;
    }
    for (const TargetVariant &variant : job.target->variants) {
      std::string name = programName(*job.target, variant);
      auto find = [&](ModuleOp all) {
        return dyn_cast_or_null<ModuleOp>(
            SymbolTable::lookupSymbolIn(all, name));
      };
      if (start <= Stage::Clone)
        continue;
      ModuleOp program = find(*module);
      if (!program || program->getAttr(kTargetAttr) != variant.target)
        return error() << ": the input has no program for " << job.target->name
                       << " ('" << name
                       << "'); --target has to be that of --dump-stages";
      job.programs.push_back(program);
      if (!placed || job.hostForm)
        continue;
      ModuleOp host = find(*placed);
      if (!host)
        return error() << ": the IR after stage place is of other targets";
      job.hostForm = cast<ModuleOp>(host->clone());
    }
  }
  return success();
}
