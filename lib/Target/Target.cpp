// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of back ends, and helpers that they share.

#include "tilewright/Target/Target.h"

#include "tilewright/Target/Observer.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tilewright;

TargetBackend::~TargetBackend() = default;

StringRef tilewright::getExtension(CodeKind kind) {
  switch (kind) {
  case CodeKind::PTX:
    return "ptx";
  case CodeKind::SPIRV:
    return "spv";
  case CodeKind::Object:
    return "o";
  }
  return "";
}

LogicalResult tilewright::runLowering(PassManager &pm, ModuleOp module,
                                      CompileObserver *observer) {
  pm.enableVerifier(false);
  if (observer)
    observer->watch(pm);
  return failed(pm.run(module)) ? failure() : verify(module);
}

//===----------------------------------------------------------------------===//
// TargetRegistry
//===----------------------------------------------------------------------===//

void TargetRegistry::add(std::unique_ptr<TargetBackend> backend) {
  backends.push_back(std::move(backend));
}

const TargetBackend *TargetRegistry::lookupTarget(StringRef name) const {
  for (const auto &backend : backends)
    if (backend->getTargetName() == name)
      return backend.get();
  return nullptr;
}

const TargetBackend *TargetRegistry::lookupBackend(StringRef name) const {
  for (const auto &backend : backends)
    if (backend->getName() == name)
      return backend.get();
  return nullptr;
}

void TargetRegistry::registerDialects(DialectRegistry &registry) const {
  for (const auto &backend : backends)
    backend->registerDialects(registry);
}

std::string TargetRegistry::getSyntax() const {
  std::string text;
  for (const auto &backend : backends) {
    if (!text.empty())
      text += ", ";
    text += backend->getSyntax();
  }
  return text;
}

llvm::Expected<ParsedTarget>
TargetRegistry::parse(MLIRContext *context, const TargetSpec &spec) const {
  if (const TargetBackend *backend = lookupTarget(spec.name))
    return backend->parse(context, spec);
  return makeTargetError("unknown target '" + spec.name +
                         "'; accepted are " + getSyntax());
}

llvm::Expected<ParsedTarget> TargetRegistry::parse(MLIRContext *context,
                                                   StringRef text) const {
  llvm::Expected<TargetSpec> spec = parseTargetSpec(text);
  if (!spec)
    return spec.takeError();
  return parse(context, *spec);
}

llvm::Expected<std::vector<ParsedTarget>>
TargetRegistry::parseList(MLIRContext *context, StringRef text) const {
  llvm::Expected<SmallVector<TargetSpec>> specs = parseTargetSpecs(text);
  if (!specs)
    return specs.takeError();
  std::vector<ParsedTarget> targets;
  for (const TargetSpec &spec : *specs) {
    llvm::Expected<ParsedTarget> target = parse(context, spec);
    if (!target)
      return target.takeError();
    // Different texts may name one target: `cuda:sm_80` and `cuda:80`.
    for (const ParsedTarget &other : targets)
      if (other.name == target->name)
        return makeTargetError("target '" + target->name +
                               "' is given twice");
    targets.push_back(std::move(*target));
  }
  return targets;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

llvm::Expected<std::optional<int64_t>>
tilewright::getNumberFeature(const TargetSpec &spec, StringRef key, int64_t least, int64_t most,
                             bool powerOf2) {
  std::optional<StringRef> text = spec.getFeature(key);
  if (!text)
    return std::nullopt;
  int64_t value;
  if (text->getAsInteger(10, value) || value < least || value > most ||
      (powerOf2 && !llvm::isPowerOf2_64(value)))
    return makeTargetError("target '" + spec.str() + "': '" + key +
                           "' must be a" +
                           (powerOf2 ? " power of two" : " number") + " from " +
                           llvm::Twine(least) + " to " + llvm::Twine(most));
  return value;
}

llvm::Error tilewright::checkFeatures(const TargetSpec &spec,
                                      ArrayRef<StringRef> accepted,
                                      StringRef syntax,
                                      ArrayRef<StringRef> repeated) {
  for (const TargetFeature &feature : spec.features) {
    bool repeats = llvm::is_contained(repeated, feature.name);
    if (!repeats && !llvm::is_contained(accepted, feature.name))
      return makeTargetError("target '" + spec.str() +
                             "' has unknown feature '" + feature.name +
                             "'; accepted is " + syntax);
    if (!repeats && spec.getValues(feature.name).size() > 1)
      return makeTargetError("target '" + spec.str() + "': feature '" +
                             feature.name + "' is given twice");
  }
  return llvm::Error::success();
}

FunctionOpInterface tilewright::getOnlyKernel(ModuleOp module) {
  FunctionOpInterface kernel;
  for (auto func : module.getOps<FunctionOpInterface>()) {
    if (!isKernel(func))
      continue;
    if (kernel) {
      func->emitError() << "a module to be lowered holds one kernel, but this "
                           "one follows @"
                        << kernel.getName();
      return {};
    }
    kernel = func;
  }
  if (!kernel)
    module.emitError() << "a module to be lowered holds one kernel: a function "
                          "with '"
                       << kKernelAttr << "'";
  return kernel;
}
