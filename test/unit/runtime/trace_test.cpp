// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright/trace.h on the cpu device: which slices there are, and that they
// nest.

#include "test_program.h"

#include "tilewright/trace.h"

#include <mutex>

using namespace tilewright::test;

namespace {

using ProgramTest = tilewright::test::ProgramTest;

struct Slice {
  std::string name, category, arguments;
  bool onDevice;
  uint32_t lane;
  uint64_t begin, end;
};

struct Recorder {
  std::mutex mutex;
  std::vector<Slice> slices;

  static void hear(void *user, const tilewright_trace_event *e) {
    auto *self = static_cast<Recorder *>(user);
    std::lock_guard<std::mutex> lock(self->mutex);
    self->slices.push_back({e->name, e->category, e->arguments,
                            e->on_device != 0, e->lane, e->begin, e->end});
  }
  const Slice *find(const std::string &category, const std::string &name) {
    for (const Slice &slice : slices)
      if (slice.category == category && slice.name == name)
        return &slice;
    return nullptr;
  }
};

TEST_F(ProgramTest, TracesCallsLaunchesAndKernels) {
  Recorder recorder;
  ASSERT_OK(tilewright_device_set_trace(device, Recorder::hear, &recorder));
  std::vector<tilewright_value> results;
  tilewright_view *a = tensor(TW_F32, {20, 7}, std::vector<float>(140, 1.0f));
  tilewright_view *b = tensor(TW_F32, {7, 3}, std::vector<float>(21, 1.0f));
  ASSERT_EQ(call("main", {value(a), value(b)}, results), "");
  EXPECT_EQ(elements<float>(results[0].view), std::vector<float>(60, 7.0f));
  ASSERT_OK(tilewright_device_set_trace(device, nullptr, nullptr));

  const Slice *called = recorder.find("call", "main");
  const Slice *launched = recorder.find("launch", "matmul");
  const Slice *kernel = recorder.find("kernel", "matmul");
  const Slice *wrote = recorder.find("transfer", "write");
  ASSERT_TRUE(called && launched && kernel && wrote);
  EXPECT_TRUE(recorder.find("wait", "synchronize"));
  // The launch lies in the call, on the same thread.
  EXPECT_EQ(called->lane, launched->lane);
  EXPECT_LE(called->begin, launched->begin);
  EXPECT_LE(launched->end, called->end);
  // The kernel runs on the stream's lane, after its launch began.
  EXPECT_TRUE(kernel->onDevice);
  EXPECT_FALSE(launched->onDevice);
  EXPECT_LT(kernel->begin, kernel->end);
  EXPECT_NE(kernel->arguments.find("\"grid\":["), std::string::npos);
  EXPECT_NE(wrote->arguments.find("\"bytes\":560"), std::string::npos);

  // Two slices of one lane are apart or one contains the other.
  for (const Slice &x : recorder.slices)
    for (const Slice &y : recorder.slices)
      if (x.onDevice == y.onDevice && x.lane == y.lane && x.begin < y.begin)
        EXPECT_TRUE(y.begin >= x.end || y.end <= x.end)
            << x.name << " and " << y.name;
}

TEST_F(ProgramTest, TracesNothingOnceSwitchedOff) {
  Recorder recorder;
  ASSERT_OK(tilewright_device_set_trace(device, Recorder::hear, &recorder));
  ASSERT_OK(tilewright_device_set_trace(device, nullptr, nullptr));
  tensor(TW_I32, {3}, std::vector<int32_t>{1, 2, 3});
  ASSERT_OK(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
  EXPECT_TRUE(recorder.slices.empty());
}

} // namespace
