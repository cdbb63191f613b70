// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the LLVM dialect to assembly or object code in process: what the back
// ends that go through LLVM have in common. Nothing here depends on the
// machine that the compiler runs on.

#ifndef TILEWRIGHT_TARGET_LLVMEMIT_H
#define TILEWRIGHT_TARGET_LLVMEMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace tilewright {

struct LLVMTargetOptions {
  std::string triple;
  std::string cpu;
  std::string features;
  /// a * b + c becomes one fma wherever it appears. (math.fma always does.)
  bool contract = false;
  /// Subnormal f32 inputs and results are zero.
  bool flushToZero = false;
  /// CPU code is position-independent.
  bool positionIndependent = false;
  /// Widest vectors that code generation may use, in bits; 0: its own choice.
  unsigned vectorBits = 0;
  /// Extensive optimisation in the code generator.
  bool aggressive = false;
};

/// Fills LLVM's list of targets with those that back ends use, once per process.
void initializeLLVMTargets();

/// Reads `contract` and `ftz` out of the module's tilewright.fp.
void readFloatOptions(mlir::ModuleOp module, LLVMTargetOptions &options);

/// A code generator, or null with an error emitted at `loc`.
std::unique_ptr<llvm::TargetMachine>
createTargetMachine(mlir::Location loc, const LLVMTargetOptions &options);

/// The module in LLVM IR with the machine's triple and data layout, or null
/// with an error emitted. The dialects' translations must be registered.
std::unique_ptr<llvm::Module>
translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context,
                llvm::TargetMachine &machine, const LLVMTargetOptions &options);

/// Runs a pass pipeline in the text form of `opt -passes=`; `extend` makes passes of ours
/// known to it.
mlir::LogicalResult runLLVMPasses(mlir::Location loc, llvm::Module &module,
                                  llvm::TargetMachine &machine,
                                  llvm::StringRef pipeline,
                                  llvm::function_ref<void(llvm::PassBuilder &)> extend = {});

/// Assembly text or an object file. The module is used up. Unless it `sinks`, instructions
/// stay in the basic blocks in which they are.
mlir::FailureOr<std::string> generateCode(mlir::Location loc,
                                          llvm::Module &module,
                                          llvm::TargetMachine &machine,
                                          llvm::CodeGenFileType type,
                                          bool sinks = true);

/// Textual LLVM IR.
std::string printLLVM(const llvm::Module &module);

} // namespace tilewright

#endif
