// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of tilewright-compile that look on: printed IR, timing, traces,
// reproducers. Each also goes by the name that mlir-opt gives it.

#ifndef TILEWRIGHT_TOOLS_COMPILE_WATCH_H
#define TILEWRIGHT_TOOLS_COMPILE_WATCH_H

#include "tilewright/Compiler/Compiler.h"

#include "llvm/Support/Error.h"

namespace CLI {
class App;
} // namespace CLI

struct WatchArguments {
  tilewright::WatchOptions options;
  std::string trace; // a path
};

void declareWatchOptions(CLI::App &app, WatchArguments &arguments);

tilewright::WatchOptions watchOptions(const WatchArguments &arguments);

/// Prints and writes what was reported, whether the compilation succeeded or
/// not.
llvm::Error writeWatched(const WatchArguments &arguments,
                         const tilewright::CompileResult &result);

#endif
