// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The NVVM dialect to PTX text by LLVM's NVPTX back end, in process. No CUDA
// Toolkit takes part, and no library of it is linked: a call that is left over
// is an error here, not at the driver's linker.

#include "Emit.h"

#include "Chips.h"
#include "Convert.h"
#include "ScaleAddresses.h"
#include "SplitAddresses.h"

#include "tilewright/Dialect/Rings.h"
#include "tilewright/Target/LLVMEmit.h"

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::nvvm;

/// What MLIR's canonicalizer cannot do and the code generator does not: scalar
/// clean-up on SSA form with control flow. No unrolling and no vectorizing:
/// the schedule has decided that. `sinks`: whether values are computed where they are used;
/// tiles that meet sums piece by piece (`tilewright.loaded_tiles`) would wait for all pieces.
static std::string pipelineOf(bool sinks) {
  return std::string(
             "function(simplifycfg,early-cse<memssa>,"
             "loop-mssa(loop-rotate<header-duplication>,licm),tilewright-split-addresses,"
             "instcombine<no-verify-fixpoint>,loop-mssa(licm),gvn,slp-vectorizer,") +
         (sinks ? "sink," : "") + "instcombine<no-verify-fixpoint>,simplifycfg,tilewright-scale-addresses)";
}

static void addOwnPasses(llvm::PassBuilder &builder) {
  builder.registerPipelineParsingCallback(
      [](StringRef name, llvm::FunctionPassManager &passes,
         ArrayRef<llvm::PassBuilder::PipelineElement>) {
        if (name == SplitAddressesPass::kName)
          passes.addPass(SplitAddressesPass());
        else if (name == ScaleAddressesPass::kName)
          passes.addPass(ScaleAddressesPass());
        else
          return false;
        return true;
      });
}

FailureOr<KernelCode> tilewright::nvvm::emitPTX(ModuleOp module,
                                                const BackendOptions &options) {
  FunctionOpInterface kernel = getOnlyKernel(module);
  if (!kernel)
    return failure();
  TargetAttr target = getTarget(module);
  std::optional<ChipName> chip;
  if (target)
    chip = lookupChip(target.getText("chip"));
  if (!chip)
    return module.emitError()
           << "'" << kTargetAttr << "' must name a 'chip', such as \"sm_80\"";

  int ptx = std::max(chip->getPTX(), getNeededPTX(module));
  LLVMTargetOptions llvmOptions;
  llvmOptions.triple = "nvptx64-nvidia-cuda";
  llvmOptions.cpu = chip->str();
  llvmOptions.features = "+ptx" + std::to_string(ptx);
  readFloatOptions(module, llvmOptions);
  Location loc = kernel->getLoc();
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(loc, llvmOptions);
  if (!machine)
    return failure();

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir =
      translateToLLVM(module, context, *machine, llvmOptions);
  bool sinks = !kernel->hasAttr(kLoadedTilesAttr);
  if (!ir || failed(runLLVMPasses(loc, *ir, *machine, pipelineOf(sinks), addOwnPasses)))
    return failure();

  KernelCode code;
  code.kind = CodeKind::PTX;
  code.entry = kernel.getName();
  if (options.keepText)
    code.llvm = printLLVM(*ir);
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kDynamicSharedAttr))
    code.dynamicShared = bytes.getInt();
  code.subgroup = 32;
  code.required["ptx"] = ptx;

  FailureOr<std::string> text =
      generateCode(loc, *ir, *machine, llvm::CodeGenFileType::AssemblyFile, sinks);
  if (failed(text))
    return failure();
  size_t call = text->find(".extern .func");
  if (call != std::string::npos) {
    StringRef rest = StringRef(*text).drop_front(call);
    return kernel->emitOpError()
           << "needs a function that PTX does not have: "
           << rest.take_until([](char c) { return c == '\n'; });
  }
  code.bytes = std::move(*text);
  return code;
}
