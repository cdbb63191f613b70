// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who wants to look on while something is compiled: told of every pass manager
// before it runs, and of every step of a thread. Null everywhere means that
// nobody looks, which costs nothing.

#ifndef TILEWRIGHT_TARGET_OBSERVER_H
#define TILEWRIGHT_TARGET_OBSERVER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"

namespace mlir {
class ModuleOp;
class PassManager;
} // namespace mlir

namespace tilewright {

/// Called from any thread of a compilation.
class CompileObserver {
public:
  virtual ~CompileObserver() = default;
  /// `pm` has its passes and will be run.
  virtual void watch(mlir::PassManager &pm) = 0;
  /// A step of the calling thread; steps nest. `category` is a literal.
  virtual void begin(llvm::StringRef category, const llvm::Twine &name) = 0;
  virtual void end() = 0;
};

/// A step for as long as it lives; `observer` may be null.
class ObservedStep {
public:
  ObservedStep(CompileObserver *observer, llvm::StringRef category,
               const llvm::Twine &name)
      : observer(observer) {
    if (observer)
      observer->begin(category, name);
  }
  ~ObservedStep() {
    if (observer)
      observer->end();
  }
  ObservedStep(const ObservedStep &) = delete;
  ObservedStep &operator=(const ObservedStep &) = delete;

private:
  CompileObserver *observer;
};

/// Runs the passes that make code for a machine of `module`, some fifty, watched by `observer`, which may be null. What all of
/// them leave is verified, not what each one leaves, to save time.
llvm::LogicalResult runLowering(mlir::PassManager &pm, mlir::ModuleOp module,
                                CompileObserver *observer);

} // namespace tilewright

#endif
