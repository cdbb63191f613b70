// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of compileHost that the reference target shares.

#ifndef TILEWRIGHT_TARGET_HOST_EMITHOST_H
#define TILEWRIGHT_TARGET_HOST_EMITHOST_H

#include "tilewright/Target/Host/Host.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::host {

/// Host functions get names that no support function and no import has.
std::string getInternalName(llvm::StringRef name);

/// An error unless a public function has a signature that the ABI can carry.
mlir::LogicalResult checkSignature(mlir::func::FuncOp func);

/// Defines twh_exports: `functions` are pairs of name and symbol, kernels those
/// of the options' objects.
void createTables(
    mlir::ModuleOp module,
    llvm::ArrayRef<std::pair<std::string, std::string>> functions,
    const HostOptions &options);

/// From arith, math, vector and scf to the LLVM dialect; with `hasMemrefs`, also from memrefs.
void buildConversionToLLVM(mlir::OpPassManager &pm, bool hasMemrefs, bool debugInfo);

/// Generates code for a module in the LLVM dialect that defines twh_exports,
/// and links it. Fills the rest of `host`.
mlir::FailureOr<HostProgram> emitHost(mlir::ModuleOp module,
                                      const HostOptions &options,
                                      llvm::ArrayRef<std::string> allowed,
                                      HostProgram host);

} // namespace tilewright::host

#endif
