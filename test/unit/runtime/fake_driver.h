// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Driver libraries that fail when they are told to. runtime_fake_cuda stands in
// front of the simulator's libcuda, runtime_fake_vulkan in front of the Vulkan
// loader: they hand every call on, count the calls and what is alive, and can lie
// about versions, devices and functions. Tests load one under its path, find
// `fakeDriver` in it and write what is to go wrong.
#ifndef TILEWRIGHT_TEST_RUNTIME_FAKE_DRIVER_H
#define TILEWRIGHT_TEST_RUNTIME_FAKE_DRIVER_H

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

struct FakeDriver {
  /// The library behind this one.
  std::string real;
  /// Number, from 1, of the call that fails (0: none), and what it answers.
  long failAt = 0;
  int failWith = 0;
  /// All calls after that fail too.
  bool stays = false;
  /// A function that answers this every time.
  std::string failing;
  int failingWith = 0;
  /// A function that is not there.
  std::string lacks;
  /// Unless negative: what the library says of itself.
  int version = -1, devices = -1;
  /// Vulkan: the device has VK_KHR_pipeline_executable_properties, and says of
  /// every pipeline what fake_vulkan.cpp has.
  bool saysResources = false;
  /// Vulkan: the device has cooperative matrices, as AMD's GPUs list them.
  bool listsMatrices = false;

  long calls = 0; // that could have failed
  std::string failed; // the function that did
  std::map<std::string, long> alive; // objects by kind
  std::mutex mutex;

  /// 0, or what the call has to answer instead.
  int before(const char *name) {
    std::lock_guard<std::mutex> lock(mutex);
    if (failing == name)
      return failingWith;
    ++calls;
    bool fails = failAt && (calls == failAt || (stays && calls > failAt));
    if (fails && failed.empty())
      failed = name;
    return fails ? failWith : 0;
  }
  void count(const std::string &kind, long change) {
    std::lock_guard<std::mutex> lock(mutex);
    if ((alive[kind] += change) == 0)
      alive.erase(kind);
  }
  std::string leaks() {
    std::lock_guard<std::mutex> lock(mutex);
    std::string text;
    for (const auto &[kind, number] : alive)
      text += " " + std::to_string(number) + " of " + kind;
    return text;
  }
  /// Nothing fails any more, all counts begin anew.
  void reset() {
    failAt = 0, failWith = 0, stays = false, calls = 0, version = devices = -1;
    saysResources = listsMatrices = false;
    failing.clear(), lacks.clear(), failed.clear(), alive.clear();
  }
};

#define TW_FAKE_EXPORT extern "C" __attribute__((visibility("default")))

#endif // TILEWRIGHT_TEST_RUNTIME_FAKE_DRIVER_H
