// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-cts: the conformance suite as a plain program, for machines with
// nothing but a device. One line per case and device, written as it happens.
#include "cts.h"

#include <cstdio>
#include <cstring>

using namespace tilewright::cts;

static const char *const usage =
    "usage: tilewright-cts [options]\n"
    "Runs the driver conformance suite on every device there is.\n"
    "  --device=NAME   only this device (cpu, vulkan:0, cuda, ptxsim, ...);\n"
    "                  may be repeated; it must be there\n"
    "  --filter=TEXT   only cases whose name contains TEXT\n"
    "  --json          one JSON object per line\n"
    "  --list          names of cases and devices, and nothing else\n"
    "Exit status: 0 when nothing failed, 1 when a case failed, 2 for a wrong\n"
    "command line or a device that is not there.\n";

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", c);
      result += escape;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

static void report(bool json, const std::string &device, const char *name,
                   const Result &result) {
  const char *verdict = result.outcome == Outcome::Pass   ? "pass"
                        : result.outcome == Outcome::Skip ? "skip"
                                                          : "FAIL";
  if (json)
    std::printf("{\"device\": %s, \"case\": \"%s\", \"verdict\": \"%s\", "
                "\"milliseconds\": %.3f, \"text\": %s}\n",
                quoted(device).c_str(), name,
                result.outcome == Outcome::Fail ? "fail" : verdict,
                result.milliseconds, quoted(result.text).c_str());
  else
    std::printf("%s %-9s %-36s %9.1f ms%s%s\n", verdict, device.c_str(), name,
                result.milliseconds, result.text.empty() ? "" : "  ",
                result.text.c_str());
  std::fflush(stdout);
}

int main(int argc, char **argv) {
  becomeChild(argc, argv);
  std::vector<std::string> wanted;
  std::string filter;
  bool json = false, list = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.rfind("--device=", 0) == 0)
      wanted.push_back(argument.substr(9));
    else if (argument.rfind("--filter=", 0) == 0)
      filter = argument.substr(9);
    else if (argument == "--json")
      json = true;
    else if (argument == "--list")
      list = true;
    else if (argument == "--help") {
      std::fputs(usage, stdout);
      return 0;
    } else {
      std::fprintf(stderr, "tilewright-cts: unknown argument '%s'\n%s",
                   argument.c_str(), usage);
      return 2;
    }
  }

  auto instance = std::make_shared<Instance>(InstanceOptions());
  std::vector<std::string> devices = wanted;
  for (const DeviceInfo &info : instance->devices()) {
    if (list || (!info.available && wanted.empty() && !json))
      std::printf("%s %s%s%s\n", info.available ? "have" : "lack",
                  info.name.c_str(), info.available ? "  " : "  not here: ",
                  (info.available ? info.description : info.reason).c_str());
    if (info.available && wanted.empty())
      devices.push_back(info.name);
  }
  for (const std::string &name : wanted) {
    std::shared_ptr<Device> device;
    if (Status s = instance->open(name, device)) {
      std::fprintf(stderr, "tilewright-cts: %s\n", s.message().c_str());
      return 2;
    }
  }
  int failed = 0, passed = 0, skipped = 0;
  for (const std::string &device : list ? std::vector<std::string>() : devices)
    for (const Case &test : allCases()) {
      if (std::string(test.name).find(filter) == std::string::npos ||
          !test.isFor(device))
        continue;
      Result result = runCase(*instance, device, test);
      report(json, device, test.name, result);
      (result.outcome == Outcome::Pass   ? passed
       : result.outcome == Outcome::Skip ? skipped
                                         : failed)++;
    }
  if (list)
    for (const Case &test : allCases())
      std::printf("case %s\n", test.name);
  else if (!json)
    std::printf("%d passed, %d skipped, %d failed\n", passed, skipped, failed);
  return failed ? 1 : 0;
}
