// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files in and out, for the tools that are made of LLVM.

#ifndef TILEWRIGHT_SUPPORT_FILES_H
#define TILEWRIGHT_SUPPORT_FILES_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace tilewright {

/// What a program's text may have at most; an endless file is refused there.
constexpr uint64_t kMaxProgramBytes = uint64_t(1) << 30;

/// A program's text; "-" is standard input.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readProgram(llvm::StringRef path, uint64_t maxBytes = kMaxProgramBytes);

/// "-" is standard output. A regular file is replaced at once: the path has all
/// of `bytes` or what it had. Devices, pipes and symbolic links are opened and
/// written to.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef bytes);

/// Writes into the file that `path` opens, for files of a folder of one's own, which nobody
/// else reads meanwhile.
llvm::Error writeInPlace(llvm::StringRef path, llvm::StringRef bytes);

} // namespace tilewright

#endif
