// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens after a deadline has passed, on every device: the wait says so,
// the device is lost, every later call says that at once, and nothing waits for
// the kernel any more. A child process per case, killed if it hangs.

#include "device_program.h"

#include <atomic>
#include <chrono>
#include <dirent.h>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tilewright::test;

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr const char *missed = "7: ", *lost = "8: ";

bool starts(const std::string &text, const std::string &with) {
  return text.substr(0, with.size()) == with;
}
#define EXPECT_LOST(call) EXPECT_PRED2(starts, take(call), lost)

size_t threadCount() {
  size_t count = 0;
  if (DIR *folder = opendir("/proc/self/task")) {
    while (dirent *entry = readdir(folder))
      count += entry->d_name[0] != '.';
    closedir(folder);
  }
  return count;
}

/// Whatever is done with a lost device comes back well within this.
struct AtOnce {
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  ~AtOnce() {
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  }
};

class LostDevice : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Opened probe;
    std::string why = probe.open(GetParam());
    if (starts(why, "3: "))
      GTEST_SKIP() << why;
    ASSERT_EQ(why, "");
  }

  bool isVulkan() const { return driverOf(GetParam()) == "vulkan"; }
  bool isSimulator() const { return driverOf(GetParam()) == "cuda"; }

  /// The body in a child of its own, on an opened device.
  void inChild(const std::function<void(Opened &)> &body) {
    EXPECT_EXIT(
        {
          alarm(120);
          size_t before = threadCount();
          {
            Opened opened;
            EXPECT_EQ(opened.open(GetParam()), "");
            body(opened);
            AtOnce quick;
            opened.close();
          }
          // Vulkan runs on; the others stop, and nothing of them is left.
          if (isVulkan())
            _exit(HasFailure());
          for (int i = 0; i < 1000 && threadCount() > before; ++i)
            usleep(10000);
          EXPECT_LE(threadCount(), before);
          exit(HasFailure());
        },
        testing::ExitedWithCode(0), "");
  }

  /// Work that does not end by itself, which all devices but Vulkan's can stop. The
  /// simulator's launch is what misses its deadline.
  void hang(Opened &opened) {
    if (isSimulator()) {
      tilewright_stream_set_timeout(opened.stream, 200 * ms);
      EXPECT_PRED2(starts, opened.run("hang"), missed);
      return;
    }
    EXPECT_EQ(opened.run(isVulkan() ? "hang" : "crawl"), "");
  }
  /// The same, lost for sure.
  void lose(Opened &opened) {
    hang(opened);
    if (!isSimulator())
      EXPECT_PRED2(starts,
                   take(tilewright_stream_synchronize(opened.stream, 100 * ms)),
                   missed);
  }
};

TEST_P(LostDevice, EveryLaterCallSaysSoAtOnce) {
  inChild([&](Opened &opened) {
    tilewright_event *event = nullptr;
    EXPECT_OK(tilewright_event_create(opened.device, 1, &event));
    tilewright_buffer *buffer = nullptr;
    EXPECT_OK(tilewright_buffer_allocate(opened.device, 256, &buffer));
    lose(opened);
    AtOnce quick;
    EXPECT_LOST(tilewright_stream_synchronize(opened.stream, TILEWRIGHT_FOREVER));
    EXPECT_LOST(tilewright_stream_wait_event(opened.stream, event));
    EXPECT_LOST(tilewright_event_record(event, opened.stream));
    EXPECT_LOST(tilewright_event_wait(event, TILEWRIGHT_FOREVER));
    int32_t done = 0;
    EXPECT_LOST(tilewright_event_query(event, &done));
    uint64_t time = 0;
    EXPECT_LOST(tilewright_event_elapsed(event, event, &time));
    char bytes[256] = {};
    EXPECT_LOST(tilewright_buffer_write(buffer, opened.stream, 0, bytes, 256));
    EXPECT_LOST(tilewright_buffer_read(buffer, opened.stream, 0, 256, bytes));
    EXPECT_LOST(tilewright_buffer_fill(buffer, opened.stream, 0, 256, 0, 4));
    EXPECT_LOST(
        tilewright_buffer_copy(buffer, 0, buffer, 128, 128, opened.stream));
    tilewright_buffer *more = nullptr;
    EXPECT_LOST(tilewright_buffer_allocate(opened.device, 256, &more));
    EXPECT_LOST(tilewright_buffer_import(opened.device, 4096, 256, &more));
    tilewright_stream *stream = nullptr;
    EXPECT_LOST(tilewright_stream_create(opened.device, &stream));
    tilewright_event *another = nullptr;
    EXPECT_LOST(tilewright_event_create(opened.device, 0, &another));
    std::string artifact = deviceArtifact(opened.driver);
    tilewright_program *program = nullptr;
    EXPECT_LOST(tilewright_program_load(opened.device, artifact.data(),
                                        artifact.size(), nullptr, &program));
    EXPECT_PRED2(starts, opened.run("inplace"), lost);
    EXPECT_PRED2(starts, opened.run("inplace", /*onStream=*/false), lost);
    size_t dispatch = 0;
    EXPECT_OK(tilewright_program_dispatch_find(opened.program, "increment",
                                               &dispatch));
    EXPECT_LOST(tilewright_program_launch(opened.program, dispatch,
                                          opened.stream, 1, &opened.view, 0,
                                          nullptr));
    tilewright_device_trim(opened.device);
    tilewright_event_release(event);
    tilewright_buffer_release(buffer);
  });
}

TEST_P(LostDevice, EventWaitMissesItsDeadline) {
  inChild([&](Opened &opened) {
    if (isSimulator())
      return; // its kernels have ended when an event can be recorded
    hang(opened);
    tilewright_event *event = nullptr;
    EXPECT_OK(tilewright_event_create(opened.device, 0, &event));
    EXPECT_OK(tilewright_event_record(event, opened.stream));
    EXPECT_PRED2(starts, take(tilewright_event_wait(event, 100 * ms)), missed);
    EXPECT_LOST(tilewright_event_wait(event, 100 * ms));
    EXPECT_LOST(tilewright_stream_synchronize(opened.stream, 100 * ms));
    tilewright_event_release(event);
  });
}

TEST_P(LostDevice, CallsThatWaitInsideMissTheStreamsDeadline) {
  inChild([&](Opened &opened) {
    tilewright_stream_set_timeout(opened.stream, 200 * ms);
    if (!isSimulator())
      hang(opened);
    // The host code maps a tensor.
    EXPECT_PRED2(starts, opened.run(isSimulator() ? "hang" : "print"), missed);
    EXPECT_PRED2(starts, opened.run("print"), lost);
  });
}

TEST_P(LostDevice, CallWithoutAStreamMissesTheDevicesDeadline) {
  inChild([&](Opened &opened) {
    tilewright_device_set_timeout(opened.device, 200 * ms);
    EXPECT_PRED2(starts,
                 opened.run(opened.driver == "cpu" ? "crawl" : "hang",
                            /*onStream=*/false),
                 missed);
    EXPECT_LOST(tilewright_stream_synchronize(opened.stream, 100 * ms));
  });
}

TEST_P(LostDevice, ReleasingAStreamGivesUpInTime) {
  inChild([&](Opened &opened) {
    tilewright_stream_set_timeout(opened.stream, 200 * ms);
    hang(opened);
    AtOnce quick;
    tilewright_stream_release(opened.stream);
    opened.stream = nullptr;
    tilewright_stream *stream = nullptr;
    EXPECT_LOST(tilewright_stream_create(opened.device, &stream));
  });
}

TEST_P(LostDevice, ReleasingAProgramGivesUpInTime) {
  inChild([&](Opened &opened) {
    tilewright_stream_set_timeout(opened.stream, 200 * ms);
    hang(opened);
    AtOnce quick;
    tilewright_program_release(opened.program);
    opened.program = nullptr;
    EXPECT_LOST(tilewright_stream_synchronize(opened.stream, 100 * ms));
  });
}

TEST_P(LostDevice, ReleasingTensorsAndEventsInFlightNeverWaits) {
  inChild([&](Opened &opened) {
    tilewright_event *event = nullptr;
    EXPECT_OK(tilewright_event_create(opened.device, 1, &event));
    hang(opened);
    AtOnce quick;
    if (!isSimulator())
      EXPECT_OK(tilewright_event_record(event, opened.stream));
    tilewright_event_release(event);
    tilewright_view_release(opened.view);
    opened.view = nullptr;
    tilewright_stream_set_timeout(opened.stream, 100 * ms);
  });
}

TEST_P(LostDevice, WaitsOfOtherThreadsEnd) {
  inChild([&](Opened &opened) {
    if (isSimulator())
      return; // see the next one
    tilewright_event *event = nullptr;
    EXPECT_OK(tilewright_event_create(opened.device, 0, &event));
    hang(opened);
    EXPECT_OK(tilewright_event_record(event, opened.stream));
    std::string forStream, forEvent;
    std::thread first([&] {
      forStream =
          take(tilewright_stream_synchronize(opened.stream, TILEWRIGHT_FOREVER));
    });
    std::thread second([&] {
      forEvent = take(tilewright_event_wait(event, TILEWRIGHT_FOREVER));
    });
    usleep(50000);
    // The stream is the first thread's; the deadline counts all the same.
    EXPECT_PRED2(starts,
                 take(tilewright_stream_synchronize(opened.stream, 100 * ms)),
                 missed);
    first.join();
    second.join();
    EXPECT_PRED2(starts, forStream, lost);
    EXPECT_PRED2(starts, forEvent, lost);
    tilewright_event_release(event);
  });
}

// The simulator works in one thread at a time: a wait for a stream of its own ends
// in time too, and ends the kernel that is in its way.
TEST_P(LostDevice, WaitsBehindAnotherThreadsLaunchEnd) {
  inChild([&](Opened &opened) {
    if (!isSimulator())
      return lose(opened);
    tilewright_stream *stream = nullptr;
    EXPECT_OK(tilewright_stream_create(opened.device, &stream));
    std::string launched;
    std::thread worker([&] { launched = opened.run("hang"); });
    usleep(300000);
    EXPECT_PRED2(starts, take(tilewright_stream_synchronize(stream, 200 * ms)),
                 missed);
    worker.join();
    EXPECT_PRED2(starts, launched, lost);
    tilewright_stream_release(stream);
  });
}

TEST_P(LostDevice, ObjectsAreReleasedInAnyOrder) {
  std::vector<size_t> order = {0, 1, 2, 3, 4};
  for (int turn = 0; turn < 5; ++turn) {
    inChild([&](Opened &opened) {
      lose(opened);
      AtOnce quick;
      for (size_t which : order) {
        if (which == 0)
          tilewright_view_release(opened.view), opened.view = nullptr;
        if (which == 1)
          tilewright_program_release(opened.program), opened.program = nullptr;
        if (which == 2)
          tilewright_stream_release(opened.stream), opened.stream = nullptr;
        if (which == 3)
          tilewright_device_release(opened.device), opened.device = nullptr;
        if (which == 4)
          tilewright_instance_release(opened.instance),
              opened.instance = nullptr;
      }
    });
    std::rotate(order.begin(), order.begin() + 2, order.end());
  }
}

TEST_P(LostDevice, TheNextDeviceWorks) {
  inChild([&](Opened &opened) {
    lose(opened);
    opened.close();
    Opened next;
    EXPECT_EQ(next.open(GetParam()), "");
    if (!isVulkan()) // lavapipe's threads are busy for ever
      EXPECT_EQ(next.check(), "");
  });
}

/// Runs `body` in a child that a fork makes here; what it exits with, 0 where nothing failed.
int inFork(const std::function<void()> &body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    body();
    _exit(testing::Test::HasFailure());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

/// A process that lost a device to a fork opens the CPU anew.
void opensTheCpu() {
  Opened next;
  EXPECT_EQ(next.open("cpu"), "");
  EXPECT_EQ(next.check(), "");
  next.close();
}

/// Threads stay with the parent, also those in the middle of something.
TEST(ForkedProcess, LosesTheCpuAndOpensItAnew) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        alarm(120);
        Opened opened;
        EXPECT_EQ(opened.open("cpu"), "");
        EXPECT_EQ(opened.check(), "");
        EXPECT_EQ(opened.run("crawl"), "");
        _exit(inFork([&] {
          EXPECT_LOST(tilewright_stream_synchronize(opened.stream, 100 * ms));
          tilewright_stream *stream = nullptr;
          EXPECT_PRED2(contains, take(tilewright_stream_create(opened.device, &stream)),
                       "the device is lost: this process is a fork");
          opened.close();
          opensTheCpu();
        }));
      },
      testing::ExitedWithCode(0), "");
}

/// Its drivers' threads stay with the parent, and to wait for them would be to hang.
TEST(ForkedProcess, LosesVulkanAndOpensTheCpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        alarm(120);
        Opened opened;
        if (opened.open("vulkan") != "")
          _exit(0); // there is none here
        EXPECT_EQ(opened.check(), "");
        int failed = inFork([&] {
          EXPECT_LOST(tilewright_stream_synchronize(opened.stream, 100 * ms));
          EXPECT_PRED2(contains, opened.check(),
                       "the Vulkan device is lost: this process is a fork");
          tilewright_device *again = nullptr;
          EXPECT_PRED2(contains, take(tilewright_device_open(opened.instance, "vulkan", &again)),
                       "on both sides of a fork");
          opened.close();
          opensTheCpu();
        });
        EXPECT_EQ(opened.check(), "");
        opened.close();
        _exit(failed | HasFailure());
      },
      testing::ExitedWithCode(0), "");
}

/// The system gives their places to threads of the child, whoever lets go of its streams first.
TEST(ForkedProcess, DropsStreamsOfItsParentBesideItsOwn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto dropBeside = [](size_t count, bool parentsFirst) {
    alarm(120);
    Opened opened;
    EXPECT_EQ(opened.open("cpu"), "");
    std::vector<tilewright_stream *> old(10), own(count);
    for (tilewright_stream *&stream : old)
      EXPECT_OK(tilewright_stream_create(opened.device, &stream));
    int failed = inFork([&] {
      Opened next;
      EXPECT_EQ(next.open("cpu"), "");
      for (tilewright_stream *&stream : own)
        EXPECT_OK(tilewright_stream_create(next.device, &stream));
      for (auto *streams : {parentsFirst ? &old : &own, parentsFirst ? &own : &old})
        for (tilewright_stream *stream : *streams)
          tilewright_stream_release(stream);
      EXPECT_EQ(next.check(), "");
      opened.close();
      next.close();
    });
    for (tilewright_stream *stream : old)
      tilewright_stream_release(stream);
    _exit(failed);
  };
  EXPECT_EXIT(dropBeside(1, false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(dropBeside(10, true), testing::ExitedWithCode(0), "");
}

TEST_P(LostDevice, TransfersWaitForStagingUpToTheDeadline) {
  inChild([&](Opened &opened) {
    if (!isVulkan())
      return lose(opened); // cpu needs no staging, the simulator has finished
    tilewright_stream_set_timeout(opened.stream, 200 * ms);
    hang(opened);
    const uint64_t size = 32u << 20;
    std::vector<char> bytes(size);
    tilewright_buffer *buffer = nullptr;
    EXPECT_OK(tilewright_buffer_allocate(opened.device, size, &buffer));
    std::string why;
    for (int i = 0; i < 32 && why.empty(); ++i)
      why = take(tilewright_buffer_write(buffer, opened.stream, 0, bytes.data(),
                                         size));
    EXPECT_PRED2(starts, why, missed);
    tilewright_buffer_release(buffer);
  });
}

INSTANTIATE_TEST_SUITE_P(, LostDevice, testing::Values("cpu", "ptxsim", "vulkan"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
