// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is read of its -v output:
//
//   ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
//   ptxas info    : Used 168 registers, used 6 barriers

#include "async/PtxasVerdict.h"

#include "core/child_process.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

namespace tilewright::ptxsim {
namespace {

bool canRun(const std::string &path) { return access(path.c_str(), X_OK) == 0; }

/// Empty: there is none.
std::string findPtxas() {
  if (const char *given = std::getenv("PTXSIM_PTXAS"))
    return std::string(given) == "off" ? "" : given;
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    if (std::string name = path.substr(begin, end - begin) + "/ptxas"; end > begin && canRun(name))
      return name;
    begin = end + 1;
  }
  const char *home = std::getenv("CUDA_HOME");
  for (const std::string &folder : {std::string(home ? home : ""), std::string("/usr/local/cuda")})
    if (std::string name = folder + "/bin/ptxas"; !folder.empty() && canRun(name))
      return name;
  return "";
}

/// A file without a name, which ptxas reads and writes as /dev/fd/N; -1: none can be had.
int openScratch() {
  const char *folder = std::getenv("TMPDIR");
  std::string name = std::string(folder && *folder ? folder : "/tmp") + "/ptxsim-XXXXXX";
  int file = mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0)
    unlink(name.c_str());
  return file;
}

std::string assemble(const std::string &ptxas, const Module &module, const Function &kernel) {
  int source = openScratch(), log = openScratch();
  std::string text;
  if (source >= 0 && log >= 0 &&
      write(source, module.source.data(), module.source.size()) == static_cast<ssize_t>(module.source.size()) &&
      lseek(source, 0, SEEK_SET) == 0) {
    std::string arch = "sm_" + std::to_string(module.target) + (module.targetSuffix ? std::string(1, module.targetSuffix) : "");
    runtime::ChildEnd end = runtime::runChild({{ptxas, "-v", "-arch=" + arch, "--entry", std::string(kernel.name),
                                                "--output-file=/dev/null", "/dev/fd/0"},
                                               {{source, 0}, {log, 1}, {log, 2}},
                                               /*seconds=*/60});
    char buffer[4096];
    bool isGood = !end.error && end.status == 0 && lseek(log, 0, SEEK_SET) == 0;
    for (ssize_t n; isGood && (n = read(log, buffer, sizeof(buffer))) > 0;)
      text.append(buffer, static_cast<size_t>(n));
  }
  for (int file : {source, log})
    if (file >= 0)
      close(file);
  return text;
}

PtxasVerdict judge(const std::string &log) {
  PtxasVerdict verdict;
  if (size_t at = log.find("(C7508)"); at != std::string::npos) {
    verdict.ignored = log.substr(at, log.find('\n', at) - at);
    return verdict;
  }
  if (size_t at = log.find("Used "); at != std::string::npos && log.find(" registers", at) != std::string::npos)
    verdict.registers = static_cast<unsigned>(std::strtoul(log.c_str() + at + 5, nullptr, 10));
  return verdict;
}

} // namespace

PtxasVerdict askPtxas(const Module &module, const Function &kernel) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, PtxasVerdict> known;
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    return {};
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, isNew] = known.try_emplace({module.source, std::string(kernel.name)});
  if (isNew)
    it->second = judge(assemble(ptxas, module, kernel));
  return it->second;
}

} // namespace tilewright::ptxsim
