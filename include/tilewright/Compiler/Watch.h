// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compilation reports besides its result: the IR around stages and
// passes, how long each took, a trace, a reproducer of a failure.

#ifndef TILEWRIGHT_COMPILER_WATCH_H
#define TILEWRIGHT_COMPILER_WATCH_H

#include "tilewright/Stages/Stages.h"

#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <string>
#include <vector>

namespace tilewright {

struct WatchOptions {
  /// Names of stages ("tile") or passes ("canonicalize") around which the IR is
  /// printed to `irStream`; a name that nothing has is an error at the end.
  std::vector<std::string> printBefore, printAfter;
  bool printBeforeAll = false, printAfterAll = false;
  /// After a pass that failed.
  bool printAfterFailure = false;
  llvm::raw_ostream *irStream = &llvm::errs();

  /// Fill CompileResult::timing: time per stage, program, pass and kernel.
  bool timing = false;
  /// Fill CompileResult::trace.
  bool trace = false;

  /// When a pass fails or the compiler crashes, write the IR in front of it and
  /// the way to run it again to this file. A crash then is a failure like any
  /// other; signal handlers of the process are set while it compiles.
  std::string crashReproducer;

  /// Adds passes behind those of a stage.
  std::function<void(Stage, mlir::OpPassManager &)> extend;

  /// Whether compiling in parallel would mix or change what is reported.
  bool needsOneThread() const {
    return !printBefore.empty() || !printAfter.empty() || printBeforeAll ||
           printAfterAll || printAfterFailure || !crashReproducer.empty();
  }
};

} // namespace tilewright

#endif
