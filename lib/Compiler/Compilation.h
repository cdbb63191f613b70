// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One compilation, from text to what is packaged (Compiler.cpp has its way).

#ifndef TILEWRIGHT_LIB_COMPILER_COMPILATION_H
#define TILEWRIGHT_LIB_COMPILER_COMPILATION_H

#include "Package.h"
#include "Parameters.h"
#include "Watcher.h"
#include "tilewright/Compiler/Compiler.h"
#include "tilewright/Target/Compile.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

namespace tilewright {

/// One target on its way.
struct Job {
  const ParsedTarget *target = nullptr;
  const TargetBackend *backend = nullptr;
  /// One per variant, nested in the input's module.
  llvm::SmallVector<mlir::ModuleOp> programs;
  /// The first variant's program after place: host code and kernel signatures.
  /// For the reference, the input.
  mlir::OwningOpRef<mlir::ModuleOp> hostForm;
};

class Compilation {
public:
  Compilation(const CompileOptions &options, CompileResult &result)
      : options(options), result(result), registry(createTargetRegistry()),
        watcher(options.watch) {}
  mlir::LogicalResult run(llvm::StringRef source, llvm::StringRef name);

private:
  mlir::LogicalResult compileAll(llvm::SourceMgr &sources);
  mlir::LogicalResult emitLoops();
  mlir::LogicalResult emitHeader();

  // ReadInput.cpp
  mlir::LogicalResult parse(llvm::SourceMgr &sources);
  mlir::LogicalResult checkRequirements();
  void loadStageDialects();
  mlir::DenseI64ArrayAttr float8Sums();
  mlir::LogicalResult findPrograms();

  // RunStages.cpp
  mlir::LogicalResult runStage(Stage stage);
  mlir::LogicalResult afterStage(Stage stage, bool &stop);
  void buildFor(Stage stage, KernelForm form, mlir::OpPassManager &pm);
  mlir::LogicalResult runOn(mlir::ModuleOp module, Stage stage, KernelForm form);
  /// Loads the dialects that `pm` will ask for. Threads must not: loading changes the
  /// context.
  void loadDialectsOf(mlir::PassManager &pm);
  mlir::LogicalResult checkPins(Stage stage);
  mlir::LogicalResult keepHostForms();
  void collectExplanations();

  // CompilePrograms.cpp
  mlir::LogicalResult compileProgram(Job &job, CompiledProgram &program);
  mlir::LogicalResult compileOracle(Job &job, const HostOptions &host,
                                    CompiledProgram &program);
  mlir::LogicalResult compileKernels(Job &job, CompiledProgram &program);
  mlir::FailureOr<KernelCode> compileCached(mlir::func::FuncOp kernel);
  mlir::FailureOr<KernelCode> compileGuarded(mlir::func::FuncOp kernel);
  void reportNotes(const Job &job, const CompiledProgram &program);
  void declareSubBytes(HostProgram &host);
  BackendOptions backendOptions() const;

  const CompileOptions &options;
  CompileResult &result;
  /// What C names begin with.
  std::string prefix;
  TargetRegistry registry;
  mutable Watcher watcher;
  std::vector<ParsedTarget> targets;
  ArgumentNames names;
  Parameters parameters;
  /// Of functions that take tensors of i4 or i2, as they were written.
  llvm::StringMap<mlir::FunctionType> subByteSignatures;
  std::vector<Job> jobs;
  /// Where ops with configs stand: of the input, then of each program.
  std::vector<llvm::SmallVector<mlir::FileLineColLoc>> pinned;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::MLIRContext *context = nullptr;
};

/// `op` as text that can be read again. Stages and pass managers have verified it.
std::string toText(mlir::Operation *op, bool debugInfo);

} // namespace tilewright

#endif
