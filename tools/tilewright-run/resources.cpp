// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks for what kernels take, and prints it; see resources.h.

#include "resources.h"

#include "print.h"

#include <algorithm>
#include <cmath>

namespace tilewright::run {

static const char *const kColumns[] = {
    "registers",           "scalar_registers", "local_bytes", "shared_bytes",
    "dynamic_shared_bytes", "max_threads",      "code_bytes"};

std::vector<ResourceReport> askResources(Session &session) {
  std::vector<ResourceReport> result;
  bool saysAny = false;
  for (size_t i = 0; i < session.kernelCount(); ++i) {
    ResourceReport &report = result.emplace_back();
    tilewright_kernel_resources found = session.resources(i, report.reason, report.isOther);
    report.dispatch = found.dispatch;
    report.variant = found.variant;
    if (!report.reason.empty())
      continue;
    saysAny = true;
    const int64_t values[] = {found.registers,    found.scalar_registers,
                              found.local_bytes,  found.shared_bytes,
                              found.dynamic_shared_bytes, found.max_threads,
                              found.code_bytes};
    for (size_t k = 0; k < std::size(kColumns); ++k)
      if (values[k] >= 0)
        report.numbers.emplace_back(kColumns[k], values[k]);
    for (size_t k = 0; k < found.num_statistics; ++k)
      report.statistics.emplace_back(found.statistics[k].name,
                                     found.statistics[k].value);
  }
  // Of variants that the device cannot run, that is the reason: the others have another one.
  if (!saysAny && !result.empty()) {
    auto found = std::find_if(result.begin(), result.end(),
                              [](const ResourceReport &kernel) { return !kernel.isOther; });
    throw RunError((found == result.end() ? result.front() : *found).reason);
  }
  return result;
}

// Columns that some kernel has a number for, left-aligned names, numbers to the
// right.
std::string resourceText(const std::vector<ResourceReport> &kernels) {
  auto cell = [](const ResourceReport &kernel, const std::string &column) {
    for (const auto &[name, value] : kernel.numbers)
      if (name == column)
        return std::to_string(value);
    return std::string();
  };
  size_t nameWidth = 6;
  for (const ResourceReport &kernel : kernels)
    nameWidth = std::max(nameWidth, kernel.variant.size());
  std::vector<std::string> columns;
  for (const char *column : kColumns)
    if (std::any_of(kernels.begin(), kernels.end(), [&](const auto &kernel) {
          return !cell(kernel, column).empty();
        }))
      columns.push_back(column);
  auto line = [&](const std::string &name, auto text) {
    std::string result = name + std::string(nameWidth - name.size(), ' ');
    for (const std::string &column : columns) {
      std::string value = text(column);
      result += "  " + std::string(column.size() - std::min(column.size(), value.size()), ' ') + value;
    }
    return result;
  };
  std::string text = line("kernel", [](const std::string &c) { return c; }) + "\n";
  for (const ResourceReport &kernel : kernels) {
    if (!kernel.reason.empty()) {
      text += kernel.reason + "\n";
      continue;
    }
    text += line(kernel.variant,
                 [&](const std::string &c) { return cell(kernel, c); }) + "\n";
    std::string own;
    for (const auto &[name, value] : kernel.statistics)
      own += (own.empty() ? "  " : ", ") + name + " " +
             (std::floor(value) == value && std::fabs(value) < 9e15
                  ? std::to_string(static_cast<int64_t>(value))
                  : shortNumber(value));
    if (!own.empty())
      text += own + "\n";
  }
  return text;
}

} // namespace tilewright::run
