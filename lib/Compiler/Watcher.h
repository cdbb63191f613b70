// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The observer behind WatchOptions.

#ifndef TILEWRIGHT_LIB_COMPILER_WATCHER_H
#define TILEWRIGHT_LIB_COMPILER_WATCHER_H

#include "Trace.h"
#include "tilewright/Compiler/Watch.h"
#include "tilewright/Target/Observer.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace tilewright {

/// The category of steps whose parts run on several threads.
inline constexpr llvm::StringLiteral kSharedStep = "stage";

class Watcher final : public CompileObserver {
public:
  explicit Watcher(const WatchOptions &options);
  ~Watcher() override;

  void watch(mlir::PassManager &pm) override;
  void begin(llvm::StringRef category, const llvm::Twine &name) override;
  void end() override;

  /// Prints the IR around a stage if that was asked for.
  void aroundStage(bool before, Stage stage, mlir::Operation *module);

  /// Runs `body`. With a reproducer wanted, a crash in it is an error at `loc`;
  /// that, or with `onFailure` any failure, writes `text()`, made beforehand,
  /// under a line that says how to run `command` on it, unless something inside
  /// has written one.
  mlir::LogicalResult guard(mlir::Location loc, const llvm::Twine &command,
                            llvm::function_ref<std::string()> text,
                            llvm::function_ref<mlir::LogicalResult()> body,
                            bool onFailure = true);
  bool hasCrashed() const { return crashed; }

  /// Names in printBefore and printAfter that nothing had, and what there was;
  /// empty if all is well.
  std::string unknownNames() const;
  std::string takeTrace() const { return trace ? trace->toJson() : ""; }
  /// Ends all timers.
  std::string takeTiming();

private:
  /// Whether `names` has the name of a pass or stage; notes that it was seen.
  bool isNamed(llvm::ArrayRef<std::string> names, llvm::StringRef name);
  void addPrinting(mlir::PassManager &pm);
  void addReproducer(mlir::PassManager &pm);
  mlir::TimingScope &currentTimer();
  /// Each pass manager with a reproducer disarms it when it is done.
  void armRecovery();
  bool writeReproducer(llvm::StringRef text, std::string &error);

  const WatchOptions &options;
  std::unique_ptr<TraceRecorder> trace;
  std::unique_ptr<mlir::DefaultTimingManager> timing;
  std::string timingText;
  mlir::TimingScope rootTimer;
  /// Steps of each thread; deques, because pass managers keep references.
  std::map<std::thread::id, std::deque<mlir::TimingScope>> timers;
  /// Stages and programs, whose parts threads share.
  std::vector<mlir::TimingScope *> shared;
  mutable std::mutex mutex;
  llvm::StringSet<> matched;
  std::set<std::string> seenPasses;
  bool reproducerWritten = false, crashed = false;
};

} // namespace tilewright

#endif
