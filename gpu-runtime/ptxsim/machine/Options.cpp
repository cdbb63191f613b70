// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options from the environment. A malformed value, and one out of range, keeps the default and says so on stderr.

#include "machine/Options.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <unistd.h>

namespace tilewright::ptxsim {
namespace {

template <typename T>
void readNumber(const char *name, T &value, uint64_t least = 0, uint64_t most = std::numeric_limits<T>::max()) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return;
  char *end = nullptr;
  errno = 0;
  unsigned long long number = std::strtoull(text, &end, 0);
  if (*end != 0 || *text == '-') {
    std::fprintf(stderr, "ptxsim: %s: '%s' is no number\n", name, text);
    return;
  }
  if (errno == ERANGE || number < least || number > most) {
    std::fprintf(stderr, "ptxsim: %s: expected %" PRIu64 " to %" PRIu64 ", found '%s'\n", name, least, most, text);
    return;
  }
  value = static_cast<T>(number);
}

void readChoice(const char *name, const char *whenTrue, const char *whenFalse, bool &value) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return;
  if (std::strcmp(text, whenTrue) == 0)
    value = true;
  else if (std::strcmp(text, whenFalse) == 0)
    value = false;
  else
    std::fprintf(stderr, "ptxsim: %s: expected %s or %s, found '%s'\n", name, whenTrue, whenFalse, text);
}

/// "0,0,0;1,0,0"
void readBlocks(const char *name, std::vector<std::array<uint32_t, 3>> &blocks) {
  const char *text = std::getenv(name);
  for (const char *at = text ? text : ""; *at;) {
    std::array<uint32_t, 3> block;
    int length = 0;
    if (std::sscanf(at, "%u,%u,%u%n", &block[0], &block[1], &block[2], &length) != 3 ||
        (at[length] != ';' && at[length] != 0)) {
      std::fprintf(stderr, "ptxsim: %s: '%s' is no list of blocks x,y,z;x,y,z\n", name, text);
      blocks.clear();
      return;
    }
    blocks.push_back(block);
    at += length + (at[length] == ';');
  }
}

} // namespace

MachineOptions MachineOptions::fromEnvironment() {
  MachineOptions options;
  unsigned capability = options.computeCapability;
  if (const char *arch = std::getenv("PTXSIM_ARCH"); arch && *arch) {
    const char *digits = std::strncmp(arch, "sm_", 3) == 0 ? arch + 3 : arch;
    capability = static_cast<unsigned>(std::strtoul(digits, nullptr, 10));
    if (capability != 80 && capability != 90)
      std::fprintf(stderr, "ptxsim: PTXSIM_ARCH: expected sm_80 or sm_90, found '%s'\n", arch);
    else
      options.computeCapability = capability;
  }
  readNumber("PTXSIM_MULTIPROCESSORS", options.multiprocessors, 1, 1024);
  uint64_t mebibytes = options.memoryBytes >> 20;
  readNumber("PTXSIM_MEMORY_MIB", mebibytes, 1, 1u << 20);
  options.memoryBytes = mebibytes << 20;
  readChoice("PTXSIM_CHECKS", "on", "off", options.checks);
  readChoice("PTXSIM_RACES", "on", "off", options.raceChecks);
  readChoice("PTXSIM_FINDINGS", "fail", "report", options.failOnFinding);
  readChoice("PTXSIM_QUEUE", "eager", "seeded", options.eager);
  readChoice("PTXSIM_F8_SUMS", "truncated", "exact", options.truncatesFloat8);
  readChoice("PTXSIM_WGMMA", "skip", "compute", options.skipsWgmma);
  readNumber("PTXSIM_SEED", options.seed);
  readNumber("PTXSIM_WORKERS", options.workers);
  readNumber("PTXSIM_INSTRUCTION_LIMIT", options.instructionLimit);
  options.progressSeconds = isatty(2) ? 5 : 0;
  readNumber("PTXSIM_PROGRESS", options.progressSeconds);
  if (const char *path = std::getenv("PTXSIM_REPORT"))
    options.reportPath = path;
  if (const char *path = std::getenv("PTXSIM_TRAFFIC"); path && *path) {
    options.countTraffic = true;
    options.trafficPath = path;
  }
  uint64_t cacheKibibytes = 0;
  readNumber("PTXSIM_CACHE_KIB", cacheKibibytes, 0, UINT64_MAX >> 10);
  options.cacheBytes = cacheKibibytes << 10;
  readBlocks("PTXSIM_BLOCKS", options.blocks);
  return options;
}

} // namespace tilewright::ptxsim
