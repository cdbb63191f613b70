// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches and artifacts that every device has to refuse, with the reason, and
// work on afterwards; the finer points of the checks are in launch_test.cpp.

#include "device_program.h"

using namespace tilewright::test;

namespace {

class BadLaunch : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    std::string why = opened.open(GetParam());
    if (why.substr(0, 3) == "3: ")
      GTEST_SKIP() << why;
    ASSERT_EQ(why, "");
    ASSERT_OK(tilewright_buffer_allocate(opened.device, 1024, &buffer));
    ASSERT_OK(tilewright_program_dispatch_find(opened.program, "increment",
                                               &dispatch));
  }
  void TearDown() override {
    if (buffer && !IsSkipped())
      EXPECT_EQ(opened.check(), "");
    tilewright_buffer_release(buffer);
  }

  /// Launches the dispatch on `rank` dims at `offset` in the buffer.
  std::string launch(uint64_t offset, int32_t dtype, std::vector<int64_t> dims) {
    tilewright_view *view = nullptr;
    std::string why = take(tilewright_view_create(
        buffer, offset, dtype, static_cast<int32_t>(dims.size()), dims.data(),
        &view));
    if (why.empty())
      why = launch({view});
    tilewright_view_release(view);
    return why;
  }
  std::string launch(std::vector<tilewright_view *> views,
                     std::vector<uint64_t> scalars = {}) {
    return take(tilewright_program_launch(opened.program, dispatch,
                                          opened.stream, views.size(),
                                          views.data(), scalars.size(),
                                          scalars.data()));
  }

  Opened opened;
  tilewright_buffer *buffer = nullptr;
  size_t dispatch = 0;
};

TEST_P(BadLaunch, NullPointers) {
  EXPECT_PRED2(contains, launch({nullptr}), "operand 0 is null");
  EXPECT_FAILS(tilewright_program_launch(opened.program, dispatch, nullptr, 1,
                                         &opened.view, 0, nullptr),
               "'stream' is null");
  EXPECT_FAILS(tilewright_program_launch(opened.program, dispatch,
                                         opened.stream, 1, nullptr, 0, nullptr),
               "'views' is null");
  EXPECT_FAILS(tilewright_program_launch(opened.program, dispatch,
                                         opened.stream, 1, &opened.view, 1,
                                         nullptr),
               "'scalars' is null");
  EXPECT_FAILS(tilewright_view_write(opened.view, opened.stream, nullptr, 256),
               "null");
  EXPECT_FAILS(tilewright_view_read(opened.view, opened.stream, 256, nullptr),
               "null");
}

TEST_P(BadLaunch, WrongCountRankAndType) {
  EXPECT_PRED2(contains, launch(std::vector<tilewright_view *>{}),
               "takes 1 tensors; got 0");
  EXPECT_PRED2(contains, launch({opened.view, opened.view}),
               "takes 1 tensors; got 2");
  EXPECT_PRED2(contains, launch({opened.view}, {1}), "takes 0 scalars; got 1");
  EXPECT_PRED2(contains, launch(0, TW_I32, {8, 8}), "the rank differs");
  EXPECT_PRED2(contains, launch(0, TW_F32, {64}), "the element type differs");
}

TEST_P(BadLaunch, MisalignedOrTooShort) {
  EXPECT_PRED2(contains, launch(2, TW_I32, {64}), "offset 2 is misaligned");
  EXPECT_PRED2(contains, launch(4, TW_I32, {64}), "4 bytes behind a multiple");
  // One element more than there is behind the offset.
  EXPECT_NE(launch(1024 - 256, TW_I32, {65}), "");
  EXPECT_NE(launch(1024 + 16, TW_I32, {1}), "");
  EXPECT_EQ(launch(1024 - 256, TW_I32, {64}), "");
}

TEST_P(BadLaunch, DamagedForeignAndFutureArtifacts) {
  std::string good = deviceArtifact(opened.driver);
  auto load = [&](const std::string &bytes) {
    tilewright_program *program = nullptr;
    std::string why = take(tilewright_program_load(
        opened.device, bytes.data(), bytes.size(), nullptr, &program));
    tilewright_program_release(program);
    return why;
  };
  EXPECT_EQ(load(good), "");
  EXPECT_PRED2(contains, load(good.substr(0, good.size() - 1)), "truncated");
  std::string bad = good;
  bad[good.size() / 2] ^= 1;
  EXPECT_PRED2(contains, load(bad), "is damaged");
  bad = good;
  bad[8] = 2;
  EXPECT_PRED2(contains, load(bad), "container version 2");
  EXPECT_PRED2(contains,
               load(deviceArtifact(opened.driver == "cpu" ? "cuda" : "cpu")),
               "the artifact has no program for");
}

TEST_P(BadLaunch, EverythingReleasedInFlight) {
  for (int turn = 0; turn < 4; ++turn) {
    Opened mine;
    ASSERT_EQ(mine.open(GetParam()), "");
    for (int i = 0; i < 8; ++i)
      ASSERT_EQ(mine.run("inplace"), "");
    auto release = [](auto *&handle, auto how) {
      how(handle);
      handle = nullptr;
    };
    for (int i = turn; i < turn + 4; ++i) {
      if (i % 4 == 0)
        release(mine.view, tilewright_view_release);
      if (i % 4 == 1)
        release(mine.program, tilewright_program_release);
      if (i % 4 == 2)
        release(mine.stream, tilewright_stream_release);
      if (i % 4 == 3)
        release(mine.device, tilewright_device_release);
    }
  }
  EXPECT_EQ(opened.check(), "");
}

INSTANTIATE_TEST_SUITE_P(, BadLaunch, testing::Values("cpu", "ptxsim", "vulkan"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
