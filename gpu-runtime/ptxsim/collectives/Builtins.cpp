// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that device code may call without defining them: vprintf, __assertfail, malloc and free. Output goes to
// stdout, lane by lane, when the call executes. The heap is device memory: bounds and use after free are seen there too.

#include "collectives/Collectives.h"
#include "machine/MemoryAccess.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace tilewright::ptxsim {
namespace {

constexpr size_t maxStringBytes = 4096;
constexpr const char *heapLabel = "heap";

std::string readString(ExecContext &context, unsigned lane, uint64_t address) {
  std::string text;
  char c = 0;
  while (text.size() < maxStringBytes && peekGeneric(context, lane, address++, 1, &c) && c != 0)
    text.push_back(c);
  return text;
}

uint64_t argument(const ExecContext &context, const CallSite &site, unsigned lane, size_t index) {
  uint64_t value = 0;
  if (index >= site.arguments.size())
    return 0;
  ParamSlot slot = site.arguments[index];
  std::memcpy(&value, context.frame->params.data() + uint64_t(lane) * context.frame->function->paramBytes + slot.offset,
              std::min<uint32_t>(slot.size, 8));
  return value;
}

/// One conversion, `spec` from '%' to its letter; takes its value from the argument buffer.
std::string convert(ExecContext &context, unsigned lane, std::string spec, uint64_t &cursor) {
  char letter = spec.back();
  bool wide = spec.find("ll") != std::string::npos || spec.find('l') != std::string::npos ||
              spec.find('z') != std::string::npos || spec.find('j') != std::string::npos ||
              spec.find('t') != std::string::npos;
  bool isFloat = std::strchr("aAeEfFgG", letter) != nullptr;
  bool isPointer = letter == 'p' || letter == 's';
  unsigned bytes = isFloat || isPointer || wide ? 8 : 4;
  cursor = (cursor + bytes - 1) / bytes * bytes;
  uint64_t value = 0;
  peekGeneric(context, lane, cursor, bytes, &value);
  cursor += bytes;
  std::string flags;
  for (char c : spec)
    if (std::strchr("hlzjt", c) == nullptr || c == letter)
      flags.push_back(c);
  char buffer[512];
  if (letter == 's') {
    std::string text = readString(context, lane, value);
    std::snprintf(buffer, sizeof(buffer), flags.c_str(), text.c_str());
  } else if (isFloat) {
    double number;
    std::memcpy(&number, &value, 8);
    std::snprintf(buffer, sizeof(buffer), flags.c_str(), number);
  } else if (letter == 'p') {
    std::snprintf(buffer, sizeof(buffer), "0x%llx", static_cast<unsigned long long>(value));
  } else if (letter == 'c') {
    std::snprintf(buffer, sizeof(buffer), flags.c_str(), static_cast<int>(value));
  } else {
    long long number = wide                             ? static_cast<long long>(value)
                       : letter == 'd' || letter == 'i' ? static_cast<int32_t>(value)
                                                        : static_cast<long long>(static_cast<uint32_t>(value));
    flags.insert(flags.size() - 1, "ll");
    std::snprintf(buffer, sizeof(buffer), flags.c_str(), number);
  }
  return buffer;
}

std::string format(ExecContext &context, unsigned lane, const std::string &text, uint64_t cursor) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result.push_back(text[i]);
      continue;
    }
    size_t end = i + 1;
    while (end < text.size() && std::strchr("0123456789.+- #hlzjt", text[end]))
      ++end;
    if (end >= text.size() || !std::strchr("diouxXcspaAeEfFgG%", text[end]) || end - i > 32) {
      result.push_back('%');
      continue;
    }
    if (text[end] == '%')
      result.push_back('%');
    else
      result += convert(context, lane, text.substr(i, end - i + 1), cursor);
    i = end;
  }
  return result;
}

/// Stores the call's result, where it has one.
void setResult(ExecContext &context, const CallSite &site, unsigned lane, uint64_t value) {
  if (site.results.empty())
    return;
  ParamSlot slot = site.results.front();
  uint64_t at = uint64_t(lane) * context.frame->function->paramBytes + slot.offset;
  std::memcpy(context.frame->params.data() + at, &value, std::min<uint32_t>(slot.size, 8));
  if (context.checks)
    std::memset(context.frame->definedParams.data() + at, 0xff, slot.size);
}

/// Blocks may run on several host threads.
std::mutex &heapMutex() {
  static std::mutex mutex;
  return mutex;
}

void allocateOnHeap(ExecContext &context, const CallSite &site) {
  std::lock_guard<std::mutex> lock(heapMutex());
  forEachLane(context.mask, [&](unsigned lane) {
    Allocation *allocation =
        context.grid->memory->allocate(argument(context, site, lane, 0), 16, heapLabel, context.grid->owner);
    setResult(context, site, lane, allocation ? allocation->address : 0);
  });
}

void freeOnHeap(ExecContext &context, const Inst &inst, const CallSite &site) {
  std::lock_guard<std::mutex> lock(heapMutex());
  forEachLane(context.mask, [&](unsigned lane) {
    uint64_t address = argument(context, site, lane, 0);
    Allocation *allocation = context.grid->memory->find(address);
    if (address == 0)
      return;
    if (!allocation || allocation->address != address || allocation->label != heapLabel) {
      context.report(FindingKind::UseAfterFree, inst, lane, address, "free of an address that malloc did not give");
      return;
    }
    context.grid->memory->release(address);
    // Addresses that instructions remember may be this one's.
    std::fill(context.allocationCache.begin(), context.allocationCache.end(), nullptr);
  });
}

} // namespace

void callBuiltin(ExecContext &context, const Inst &inst, const CallSite &site) {
  if (site.builtin == Builtin::AssertFail) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(context.mask));
    std::string message = readString(context, lane, argument(context, site, lane, 1)) + ":" +
                          std::to_string(argument(context, site, lane, 2)) + ": assertion `" +
                          readString(context, lane, argument(context, site, lane, 0)) + "` failed in " +
                          readString(context, lane, argument(context, site, lane, 3));
    context.report(FindingKind::AssertFailed, inst, lane, 0, message);
    context.stopped = true;
    context.grid->aborted = true;
    return;
  }
  if (site.builtin == Builtin::Malloc)
    return allocateOnHeap(context, site);
  if (site.builtin == Builtin::Free)
    return freeOnHeap(context, inst, site);
  forEachLane(context.mask, [&](unsigned lane) {
    std::string text = readString(context, lane, argument(context, site, lane, 0));
    std::string line = format(context, lane, text, argument(context, site, lane, 1));
    std::fwrite(line.data(), 1, line.size(), stdout);
    setResult(context, site, lane, line.size());
  });
  std::fflush(stdout);
}

} // namespace tilewright::ptxsim
