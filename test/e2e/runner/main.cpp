// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-e2e CASES.json JOURNAL DEVICE...: runs the generated cases on the
// devices and writes a verdict per case and device to the journal. Started
// again with the same journal it goes on where it stopped. Exit code: 0 all
// passed, 2 some failed, 1 it could not run; 3 a device was lost, anything else:
// it died; start it again.

#include "cases.h"
#include "files.h"

#include <cstdio>

using namespace tilewright;

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s CASES.json JOURNAL DEVICE...\n", argv[0]);
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
                      journal);
    std::printf("%d passed, %d failed\n", journal.passes, journal.failures);
    return journal.failures ? 2 : 0;
  } catch (const e2e::DeviceLost &) {
    return 3;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "tilewright-e2e: %s\n", error.what());
    return 1;
  }
}
