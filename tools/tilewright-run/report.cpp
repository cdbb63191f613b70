// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON lines; see report.h.

#include "report.h"

#include "tilewright/tilewright.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace tilewright::run {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinities.
Json number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json optionalRate(double value) {
  return value < 0 ? Json(nullptr) : Json(value);
}

} // namespace

std::string toJson(const Report &report) {
  Json json;
  json["schema"] = kReportSchema;
  json["version"] = tilewright_version();
  if (!report.compiler.empty())
    json["compiler"] = report.compiler;
  json["host"] = report.host;
  json["time"] = report.time;
  json["program"] = report.program;
  json["artifact"] = report.artifact;
  json["problem"] = {{"function", report.function}, {"inputs", report.inputs}};
  json["config"] = {{"target", report.target}, {"launches", report.launches}};
  if (!report.configs.empty())
    json["config"]["kernels"] = report.configs;
  json["device"] = report.device;
  json["uuid"] = report.uuid;
  json["driver"] = report.description;
  json["check"] = report.check;
  json["verdict"] = report.verdict;
  if (!report.error.empty())
    json["error"] = report.error;
  json["outputs"] = Json::array();
  for (const OutputReport &output : report.outputs) {
    Json item;
    item["type"] = output.type;
    if (const auto &c = output.comparison) {
      item["ok"] = c->ok;
      item["mismatches"] = c->mismatches;
      item["worst_error"] = number(c->worstError);
      item["worst_relative"] = number(c->worstRelative);
      item["worst_ulp"] = number(c->worstUlps);
      bool hasBounds = c->tolerance.bounds != nullptr;
      item["atol"] = hasBounds ? Json(nullptr) : number(c->tolerance.atol);
      item["rtol"] = hasBounds ? Json(nullptr) : number(c->tolerance.rtol);
      if (hasBounds)
        item["unbounded"] = c->unbounded;
      item["tolerance"] = c->tolerance.source;
    }
    json["outputs"].push_back(std::move(item));
  }
  if (const auto &b = report.bench) {
    json["median_s"] = b->medianSeconds;
    json["min_s"] = b->minSeconds;
    json["spread"] = b->spread;
    json["count"] = b->count;
    json["enqueue_s"] = b->enqueueSeconds > 0 ? Json(b->enqueueSeconds) : Json(nullptr);
    json["flops_per_s"] = optionalRate(b->flopsPerSecond);
    json["bytes_per_s"] = optionalRate(b->bytesPerSecond);
    json["warm_up"] = b->warmUpCalls;
    json["measured_s"] = b->measuredSeconds;
    json["cache_flush_bytes"] = b->cacheFlushBytes;
    json["kernels"] = Json::array();
    for (const KernelTime &kernel : b->kernels)
      json["kernels"].push_back({{"kernel", kernel.kernel},
                                 {"variant", kernel.variant},
                                 {"median_s", kernel.medianSeconds},
                                 {"min_s", kernel.minSeconds},
                                 {"per_call_s", kernel.secondsPerCall},
                                 {"launches_per_call", kernel.launchesPerCall}});
  }
  for (const ResourceReport &kernel : report.resources) {
    Json item = {{"kernel", kernel.dispatch}, {"variant", kernel.variant}};
    if (!kernel.reason.empty())
      item["reason"] = kernel.reason;
    if (kernel.isOther)
      item["guard"] = false;
    for (const auto &[name, value] : kernel.numbers)
      item[name] = value;
    for (const auto &[name, value] : kernel.statistics)
      item["statistics"][name] = number(value);
    json["resources"].push_back(std::move(item));
  }
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

} // namespace tilewright::run
