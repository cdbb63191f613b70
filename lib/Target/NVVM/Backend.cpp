// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The NVVM back end: which targets there are, what stages may know about them,
// and the way from the thread form to the NVVM dialect.

#include "Chips.h"
#include "Emit.h"
#include "Instructions.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Support/ChipFacts.h"
#include "tilewright/Target/NVVM/Passes.h"
#include "tilewright/Target/Passes.h"
#include "tilewright/Target/Target.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::nvvm;

static TargetAttr makeTarget(MLIRContext *context, StringRef name, const ChipName &chip,
                             int64_t registers, std::optional<int64_t> multiprocessors) {
  Builder builder(context);
  NamedAttrList facts;
  auto number = [&](StringRef key, int64_t value) {
    facts.set(key, builder.getI64IntegerAttr(value));
  };
  auto texts = [&](StringRef key, ArrayRef<StringRef> values) {
    facts.set(key, builder.getStrArrayAttr(values));
  };
  int sm = chip.chip.sm;
  facts.set("chip", builder.getStringAttr(chip.str()));
  number("sm", sm);
  number("ptx", chip.getPTX());
  if (chip.suffix)
    facts.set(chip.suffix == 'a' ? "arch_specific" : "family_specific",
              builder.getUnitAttr());
  number("subgroup", 32);
  number("max_threads", 1024);
  number("shared_memory", int64_t(chip.chip.sharedKiB) * 1024);
  number("registers", registers);
  if (multiprocessors)
    number("multiprocessors", *multiprocessors);
  number("access_bytes", 16);
  number("index_bits", 32);
  facts.set("wide_index", builder.getUnitAttr());
  facts.set("shuffle", builder.getUnitAttr());
  // CUDA C++ Programming Guide, the C++ execution model: device threads have parallel forward
  // progress, those that have begun go on.
  facts.set("forward_progress", builder.getUnitAttr());
  facts.set("masked_runs", builder.getUnitAttr());
  if (sm >= 75)
    facts.set("load_matrices", builder.getUnitAttr());
  if (sm >= 80)
    facts.set("async_copy", builder.getUnitAttr());
  // Instructions of a block's own memory, which nothing here writes yet.
  if (sm >= 100 && sm < 120 && chip.suffix)
    facts.set("unused_mma", builder.getStringAttr("tcgen05"));
  if (sm >= 90) {
    facts.set("tensor_copy", builder.getUnitAttr());
    facts.set("dependent_launch", builder.getUnitAttr());
  }
  // Chips for workstations (sm_120, 121) have clusters of one block: CUTLASS 4,
  // "Blackwell SM120 GEMMs": no multicast.
  if (sm >= 90 && sm < 120)
    facts.set("multicast", builder.getUnitAttr());
  SmallVector<StringRef> mma, emulated;
  for (const MmaForm &form : getMmaForms())
    if (form.isNativeOn(sm))
      mma.push_back(form.name);
    else if (form.isEmulatedOn(sm))
      emulated.push_back(form.name);
  texts("mma", mma);
  if (!emulated.empty())
    texts("mma_emulated", emulated);
  // wgmma is of one capability alone.
  if (sm == 90 && chip.suffix == 'a') {
    SmallVector<Attribute> names;
    for (const WarpgroupForm &form : getWarpgroupForms())
      for (int columns : getWarpgroupColumns())
        names.push_back(builder.getStringAttr("wgmma.m64n" + Twine(columns) + "k" +
                                              Twine(form.k) + "." + form.types));
    facts.set("warpgroup_mma", builder.getArrayAttr(names));
    // DeepSeek-V3 Technical Report (arXiv 2412.19437), 3.3.2: measured on H800.
    number("float8_sum_bits", 14);
  }
  texts("types", {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "i1"});
  texts("storage", {"f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2",
                    "f8E4M3FNUZ", "f8E5M2FNUZ", "i64", "i32", "i16", "i8"});
  return TargetAttr::get(context, name, "nvvm",
                         facts.getDictionary(context));
}

namespace {
class NVVMBackend final : public TargetBackend {
public:
  StringRef getName() const override { return "nvvm"; }
  StringRef getTargetName() const override { return "cuda"; }
  StringRef getSyntax() const override {
    return "cuda:sm_NN[a|f][+registers=N][+multiprocessors=N] (NN = 75, 80, 86, 87, 88, "
           "89, 90, 100, 101, 103, 110, 120, 121; all of them multiply matrices by mma.sync, sm_90a by "
           "wgmma and TMA in clusters, too; tcgen05 of sm_100a is not used yet; registers: "
           "configs may be planned for so many of a thread, 255 if not said; multiprocessors: "
           "of the device that configs are chosen for, those of one chip of its compute "
           "capability if not said)";
  }
  KernelForm getKernelForm() const override { return KernelForm::Thread; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  llvm::Expected<ParsedTarget> parse(MLIRContext *context,
                                     const TargetSpec &spec) const override {
    if (llvm::Error error = checkFeatures(spec, {"registers", "multiprocessors"}, getSyntax()))
      return std::move(error);
    // More than an instruction can name: what the estimate refuses otherwise (perf/static/refused).
    auto registers = getNumberFeature(spec, "registers", 32, 1024);
    if (!registers)
      return registers.takeError();
    auto multiprocessors = getNumberFeature(spec, "multiprocessors", 1, 1024);
    if (!multiprocessors)
      return multiprocessors.takeError();
    std::optional<ChipName> chip = lookupChip(spec.version);
    if (!chip)
      return makeTargetError("target '" + spec.str() + "': " +
                             (spec.version.empty()
                                  ? std::string("a compute capability is missing")
                                  : "no compute capability '" + spec.version + "'") +
                             "; accepted is " + getSyntax());
    ParsedTarget target;
    target.name = spec.str();
    target.backend = getName();
    target.driver = "cuda";
    // `a` code runs on exactly this capability, `f` code within its family,
    // everything else on any newer one.
    target.required["sm"] = chip->chip.sm;
    if (chip->suffix == 'a')
      target.required["sm_exact"] = chip->chip.sm;
    if (chip->suffix == 'f')
      target.required["sm_family"] = chip->chip.sm;
    target.required["ptx"] = chip->getPTX();
    target.variants.push_back({makeTarget(context, target.name, *chip,
                                          registers->value_or(kNamedRegisters),
                                          *multiprocessors),
                               true, ""});
    return target;
  }

  void buildLowering(OpPassManager &pm, TargetAttr target,
                     const BackendOptions &options) const override {
    if (target.has("dependent_launch"))
      pm.addPass(createDependentLaunchPass());
    pm.addPass(createShareReciprocalsPass());
    pm.addPass(createNativeFloat8Pass());
    pm.addPass(createNativeExtremaPass());
    pm.addPass(createNativeMathPass());
    pm.addPass(createExpandMathPass());
    pm.addPass(createExpandFloat8Pass());
    pm.addPass(createLowerAffinePass());
    pm.addPass(arith::createArithExpandOpsPass());
    pm.addPass(createCanonicalizePass("lower"));
    pm.addPass(createCSEPass());
    pm.addPass(createSCFToControlFlowPass());
    pm.addPass(createConvertToNVVMPass());
    pm.addPass(createCSEPass());
    if (options.debugInfo)
      pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  }

  FailureOr<KernelCode> emit(ModuleOp module,
                             const BackendOptions &options) const override {
    return emitPTX(module, options);
  }
};
} // namespace

namespace tilewright {
std::unique_ptr<TargetBackend> createNVVMBackend() {
  return std::make_unique<NVVMBackend>();
}
} // namespace tilewright
