// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events, transfers and deadlines on the cpu device.

#include "test_program.h"

#include <chrono>
#include <thread>

using namespace tilewright::test;

namespace {

using StreamTest = tilewright::test::ProgramTest;

TEST_F(StreamTest, TransfersWithOffsets) {
  tilewright_buffer *buffer;
  ASSERT_OK(tilewright_buffer_allocate(device, 64, &buffer));
  std::vector<uint8_t> data(64);
  ASSERT_OK(tilewright_buffer_fill(buffer, stream, 0, 64, 0x04030201, 4));
  uint16_t two = 0xbeef;
  ASSERT_OK(tilewright_buffer_write(buffer, stream, 2, &two, 2));
  ASSERT_OK(tilewright_buffer_copy(buffer, 32, buffer, 0, 8, stream));
  ASSERT_OK(tilewright_buffer_read(buffer, stream, 0, 64, data.data()));
  ASSERT_OK(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
  EXPECT_EQ(std::vector<uint8_t>(data.begin() + 32, data.begin() + 41),
            (std::vector<uint8_t>{1, 2, 0xef, 0xbe, 1, 2, 3, 4, 1}));
  EXPECT_FAILS(tilewright_buffer_write(buffer, stream, 63, &two, 2),
               "write: bytes 63 + 2 lie outside a buffer of 64 bytes");
  EXPECT_FAILS(tilewright_buffer_read(buffer, stream, UINT64_MAX, 2, &two),
               "lie outside");
  EXPECT_FAILS(tilewright_buffer_fill(buffer, stream, 0, 6, 0, 4),
               "no multiple");
  EXPECT_FAILS(tilewright_buffer_fill(buffer, stream, 0, 6, 0, 3),
               "expected 1, 2 or 4");
  EXPECT_FAILS(tilewright_buffer_copy(buffer, 4, buffer, 0, 8, stream),
               "overlap");
  tilewright_buffer_release(buffer);
}

TEST_F(StreamTest, EventsOrderStreamsAndTellTime) {
  tilewright_stream *other;
  ASSERT_OK(tilewright_stream_create(device, &other));
  tilewright_event *start, *end;
  ASSERT_OK(tilewright_event_create(device, 1, &start));
  ASSERT_OK(tilewright_event_create(device, 1, &end));
  int32_t done = 0;
  ASSERT_OK(tilewright_event_query(start, &done));
  EXPECT_TRUE(done);

  tilewright_view *data = newView(TW_I32, {1 << 20});
  ASSERT_OK(tilewright_event_record(start, stream));
  std::vector<int32_t> values(1 << 20, 7), back(1 << 20);
  for (int i = 0; i < 10; ++i)
    ASSERT_OK(tilewright_view_write(data, stream, values.data(), 4 << 20));
  ASSERT_OK(tilewright_event_record(end, stream));
  ASSERT_OK(tilewright_stream_wait_event(other, end));
  ASSERT_OK(tilewright_view_read(data, other, 4 << 20, back.data()));
  ASSERT_OK(tilewright_stream_synchronize(other, TILEWRIGHT_FOREVER));
  EXPECT_EQ(back, values);
  ASSERT_OK(tilewright_event_wait(end, TILEWRIGHT_FOREVER));
  uint64_t nanoseconds = 0;
  ASSERT_OK(tilewright_event_elapsed(start, end, &nanoseconds));
  EXPECT_GT(nanoseconds, 0u);

  tilewright_event *plain;
  ASSERT_OK(tilewright_event_create(device, 0, &plain));
  EXPECT_FAILS(tilewright_event_elapsed(plain, end, &nanoseconds),
               "created with timing");
  tilewright_event_release(plain);
  tilewright_event_release(start);
  tilewright_event_release(end);
  tilewright_stream_release(other);
}

// A kernel that does not end: the wait does, and the device says so from then
// on. Nothing hangs when everything is released.
TEST_F(StreamTest, DeadlinesLoseTheDevice) {
  alignas(64) static volatile int32_t flag[16] = {};
  tilewright_buffer *buffer;
  ASSERT_OK(tilewright_buffer_import(device, reinterpret_cast<uintptr_t>(flag),
                                     64, &buffer));
  tilewright_view *view;
  int64_t dims[] = {16};
  ASSERT_OK(tilewright_view_create(buffer, 0, TW_I32, 1, dims, &view));
  owned.push_back(view);
  tilewright_buffer_release(buffer);
  std::vector<tilewright_value> results;
  ASSERT_EQ(call("hang", {value(view)}, results), "");
  EXPECT_FAILS(tilewright_stream_synchronize(stream, 50'000'000),
               "7: cpu: its work did not finish within 0.05 s");
  EXPECT_FAILS(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER),
               "8: cpu: the device is lost: its work did not finish");
  EXPECT_PRED2(contains, call("inplace", {value(view)}, results),
               "the device is lost");
  tilewright_device *fresh;
  ASSERT_OK(tilewright_device_open(instance, "cpu", &fresh));
  tilewright_stream *queue;
  ASSERT_OK(tilewright_stream_create(fresh, &queue));
  EXPECT_OK(tilewright_stream_synchronize(queue, TILEWRIGHT_FOREVER));
  tilewright_stream_release(queue);
  tilewright_device_release(fresh);
  flag[0] = 1; // let the thread go
}

TEST_F(StreamTest, DevicesByName) {
  tilewright_device *opened = nullptr;
  EXPECT_FAILS(tilewright_device_open(instance, "tpu", &opened),
               "device 'tpu': expected one of auto");
  EXPECT_FAILS(tilewright_device_open(instance, "cpu:1", &opened),
               "there is only cpu");
  EXPECT_FAILS(tilewright_device_open(instance, "cpu:x", &opened),
               "expected a number behind the colon");
  EXPECT_FAILS(tilewright_device_open(instance, nullptr, &opened),
               "'name' is null");
  EXPECT_EQ(opened, nullptr);
  size_t count = 0;
  ASSERT_OK(tilewright_instance_devices(instance, 0, nullptr, &count));
  std::vector<tilewright_device_info> infos(count);
  ASSERT_OK(tilewright_instance_devices(instance, count, infos.data(), &count));
  bool cpu = false;
  for (const tilewright_device_info &info : infos) {
    cpu |= std::string(info.name) == "cpu" && info.available;
    EXPECT_TRUE(info.available || *info.reason) << info.name;
  }
  EXPECT_TRUE(cpu);
  EXPECT_GT(tilewright_device_fact(device, "multiprocessors"), 0);
  EXPECT_EQ(tilewright_device_fact(device, "no such fact"), 0);
}

} // namespace
