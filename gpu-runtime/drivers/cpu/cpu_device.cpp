// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a device; see cpu_device.h.

#include "cpu_device.h"

#include <algorithm>
#include <pthread.h>
#include <vector>

namespace tilewright::runtime {

namespace {

// What is open in this process. Never destroyed: forks come at any time.
struct States {
  std::mutex mutex;
  std::vector<CpuDeviceState *> open;

  States() {
    // The lock is held over the fork, so that the child finds it free.
    pthread_atfork([] { states().mutex.lock(); },
                   [] { states().mutex.unlock(); },
                   [] {
                     for (CpuDeviceState *state : states().open)
                       state->noteFork();
                     states().mutex.unlock();
                   });
  }
  static States &states() {
    static States *made = new States;
    return *made;
  }
};

} // namespace

CpuDeviceState::CpuDeviceState() {
  States &states = States::states();
  std::lock_guard<std::mutex> lock(states.mutex);
  states.open.push_back(this);
}

CpuDeviceState::~CpuDeviceState() {
  States &states = States::states();
  std::lock_guard<std::mutex> lock(states.mutex);
  states.open.erase(std::find(states.open.begin(), states.open.end(), this));
}

void CpuDeviceState::noteFork() {
  lost = forked = true;
  // Its end would wait for its threads.
  (void)pool.release();
}

void CpuDeviceState::lose(const std::string &why) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!lost) {
    lost = true; // first: there may be no memory for the reason
    reason = why;
  }
}

Status CpuDeviceState::check() {
  if (!lost)
    return Status::ok();
  if (forked)
    return deviceLost("the device is lost: this process is a fork of the one that "
                      "opened it, which has its threads; open it again");
  std::lock_guard<std::mutex> lock(mutex);
  return deviceLost("the device is lost: " + reason);
}

} // namespace tilewright::runtime
