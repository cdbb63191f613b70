// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program and waits for it, so that it never outlives this process: the
// kernel sends it SIGKILL when this process ends, whatever ends it. posix_spawn
// cannot ask for that, so this is fork and exec, with nothing but calls that are
// safe in the child of a process with threads between them.
//
// One header for the runtime's tools and, without the runtime, for the compiler.
#ifndef TILEWRIGHT_CORE_CHILD_PROCESS_H
#define TILEWRIGHT_CORE_CHILD_PROCESS_H

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tilewright::runtime {

struct ChildProcess {
  /// The program, looked up in PATH where it has no slash, and its arguments.
  std::vector<std::string> command;
  /// Files that it gets: the number here, the number there.
  std::vector<std::pair<int, int>> files = {};
  /// When it is killed; 0: never.
  unsigned seconds = 0;
};

struct ChildEnd {
  int error = 0;  // errno where it could not be started
  int status = 0; // as waitpid gives it
  bool timedOut = false;
};

namespace detail {

/// Never returns; `report` gets errno where the program cannot be started.
[[noreturn]] inline void becomeChild(const ChildProcess &child, char **argv,
                                     pid_t parent, int report) {
  // The signal comes when the thread that forked ends. That thread waits for
  // this process, so it ends only with the whole parent.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before the request.
  if (getppid() != parent)
    _exit(127);
  bool good = true;
  for (auto [from, to] : child.files)
    good &= from == to ? fcntl(from, F_SETFD, 0) == 0 : dup2(from, to) == to;
  if (good)
    execvp(argv[0], argv);
  int reason = errno;
  (void)!write(report, &reason, sizeof(reason));
  _exit(127);
}

inline ChildEnd waitForChild(pid_t child, unsigned seconds) {
  ChildEnd end;
  auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    pid_t ended = waitpid(child, &end.status, seconds ? WNOHANG : 0);
    if (ended == child)
      return end;
    if (ended < 0 && errno != EINTR) {
      end.error = errno;
      return end;
    }
    if (!seconds)
      continue;
    if (!end.timedOut && std::chrono::steady_clock::now() > deadline) {
      end.timedOut = true;
      kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

} // namespace detail

/// Runs the program to its end.
inline ChildEnd runChild(const ChildProcess &child) {
  ChildEnd end;
  std::vector<char *> argv;
  for (const std::string &word : child.command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    end.error = errno;
    return end;
  }
  pid_t parent = getpid(), started = fork();
  if (started == 0)
    detail::becomeChild(child, argv.data(), parent, report[1]);
  int forked = errno;
  close(report[1]);
  int reason = 0;
  if (started < 0) {
    end.error = forked;
  } else {
    ssize_t got;
    while ((got = read(report[0], &reason, sizeof(reason))) < 0 &&
           errno == EINTR) {
    }
    end = detail::waitForChild(started, child.seconds);
    if (got == ssize_t(sizeof(reason)))
      end.error = reason;
  }
  close(report[0]);
  return end;
}

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_CHILD_PROCESS_H
