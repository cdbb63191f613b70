// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits of a process that compiles: how long it may take and how much memory
// it may hold. Where one is reached the process says so in one line and ends
// with status 1; files that it was writing under a temporary name are removed.

#ifndef TILEWRIGHT_TOOLS_COMPILE_LIMITS_H
#define TILEWRIGHT_TOOLS_COMPILE_LIMITS_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

/// From its construction to its end; one at a time, because memory is the
/// process's. A thread of its own looks at the clock and at the memory.
class Limits {
public:
  /// `tool`: in front of messages. 0 is no limit. `maxBytes` is of memory that
  /// is the process's own, not of code and files that it has mapped.
  Limits(std::string tool, double timeoutSeconds, uint64_t maxBytes);
  ~Limits();

private:
  struct Watch;
  std::unique_ptr<Watch> watch;
};

/// "500M", "4G", "1T", "64K" or a number of bytes; nothing if it is none, or 0.
std::optional<uint64_t> parseMemorySize(const std::string &text);

/// Makes memory that cannot be had end in one line and status 1.
void reportOutOfMemory(const std::string &tool);

#endif
