// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices of time of each thread, in the JSON format that Perfetto and
// chrome://tracing read.

#ifndef TILEWRIGHT_LIB_COMPILER_TRACE_H
#define TILEWRIGHT_LIB_COMPILER_TRACE_H

#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tilewright {

/// Thread-safe.
class TraceRecorder {
public:
  TraceRecorder() : start(Clock::now()) {}
  /// A slice of the calling thread, inside those that it has begun.
  void begin(llvm::StringRef category, std::string name);
  void end();
  std::string toJson() const;

  /// Slices for the passes of a pass manager.
  std::unique_ptr<mlir::PassInstrumentation> instrument();

private:
  using Clock = std::chrono::steady_clock;
  struct Slice {
    llvm::StringRef category;
    std::string name;
    Clock::time_point begin, end;
    unsigned lane;
  };
  struct Lane {
    unsigned number = 0;
    std::vector<Slice> open;
  };

  Clock::time_point start;
  mutable std::mutex mutex;
  std::map<std::thread::id, Lane> lanes;
  std::vector<Slice> slices;
};

} // namespace tilewright

#endif
