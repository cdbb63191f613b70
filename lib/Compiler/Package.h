// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From compiled parts to outputs: the artifact, its manifest, or raw files.

#ifndef TILEWRIGHT_LIB_COMPILER_PACKAGE_H
#define TILEWRIGHT_LIB_COMPILER_PACKAGE_H

#include "Parameters.h"
#include "Source.h"

#include "tilewright/Artifact/Work.h"
#include "tilewright/Compiler/Compiler.h"
#include "tilewright/Target/Host/Host.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// One compiled variant of one kernel.
struct CompiledKernel {
  /// Name of the kernel that dispatches call.
  std::string dispatch;
  /// Which variant of it, by KernelExplanation's names.
  std::string program, kernel;
  /// The manifest's entry, without section, shared and subgroup.
  llvm::json::Object description;
  KernelCode code;
  /// Machine code by ptxas, where it was asked for.
  std::string cubin;
  /// Of a block; -1: none, or not known here.
  int64_t sharedBytes = -1;
  /// What the config was admitted for; 0: not said.
  PlannedResources planned;
};

/// One target, compiled.
struct CompiledProgram {
  const ParsedTarget *target = nullptr;
  const ArgumentNames *names = nullptr;
  HostProgram host;
  /// Of each of host.functions, in order; empty: unknown.
  std::vector<FunctionWork> work;
  /// In the order of dispatch numbers, from describeDispatch.
  std::vector<llvm::json::Object> dispatches;
  /// In the order in which the runtime tries them.
  std::vector<CompiledKernel> kernels;
};

mlir::LogicalResult package(mlir::Location loc,
                            llvm::MutableArrayRef<CompiledProgram> programs,
                            Parameters &parameters,
                            const CompileOptions &options, llvm::StringRef prefix,
                            std::vector<CompileOutput> &outputs);

} // namespace tilewright

#endif
