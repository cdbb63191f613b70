// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conformance suite's frame: a case is a function that runs on one device
// and says what failed. Cases know neither how they were started nor GoogleTest:
// `tilewright-cts` runs them anywhere, cts_gtest.cpp under GoogleTest.
//
// A case that does what a device may not survive runs in a child process: the
// program starts itself again for it, see runInChild.
#ifndef TILEWRIGHT_CTS_CTS_H
#define TILEWRIGHT_CTS_CTS_H

#include "core/driver.h"
#include "core/registry.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tilewright::cts {

using namespace tilewright::runtime;

/// One case on one device. `fail` may be called from any thread.
class Context {
public:
  Context(Instance &instance, std::shared_ptr<Device> device)
      : instance(instance), owner(std::move(device)) {}

  /// The driver underneath: what the suite is about.
  DriverDevice &device() { return owner->driver(); }
  /// "cpu", "cuda" (ptxsim too) or "vulkan".
  const std::string &driver() const { return owner->driverName(); }
  const std::string &name() const { return owner->info().name; }
  int64_t fact(const char *key) { return device().fact(key); }
  /// Opens the same device a second time.
  Status reopen(std::shared_ptr<Device> &result) {
    return instance.open(name(), result);
  }

  void fail(const char *file, int line, const std::string &message);
  /// Ends as skipped unless something failed; return after calling it.
  void skip(const std::string &reason) { skipReason = reason; }

  bool failed() const { return !failures.empty(); }
  const std::vector<std::string> &messages() const { return failures; }
  const std::string &skipped() const { return skipReason; }

private:
  Instance &instance;
  std::shared_ptr<Device> owner;
  std::mutex mutex;
  std::vector<std::string> failures;
  std::string skipReason;
};

/// Kinds of devices, for cases about something that the others do not have.
enum Kinds : unsigned { OnCpu = 1, OnCuda = 2, OnVulkan = 4, OnAll = 7 };

struct Case {
  const char *name; // "group.what_it_shows"
  void (*run)(Context &);
  bool inChild = false;
  unsigned kinds = OnAll;

  /// Whether it is for a device of this name ("ptxsim" is of kind cuda).
  bool isFor(const std::string &device) const;
};

const std::vector<Case> &allCases();
std::vector<Case> bufferCases();
std::vector<Case> launchCases();
std::vector<Case> streamCases();
std::vector<Case> errorCases();
std::vector<Case> stressCases();
std::vector<Case> adoptCudaCases();
std::vector<Case> adoptVulkanCases();
std::vector<Case> dlpackCases();

enum class Outcome { Pass, Skip, Fail };
struct Result {
  Outcome outcome = Outcome::Pass;
  std::string text; // why it was skipped, or what failed
  double milliseconds = 0;
};

/// Opens the device and runs one case on it, in a child process if it must.
Result runCase(Instance &instance, const std::string &device, const Case &test);

/// To be called first by main: when this process is such a child, runs its case
/// and leaves by _exit.
void becomeChild(int argc, char **argv);

} // namespace tilewright::cts

/// These leave the case (a void function) when they fail.
#define TW_CHECK(CONDITION, MESSAGE)                                           \
  do {                                                                         \
    if (!(CONDITION)) {                                                        \
      context.fail(__FILE__, __LINE__,                                         \
                   std::string(#CONDITION ": ") + (MESSAGE));                  \
      return;                                                                  \
    }                                                                          \
  } while (false)
#define TW_OK(CALL)                                                            \
  do {                                                                         \
    ::tilewright::runtime::Status status_ = (CALL);                            \
    if (status_) {                                                             \
      context.fail(__FILE__, __LINE__, #CALL ": " + status_.message());        \
      return;                                                                  \
    }                                                                          \
  } while (false)
/// The call fails with this code, and says something.
#define TW_FAILS(CALL, CODE)                                                   \
  do {                                                                         \
    ::tilewright::runtime::Status status_ = (CALL);                            \
    if (status_.code() != (CODE) || status_.message().empty()) {               \
      context.fail(__FILE__, __LINE__,                                         \
                   #CALL ": expected " #CODE ", got status " +                 \
                       std::to_string(static_cast<int>(status_.code())) +      \
                       " '" + status_.message() + "'");                        \
      return;                                                                  \
    }                                                                          \
  } while (false)

#endif // TILEWRIGHT_CTS_CTS_H
