// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch refuses: counts, types, alignment, overlap, sizes, grids.

#include "test_program.h"

using namespace tilewright::test;

namespace {

class LaunchTest : public tilewright::test::ProgramTest {
protected:
  std::string launch(const char *name, std::vector<tilewright_view *> views,
                     std::vector<uint64_t> scalars = {}) {
    size_t dispatch;
    std::string found =
        take(tilewright_program_dispatch_find(program, name, &dispatch));
    if (!found.empty())
      return found;
    return take(tilewright_program_launch(program, dispatch, stream,
                                          views.size(), views.data(),
                                          scalars.size(), scalars.data()));
  }
  tilewright_view *at(tilewright_buffer *buffer, uint64_t offset, int32_t dtype,
                      std::vector<int64_t> dims) {
    tilewright_view *view = nullptr;
    EXPECT_OK(tilewright_view_create(buffer, offset, dtype,
                                     static_cast<int32_t>(dims.size()),
                                     dims.data(), &view));
    owned.push_back(view);
    return view;
  }
};

TEST_F(LaunchTest, RunsOneKernelByItself) {
  tilewright_view *data = tensor<int32_t>(TW_I32, {4}, {1, 2, 3, 4});
  EXPECT_EQ(launch("increment", {data}), "");
  EXPECT_EQ(elements<int32_t>(data), (std::vector<int32_t>{2, 3, 4, 5}));
}

TEST_F(LaunchTest, ChecksCountsAndTypes) {
  tilewright_view *f = newView(TW_F32, {4});
  EXPECT_EQ(launch("increment", {}),
            "1: dispatch 'increment': takes 1 tensors; got 0");
  EXPECT_EQ(launch("increment", {nullptr}),
            "1: dispatch 'increment': operand 0 is null");
  EXPECT_EQ(launch("increment", {f}),
            "1: dispatch 'increment': operand 0: expected ?xi32, got 4xf32: "
            "the element type differs");
  EXPECT_EQ(launch("scale", {f, newView(TW_F32, {1}), newView(TW_F32, {4})}),
            "1: dispatch 'scale': takes 1 scalars; got 0");
  EXPECT_PRED2(contains, launch("absent", {}),
               "no dispatch 'absent'; it has matmul");
}

TEST_F(LaunchTest, ChecksAlignment) {
  tilewright_buffer *buffer;
  ASSERT_OK(tilewright_buffer_allocate(device, 256, &buffer));
  EXPECT_EQ(launch("increment", {at(buffer, 4, TW_I32, {4})}),
            "1: dispatch 'increment': operand 0 starts 4 bytes behind a "
            "multiple of 16; expected 16-byte alignment");
  tilewright_view *view = nullptr;
  int64_t dims[] = {4};
  EXPECT_FAILS(tilewright_view_create(buffer, 2, TW_I32, 1, dims, &view),
               "misaligned");
  EXPECT_EQ(launch("increment", {at(buffer, 32, TW_I32, {4})}), "");
  tilewright_buffer_release(buffer);
}

TEST_F(LaunchTest, ChecksOverlap) {
  tilewright_buffer *buffer;
  ASSERT_OK(tilewright_buffer_allocate(device, 1024, &buffer));
  tilewright_view *one = newView(TW_F32, {1});
  std::vector<uint64_t> scalars = {0};
  tilewright_view *in = at(buffer, 0, TW_F32, {64});
  EXPECT_EQ(
      launch("scale", {in, one, in}, scalars),
      "1: dispatch 'scale': operand 2, which is written, overlaps operand "
      "0; expected memory of its own");
  EXPECT_PRED2(
      contains,
      launch("scale", {in, one, at(buffer, 240, TW_F32, {64})}, scalars),
      "overlaps operand 0");
  EXPECT_EQ(launch("scale", {in, one, at(buffer, 256, TW_F32, {64})}, scalars),
            "");
  // Read twice is no overlap.
  EXPECT_EQ(launch("scale", {one, one, newView(TW_F32, {1})}, scalars), "");
  tilewright_buffer_release(buffer);
}

TEST_F(LaunchTest, SeesOverlapThroughAdoptedMemory) {
  alignas(64) static float memory[256];
  auto address = reinterpret_cast<uintptr_t>(memory);
  tilewright_buffer *a, *b;
  ASSERT_OK(tilewright_buffer_import(device, address, 512, &a));
  ASSERT_OK(tilewright_buffer_import(device, address + 256, 512, &b));
  EXPECT_PRED2(contains,
               launch("scale",
                      {at(a, 0, TW_F32, {128}), newView(TW_F32, {1}),
                       at(b, 0, TW_F32, {128})},
                      {0}),
               "overlaps operand 0");
  tilewright_buffer_release(a);
  tilewright_buffer_release(b);
}

TEST_F(LaunchTest, ChecksBufferSizes) {
  tilewright_buffer *buffer;
  ASSERT_OK(tilewright_buffer_allocate(device, 15 * 4, &buffer));
  tilewright_view *view = nullptr;
  int64_t dims[] = {16};
  EXPECT_FAILS(tilewright_view_create(buffer, 0, TW_I32, 1, dims, &view),
               "takes 64 bytes; its buffer has 60");
  EXPECT_FAILS(
      tilewright_view_create(buffer, UINT64_MAX, TW_I32, 1, dims, &view),
      "its buffer has 60");
  dims[0] = -1;
  EXPECT_FAILS(tilewright_view_create(buffer, 0, TW_I32, 1, dims, &view),
               "dim 0 of a tensor is -1");
  EXPECT_FAILS(tilewright_view_create(buffer, 0, 99, 1, dims, &view),
               "element type 99 is unknown");
  EXPECT_FAILS(tilewright_view_create(buffer, 0, TW_I32, 99, dims, &view),
               "rank 99");
  EXPECT_FAILS(tilewright_view_create(buffer, 0, TW_I32, 1, nullptr, &view),
               "'dims' is null");
  int64_t huge[] = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_FAILS(tilewright_view_allocate(device, TW_I32, 2, huge, &view),
               "larger than 2^62 bytes");
  int64_t large[] = {int64_t(1) << 50};
  EXPECT_FAILS(tilewright_view_allocate(device, TW_I32, 1, large, &view),
               "no room for");
  tilewright_buffer_release(buffer);
}

TEST_F(LaunchTest, SaysWhyNoVariantServes) {
  std::string status = launch(
      "scale",
      {newView(TW_F32, {1000}), newView(TW_F32, {1}), newView(TW_F32, {1000})},
      {0});
  EXPECT_EQ(status, "4: dispatch 'scale': no variant serves these operands: "
                    "1000xf32, 1xf32, 1000xf32; 'never' wants 0; 'scale' wants "
                    "lt(numel(0), 1000)");
}

TEST_F(LaunchTest, ChecksGridAndParameters) {
  auto launchWith = [&](const std::string &from, const std::string &to) {
    Sections sections = testSections();
    std::string &text = sections[0].second;
    text.replace(text.find(from), from.size(), to);
    std::string artifact = writeArtifact(sections);
    tilewright_program *loaded = nullptr;
    std::string status = take(tilewright_program_load(
        device, artifact.data(), artifact.size(), nullptr, &loaded));
    if (!status.empty())
      return status;
    tilewright_view *data = newView(TW_I32, {4});
    status = take(
        tilewright_program_launch(loaded, 2, stream, 1, &data, 0, nullptr));
    tilewright_program_release(loaded);
    return status;
  };
  std::string grid = "\"grid\": [[\"dim\", 0, 0], 1, 1],\n"
                     "                     \"params\": [{\"buffer\": 0}]";
  auto replaced = [&](const std::string &x, const std::string &more) {
    return "\"grid\": [" + x + ", 1, 1], \"params\": [{\"buffer\": 0}" + more +
           "]";
  };
  EXPECT_EQ(launchWith(grid, replaced("-1", "")),
            "4: dispatch 'increment': variant 'increment': grid x is -1; cpu "
            "launches 0 to 2147483647");
  EXPECT_PRED2(contains, launchWith(grid, replaced("4294967296", "")),
               "grid x is 4294967296");
  EXPECT_PRED2(contains,
               launchWith(grid, replaced("[\"floordiv\", 1, "
                                         "[\"sub\", [\"dim\", 0, 0], 4]]",
                                         "")),
               "grid x: floordiv(1, 0) divides by zero");
  EXPECT_PRED2(contains,
               launchWith(grid, replaced("4", ", {\"scalar\": \"i32\", "
                                              "\"value\": 2147483648}")),
               "parameter 1 is 2147483648, which does not fit i32");
  EXPECT_EQ(launchWith(grid, replaced("0", "")), "");
}

} // namespace
