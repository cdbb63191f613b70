// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run as one line of JSON; README.md describes the schema.
#ifndef TILEWRIGHT_RUN_REPORT_H
#define TILEWRIGHT_RUN_REPORT_H

#include "compare.h"
#include "resources.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::run {

/// "schema": counts incompatible changes of what the fields mean.
constexpr int kReportSchema = 1;

/// What a device did of one kernel's launches.
struct KernelTime {
  std::string kernel, variant;
  double medianSeconds = 0, minSeconds = 0; // of a launch
  double secondsPerCall = 0;                // of all its launches in a call
  double launchesPerCall = 0;
};

struct BenchResult {
  double medianSeconds = 0;
  double minSeconds = 0;
  double spread = 0; // (90th - 10th percentile) / median
  int64_t count = 0;
  double flopsPerSecond = -1; // -1: the artifact does not say
  double bytesPerSecond = -1;
  int64_t warmUpCalls = 0;
  double measuredSeconds = 0;      // of all calls together
  uint64_t cacheFlushBytes = 0;    // overwritten before each call; 0: nothing
  /// Timed one by one, which keeps them from overlapping; empty where the device
  /// has no timestamps.
  std::vector<KernelTime> kernels;
  /// Host time of one call, enqueued behind others: what a launch costs.
  double enqueueSeconds = 0;
};

struct OutputReport {
  std::string type;
  std::optional<Comparison> comparison;
};

struct Report {
  std::string program;  // path as given
  std::string artifact; // SHA-256
  std::string function;
  std::vector<std::string> inputs; // types with how they were filled
  std::vector<std::string> launches;
  std::map<std::string, std::string> configs; // by variant, of those launched
  std::string target, device, description, uuid;
  std::string compiler, host, time;
  std::string check;   // "", "oracle", "expect", or a device
  std::string verdict; // "ok", "mismatch", "unchecked", "error"
  std::string error;
  std::vector<OutputReport> outputs;
  std::optional<BenchResult> bench;
  std::vector<ResourceReport> resources; // with --resources, of all kernels
};

std::string toJson(const Report &report);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_REPORT_H
