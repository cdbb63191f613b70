// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One small program for every device: the host code of host_program.c over the
// conformance suite's kernels. For tests of what goes wrong on a device.
//
//   inplace   one launch that changes 64 numbers     hang    a kernel that never ends
//   print     reads a tensor back on the host        crawl   many short blocks (cpu)
#ifndef TILEWRIGHT_TEST_RUNTIME_DEVICE_PROGRAM_H
#define TILEWRIGHT_TEST_RUNTIME_DEVICE_PROGRAM_H

#include "test_program.h"

namespace tilewright::test {

/// An artifact with this program for driver "cpu", "cuda" or "vulkan".
std::string deviceArtifact(const std::string &driver);
/// What inplace makes of a number.
int32_t changed(const std::string &driver, int32_t number);
/// The driver behind a device's name.
std::string driverOf(const std::string &device);

/// One device with a stream, the program and a tensor of 64 numbers. Nothing in
/// here waits for the device but what the caller calls.
struct Opened {
  /// "" or why not. The handles that exist by then are there.
  std::string open(const std::string &device,
                   const tilewright_instance_options *options = nullptr);
  /// Calls a function on the tensor; on `stream`, or without one.
  std::string run(const char *function, bool onStream = true);
  /// inplace on the numbers 0 to 63, read back and compared. "" if right.
  std::string check();
  /// Releases what is left.
  void close();
  ~Opened() { close(); }

  std::string driver;
  tilewright_instance *instance = nullptr;
  tilewright_device *device = nullptr;
  tilewright_stream *stream = nullptr;
  tilewright_program *program = nullptr;
  tilewright_view *view = nullptr;
};

} // namespace tilewright::test

#endif // TILEWRIGHT_TEST_RUNTIME_DEVICE_PROGRAM_H
