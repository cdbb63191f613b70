// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control groups, version 2 and version 1; see control_group.h. /proc/self/cgroup
// has a line for each hierarchy, with the process's group there as a path:
//
//   0::/jobs/17                  version 2: cpu.max, memory.max
//   4:memory:/jobs/17            version 1: memory.limit_in_bytes
//   1:cpu,cpuacct:/jobs/17       version 1: cpu.cfs_quota_us, cpu.cfs_period_us
//
// In a container the path may be the one that the host sees, which is not there:
// the groups from the path up to the root of the mount are all looked for.

#include "control_group.h"

#include <algorithm>
#include <fstream>

namespace tilewright::runtime {

namespace {

/// The numbers of a file, up to `count`; "max" and -1 are no limit, so 0.
bool readNumbers(const std::string &path, uint64_t *numbers, int count) {
  std::ifstream file(path);
  std::string word;
  for (int i = 0; i < count; ++i) {
    if (!(file >> word))
      return false;
    bool isNumber = word.size() <= 19 &&
                    word.find_first_not_of("0123456789") == std::string::npos;
    numbers[i] = isNumber ? std::stoull(word) : 0;
  }
  return true;
}

void limitProcessors(ControlGroupLimits &limits, uint64_t quota, uint64_t period) {
  if (quota && period)
    limits.processors = static_cast<unsigned>(std::min<uint64_t>(
        limits.processors, (quota - 1) / period + 1));
}

void limitMemory(ControlGroupLimits &limits, const std::string &path) {
  uint64_t bytes = 0;
  if (readNumbers(path, &bytes, 1) && bytes)
    limits.memory = std::min(limits.memory, bytes);
}

/// What the files of one group say; those of another hierarchy are not there.
void readGroup(const std::string &folder, ControlGroupLimits &limits) {
  uint64_t time[2];
  if (readNumbers(folder + "/cpu.max", time, 2))
    limitProcessors(limits, time[0], time[1]);
  if (readNumbers(folder + "/cpu.cfs_quota_us", &time[0], 1) &&
      readNumbers(folder + "/cpu.cfs_period_us", &time[1], 1))
    limitProcessors(limits, time[0], time[1]);
  limitMemory(limits, folder + "/memory.max");
  limitMemory(limits, folder + "/memory.limit_in_bytes");
}

} // namespace

ControlGroupLimits controlGroupLimits(const std::string &root) {
  ControlGroupLimits limits;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    // Where systemd and container runtimes mount them.
    std::string mount = root + "/sys/fs/cgroup";
    if (!controllers.empty())
      mount += "/" + controllers;
    else if (!std::ifstream(mount + "/cgroup.controllers"))
      mount += "/unified";
    for (;;) {
      readGroup(mount + group, limits);
      size_t end = group.rfind('/');
      if (end == std::string::npos)
        break;
      group.resize(end);
    }
  }
  return limits;
}

} // namespace tilewright::runtime
