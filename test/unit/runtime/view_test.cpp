// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views with strides: windows, their bounds, which of them overlap.

#include "core/api_handles.h"
#include "core/view.h"
#include "test_program.h"

#include <limits>
#include <numeric>

using namespace tilewright::test;
using namespace tilewright::runtime;

namespace {

class ViewTest : public tilewright::test::ProgramTest {
protected:
  tilewright_view *strided(tilewright_buffer *buffer, uint64_t offset,
                           std::vector<int64_t> dims,
                           std::vector<int64_t> strides) {
    tilewright_view *view = nullptr;
    EXPECT_OK(tilewright_view_create_strided(
        buffer, offset, TW_I32, static_cast<int32_t>(dims.size()), dims.data(),
        strides.data(), &view));
    owned.push_back(view);
    return view;
  }
  tilewright_buffer *buffer(uint64_t size) {
    tilewright_buffer *result = nullptr;
    EXPECT_OK(tilewright_buffer_allocate(device, size, &result));
    buffers.push_back(result);
    return result;
  }
  void TearDown() override {
    for (tilewright_buffer *b : buffers)
      tilewright_buffer_release(b);
    ProgramTest::TearDown();
  }
  std::vector<tilewright_buffer *> buffers;
};

TEST_F(ViewTest, TwoInt4ShareAByte) {
  tilewright_buffer *memory = buffer(12);
  const int64_t dims[] = {4, 6}, wide[] = {4, 8}, strides[] = {8, 1};
  tilewright_view *view = nullptr;
  EXPECT_OK(tilewright_view_create(memory, 0, TW_I4, 2, dims, &view));
  owned.push_back(view);
  View bytes;
  EXPECT_FALSE(viewSharedBytes(*view->object, false, bytes));
  EXPECT_EQ(bytes.text(), "4x3xi8");
  EXPECT_EQ(bytes.elements, 12);
  EXPECT_EQ(bytes.bytes, 12);

  tilewright_view *none = nullptr;
  tilewright_status *status =
      tilewright_view_create(memory, 0, TW_I4, 2, wide, &none);
  EXPECT_NE(status, nullptr); // 16 bytes
  tilewright_status_release(status);
  status = tilewright_view_create_strided(memory, 0, TW_I4, 2, dims, strides,
                                          &none);
  ASSERT_NE(status, nullptr);
  EXPECT_NE(std::string(tilewright_status_message(status))
                .find("elements of i4 share bytes"),
            std::string::npos);
  tilewright_status_release(status);
  View odd = *view->object;
  odd.dims = {8, 3};
  EXPECT_TRUE(viewSharedBytes(odd, false, bytes));
  EXPECT_FALSE(viewSharedBytes(odd, true, bytes));
  EXPECT_EQ(bytes.text(), "12xi8");
}

TEST_F(ViewTest, FourInt2ShareAByte) {
  tilewright_buffer *memory = buffer(12);
  const int64_t dims[] = {6, 8};
  tilewright_view *view = nullptr;
  EXPECT_OK(tilewright_view_create(memory, 0, TW_I2, 2, dims, &view));
  owned.push_back(view);
  View bytes;
  EXPECT_FALSE(viewSharedBytes(*view->object, false, bytes));
  EXPECT_EQ(bytes.text(), "6x2xi8");
  EXPECT_EQ(bytes.bytes, 12);
  View odd = *view->object;
  odd.dims = {8, 6};
  EXPECT_TRUE(viewSharedBytes(odd, false, bytes));
  EXPECT_FALSE(viewSharedBytes(odd, true, bytes));
  EXPECT_EQ(bytes.text(), "12xi8");
}

TEST_F(ViewTest, WritesAndReadsBetweenTheGaps) {
  tilewright_buffer *memory = buffer(24 * 4);
  std::vector<int32_t> before(24), window = {-1, -2, -3, -4, -5, -6};
  std::iota(before.begin(), before.end(), 0);
  EXPECT_OK(tilewright_buffer_write(memory, stream, 0, before.data(), 96));
  // Rows 1 and 2, every second column, of 4x6.
  tilewright_view *view = strided(memory, 7 * 4, {2, 3}, {6, 2});
  EXPECT_EQ(tilewright_view_size(view), 24u);
  EXPECT_EQ(tilewright_view_strides(view)[1], 2);
  EXPECT_EQ(elements<int32_t>(view), (std::vector<int32_t>{7, 9, 11, 13, 15, 17}));
  EXPECT_OK(tilewright_view_write(view, stream, window.data(), 24));
  std::vector<int32_t> after(24);
  EXPECT_OK(tilewright_buffer_read(memory, stream, 0, 96, after.data()));
  EXPECT_OK(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
  for (size_t i = 0; i < 6; ++i)
    before[7 + i / 3 * 6 + i % 3 * 2] = window[i];
  EXPECT_EQ(after, before);
}

TEST_F(ViewTest, StridesThatSayNothingMakeADenseView) {
  tilewright_buffer *memory = buffer(64);
  EXPECT_EQ(tilewright_view_strides(strided(memory, 0, {2, 3}, {3, 1})), nullptr);
  EXPECT_EQ(tilewright_view_strides(strided(memory, 0, {1, 3}, {99, 1})), nullptr);
  EXPECT_EQ(tilewright_view_strides(strided(memory, 0, {0, 3}, {7, 2})), nullptr);
}

TEST_F(ViewTest, ChecksStrides) {
  tilewright_buffer *memory = buffer(64);
  auto create = [&](std::vector<int64_t> dims, std::vector<int64_t> strides) {
    tilewright_view *view = nullptr;
    return take(tilewright_view_create_strided(memory, 0, TW_I32, 2,
                                               dims.data(), strides.data(),
                                               &view));
  };
  EXPECT_PRED2(contains, create({2, 3}, {-3, 1}), "stride 0 is negative");
  EXPECT_PRED2(contains, create({4, 3}, {5, 1}), "ends outside of its buffer");
  EXPECT_PRED2(contains, create({3, 3}, {int64_t(1) << 62, 1}),
               "reach beyond 2^63");
}

TEST_F(ViewTest, KernelsThatTakeDenseTensorsRefuseWindows) {
  tilewright_view *view = strided(buffer(64), 0, {4}, {2});
  size_t dispatch;
  ASSERT_OK(tilewright_program_dispatch_find(program, "increment", &dispatch));
  EXPECT_FAILS(tilewright_program_launch(program, dispatch, stream, 1, &view, 0,
                                         nullptr),
               "operand 0: the tensor is strided (4xi32 with strides 2); "
               "expected a dense one");
}

View makeView(std::vector<int64_t> dims, std::vector<int64_t> strides,
              uint64_t offset) {
  View view;
  view.dtype = TW_I32;
  view.dims = std::move(dims);
  view.strides = std::move(strides);
  view.offset = offset * 4;
  int64_t last = 0;
  for (size_t d = 0; d < view.dims.size(); ++d)
    last += (view.dims[d] - 1) * view.stride(d);
  view.bytes = (last + 1) * 4;
  return view; // no buffer: they share it
}

TEST(View, WindowsSideBySideDoNotOverlap) {
  View left = makeView({10, 8}, {20, 1}, 0);
  EXPECT_FALSE(left.overlaps(makeView({10, 12}, {20, 1}, 8)));
  EXPECT_TRUE(left.overlaps(makeView({10, 12}, {20, 1}, 7)));
  EXPECT_FALSE(makeView({10, 12}, {20, 1}, 8).overlaps(left));
  // One row further down.
  EXPECT_FALSE(left.overlaps(makeView({5, 12}, {20, 1}, 28)));
  // Its row continues in the columns of the other.
  EXPECT_TRUE(left.overlaps(makeView({9, 12}, {20, 1}, 15)));
  // Even and odd columns.
  EXPECT_FALSE(makeView({10, 10}, {20, 2}, 0)
                   .overlaps(makeView({10, 10}, {20, 2}, 1)));
  EXPECT_TRUE(makeView({10, 10}, {20, 2}, 0)
                  .overlaps(makeView({10, 10}, {20, 2}, 2)));
  // Halves of the innermost of three dims, and planes of which rows continue in the other.
  View half = makeView({4, 3, 8}, {64, 16, 1}, 0);
  EXPECT_FALSE(half.overlaps(makeView({4, 3, 8}, {64, 16, 1}, 8)));
  EXPECT_FALSE(makeView({4, 3, 8}, {64, 16, 1}, 8).overlaps(half));
  EXPECT_TRUE(half.overlaps(makeView({4, 3, 9}, {64, 16, 1}, 8)));
  EXPECT_TRUE(half.overlaps(makeView({4, 3, 8}, {64, 16, 1}, 80)));
  // A dim of one element has any stride.
  EXPECT_FALSE(makeView({1, 3, 8}, {64, 16, 1}, 0).overlaps(makeView({1, 3, 8}, {99, 16, 1}, 8)));
  // Of other strides only ranges are known.
  EXPECT_TRUE(left.overlaps(makeView({2, 2}, {40, 1}, 10)));
  EXPECT_FALSE(left.overlaps(makeView({2, 2}, {40, 1}, 188)));
}

TEST_F(ViewTest, EveryWindow) {
  tilewright_buffer *memory = buffer(12 * 4);
  std::vector<int32_t> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_OK(tilewright_buffer_write(memory, stream, 0, numbers.data(), 48));
  tilewright_view *view = strided(memory, 0, {6, 2}, {2, 1});
  // Places 0, 2 of windows of three rows, one column: rows 0 1 2 and 2 3 4.
  View windows;
  Status made = makeWindows(*view->object, {2, 3, 2}, {2, 1, 0, 0, 0, 1}, windows);
  ASSERT_TRUE(made.isOk()) << made.message();
  EXPECT_EQ(windows.dims, (std::vector<int64_t>{2, 3, 2}));
  EXPECT_EQ(windows.strides, (std::vector<int64_t>{4, 2, 1}));
  EXPECT_EQ(windows.bytes, 40);
  // Places 0, 2, 4 leave the source; of no place none does.
  EXPECT_FALSE(makeWindows(*view->object, {3, 3, 2}, {2, 1, 0, 0, 0, 1}, windows).isOk());
  EXPECT_TRUE(makeWindows(*view->object, {0, 9, 2}, {2, 1, 0, 0, 0, 1}, windows).isOk());
  int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(makeWindows(*view->object, {3, 3, 2}, {most, 1, 0, 0, 0, 1}, windows).isOk());
  EXPECT_FALSE(makeWindows(*view->object, {2, 3, 2}, {2, 1, 0}, windows).isOk());
}

TEST_F(ViewTest, PaddedViewsBeginInFrontOfTheirMemory) {
  tilewright_buffer *memory = buffer(12 * 4);
  tilewright_view *view = strided(memory, 0, {6, 2}, {2, 1});
  View padded, windows;
  Status made = makePadded(*view->object, {1, 0}, {2, 0}, padded);
  ASSERT_TRUE(made.isOk()) << made.message();
  EXPECT_EQ(padded.dims, (std::vector<int64_t>{9, 2}));
  EXPECT_FALSE(padded.isDense());
  EXPECT_EQ(padded.bytes, 48);
  EXPECT_EQ(describe(padded, 0).before, 2);
  // Windows of three rows reach as far as the padding does, and no further.
  made = makeWindows(padded, {7, 3, 2}, {1, 1, 0, 0, 0, 1}, windows);
  ASSERT_TRUE(made.isOk()) << made.message();
  EXPECT_EQ(windows.strides, (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(windows.bytes, 48);
  EXPECT_EQ(windows.before, 2);
  EXPECT_FALSE(makeWindows(padded, {8, 3, 2}, {1, 1, 0, 0, 0, 1}, windows).isOk());
  // Less than there is may be taken off.
  ASSERT_TRUE(makePadded(*view->object, {-2, 0}, {0, 0}, padded).isOk());
  EXPECT_EQ(padded.before, -4);
  EXPECT_FALSE(makePadded(*view->object, {-4, 0}, {-3, 0}, padded).isOk());
}

} // namespace
