// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program is opened, loaded, called, launched, copied, traced and released while
// the k-th allocation of host memory fails, for every k:
//
//   once       the call that meets it answers OUT_OF_MEMORY, the same call again
//              works, and so does everything after it, with the right numbers
//   for ever   calls answer OUT_OF_MEMORY, releasing everything needs no memory
//
// Nothing aborts, hangs or leaks in either.

#include "allocation_failures.h"
#include "core/dlpack_abi.h"
#include "device_program.h"

#include "tilewright/trace.h"

#include <array>
#include <unistd.h>

using namespace tilewright::test;

namespace {

/// One run, whose own code allocates nothing.
class Session {
public:
  Session(const char *deviceName, const std::string &artifact)
      : deviceName(deviceName), artifact(artifact) {}
  ~Session() { close(); }

  /// Whether everything was done, perhaps at the second try.
  bool whole() { return open() && load() && transfer() && call() && order(); }
  void close();

  /// What the first call that failed is, and its status code; 0: none did.
  const char *firstFailed = "";
  int code = 0;
  bool wrongNumbers = false;

private:
  /// Up to two tries, of which the first may find no memory.
  template <typename Call> bool tried(const char *what, Call call) {
    for (int i = 0; i < 2; ++i) {
      tilewright_status *status = call();
      if (!status)
        return true;
      if (!code) {
        code = tilewright_status_code(status);
        firstFailed = what;
      }
      tilewright_status_release(status);
    }
    return false;
  }
  bool open();
  bool load();
  bool transfer();
  bool call();
  bool order();

  const char *deviceName;
  const std::string &artifact;
  std::array<int32_t, 64> numbers, back;
  tilewright_instance *instance = nullptr;
  tilewright_device *device = nullptr;
  tilewright_stream *stream = nullptr, *other = nullptr;
  tilewright_event *begin = nullptr, *end = nullptr;
  tilewright_program *program = nullptr;
  tilewright_buffer *buffer = nullptr;
  tilewright_view *view = nullptr, *window = nullptr, *returned = nullptr;
  DLManagedTensor *exported = nullptr;
};

#define TRY(CALL)                                                              \
  if (!tried(#CALL, [&] { return CALL; }))                                     \
  return false

bool Session::open() {
  TRY(tilewright_instance_create(nullptr, &instance));
  TRY(tilewright_device_open(instance, deviceName, &device));
  // A key too long for a string without memory.
  tilewright_device_fact(device, "feature:this processor has none of that name");
  TRY(tilewright_device_set_trace(
      device, [](void *, const tilewright_trace_event *) {}, nullptr));
  TRY(tilewright_stream_create(device, &stream));
  TRY(tilewright_stream_create(device, &other));
  TRY(tilewright_event_create(device, 1, &begin));
  TRY(tilewright_event_create(device, 1, &end));
  return true;
}

bool Session::load() {
  TRY(tilewright_program_load(device, artifact.data(), artifact.size(), nullptr,
                              &program));
  auto silent = [](void *, const char *, size_t) {};
  tilewright_program_set_print(program, silent, nullptr);
  tilewright_program_set_trace(program, silent, nullptr);
  return true;
}

bool Session::transfer() {
  const int64_t dims[] = {64}, windowDims[] = {8}, strides[] = {2};
  for (int i = 0; i < 64; ++i)
    numbers[i] = i;
  TRY(tilewright_buffer_allocate(device, 1024, &buffer));
  TRY(tilewright_buffer_fill(buffer, stream, 0, 1024, 0, 4));
  TRY(tilewright_buffer_write(buffer, stream, 0, numbers.data(), 256));
  TRY(tilewright_buffer_copy(buffer, 256, buffer, 0, 256, stream));
  TRY(tilewright_view_allocate(device, TW_I32, 1, dims, &view));
  TRY(tilewright_view_write(view, stream, numbers.data(), 256));
  TRY(tilewright_view_create_strided(buffer, 0, TW_I32, 1, windowDims, strides,
                                     &window));
  TRY(tilewright_view_read(window, stream, 32, back.data()));
  TRY(tilewright_buffer_read(buffer, stream, 256, 256, back.data()));
  TRY(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
  wrongNumbers |= back != numbers;
  TRY(tilewright_view_to_dlpack(view, &exported));
  tilewright_view *again = nullptr;
  TRY(tilewright_view_from_dlpack(device, exported, 0, &again));
  exported = nullptr; // the view's
  tilewright_view_release(again);
  return true;
}

bool Session::call() {
  size_t inPlace, print, increment;
  TRY(tilewright_program_function_find(program, "inplace", &inPlace));
  TRY(tilewright_program_function_find(program, "print", &print));
  TRY(tilewright_program_dispatch_find(program, "increment", &increment));
  tilewright_value tensor = {TILEWRIGHT_BUFFER, view, 0};
  tilewright_value number = {TILEWRIGHT_SCALAR, nullptr, 3}, result = {};
  TRY(tilewright_program_call(program, inPlace, stream, 1, &tensor, 0, nullptr));
  // Its host code reads a tensor.
  TRY(tilewright_program_call(program, print, nullptr, 1, &number, 1, &result));
  returned = result.view;
  TRY(tilewright_program_launch(program, increment, stream, 1, &view, 0, nullptr));
  TRY(tilewright_view_read(view, stream, 256, back.data()));
  TRY(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
  bool isCpu = driverOf(deviceName) == "cpu";
  for (int i = 0; i < 64; ++i)
    wrongNumbers |= back[i] != (isCpu ? i + 2 : 9 * i + 4);
  return true;
}

bool Session::order() {
  int32_t done = 0;
  uint64_t time = 0;
  TRY(tilewright_event_record(begin, stream));
  TRY(tilewright_stream_wait_event(other, begin));
  TRY(tilewright_event_record(end, other));
  TRY(tilewright_stream_flush(stream));
  TRY(tilewright_stream_flush(other));
  TRY(tilewright_event_query(end, &done));
  TRY(tilewright_event_wait(end, TILEWRIGHT_FOREVER));
  TRY(tilewright_event_elapsed(begin, end, &time));
  tilewright_device_trim(device);
  return true;
}

void Session::close() {
  if (exported)
    exported->deleter(exported);
  for (tilewright_view *each : {view, window, returned})
    tilewright_view_release(each);
  tilewright_buffer_release(buffer);
  tilewright_event_release(begin);
  tilewright_event_release(end);
  tilewright_program_release(program);
  tilewright_stream_release(other);
  tilewright_stream_release(stream);
  tilewright_device_release(device);
  tilewright_instance_release(instance);
  exported = nullptr, view = window = returned = nullptr, buffer = nullptr;
  begin = end = nullptr, program = nullptr, stream = other = nullptr;
  device = nullptr, instance = nullptr;
}

TEST(NoMemory, EveryAllocationFails) {
  const char *device = "cpu";
  std::string artifact = deviceArtifact(driverOf(device));
  // Twice: what is made once per process stays.
  for (int i = 0; i < 2; ++i) {
    Session run(device, artifact);
    ASSERT_TRUE(run.whole()) << run.firstFailed;
    ASSERT_FALSE(run.wrongNumbers);
  }
  failAllocation(0, false);
  { Session(device, artifact).whole(); }
  long all = allocations();
  ASSERT_GT(all, 500);
  // Most are alike: those of the manifest.
  long step = all / 120;
  for (bool andAllAfter : {false, true})
    for (long k = 1; k <= all && !HasFailure(); k += k < 100 ? 1 : step) {
      long before = liveAllocations();
      alarm(60); // a hang ends the test
      failAllocation(k, andAllAfter);
      Session run(device, artifact);
      bool whole = run.whole();
      run.close();
      long leaked = liveAllocations() - before;
      failAllocation(0, false);
      alarm(0);
      SCOPED_TRACE((andAllAfter ? "from " : "at ") + std::to_string(k) + " of " +
                   std::to_string(all) + ", " + run.firstFailed);
      if (run.code)
        EXPECT_EQ(run.code, TILEWRIGHT_OUT_OF_MEMORY);
      EXPECT_TRUE(whole || (andAllAfter && run.code));
      EXPECT_FALSE(run.wrongNumbers);
      EXPECT_EQ(leaked, 0);
    }
}

} // namespace
