// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings: what the checks saw go wrong, where, and with which other access.

#ifndef TILEWRIGHT_PTXSIM_CHECKS_FINDINGS_H
#define TILEWRIGHT_PTXSIM_CHECKS_FINDINGS_H

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tilewright::ptxsim {

enum class FindingKind : uint8_t {
#define PTXSIM_FINDING(name, spelling) name,
#include "checks/Findings.def"
};
const char *spelling(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::OutOfBounds;
  std::string message;
  std::string kernel;
  std::string instruction;
  uint32_t line = 0;
  std::string sourceFile;
  uint32_t sourceLine = 0;
  /// Where it stands itself, if it is of a function that was inlined at the source's line.
  std::string inlinedFile;
  uint32_t inlinedLine = 0;
  bool hasThread = false;
  uint32_t block[3] = {0, 0, 0};
  uint32_t warp = 0;
  uint32_t lane = 0;
  uint64_t address = 0;
  /// Line of the other access of a race, or 0.
  uint32_t otherLine = 0;
  uint64_t count = 1;
  /// By a rule that no hardware has confirmed yet: it fails no launch.
  bool isWarning = false;

  std::string str() const;
  std::string json() const;
};

/// Collects findings; equal ones (kind, line, other line, kernel) are counted, not repeated. Thread-safe.
class FindingLog {
public:
  /// True when the finding is new.
  bool add(Finding finding);
  std::vector<Finding> all() const;
  size_t size() const;
  void clear();
  /// Findings number `from` to `to` - 1 for people: those of one cause (kind, kernel, and words) are told by the first of
  /// them and the lines of the others.
  std::string text(size_t from, size_t to) const;
  /// A JSON array.
  std::string json() const;

private:
  mutable std::mutex mutex;
  std::vector<Finding> findings;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_CHECKS_FINDINGS_H
