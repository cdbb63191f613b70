// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps as parameters of kernels: every limit of the hardware at its edge and
// one past it, and a kernel on the simulator that copies a box of a window.

#include "core/api_handles.h"
#include "core/tensor_map.h"
#include "core/tensor_map_cache.h"
#include "core/tensor_map_limits.h"
#include "test_program.h"

#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>

using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

// Before the simulator is loaded.
const int simulated = setenv("PTXSIM_ARCH", "sm_90", 1);

std::string box(std::vector<int64_t> extents, unsigned swizzle, tw_dtype dtype, size_t rank) {
  return checkTensorMapBox({std::move(extents), swizzle}, dtype, rank).message();
}

/// A cache whose encoder counts, and writes the first dim into the map.
struct CountedMaps {
  TensorMapCache cache;
  int encoded = 0;

  explicit CountedMaps(size_t most) : cache(most) {}

  uint8_t get(uint64_t address, uint64_t extent, bool fails = false) {
    TensorMapDesc desc;
    desc.address = address;
    desc.dims = {extent};
    TensorMapBytes bytes = {};
    Status status = cache.get(
        desc,
        [&](const TensorMapDesc &wanted, TensorMapBytes &result) {
          ++encoded;
          result[0] = uint8_t(wanted.dims[0]);
          return fails ? unsupported("no") : Status::ok();
        },
        bytes);
    EXPECT_EQ(bool(status), fails);
    return bytes[0];
  }
};

TEST(TensorMapCache, KnowsMapsByAllOfTheirDescription) {
  CountedMaps maps(4);
  EXPECT_EQ(maps.get(256, 7), 7);
  EXPECT_EQ(maps.get(256, 7), 7);
  EXPECT_EQ(maps.encoded, 1);
  EXPECT_EQ(maps.get(256, 8), 8);
  EXPECT_EQ(maps.get(512, 7), 7);
  EXPECT_EQ(maps.encoded, 3);
}

// Two descriptions that differ in one field have two maps, which are both there afterwards.
TEST(TensorMapCache, KnowsMapsByEachField) {
  using Desc = TensorMapDesc;
  const std::pair<const char *, std::function<void(Desc &)>> changes[] = {
      {"type", [](Desc &desc) { desc.dtype = TW_F16; }},
      {"address", [](Desc &desc) { desc.address = 512; }},
      {"dims", [](Desc &desc) { desc.dims[1] = 16; }},
      {"number of dims", [](Desc &desc) { desc.dims.push_back(1); }},
      {"strides", [](Desc &desc) { desc.strides[0] = 64; }},
      {"box", [](Desc &desc) { desc.box[1] = 8; }},
      {"swizzle", [](Desc &desc) { desc.swizzle = 128; }},
      {"fill", [](Desc &desc) { desc.fillsNaN = true; }},
      {"box instead of an image", [](Desc &desc) { desc.image.reset(); }},
      {"lower corner", [](Desc &desc) { desc.image->lower = {-1, 0}; }},
      {"upper corner", [](Desc &desc) { desc.image->upper = {0, -1}; }},
      {"steps", [](Desc &desc) { desc.image->steps[2] = 2; }},
      {"pixels", [](Desc &desc) { desc.image->pixels = 128; }},
      {"channels", [](Desc &desc) { desc.image->channels = 32; }},
  };
  for (const auto &[field, change] : changes) {
    TensorMapCache cache(4);
    Desc one;
    one.address = 256;
    one.dims = {64, 8, 8, 4};
    one.strides = {256, 2048, 16384};
    one.box = {32, 4, 4, 1};
    one.swizzle = 64;
    one.image = Desc::Image{{0, 0}, {0, 0}, {1, 1, 1, 1}, 64, 64};
    Desc other = one;
    change(other);
    uint8_t encoded = 0;
    auto get = [&](const Desc &desc) {
      TensorMapBytes bytes = {};
      EXPECT_FALSE(cache.get(
          desc,
          [&](const Desc &, TensorMapBytes &result) {
            result[0] = ++encoded;
            return Status::ok();
          },
          bytes));
      return bytes[0];
    };
    EXPECT_EQ(get(one), 1) << field;
    EXPECT_EQ(get(other), 2) << field;
    EXPECT_EQ(get(one), 1) << field;
    EXPECT_EQ(get(other), 2) << field;
  }
}

TEST(TensorMapCache, DropsWhatNobodyAskedForLongest) {
  CountedMaps maps(2);
  maps.get(256, 1);
  maps.get(256, 2);
  maps.get(256, 1);
  maps.get(256, 3); // 2 goes
  maps.get(256, 1);
  EXPECT_EQ(maps.encoded, 3);
  maps.get(256, 2);
  EXPECT_EQ(maps.encoded, 4);
}

TEST(TensorMapCache, KeepsNoErrors) {
  CountedMaps maps(2);
  maps.get(256, 1, /*fails=*/true);
  EXPECT_EQ(maps.get(256, 1), 1);
  EXPECT_EQ(maps.encoded, 2);
}

// The limits that the compiler and the runtime share: the last value that is allowed
// and the first that is not, on either side.
struct Limit {
  const char *name;
  std::function<bool(int64_t)> holds;
  int64_t least, most;
};

TEST(TensorMapLimits, HoldUpToTheirEdges) {
  namespace maps = tilewright::tensor_map;
  const int64_t two32 = int64_t(1) << 32;
  std::vector<Limit> limits = {
      {"dim", maps::isDim, 1, two32},       {"box", maps::isBoxExtent, 1, 256}, {"pixels", maps::isPixels, 1, 1024},
      {"channels", maps::isChannels, 1, 256}, {"step", maps::isStep, 1, 8},
      {"space", [](int64_t dims) { return dims >= 0 && maps::isSpace(size_t(dims)); }, 1, 3}};
  const int64_t corners[] = {32768, 128, 16}, offsets[] = {65535, 255, 31};
  for (size_t space : {1, 2, 3}) {
    limits.push_back({"corner", [=](int64_t value) { return maps::isCorner(space, value); }, -corners[space - 1],
                      corners[space - 1] - 1});
    limits.push_back(
        {"offset", [=](int64_t value) { return maps::isOffset(space, value); }, 0, offsets[space - 1]});
  }
  for (const Limit &limit : limits) {
    EXPECT_TRUE(limit.holds(limit.least)) << limit.name;
    EXPECT_TRUE(limit.holds(limit.most)) << limit.name;
    EXPECT_FALSE(limit.holds(limit.least - 1)) << limit.name;
    EXPECT_FALSE(limit.holds(limit.most + 1)) << limit.name;
  }
}

TEST(TensorMapLimits, OfBytesAreMultiplesOf16) {
  namespace maps = tilewright::tensor_map;
  const uint64_t two40 = uint64_t(1) << 40;
  EXPECT_TRUE(maps::isStride(two40 - 16));
  EXPECT_FALSE(maps::isStride(two40 - 8));
  EXPECT_FALSE(maps::isStride(two40));
  for (int64_t swizzle : {32, 64, 128}) {
    EXPECT_TRUE(maps::isSwizzle(swizzle));
    EXPECT_FALSE(maps::isSwizzle(swizzle + 16));
    EXPECT_TRUE(maps::isBoxRow(uint64_t(swizzle), swizzle));
    EXPECT_FALSE(maps::isBoxRow(uint64_t(swizzle) + 16, swizzle));
    EXPECT_FALSE(maps::isBoxRow(uint64_t(swizzle) - 8, swizzle));
  }
  EXPECT_TRUE(maps::isSwizzle(0));
  EXPECT_FALSE(maps::isSwizzle(256));
  EXPECT_TRUE(maps::isBoxRow(1024, 0));
  EXPECT_TRUE(maps::hasWindows(9, -1, -9));
  EXPECT_FALSE(maps::hasWindows(9, -1, -10));
}

TEST(TensorMapBox, HasOneToFiveDims) {
  EXPECT_EQ(box({4}, 0, TW_F32, 1), "");
  EXPECT_EQ(box({1, 1, 1, 1, 4}, 0, TW_F32, 5), "");
  EXPECT_EQ(box({}, 0, TW_F32, 0), "a tensor map has 1 to 5 dims, its operand 0");
  EXPECT_EQ(box({1, 1, 1, 1, 1, 4}, 0, TW_F32, 6), "a tensor map has 1 to 5 dims, its operand 6");
  EXPECT_EQ(box({4}, 0, TW_F32, 2), "the box has 1 dims, its operand 2");
}

TEST(TensorMapBox, HasUpTo256ElementsAlongADim) {
  EXPECT_EQ(box({256, 4}, 0, TW_F32, 2), "");
  EXPECT_EQ(box({257, 4}, 0, TW_F32, 2), "a box has 1 to 256 elements along a dim, not 257");
  EXPECT_EQ(box({0, 4}, 0, TW_F32, 2), "a box has 1 to 256 elements along a dim, not 0");
}

TEST(TensorMapBox, MergesDimsOfItsOperand) {
  auto merged = [](std::vector<int64_t> extents, size_t count, size_t rank) {
    return checkTensorMapBox({std::move(extents), 0, count}, TW_F32, rank).message();
  };
  EXPECT_EQ(merged({8, 4}, 3, 4), "");
  EXPECT_EQ(merged({1, 1, 1, 1, 4}, 2, 6), "");
  EXPECT_EQ(merged({4}, 4, 4), "");
  EXPECT_EQ(merged({4}, 5, 4), "5 dims are one, of an operand with 4");
  EXPECT_EQ(merged({4}, 0, 4), "0 dims are one, of an operand with 4");
}

/// The message about images of `space` dims of space, as `change` made them; f16.
std::string images(size_t space, const std::function<void(TensorMapParam &)> &change, tw_dtype dtype = TW_F16) {
  TensorMapParam param{{64, 32}, 64};
  ImageParam &image = param.image.emplace();
  image.dims.assign(space + 2, 9);
  image.dims.back() = 32;
  image.strides.assign(space + 1, 320);
  image.lower.assign(space, -1);
  image.upper.assign(space, -1);
  image.steps.assign(space, 1);
  change(param);
  return checkTensorMapBox(param, dtype, 6).message();
}

TEST(TensorMapImages, HaveOneToThreeDimsOfSpace) {
  for (size_t space : {1, 2, 3})
    EXPECT_EQ(images(space, [](TensorMapParam &) {}), "");
  EXPECT_EQ(images(0, [](TensorMapParam &) {}), "images have 1 to 3 dims of space, not 0");
  EXPECT_EQ(images(4, [](TensorMapParam &) {}), "images have 1 to 3 dims of space, not 4");
  for (auto change : {+[](TensorMapParam &param) { param.image->dims.pop_back(); },
                      +[](TensorMapParam &param) { param.image->strides.push_back(16); },
                      +[](TensorMapParam &param) { param.image->upper.pop_back(); },
                      +[](TensorMapParam &param) { param.image->steps.push_back(1); }})
    EXPECT_EQ(images(2, change), "of images with 2 dims of space there are two dims more, and one stride more");
}

TEST(TensorMapImages, HaveUpTo1024PixelsOf256Channels) {
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.box[0] = 1024; }), "");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.box[0] = 1025; }),
            "the number of pixels is 1025; it has to be 1 to 1024");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.box[0] = 0; }),
            "the number of pixels is 0; it has to be 1 to 1024");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.box[1] = 256, param.swizzle = 0; }), "");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.box[1] = 257, param.swizzle = 0; }),
            "the number of channels is 257; it has to be 1 to 256");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.box[1] = 40; }),
            "rows of a box have at most the 64 bytes of the swizzle, not 80");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.box[1] = 12; }),
            "rows of a box are multiples of 16 bytes, not 24");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.box.push_back(1); }),
            "the box of an image is pixels and channels, not 3 dims");
}

TEST(TensorMapImages, HaveCornersThatDependOnTheirDims) {
  for (auto [space, bound] : {std::pair<size_t, int64_t>{1, 32768}, {2, 128}, {3, 16}}) {
    auto lower = [&, space = space](int64_t value) {
      return images(space, [&](TensorMapParam &param) { param.image->lower.back() = value; });
    };
    auto upper = [&, space = space](int64_t value) {
      return images(space, [&](TensorMapParam &param) {
        param.image->dims[space] = 40000, param.image->upper.back() = value;
      });
    };
    std::string rule = "; it has to be -" + std::to_string(bound) + " to " + std::to_string(bound - 1);
    EXPECT_EQ(lower(-bound), "");
    EXPECT_EQ(lower(-bound - 1), "a corner is " + std::to_string(-bound - 1) + rule);
    EXPECT_EQ(upper(bound - 1), "");
    EXPECT_EQ(upper(bound), "a corner is " + std::to_string(bound) + rule);
    EXPECT_EQ(upper(-bound), "");
    EXPECT_EQ(upper(-bound - 1), "a corner is " + std::to_string(-bound - 1) + rule);
  }
}

TEST(TensorMapImages, HaveWindowsOneToEightElementsApart) {
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.image->steps[0] = 8; }), "");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.image->steps[0] = 9; }), "a step is 9; it has to be 1 to 8");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.image->steps[1] = 0; }), "a step is 0; it has to be 1 to 8");
}

TEST(TensorMapImages, HaveAWindowBetweenTheirCorners) {
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.image->upper[0] = -9; }), "");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.image->upper[0] = -10; }),
            "no window is between the corners along dim 1 of the image");
}

TEST(TensorMapImages, HaveOneTo2To32ElementsAlongADim) {
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.image->dims[0] = int64_t(1) << 32; }), "");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.image->dims[0] = (int64_t(1) << 32) + 1; }),
            "an image has 4294967297 elements along a dim; a tensor map takes 1 to 2^32");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.image->dims[0] = 0; }),
            "an image has 0 elements along a dim; a tensor map takes 1 to 2^32");
  // A launch tells those.
  for (size_t dim : {0, 1, 2})
    EXPECT_EQ(images(2, [&](TensorMapParam &param) { param.image->dims[dim] = kOpen; }), "");
  EXPECT_EQ(images(2, [&](TensorMapParam &param) { param.image->strides[1] = kOpen; }), "");
  EXPECT_EQ(images(2, [](TensorMapParam &param) { param.image->dims[1] = -2; }),
            "an image has -2 elements along a dim; a tensor map takes 1 to 2^32");
}

TEST(TensorMapBox, HasRowsOf16BytesWithinTheSwizzle) {
  EXPECT_EQ(box({8, 3}, 0, TW_F32, 2), "rows of a box are multiples of 16 bytes, not 12");
  for (unsigned swizzle : {32u, 64u, 128u}) {
    EXPECT_EQ(box({8, swizzle / 2}, swizzle, TW_F16, 2), "");
    EXPECT_EQ(box({8, swizzle / 2 + 8}, swizzle, TW_F16, 2),
              "rows of a box have at most the " + std::to_string(swizzle) + " bytes of the swizzle, not " +
                  std::to_string(swizzle + 16));
  }
  EXPECT_EQ(box({8, 64}, 0, TW_F16, 2), "");
  EXPECT_EQ(box({8, 64}, 16, TW_F16, 2), "a tensor map swizzles 0, 32, 64 or 128 bytes, not 16");
}

/// Views that claim any sizes; nothing reads them.
class TensorMapViewTest : public ProgramTest {
protected:
  std::string describe(uint64_t offset, tw_dtype dtype, std::vector<int64_t> dims, std::vector<int64_t> strides,
                       TensorMapParam param, TensorMapDesc *result = nullptr) {
    tilewright_view *memory = newView(TW_I8, {4096});
    View view = *memory->object;
    view.offset += offset;
    view.dtype = dtype;
    view.dims = std::move(dims);
    view.strides = std::move(strides);
    view.elements = 1;
    TensorMapDesc desc;
    std::string message = describeTensorMap(view, param, desc).message();
    if (result)
      *result = desc;
    return message;
  }
};

TEST_F(TensorMapViewTest, BeginsWithTheInnermostDim) {
  TensorMapDesc desc;
  ASSERT_EQ(describe(32, TW_BF16, {3, 5, 64}, {1024, 128, 1}, {{1, 2, 64}, 128}, &desc), "");
  EXPECT_EQ(desc.dims, (std::vector<uint64_t>{64, 5, 3}));
  EXPECT_EQ(desc.strides, (std::vector<uint64_t>{256, 2048}));
  EXPECT_EQ(desc.box, (std::vector<uint32_t>{64, 2, 1}));
  EXPECT_EQ(desc.swizzle, 128u);
  EXPECT_EQ(desc.address % 64, 32u);
}

TEST_F(TensorMapViewTest, BeginsAtMultiplesOf16Bytes) {
  EXPECT_EQ(describe(16, TW_F16, {4, 8}, {}, {{4, 8}}), "");
  EXPECT_EQ(describe(8, TW_F16, {4, 8}, {}, {{4, 8}}), "its first element is 8 bytes behind a multiple of 16");
}

TEST_F(TensorMapViewTest, HasStridesOf16BytesBelow2To40) {
  int64_t most = (int64_t(1) << 40) / 2;
  EXPECT_EQ(describe(0, TW_F16, {4, 8}, {most - 8, 1}, {{4, 8}}), "");
  EXPECT_EQ(describe(0, TW_F16, {4, 8}, {most, 1}, {{4, 8}}),
            "neighbours along dim 0 are 1099511627776 bytes apart; a tensor map takes multiples of 16 below 2^40");
  EXPECT_EQ(describe(0, TW_F16, {4, 9}, {}, {{4, 8}}),
            "neighbours along dim 0 are 18 bytes apart; a tensor map takes multiples of 16 below 2^40");
  EXPECT_EQ(describe(0, TW_F16, {1, 9}, {}, {{1, 8}}), ""); // one row: no stride
  EXPECT_EQ(describe(0, TW_F16, {4, 8}, {16, 2}, {{4, 8}}), "neighbours along its last dim are 2 elements apart, not 1");
}

TEST_F(TensorMapViewTest, HasUpTo2To32ElementsAlongADim) {
  int64_t most = int64_t(1) << 32;
  EXPECT_EQ(describe(0, TW_F16, {most, 8}, {}, {{4, 8}}), "");
  EXPECT_EQ(describe(0, TW_F16, {most + 1, 8}, {}, {{4, 8}}),
            "dim 0 has 4294967297 elements; a tensor map takes 1 to 2^32");
}

TEST_F(TensorMapViewTest, MergesDimsThatLieBehindOneAnother) {
  TensorMapDesc desc;
  ASSERT_EQ(describe(0, TW_F16, {3, 4, 5, 8}, {}, {{16, 8}, 0, 3}, &desc), "");
  EXPECT_EQ(desc.dims, (std::vector<uint64_t>{8, 60}));
  EXPECT_EQ(desc.strides, (std::vector<uint64_t>{16}));
  EXPECT_EQ(desc.box, (std::vector<uint32_t>{8, 16}));
  EXPECT_EQ(describe(0, TW_F16, {3, 4, 8}, {40, 8, 1}, {{16, 8}, 0, 2}), "its first 2 dims do not lie in memory as one");
}

TEST_F(TensorMapViewTest, OfImagesHasTheirsAndNotTheOperands) {
  // Two images of 5 x 6 x 8; windows of every second row.
  TensorMapParam param{{32, 8}, 0, 1, ImageParam{{2, 5, 6, 8}, {240, 48, 8}, {-1, -2}, {-1, 0}, {2, 1}}};
  TensorMapDesc desc;
  ASSERT_EQ(describe(16, TW_F16, {2, 3, 3, 8}, {240, 96, 48, 1}, param, &desc), "");
  EXPECT_EQ(desc.dims, (std::vector<uint64_t>{8, 6, 5, 2}));
  EXPECT_EQ(desc.strides, (std::vector<uint64_t>{16, 96, 480}));
  ASSERT_TRUE(desc.image);
  EXPECT_EQ(desc.image->lower, (std::vector<int32_t>{-2, -1}));
  EXPECT_EQ(desc.image->upper, (std::vector<int32_t>{0, -1}));
  EXPECT_EQ(desc.image->steps, (std::vector<uint32_t>{1, 1, 2, 1}));
  EXPECT_EQ(desc.image->pixels, 32u);
  EXPECT_EQ(desc.image->channels, 8u);
  EXPECT_EQ(describe(8, TW_F16, {2, 8}, {}, param), "its first element is 8 bytes behind a multiple of 16");
  // All 4096 bytes of the memory, and one row too many.
  param.image->dims = {1, 1, 256, 8};
  EXPECT_EQ(describe(0, TW_F16, {2, 8}, {}, param), "");
  EXPECT_EQ(describe(16, TW_F16, {2, 8}, {}, param), "the images reach beyond the memory of the operand");
  param.image->strides[2] = 9;
  param.image->dims = {1, 1, 2, 8};
  EXPECT_EQ(describe(0, TW_F16, {2, 8}, {}, param),
            "neighbours along dim 2 are 18 bytes apart; a tensor map takes multiples of 16 below 2^40");
}

TEST_F(TensorMapViewTest, OfImagesHasSizesThatALaunchTold) {
  TensorMapParam param{{32, 8}, 0, 1, ImageParam{{8, 5, 6, 8}, {240, 48, 8}, {-1, -2}, {-1, 0}, {2, 1}}};
  TensorMapDesc desc;
  // 4096 bytes are those of eight images.
  auto with = [&](std::vector<int64_t> dims, std::vector<int64_t> strides) {
    param.image->dims = dims, param.image->strides = strides;
    return describe(0, TW_F16, {dims[0], 3, 3, 8}, {240, 96, 48, 1}, param, &desc);
  };
  for (int64_t count : {1, 8}) {
    ASSERT_EQ(with({count, 5, 6, 8}, {240, 48, 8}), "");
    EXPECT_EQ(desc.dims, (std::vector<uint64_t>{8, 6, 5, uint64_t(count)}));
    EXPECT_EQ(desc.strides, (std::vector<uint64_t>{16, 96, 480}));
  }
  // Views have no stride along a dim of one element, maps have one.
  ASSERT_EQ(with({1, 1, 6, 8}, {0, 0, 8}), "");
  EXPECT_EQ(desc.strides, (std::vector<uint64_t>{16, 16, 16}));
  EXPECT_EQ(with({9, 5, 6, 8}, {240, 48, 8}), "the images reach beyond the memory of the operand");
  EXPECT_EQ(with({(int64_t(1) << 32) + 1, 5, 6, 8}, {240, 48, 8}),
            "an image has 4294967297 elements along a dim; a tensor map takes 1 to 2^32");
  EXPECT_EQ(with({1, kOpen, 6, 8}, {240, 48, 8}), "an image has -1 elements along a dim; a tensor map takes 1 to 2^32");
  EXPECT_EQ(with({1, 5, 6, 8}, {240, kOpen, 8}), "strides of the image overflow");
  EXPECT_EQ(with({1, 5, 6, 8}, {240, 44, 8}),
            "neighbours along dim 1 are 88 bytes apart; a tensor map takes multiples of 16 below 2^40");
}

/// Copies the box at column x, row y to `out`: 8 rows of 16 f32.
const char kernel[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry copy_box(.param .u64 out, .param .u32 x, .param .u32 y, .param .align 64 .b8 map[128])
.reqntid 32, 1, 1
{
  .reg .pred %p, %done;
  .reg .b32 %t, %x, %y, %tile, %bar, %at;
  .reg .b64 %out, %map, %offset;
  .reg .f32 %f<4>;
  .shared .align 128 .b8 tile[512];
  .shared .align 8 .b64 bar;
  ld.param.u64 %out, [out];
  ld.param.u32 %x, [x];
  ld.param.u32 %y, [y];
  mov.b64 %map, map;
  cvta.param.u64 %map, %map;
  cvta.to.global.u64 %out, %out;
  mov.u32 %t, %tid.x;
  mov.u32 %tile, tile;
  mov.u32 %bar, bar;
  setp.ne.u32 %p, %t, 0;
  @%p bra issued;
  mbarrier.init.shared.b64 [%bar], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 512;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%tile], [%map, {%x, %y}], [%bar];
issued:
  bar.sync 0;
again:
  mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0;
  @!%done bra again;
  shl.b32 %at, %t, 4;
  cvt.u64.u32 %offset, %at;
  add.u32 %tile, %tile, %at;
  add.u64 %out, %out, %offset;
  ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%tile];
  st.global.v4.f32 [%out], {%f0, %f1, %f2, %f3};
  ret;
}
)";

/// The same of pixels of images: column x of image y is the first one.
std::string kernelOfPixels() {
  std::string text = kernel;
  for (auto [from, to] : {std::pair<std::string, std::string>{"entry copy_box", "entry copy_pixels"},
                          {".reg .b64 %out", ".reg .b16 %none; .reg .b32 %zero; .reg .b64 %out"},
                          {"  mov.u32 %t, %tid.x;", "  mov.u32 %t, %tid.x; mov.b16 %none, 0; mov.b32 %zero, 0;"},
                          {"tensor.2d", "tensor.3d"},
                          {".tile.", ".im2col."},
                          {"{%x, %y}], [%bar]", "{%zero, %x, %y}], [%bar], {%none}"}})
    text.replace(text.find(from), from.size(), to);
  return text;
}

std::string artifact() {
  return writeArtifact(
      {{"manifest", R"({"format": 1, "programs": [{"target": "cuda:sm_90", "driver": "cuda", "requires": {"sm": 90},
          "dispatches": [{"name": "copy_box", "scalars": ["i32", "i32"],
            "operands": [{"dtype": "f32", "shape": [-1, -1], "strides": [-1, -1], "access": "read"},
                         {"dtype": "f32", "shape": [8, 16], "access": "write"}],
            "variants": [{"name": "copy_box", "section": "kernel.ptx", "grid": [1, 1, 1], "block": [32, 1, 1],
              "params": [{"buffer": 1}, {"scalar": "i32", "value": ["scalar", 0]}, {"scalar": "i32", "value": ["scalar", 1]},
                         {"tensor_map": 0, "box": [8, 16]}]}]},
            {"name": "copy_pixels", "scalars": ["i32", "i32", "i32"],
            "operands": [{"dtype": "f32", "shape": [-1, -1, 16], "strides": [-1, -1, 1], "access": "read"},
                         {"dtype": "f32", "shape": [8, 16], "access": "write"}],
            "variants": [{"name": "copy_pixels", "section": "pixels.ptx", "grid": [1, 1, 1], "block": [32, 1, 1],
              "params": [{"buffer": 1}, {"scalar": "i32", "value": ["scalar", 0]}, {"scalar": "i32", "value": ["scalar", 1]},
                         {"tensor_map": 0, "box": [8, 16], "image": {
                            "dims": [["dim", 0, 0], ["scalar", 2], 16], "lower": [0], "upper": [0], "steps": [2],
                            "strides": [["stride", 0, 0], ["floordiv", ["stride", 0, 1], 2]]}}]}]}]}]})"},
       {"kernel.ptx", kernel},
       {"pixels.ptx", kernelOfPixels()}});
}

class TensorMapLaunchTest : public testing::Test {
protected:
  void SetUp() override {
    std::string code = artifact();
    ASSERT_OK(tilewright_instance_create(nullptr, &instance));
    ASSERT_OK(tilewright_device_open(instance, "ptxsim", &device));
    ASSERT_OK(tilewright_stream_create(device, &stream));
    ASSERT_OK(tilewright_program_load(device, code.data(), code.size(), nullptr, &program));
    ASSERT_OK(tilewright_buffer_allocate(device, 20 * 36 * 4, &memory));
    const int64_t dims[] = {8, 16}, all[] = {20 * 36};
    ASSERT_OK(tilewright_view_allocate(device, TW_F32, 2, dims, &out));
    std::vector<float> numbers(20 * 36);
    std::iota(numbers.begin(), numbers.end(), 1.0f);
    tilewright_view *whole;
    ASSERT_OK(tilewright_view_create(memory, 0, TW_F32, 1, all, &whole));
    EXPECT_OK(tilewright_view_write(whole, stream, numbers.data(), numbers.size() * 4));
    EXPECT_OK(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
    tilewright_view_release(whole);
  }
  void TearDown() override {
    tilewright_view_release(out);
    tilewright_buffer_release(memory);
    tilewright_program_release(program);
    tilewright_stream_release(stream);
    tilewright_device_release(device);
    tilewright_instance_release(instance);
  }
  /// The box at (row, column) of a window of the 20 x 36 numbers that begins at element `first`.
  std::string copy(int64_t first, std::vector<int64_t> dims, int32_t row, int32_t column) {
    return launch("copy_box", first, dims, {36, 1}, {uint32_t(column), uint32_t(row)});
  }
  /// Eight pixels from the first one on, every second one of `count` rows of `width`: windows of them.
  std::string copyPixels(int64_t count, int32_t width) {
    return launch("copy_pixels", 0, {count, 3, 16}, {80, 32, 1}, {0, 0, uint32_t(width)});
  }
  std::string launch(const char *name, int64_t first, std::vector<int64_t> dims, std::vector<int64_t> strides,
                     std::vector<uint64_t> scalars) {
    tilewright_view *window;
    EXPECT_OK(tilewright_view_create_strided(memory, uint64_t(first) * 4, TW_F32, uint32_t(dims.size()), dims.data(),
                                             strides.data(), &window));
    size_t dispatch;
    EXPECT_OK(tilewright_program_dispatch_find(program, name, &dispatch));
    tilewright_view *views[] = {window, out};
    std::string why = take(tilewright_program_launch(program, dispatch, stream, 2, views, scalars.size(), scalars.data()));
    tilewright_view_release(window);
    if (!why.empty())
      return why;
    numbers.assign(8 * 16, -1);
    EXPECT_OK(tilewright_view_read(out, stream, numbers.size() * 4, numbers.data()));
    EXPECT_OK(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
    return "";
  }

  tilewright_instance *instance = nullptr;
  tilewright_device *device = nullptr;
  tilewright_stream *stream = nullptr;
  tilewright_program *program = nullptr;
  tilewright_buffer *memory = nullptr;
  tilewright_view *out = nullptr;
  std::vector<float> numbers;
};

TEST_F(TensorMapLaunchTest, CopiesABoxOfAWindow) {
  // Rows 2 to 11 and columns 4 to 25 of the numbers; of the box at (5, 10) five rows and twelve columns are inside.
  ASSERT_EQ(copy(2 * 36 + 4, {10, 22}, 5, 10), "");
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 16; ++c)
      EXPECT_EQ(numbers[r * 16 + c], r < 5 && c < 12 ? 1.0f + (2 + 5 + r) * 36 + 4 + 10 + c : 0.0f) << r << " " << c;
}

TEST_F(TensorMapLaunchTest, FollowsTheOperandOfEachLaunch) {
  ASSERT_EQ(copy(0, {20, 36}, 0, 0), "");
  EXPECT_EQ(numbers[0], 1.0f);
  ASSERT_EQ(copy(36, {8, 16}, 0, 0), "");
  EXPECT_EQ(numbers[0], 37.0f);
}

TEST_F(TensorMapLaunchTest, SaysWhatItCannotDescribe) {
  EXPECT_EQ(copy(1, {8, 16}, 0, 0),
            "4: dispatch 'copy_box': variant 'copy_box': parameter 3, the tensor map of operand 0: its first element is "
            "4 bytes behind a multiple of 16");
}

TEST_F(TensorMapLaunchTest, CopiesPixelsOfImagesWhoseSizesItIsTold) {
  // Three windows a row of five pixels; behind the last row there is nothing.
  for (int64_t count : {1, 2, 9}) {
    ASSERT_EQ(copyPixels(count, 5), "");
    for (int p = 0; p < 8; ++p)
      for (int c = 0; c < 16; ++c)
        EXPECT_EQ(numbers[p * 16 + c], p / 3 < count ? 1.0f + p / 3 * 80 + p % 3 * 32 + c : 0.0f) << count << " " << p;
  }
}

TEST_F(TensorMapLaunchTest, RefusesImagesThatNoMapDescribes) {
  std::string where = "4: dispatch 'copy_pixels': variant 'copy_pixels': parameter 3, the tensor map of operand 0: ";
  for (int32_t width : {0, -1})
    EXPECT_EQ(copyPixels(1, width), where + "an image has " + std::to_string(width) +
                                        " elements along a dim; a tensor map takes 1 to 2^32");
  EXPECT_EQ(copyPixels(9, 6), where + "the images reach beyond the memory of the operand");
}

TEST(TensorMapManifest, RefusesBoxesThatNoHardwareTakes) {
  std::string text = artifact(), from = "\"box\": [8, 16]", to = "\"box\": [8, 15]";
  text.replace(text.find(from), from.size(), to);
  rehash(text);
  tilewright_instance *instance = nullptr;
  tilewright_device *device = nullptr;
  tilewright_program *program = nullptr;
  ASSERT_OK(tilewright_instance_create(nullptr, &instance));
  ASSERT_OK(tilewright_device_open(instance, "ptxsim", &device));
  EXPECT_FAILS(tilewright_program_load(device, text.data(), text.size(), nullptr, &program),
               "programs[0].dispatches[0].variants[0].params[3]: rows of a box are multiples of 16 bytes, not 60");
  tilewright_device_release(device);
  tilewright_instance_release(instance);
}

} // namespace
