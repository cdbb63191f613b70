// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counting issue slots.

#include "machine/IssueCounts.h"
#include "machine/SharedTraffic.h"
#include "machine/State.h"

namespace tilewright::ptxsim {

IssueCounts::IssueCounts(const Program &program) : program(program), counters(program.code.size()) {}

void IssueCounts::count(const Inst &inst, uint32_t mask) {
  Counters &counts = counters[static_cast<size_t>(&inst - program.code.data())];
  counts.executed.fetch_add(1, std::memory_order_relaxed);
  counts.lanes.fetch_add(static_cast<unsigned>(__builtin_popcount(mask)), std::memory_order_relaxed);
}

std::vector<IssueRow> IssueCounts::rows() const {
  std::vector<IssueRow> result;
  for (size_t i = 0; i < counters.size(); ++i) {
    const Inst &inst = program.code[i];
    // Instructions without syntax are the decoder's own.
    if (counters[i].executed != 0 && inst.syntax)
      result.push_back({inst.syntax->name(), inst.line, counters[i].executed, counters[i].lanes});
  }
  return result;
}

std::string issueLines(const std::string &kernel, const LaunchShape &shape, const std::vector<IssueRow> &rows) {
  auto list = [](const uint32_t *values) {
    return "[" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " + std::to_string(values[2]) + "]";
  };
  std::string head = "{\"kernel\": " + quotedJson(kernel) + ", \"memory\": ";
  std::string text = head + "\"launch\", \"grid\": " + list(shape.grid) + ", \"block\": " + list(shape.block) +
                     ", \"shared\": " + std::to_string(shape.sharedBytes) + ", \"blocks\": " + std::to_string(shape.blocks) +
                     "}\n";
  for (const IssueRow &row : rows)
    text += head + "\"issue\", \"line\": " + std::to_string(row.line) + ", \"instruction\": " + quotedJson(row.instruction) +
            ", \"executed\": " + std::to_string(row.executed) + ", \"lanes\": " + std::to_string(row.lanes) + "}\n";
  return text;
}

} // namespace tilewright::ptxsim
