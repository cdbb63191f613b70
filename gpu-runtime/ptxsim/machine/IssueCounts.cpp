// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counting issue slots.

#include "machine/IssueCounts.h"
#include "machine/SharedTraffic.h"
#include "machine/State.h"

#include <algorithm>
#include <numeric>

namespace tilewright::ptxsim {

IssueCounts::IssueCounts(const Program &program, unsigned warps)
    : program(program), warps(warps), lanes(program.code.size()), executed(program.code.size() * warps) {}

void IssueCounts::count(const Inst &inst, uint32_t mask, unsigned warp) {
  size_t index = static_cast<size_t>(&inst - program.code.data());
  executed[index * warps + warp].fetch_add(1, std::memory_order_relaxed);
  lanes[index].fetch_add(static_cast<unsigned>(__builtin_popcount(mask)), std::memory_order_relaxed);
}

void IssueCounts::takeBack(const Inst &inst, uint32_t mask, unsigned warp) {
  size_t index = static_cast<size_t>(&inst - program.code.data());
  executed[index * warps + warp].fetch_sub(1, std::memory_order_relaxed);
  lanes[index].fetch_sub(static_cast<unsigned>(__builtin_popcount(mask)), std::memory_order_relaxed);
}

std::vector<IssueRow> IssueCounts::rows() const {
  std::vector<IssueRow> result;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Inst &inst = program.code[i];
    std::vector<uint64_t> byWarp(executed.begin() + i * warps, executed.begin() + (i + 1) * warps);
    uint64_t all = std::accumulate(byWarp.begin(), byWarp.end(), uint64_t(0));
    // Instructions without syntax are the decoder's own.
    if (all == 0 || !inst.syntax)
      continue;
    if (std::count(byWarp.begin(), byWarp.end(), byWarp.front()) == static_cast<long>(warps))
      byWarp.clear();
    result.push_back({inst.syntax->name(), inst.line, all, lanes[i], std::move(byWarp)});
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
  for (const IssueRow &row : rows) {
    text += head + "\"issue\", \"line\": " + std::to_string(row.line) + ", \"instruction\": " + quotedJson(row.instruction) +
            ", \"executed\": " + std::to_string(row.executed) + ", \"lanes\": " + std::to_string(row.lanes);
    for (size_t i = 0; i < row.byWarp.size(); ++i)
      text += (i ? ", " : ", \"by_warp\": [") + std::to_string(row.byWarp[i]);
    text += row.byWarp.empty() ? "}\n" : "]}\n";
  }
  return text;
}

} // namespace tilewright::ptxsim
