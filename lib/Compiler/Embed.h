// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What C and C++ programs are linked with: --emit=object and --emit=header.

#ifndef TILEWRIGHT_LIB_COMPILER_EMBED_H
#define TILEWRIGHT_LIB_COMPILER_EMBED_H

#include "Package.h"

namespace tilewright {

/// `text` with everything that a C name cannot hold as '_'; never empty, never
/// beginning with a digit.
std::string asCName(llvm::StringRef text);

/// One relocatable object: the bytes of the artifact as `<prefix>_artifact` and
/// `<prefix>_artifact_size`, and the objects of all programs' hosts.
mlir::FailureOr<std::string>
buildObject(mlir::Location loc, llvm::StringRef prefix,
            llvm::StringRef artifact,
            llvm::ArrayRef<CompiledProgram> programs);

/// A C header with one function per function of the program, over the
/// runtime's C API.
mlir::FailureOr<std::string> buildHeader(mlir::Location loc,
                                         llvm::StringRef prefix,
                                         const CompiledProgram &program);

} // namespace tilewright

#endif
