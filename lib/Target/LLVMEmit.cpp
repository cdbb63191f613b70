// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LLVM dialect, through LLVM's passes, to code. Each call has an
// LLVMContext and a TargetMachine of its own, so kernels compile in parallel.

#include "tilewright/Target/LLVMEmit.h"

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace tilewright;

void tilewright::readFloatOptions(ModuleOp module, LLVMTargetOptions &options) {
  auto flags = module->getAttrOfType<ArrayAttr>(kFpAttr);
  if (!flags)
    return;
  for (Attribute flag : flags) {
    auto text = dyn_cast<StringAttr>(flag);
    options.contract |= text && text.getValue() == "contract";
    options.flushToZero |= text && text.getValue() == "ftz";
  }
}

void tilewright::initializeLLVMTargets() {
  static llvm::once_flag once;
  llvm::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine>
tilewright::createTargetMachine(Location loc, const LLVMTargetOptions &options) {
  initializeLLVMTargets();
  std::string message;
  llvm::Triple triple(options.triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) {
    emitError(loc) << "this LLVM cannot generate code for '" << options.triple
                   << "': " << message;
    return nullptr;
  }
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = options.contract ? llvm::FPOpFusion::Fast
                                                   : llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, options.cpu, options.features, targetOptions,
      options.positionIndependent ? llvm::Reloc::PIC_ : llvm::Reloc::Static,
      std::nullopt,
      options.aggressive ? llvm::CodeGenOptLevel::Aggressive
                         : llvm::CodeGenOptLevel::Default));
  if (!machine)
    emitError(loc) << "this LLVM cannot generate code for '" << options.triple
                   << "'";
  return machine;
}

std::unique_ptr<llvm::Module>
tilewright::translateToLLVM(ModuleOp module, llvm::LLVMContext &context,
                            llvm::TargetMachine &machine,
                            const LLVMTargetOptions &options) {
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, "tilewright");
  if (!result)
    return nullptr;
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : *result) {
    if (function.isDeclaration())
      continue;
    if (options.flushToZero)
      function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
    if (options.vectorBits)
      function.addFnAttr("prefer-vector-width",
                         std::to_string(options.vectorBits));
  }
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*result, &stream)) {
    module.emitError() << "LLVM IR does not verify: " << problem;
    return nullptr;
  }
  return result;
}

/// Names mean nothing: a user's function `labs` is not the C library's.
static llvm::TargetLibraryInfoImpl getLibraryInfo(llvm::TargetMachine &machine) {
  llvm::TargetLibraryInfoImpl info(machine.getTargetTriple());
  info.disableAllFunctions();
  return info;
}

LogicalResult tilewright::runLLVMPasses(Location loc, llvm::Module &module,
                                        llvm::TargetMachine &machine,
                                        StringRef pipeline,
                                        llvm::function_ref<void(llvm::PassBuilder &)> extend) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  functions.registerPass(
      [&] { return llvm::TargetLibraryAnalysis(getLibraryInfo(machine)); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  if (extend)
    extend(builder);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, pipeline))
    return emitError(loc) << "bad LLVM pipeline: "
                          << llvm::toString(std::move(error));
  passes.run(module, modules);
  return success();
}

/// LLVM's straight-line strength reduction, which the NVPTX target adds, saves
/// registers in unrolled loops. On blocks much longer than those, and in functions of many, it
/// takes nine tenths of all code generation and changes next to nothing.
static constexpr size_t kLongBlock = 1024;
static constexpr size_t kLongFunction = 4096;

namespace {
class CodeGenPasses : public llvm::legacy::PassManager {
public:
  CodeGenPasses(const llvm::Module &module, bool sinks) : sinks(sinks) {
    for (const llvm::Function &function : module) {
      isLong |= function.getInstructionCount() > kLongFunction;
      for (const llvm::BasicBlock &block : function)
        isLong |= block.size() > kLongBlock;
    }
  }

  void add(llvm::Pass *pass) override {
    if ((isLong &&
         pass->getPassName() == "Straight line strength reduction") ||
        (!sinks && pass->getPassID() == &llvm::MachineSinkingLegacyID))
      delete pass;
    else
      llvm::legacy::PassManager::add(pass);
  }

private:
  bool isLong = false;
  bool sinks;
};
} // namespace

FailureOr<std::string> tilewright::generateCode(Location loc,
                                                llvm::Module &module,
                                                llvm::TargetMachine &machine,
                                                llvm::CodeGenFileType type,
                                                bool sinks) {
  llvm::SmallString<0> code;
  llvm::raw_svector_ostream stream(code);
  CodeGenPasses passes(module, sinks);
  passes.add(new llvm::TargetLibraryInfoWrapperPass(getLibraryInfo(machine)));
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return emitError(loc) << "this target cannot write such a file";
  passes.run(module);
  return std::string(code);
}

std::string tilewright::printLLVM(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}
