// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A child process over one anonymous file: no temporary file can be left
// behind. Its output goes to another anonymous file, so that it never blocks on
// a pipe and its end is all that there is to wait for.

#include "child.h"

#include "host_tensor.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

namespace tilewright::inspect {

using run::RunError;

namespace {

constexpr std::chrono::seconds kLimit(60);

struct AnonymousFile {
  int number = -1;
  explicit AnonymousFile(const char *name)
      : number(memfd_create(name, MFD_CLOEXEC)) {
    if (number < 0)
      throw RunError(std::string("memfd_create: ") + std::strerror(errno));
  }
  ~AnonymousFile() { close(number); }

  void write(const std::string &bytes) {
    for (size_t done = 0; done < bytes.size();) {
      ssize_t n = ::write(number, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno != EINTR)
        throw RunError(std::string("anonymous file: ") + std::strerror(errno));
      done += n > 0 ? n : 0;
    }
  }
  std::string contents() {
    std::string result;
    char buffer[1 << 16];
    for (off_t at = 0;;) {
      ssize_t n = pread(number, buffer, sizeof(buffer), at);
      if (n <= 0)
        return result;
      result.append(buffer, n);
      at += n;
    }
  }
};

/// The exit status as waitpid gives it.
int waitFor(pid_t child, const std::string &name) {
  auto deadline = std::chrono::steady_clock::now() + kLimit;
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child)
      return status;
    if (ended < 0 && errno != EINTR)
      throw RunError(name + ": " + std::strerror(errno));
    if (std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      throw RunError(name + " did not end within a minute");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

} // namespace

std::string runOn(const std::vector<std::string> &command,
                  const std::string &input) {
  AnonymousFile in("input"), out("output"), errors("errors");
  in.write(input);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.number, 1);
  posix_spawn_file_actions_adddup2(&actions, errors.number, 2);
  posix_spawn_file_actions_adddup2(&actions, in.number, 3);
  std::vector<char *> argv;
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child;
  int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(),
                            environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    throw RunError(command[0] + ": " + std::strerror(failed));
  int status = waitFor(child, command[0]);
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
