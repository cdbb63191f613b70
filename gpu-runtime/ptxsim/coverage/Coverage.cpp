// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ptxsim-coverage FILE.ptx|@LIST... : lists the instructions of the files (and of those that LIST names, a line each), most
// frequent first, and fails when one of them is not implemented. Without files it lists what is implemented, from the table
// of opcodes.

#include "machine/LoadedModule.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

using namespace tilewright::ptxsim;

namespace {

bool readFile(const std::string &path, std::string &text) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  text = bytes.str();
  return static_cast<bool>(file);
}

void listOpcodes() {
  for (const OpcodeInfo &opcode : allOpcodes())
    std::printf("%-14s PTX %u.%u  %.*s\n", std::string(opcode.root).c_str(), opcode.ptxVersion / 10,
                opcode.ptxVersion % 10, static_cast<int>(opcode.modifiers.size()), opcode.modifiers.data());
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 1) {
    listOpcodes();
    return 0;
  }
  std::map<std::string, unsigned> counts;
  bool failed = false;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    std::string list;
    if (argv[i][0] != '@') {
      paths.push_back(argv[i]);
    } else if (readFile(argv[i] + 1, list)) {
      std::stringstream lines(list);
      for (std::string line; std::getline(lines, line);)
        paths.push_back(line);
    } else {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i] + 1);
      failed = true;
    }
  }
  for (const std::string &path : paths) {
    std::string text;
    if (!readFile(path, text)) {
      std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
      failed = true;
      continue;
    }
    MachineOptions options;
    options.computeCapability = 90;
    DeviceMemory memory(1ull << 30);
    Diagnostic error;
    LoadedModule::Failure failure;
    auto module = LoadedModule::load(text, memory, options, nullptr, error, failure);
    if (!module) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), error.str().c_str());
      failed = true;
      continue;
    }
    for (const auto &function : module->module().functions)
      for (const Instruction &instruction : function->body)
        ++counts[instruction.name()];
  }
  std::vector<std::pair<std::string, unsigned>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
  for (const auto &[name, count] : sorted)
    std::printf("%8u %s\n", count, name.c_str());
  return failed ? 1 : 0;
}
