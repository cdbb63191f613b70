// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicts by tilewright-sweep; see predict.h.

#include "predict.h"

#include "compile.h"
#include "core/child_process.h"
#include "host_tensor.h"
#include "kernel.h"

#include <cstring>
#include <unistd.h>

namespace tilewright::run {

namespace {

constexpr const char *kNeeds =
    "--predict needs Python 3.8 or newer and the command tilewright-sweep, which comes with "
    "Tilewright's build, its installation and `pip install tilewright`";

std::vector<std::string> commandOf(const Options &options) {
  std::string tool = pathBeside("tilewright-sweep");
  if (access(tool.c_str(), X_OK) != 0)
    tool = "tilewright-sweep"; // in PATH
  std::vector<std::string> command = {tool, "predict",
                                      options.program, "--chip=" + options.predict};
  if (!isKernelFile(options.program))
    return command;
  if (!options.entry.empty())
    command.push_back("--entry=" + options.entry);
  command.insert(command.end(), {"--grid=" + options.grid, "--block=" + options.block,
                                 "--cluster=" + options.cluster,
                                 "--shared=" + std::to_string(options.shared)});
  for (const std::string &argument : options.kernelArguments)
    command.push_back("--arg=" + argument);
  return command;
}

} // namespace

bool predict(const Options &options) {
  runtime::ChildEnd end = runtime::runChild({commandOf(options)});
  if (end.error == ENOENT)
    throw RunError(std::string(kNeeds) + "; neither is beside this program or in PATH");
  if (end.error)
    throw RunError(std::string("tilewright-sweep: ") + std::strerror(end.error));
  // What env says of a #! line whose interpreter is missing.
  if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == 127)
    throw RunError(kNeeds);
  return WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0;
}

} // namespace tilewright::run
