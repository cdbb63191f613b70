// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one case on one device, here or in a child process.
#include "cts.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace tilewright::cts {

constexpr int childDeadlineSeconds = 120;
constexpr const char *childFlag = "--run-child";

void Context::fail(const char *file, int line, const std::string &message) {
  const char *base = std::strrchr(file, '/');
  std::lock_guard<std::mutex> lock(mutex);
  failures.push_back(std::string(base ? base + 1 : file) + ":" +
                     std::to_string(line) + ": " + message);
}

const std::vector<Case> &allCases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    for (auto group : {bufferCases(), launchCases(), streamCases(),
                       errorCases(), stressCases(), adoptCudaCases(),
                       adoptVulkanCases(), dlpackCases()})
      all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
  return cases;
}

bool Case::isFor(const std::string &device) const {
  std::string driver = device.substr(0, device.find(':'));
  Kinds kind = driver == "cpu" ? OnCpu : driver == "vulkan" ? OnVulkan : OnCuda;
  return kinds & kind;
}

static Result runHere(Instance &instance, const std::string &device,
                      const Case &test) {
  Result result;
  std::shared_ptr<Device> opened;
  if (Status s = instance.open(device, opened)) {
    result.outcome = s.code() == StatusCode::Unavailable ? Outcome::Skip
                                                         : Outcome::Fail;
    result.text = s.message();
    return result;
  }
  Context context(instance, std::move(opened));
  test.run(context);
  if (context.failed()) {
    result.outcome = Outcome::Fail;
    for (const std::string &message : context.messages())
      result.text += (result.text.empty() ? "" : "; ") + message;
  } else if (!context.skipped().empty()) {
    result.outcome = Outcome::Skip;
    result.text = context.skipped();
  }
  return result;
}

/// The child's answer: one letter (P, S, F), then the text.
static Result readAnswer(pid_t child, int pipe) {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::seconds(childDeadlineSeconds);
  std::string answer;
  bool timedOut = false;
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                    end - Clock::now())
                    .count();
    pollfd ready = {pipe, POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0) {
      timedOut = true;
      kill(child, SIGKILL);
      break;
    }
    char buffer[512];
    ssize_t got = read(pipe, buffer, sizeof(buffer));
    if (got <= 0)
      break;
    answer.append(buffer, static_cast<size_t>(got));
  }
  int status = 0;
  waitpid(child, &status, 0);
  Result result;
  result.outcome = Outcome::Fail;
  if (timedOut)
    result.text = "the child process hung and was killed";
  else if (WIFSIGNALED(status))
    result.text = "the child process died of signal " +
                  std::to_string(WTERMSIG(status));
  else if (answer.empty())
    result.text = "the child process ended without an answer";
  else {
    result.outcome = answer[0] == 'P'   ? Outcome::Pass
                     : answer[0] == 'S' ? Outcome::Skip
                                        : Outcome::Fail;
    result.text = answer.substr(1);
  }
  return result;
}

static Result runInChild(const std::string &device, const Case &test) {
  Result result;
  result.outcome = Outcome::Fail;
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) {
    result.text = "no pipe for the child process";
    return result;
  }
  std::string name = test.name, target = device;
  // Under an explicit dynamic loader /proc/self/exe is the loader: who set that
  // up names the program, and a launcher that does it again.
  const char *program = std::getenv("TILEWRIGHT_EXECUTABLE");
  const char *launcher = std::getenv("TILEWRIGHT_LAUNCHER");
  if (!program || !launcher)
    program = launcher = "/proc/self/exe";
  std::vector<char *> arguments = {const_cast<char *>(launcher),
                                   const_cast<char *>(program),
                                   const_cast<char *>(childFlag), target.data(),
                                   name.data(), nullptr};
  if (program == launcher)
    arguments.erase(arguments.begin());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipes[1], 3);
  pid_t child = 0;
  int error = posix_spawn(&child, launcher, &actions, nullptr,
                          arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipes[1]);
  if (error == 0)
    result = readAnswer(child, pipes[0]);
  else
    result.text = std::string("no child process: ") + std::strerror(error);
  close(pipes[0]);
  return result;
}

Result runCase(Instance &instance, const std::string &device,
               const Case &test) {
  auto begin = std::chrono::steady_clock::now();
  Result result = test.inChild ? runInChild(device, test)
                               : runHere(instance, device, test);
  result.milliseconds = std::chrono::duration<double, std::milli>(
                            std::chrono::steady_clock::now() - begin)
                            .count();
  return result;
}

void becomeChild(int argc, char **argv) {
  if (argc != 4 || std::strcmp(argv[1], childFlag) != 0)
    return;
  Result result;
  result.outcome = Outcome::Fail;
  result.text = std::string("no case ") + argv[3];
  auto instance = std::make_shared<Instance>(InstanceOptions());
  for (const Case &test : allCases())
    if (std::strcmp(test.name, argv[3]) == 0)
      result = runHere(*instance, argv[2], test);
  std::string answer = result.outcome == Outcome::Pass   ? "P"
                       : result.outcome == Outcome::Skip ? "S"
                                                         : "F";
  answer += result.text;
  ssize_t ignored = write(3, answer.data(), answer.size());
  (void)ignored;
  // The device may be busy for ever: no destructors.
  _exit(0);
}

} // namespace tilewright::cts
