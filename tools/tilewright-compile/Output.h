// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the results of a compilation go.

#ifndef TILEWRIGHT_TOOLS_COMPILE_OUTPUT_H
#define TILEWRIGHT_TOOLS_COMPILE_OUTPUT_H

#include "tilewright/Compiler/Compiler.h"

#include "llvm/Support/Error.h"

/// One output goes to `path` itself; several, or one with a path of its own
/// where `path` is an existing directory or ends in '/', below the directory `path`.
llvm::Error writeOutputs(llvm::StringRef path,
                         llvm::ArrayRef<tilewright::CompileOutput> outputs);

/// With those above it, for whom the process's umask lets in.
std::error_code createFolders(llvm::StringRef path);

#endif
