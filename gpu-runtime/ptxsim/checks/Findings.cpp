// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rendering findings as text and JSON.

#include "checks/Findings.h"

#include <cstdio>
#include <map>

namespace tilewright::ptxsim {

const char *spelling(FindingKind kind) {
  static const char *const names[] = {
#define PTXSIM_FINDING(name, spelling) spelling,
#include "checks/Findings.def"
  };
  return names[static_cast<unsigned>(kind)];
}

namespace {

std::string hex(uint64_t value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "0x%llx", static_cast<unsigned long long>(value));
  return buffer;
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof(buffer), "\\u%04x", c);
      result += buffer;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

} // namespace

std::string Finding::str() const {
  std::string text = std::string("ptxsim: ") + (isWarning ? "warning: " : "") + spelling(kind) + ": " + message + "\n";
  text += "  in " + kernel;
  if (line != 0)
    text += ", PTX line " + std::to_string(line);
  if (!instruction.empty())
    text += " (" + instruction + ")";
  if (sourceLine != 0)
    text += ", " + sourceFile + ":" + std::to_string(sourceLine);
  if (inlinedLine != 0)
    text += " (inlined from " + inlinedFile + ":" + std::to_string(inlinedLine) + ")";
  text += "\n";
  if (hasThread)
    text += "  block (" + std::to_string(block[0]) + "," + std::to_string(block[1]) + "," + std::to_string(block[2]) +
            ") warp " + std::to_string(warp) + " lane " + std::to_string(lane) + "\n";
  if (address != 0)
    text += "  address " + hex(address) + "\n";
  if (count > 1)
    text += "  seen " + std::to_string(count) + " times\n";
  return text;
}

std::string Finding::json() const {
  std::string text = "{\"kind\": " + quoted(spelling(kind)) + ", \"message\": " + quoted(message) +
                     ", \"kernel\": " + quoted(kernel) + ", \"instruction\": " + quoted(instruction) +
                     ", \"ptx_line\": " + std::to_string(line);
  if (sourceLine != 0)
    text += ", \"source_file\": " + quoted(sourceFile) + ", \"source_line\": " + std::to_string(sourceLine);
  if (inlinedLine != 0)
    text += ", \"inlined_file\": " + quoted(inlinedFile) + ", \"inlined_line\": " + std::to_string(inlinedLine);
  if (hasThread)
    text += ", \"block\": [" + std::to_string(block[0]) + ", " + std::to_string(block[1]) + ", " +
            std::to_string(block[2]) + "], \"warp\": " + std::to_string(warp) + ", \"lane\": " + std::to_string(lane);
  if (address != 0)
    text += ", \"address\": " + quoted(hex(address));
  if (otherLine != 0)
    text += ", \"other_ptx_line\": " + std::to_string(otherLine);
  if (isWarning)
    text += ", \"warning\": true";
  return text + ", \"count\": " + std::to_string(count) + "}";
}

bool FindingLog::add(Finding finding) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Finding &known : findings)
    if (known.kind == finding.kind && known.line == finding.line && known.otherLine == finding.otherLine &&
        known.kernel == finding.kernel) {
      ++known.count;
      return false;
    }
  findings.push_back(std::move(finding));
  return true;
}

std::vector<Finding> FindingLog::all() const {
  std::lock_guard<std::mutex> lock(mutex);
  return findings;
}

size_t FindingLog::size() const {
  std::lock_guard<std::mutex> lock(mutex);
  return findings.size();
}

void FindingLog::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  findings.clear();
}

namespace {

/// What findings of one cause have in common: lines, threads and sizes differ.
std::string causeOf(const Finding &finding) {
  std::string cause = finding.kernel + '\n' + spelling(finding.kind) + '\n';
  for (char c : finding.message)
    if (c < '0' || c > '9')
      cause += c;
  return cause;
}

constexpr size_t maxListed = 8;

/// `others`: of the same cause as one that is told in full.
std::string othersText(const std::vector<const Finding *> &others) {
  uint64_t times = 0;
  std::string places;
  for (size_t i = 0; i < others.size(); ++i) {
    times += others[i]->count;
    if (i < maxListed)
      places += (i == 0 ? "" : ", ") + std::to_string(others[i]->line) +
                (others[i]->otherLine != 0 ? " with " + std::to_string(others[i]->otherLine) : "");
  }
  return "  and at " + std::to_string(others.size()) + (others.size() == 1 ? " other place, " : " other places, ") +
         std::to_string(times) + " times in all: PTX lines " + places +
         (others.size() > maxListed ? ", ... (PTXSIM_REPORT lists all)\n" : "\n");
}

} // namespace

std::string FindingLog::text(size_t from, size_t to) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Finding *>> causes;
  for (size_t i = from; i < to && i < findings.size(); ++i) {
    auto [cause, isNew] = causes.try_emplace(causeOf(findings[i]));
    if (isNew)
      order.push_back(cause->first);
    cause->second.push_back(&findings[i]);
  }
  std::string text;
  for (const std::string &cause : order) {
    const std::vector<const Finding *> &all = causes[cause];
    text += all.front()->str();
    if (all.size() > 1)
      text += othersText({all.begin() + 1, all.end()});
  }
  return text;
}

std::string FindingLog::json() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string text = "[";
  for (size_t i = 0; i < findings.size(); ++i)
    text += (i == 0 ? "\n  " : ",\n  ") + findings[i].json();
  return text + (findings.empty() ? "]\n" : "\n]\n");
}

} // namespace tilewright::ptxsim
