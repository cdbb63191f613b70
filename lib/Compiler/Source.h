// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From text to a module: what is refused before and right after parsing.

#ifndef TILEWRIGHT_LIB_COMPILER_SOURCE_H
#define TILEWRIGHT_LIB_COMPILER_SOURCE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

#include <string>
#include <vector>

namespace tilewright {

/// Every dialect that input may use, with what the stages need attached.
void registerInputDialects(mlir::DialectRegistry &registry);

/// Parses buffer 1 of `sources`; null after a diagnostic. Refuses bytecode,
/// text nested so deep that the parser would overflow its stack, and modules
/// without a function to compile, unless it is IR from between the stages, whose
/// functions are in programs.
mlir::OwningOpRef<mlir::ModuleOp> parseSource(llvm::SourceMgr &sources,
                                              mlir::MLIRContext &context,
                                              bool betweenStages = false);

/// The names that the text gives to arguments, after keepNames, by function: "x"
/// for %x, empty for %0 and where there is no text.
using ArgumentNames = llvm::StringMap<std::vector<std::string>>;
ArgumentNames getArgumentNames(mlir::ModuleOp module);

/// Puts the names of ops and values in the text into the locations of `module`, for
/// errors (UserNames.h).
void keepNames(const llvm::SourceMgr &sources, mlir::ModuleOp module);

/// Says in `diagnostic` the name that its op has in the text, where that has
/// become a linalg.generic.
void useWrittenNames(mlir::Diagnostic &diagnostic);

} // namespace tilewright

#endif
