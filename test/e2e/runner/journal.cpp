// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of verdicts; see journal.h.

#include "journal.h"

#include "host_tensor.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace tilewright::e2e {

using nlohmann::json;

Journal::Journal(const std::string &path) {
  std::string started, device, line;
  std::ifstream before(path);
  while (std::getline(before, line)) {
    json entry = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!entry.is_object())
      continue; // a line cut short
    if (entry.contains("started")) {
      started = entry["started"];
      device = entry.value("device", "");
    } else if (entry.contains("case")) {
      done.emplace(entry["case"], entry.value("device", ""));
      (entry.value("verdict", "") == "failed" ? failures : passes) += 1;
      started.clear();
    }
  }
  file = std::fopen(path.c_str(), "a");
  if (!file)
    throw run::RunError("cannot write " + path);
  if (!started.empty() && !has(started, device))
    finish(started, device, "failed", "the run died or was killed here");
}

Journal::~Journal() { std::fclose(file); }

bool Journal::has(const std::string &name, const std::string &device) const {
  return done.count({name, device});
}

void Journal::write(const std::string &line) {
  std::fputs((line + "\n").c_str(), file);
  std::fflush(file);
}

void Journal::start(const std::string &name, const std::string &device) {
  write(json({{"started", name}, {"device", device}}).dump());
}

void Journal::finish(const std::string &name, const std::string &device,
                     const std::string &verdict, const std::string &reason) {
  (verdict == "failed" ? failures : passes) += 1;
  done.emplace(name, device);
  if (verdict == "failed")
    std::printf("FAILED %s on %s: %s\n", name.c_str(), device.c_str(),
                reason.c_str());
  write(json({{"case", name},
              {"device", device},
              {"verdict", verdict},
              {"reason", reason}})
            .dump(-1, ' ', false, json::error_handler_t::replace));
}

} // namespace tilewright::e2e
