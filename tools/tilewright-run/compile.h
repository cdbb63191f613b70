// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From .mlir to an artifact: runs the tilewright-compile that lies beside this
// program, and keeps the result in a cache by content.
//
// The cache is $XDG_CACHE_HOME/tilewright (else ~/.cache/tilewright); an
// entry's name is the SHA-256 of the input, the targets, the further arguments,
// and the compiler's path, size and time. Entries can be deleted at any time. With
// arguments that may name files, whose text it would not see, it is left alone.
#ifndef TILEWRIGHT_RUN_COMPILE_H
#define TILEWRIGHT_RUN_COMPILE_H

#include <string>
#include <vector>

namespace tilewright::run {

struct CompileRequest {
  std::string input;   // path of the .mlir
  std::string targets; // "cuda:sm_90a,cpu-reference"
  std::vector<std::string> arguments;
  std::string parameters; // a file or folder; empty: the program's own folder
};

/// The artifact's bytes. Throws RunError; the compiler's diagnostics go to
/// stderr as they come.
std::string compileCached(const CompileRequest &request);

/// Where a tool of that name would be beside this program.
std::string pathBeside(const std::string &name);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_COMPILE_H
