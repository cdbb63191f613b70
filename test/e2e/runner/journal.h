// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of verdicts: one JSON object a line, written as the run goes, so that
// a crash or a power cut loses nothing. A line {"started": case, "device": d}
// comes before each verdict; a run that finds such a line at the end of the file
// knows that its predecessor died there, records that, and goes on after it.
#ifndef TILEWRIGHT_E2E_JOURNAL_H
#define TILEWRIGHT_E2E_JOURNAL_H

#include <cstdio>
#include <set>
#include <string>

namespace tilewright::e2e {

class Journal {
public:
  /// Opens `path`, reading what an earlier run left. Throws run::RunError.
  explicit Journal(const std::string &path);
  ~Journal();
  Journal(const Journal &) = delete;
  Journal &operator=(const Journal &) = delete;

  bool has(const std::string &name, const std::string &device) const;
  void start(const std::string &name, const std::string &device);
  /// verdict: "passed", "failed" or "skipped"; `reason` may be empty.
  void finish(const std::string &name, const std::string &device,
              const std::string &verdict, const std::string &reason);

  int failures = 0, passes = 0;

private:
  void write(const std::string &line);
  std::FILE *file = nullptr;
  std::set<std::pair<std::string, std::string>> done;
};

} // namespace tilewright::e2e

#endif // TILEWRIGHT_E2E_JOURNAL_H
