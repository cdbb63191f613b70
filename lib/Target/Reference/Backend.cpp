// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cpu-reference in the registry. It has no kernels: compileReference takes the
// whole input module instead.

#include "tilewright/Target/Reference/Reference.h"
#include "tilewright/Target/Target.h"

using namespace mlir;
using namespace tilewright;

namespace {
class ReferenceBackend final : public TargetBackend {
public:
  StringRef getName() const override { return "reference"; }
  StringRef getTargetName() const override { return "cpu-reference"; }
  StringRef getSyntax() const override { return "cpu-reference[:aarch64]"; }
  KernelForm getKernelForm() const override { return KernelForm::None; }

  void registerDialects(DialectRegistry &registry) const override {
    registerReferenceDialects(registry);
  }

  llvm::Expected<ParsedTarget> parse(MLIRContext *context,
                                     const TargetSpec &spec) const override {
    bool isArm = spec.version == "aarch64";
    if ((!spec.version.empty() && !isArm) || !spec.features.empty())
      return makeTargetError("target '" + spec.str() +
                             "' has no other versions and no features; accepted is " +
                             getSyntax());
    ParsedTarget target;
    target.name = spec.str();
    target.backend = getName();
    target.driver = "cpu";
    target.reference = true;
    target.required[isArm ? "aarch64" : "x86-64-v3"] = 1;
    NamedAttrList facts;
    if (isArm)
      facts.set("triple", StringAttr::get(context, "aarch64-unknown-linux-gnu"));
    target.variants.push_back(
        {TargetAttr::get(context, target.name, target.backend,
                         facts.getDictionary(context)),
         true, ""});
    return target;
  }

  void buildLowering(OpPassManager &, TargetAttr,
                     const BackendOptions &) const override {}

  FailureOr<KernelCode> emit(ModuleOp module,
                             const BackendOptions &) const override {
    return module.emitError("cpu-reference has no kernels; it compiles whole "
                            "modules");
  }
};
} // namespace

namespace tilewright {
std::unique_ptr<TargetBackend> createReferenceBackend() {
  return std::make_unique<ReferenceBackend>();
}
} // namespace tilewright
