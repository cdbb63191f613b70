// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-e2e [--timeout=SECONDS] CASES.json JOURNAL DEVICE...: runs the
// generated cases on the devices and writes a verdict per case and device to the
// journal. Started again with the same journal it goes on where it stopped. A
// call that takes longer than SECONDS (240) loses its device. Exit code: 0 all
// passed, 2 some failed, 1 it could not run; 3 a device was lost, anything else:
// it died; start it again.

#include "cases.h"
#include "files.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tilewright;

namespace {

constexpr char kTimeout[] = "--timeout=";

/// Nanoseconds of the option; 0 where it has no whole number of seconds.
uint64_t readTimeout(const char *text) {
  char *end = nullptr;
  uint64_t seconds = std::strtoul(text, &end, 10);
  return *end || seconds > 1000000 ? 0 : seconds * 1000000000;
}

} // namespace

int main(int argc, char **argv) {
  uint64_t timeoutNs = 240'000'000'000;
  if (argc > 1 && !std::strncmp(argv[1], kTimeout, sizeof(kTimeout) - 1)) {
    timeoutNs = readTimeout(argv[1] + sizeof(kTimeout) - 1);
    ++argv, --argc;
  }
  if (argc < 4 || !timeoutNs) {
    std::fprintf(stderr, "usage: tilewright-e2e [--timeout=SECONDS] CASES.json JOURNAL DEVICE...\n");
    return 1;
  }
  try {
    const std::string path = argv[1];
    size_t slash = path.rfind('/');
    const std::string folder =
        slash == std::string::npos ? "." : path.substr(0, slash);
    nlohmann::json list = nlohmann::json::parse(run::readFile(path, run::kProgramText));
    e2e::Journal journal(argv[2]);
    run::Handle<tilewright_instance> instance = run::createInstance();
    for (const nlohmann::json &program : list.at("programs"))
      e2e::runProgram(&*instance, folder, program, {argv + 3, argv + argc},
                      timeoutNs, journal);
    std::printf("%d passed, %d failed\n", journal.passes, journal.failures);
    return journal.failures ? 2 : 0;
  } catch (const e2e::DeviceLost &) {
    return 3;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "tilewright-e2e: %s\n", error.what());
    return 1;
  }
}
