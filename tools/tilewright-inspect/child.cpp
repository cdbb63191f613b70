// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A child process over one anonymous file: no temporary file can be left
// behind. Its output goes to another anonymous file, so that it never blocks on
// a pipe and its end is all that there is to wait for.

#include "child.h"

#include "core/child_process.h"
#include "files.h"
#include "host_tensor.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace tilewright::inspect {

using run::AnonymousFile;
using run::RunError;

namespace {

constexpr unsigned kLimitSeconds = 60;

} // namespace

std::string runOn(const std::vector<std::string> &command,
                  const std::string &input) {
  AnonymousFile in("input"), out("output"), errors("errors");
  in.write(input);
  runtime::ChildEnd end = runtime::runChild(
      {command,
       {{out.number, 1}, {errors.number, 2}, {in.number, 3}},
       kLimitSeconds});
  if (end.error)
    throw RunError(command[0] + ": " + std::strerror(end.error));
  if (end.timedOut)
    throw RunError(command[0] + " did not end within a minute");
  int status = end.status;
  std::string message = errors.contents();
  message = message.substr(0, message.find('\n'));
  if (WIFSIGNALED(status))
    throw RunError(command[0] + " ended by signal " +
                   std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    throw RunError(command[0] + " failed" +
                   (message.empty() ? "" : ": " + message));
  return out.contents();
}

bool isInPath(const std::string &program) {
  if (program.find('/') != std::string::npos)
    return access(program.c_str(), X_OK) == 0;
  const char *path = std::getenv("PATH");
  std::string rest = path ? path : "";
  while (!rest.empty()) {
    size_t colon = rest.find(':');
    if (access((rest.substr(0, colon) + "/" + program).c_str(), X_OK) == 0)
      return true;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return false;
}

} // namespace tilewright::inspect
