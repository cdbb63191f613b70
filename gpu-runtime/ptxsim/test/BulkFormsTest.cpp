// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk reductions, waits for the sources only, im2col, prefetches, and forms that are refused.

#include "Harness.h"

#include "async/TensorMap.h"

#include <cmath>
#include <functional>

using namespace tilewright::ptxsim;

namespace {

MachineOptions hopper(uint64_t seed = 1, bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.checks = checks;
  return options;
}

/// One warp: 128 bytes of `in` go to shared memory, `body` goes on from there with %shared, %out and lane 0 as %first.
std::string kernel(const std::string &body) {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 in, .param .u64 out) {\n"
         "  .shared .align 1024 .b8 tile[8192];\n  .shared .align 8 .b8 bar[8];\n"
         "  .reg .b32 %r<8>, %lane, %shared;\n  .reg .b64 %s<8>, %in, %out, %map;\n  .reg .pred %first, %done;\n"
         "  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n  mov.u32 %lane, %laneid;\n"
         "  mov.b64 %map, map; cvta.param.u64 %map, %map;\n"
         "  setp.eq.u32 %first, %lane, 0;\n  mov.u32 %shared, tile;\n"
         "  mad.lo.u32 %r0, %lane, 4, %shared; mad.wide.u32 %s0, %lane, 4, %in;\n"
         "  ld.global.b32 %r1, [%s0]; st.shared.b32 [%r0], %r1;\n  fence.proxy.async.shared::cta; bar.warp.sync -1;\n"
         "  @!%first bra END;\n" +
         body + "\nEND:\n  bar.warp.sync -1;\n  ret;\n}\n";
}

/// Launches with a map, or with none; what is in `out` then.
template <typename T>
std::vector<T> launch(TestDevice &device, const std::string &body, const std::vector<T> &in, std::vector<T> out,
                      bool &completed, const TensorMap *map = nullptr) {
  EXPECT_TRUE(device.load(kernel(body))) << device.message;
  if (!device.module)
    return {};
  uint64_t input = device.upload(in), output = device.upload(out);
  TensorMap used = map ? *map : TensorMap();
  if (map)
    used.address += output;
  std::vector<uint8_t> params(144);
  std::memcpy(params.data(), &used, 128);
  std::memcpy(params.data() + 128, &input, 8);
  std::memcpy(params.data() + 136, &output, 8);
  completed = device.launchBytes("k", {1}, {32}, params);
  return device.download<T>(output, out.size());
}

template <typename T> void checkReduction(const std::string &form, const std::function<T(T, T)> &expected) {
  std::vector<T> in(128 / sizeof(T)), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<T>(i * 7 % 13) - static_cast<T>(form[0] == 's' || std::is_floating_point_v<T> ? 6 : 0);
    out[i] = static_cast<T>(i * 5 % 11);
  }
  for (bool checks : {true, false})
    for (bool byMap : {false, true}) {
      TestDevice device(hopper(3, checks));
      uint64_t dims[] = {in.size()};
      uint32_t box[] = {uint32_t(in.size())}, strides[] = {1};
      TensorMapRequest request = {sizeof(T), false, 1, 16, dims, nullptr, box, strides, Swizzle::None, false};
      size_t dot = form.find('.', 1);
      std::string op = form.substr(0, dot), type = form.substr(dot + 1);
      request.dataType = type == "u32" || type == "b32" ? 2 : type == "s32" ? 3 : type == "u64" || type == "b64" ? 4
                         : type == "s64" ? 5 : type == "f32" ? 7 : 8;
      TensorMap map;
      std::string why;
      ASSERT_TRUE(encodeTensorMap(request, map, why)) << why;
      map.address = 0;
      bool completed = false;
      std::vector<T> got = launch<T>(
          device,
          (byMap ? "cp.reduce.async.bulk.tensor.1d.global.shared::cta." + op + ".tile.bulk_group [%map, {0}], [%shared];"
                 : "cp.reduce.async.bulk.global.shared::cta.bulk_group." + form + " [%out], [%shared], 128;") +
              " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
          in, out, completed, &map);
      ASSERT_TRUE(completed) << form << device.report();
      EXPECT_EQ(device.findings.size(), 0u) << device.report();
      for (size_t i = 0; i < in.size(); ++i)
        EXPECT_EQ(got[i], expected(out[i], in[i])) << form << " " << i;
    }
}

TEST(BulkForms, Reductions) {
  using U = uint32_t;
  checkReduction<U>("add.u32", [](U a, U b) { return a + b; });
  checkReduction<U>("min.u32", [](U a, U b) { return std::min(a, b); });
  checkReduction<U>("max.u32", [](U a, U b) { return std::max(a, b); });
  checkReduction<U>("inc.u32", [](U a, U b) { return a >= b ? 0 : a + 1; });
  checkReduction<U>("dec.u32", [](U a, U b) { return a == 0 || a > b ? b : a - 1; });
  checkReduction<U>("and.b32", [](U a, U b) { return a & b; });
  checkReduction<U>("or.b32", [](U a, U b) { return a | b; });
  checkReduction<U>("xor.b32", [](U a, U b) { return a ^ b; });
  checkReduction<int32_t>("add.s32", [](int32_t a, int32_t b) { return a + b; });
  checkReduction<int32_t>("min.s32", [](int32_t a, int32_t b) { return std::min(a, b); });
  checkReduction<int64_t>("max.s64", [](int64_t a, int64_t b) { return std::max(a, b); });
  checkReduction<uint64_t>("add.u64", [](uint64_t a, uint64_t b) { return a + b; });
  checkReduction<uint64_t>("xor.b64", [](uint64_t a, uint64_t b) { return a ^ b; });
  checkReduction<float>("add.f32", [](float a, float b) { return a + b; });
  checkReduction<double>("add.f64", [](double a, double b) { return a + b; });
}

TEST(BulkForms, RefusedForms) {
  struct {
    const char *text, *why;
  } cases[] = {
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.s32 [%out], [%shared], 128;", "not supported"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%out], [%shared], 128;", "noftz"},
      {"cp.reduce.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.add.u32 [%shared], [%in], 128, [bar];", "direction"},
      {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.f32 [%shared], [%shared], 128, [bar];", "not supported"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%shared], [%map, {0, 0, 1, 2, 3}], [bar];", "sm_100"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%shared], [%map, {0, 0}], [bar], {};", "rank 3"},
      {"cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%shared], [%map, {0, 0, 0, 0}], [bar];", "offsets"},
      {"cp.async.bulk.tensor.4d.global.shared::cta.im2col.bulk_group [%map, {0, 0, 0, 0}], [%shared];", "im2col_no_offs"},
      {"cp.async.bulk.global.shared::cta.bulk_group.multicast::cluster [%out], [%shared], 128, 3;", "multicast"},
  };
  for (const auto &one : cases) {
    TestDevice device(hopper());
    EXPECT_FALSE(device.load(kernel(one.text))) << one.text;
    EXPECT_NE(device.message.find(one.why), std::string::npos) << one.text << "\n" << device.message;
  }
}

TEST(BulkForms, WaitForTheSourceOnly) {
  std::string send = "cp.async.bulk.global.shared::cta.bulk_group [%out], [%shared], 128; cp.async.bulk.commit_group;";
  struct {
    std::string rest;
    bool isRight;
  } cases[] = {
      {"cp.async.bulk.wait_group.read 0; mov.b32 %r2, 7; st.shared.b32 [%shared], %r2;", true},
      {"cp.async.bulk.wait_group.read 1; mov.b32 %r2, 7; st.shared.b32 [%shared], %r2; cp.async.bulk.wait_group 0;", false},
      {"cp.async.bulk.wait_group.read 0; ld.global.b32 %r2, [%out];", false},
      {"cp.async.bulk.wait_group 0; ld.global.b32 %r2, [%out];", true},
      {"", false},
  };
  for (const auto &one : cases)
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      TestDevice device(hopper(seed));
      std::vector<uint32_t> in(32, 5), out(32, 0);
      bool completed = false;
      std::vector<uint32_t> got = launch<uint32_t>(device, send + one.rest, in, out, completed);
      EXPECT_EQ(completed, one.isRight) << one.rest << " seed " << seed << device.report();
      if (one.isRight)
        EXPECT_EQ(got, in) << one.rest << " seed " << seed;
    }
}

/// A convolution's geometry: NHWC, one image after the other.
struct Convolution {
  int batch, height, width, channels, pad, stride, dilation, filter;
  int outHeight() const { return (height + 2 * pad - dilation * (filter - 1) - 1) / stride + 1; }
  int outWidth() const { return (width + 2 * pad - dilation * (filter - 1) - 1) / stride + 1; }
};

/// Row `first` and those behind it of the matrix that a convolution multiplies by its filter's place (r, s): as the
/// definition of a convolution has it.
std::vector<float> im2colRows(const Convolution &c, const std::vector<float> &image, int first, int count, int r, int s,
                              int channel, int channels) {
  std::vector<float> rows;
  for (int row = first; row < first + count; ++row) {
    int q = row % c.outWidth(), p = row / c.outWidth() % c.outHeight(), n = row / c.outWidth() / c.outHeight();
    int y = p * c.stride - c.pad + r * c.dilation, x = q * c.stride - c.pad + s * c.dilation;
    bool inside = y >= 0 && y < c.height && x >= 0 && x < c.width && n < c.batch;
    for (int i = channel; i < channel + channels; ++i)
      rows.push_back(inside && i < c.channels ? image[((n * c.height + y) * c.width + x) * c.channels + i] : 0);
  }
  return rows;
}

TEST(BulkForms, Im2colIsWhatAConvolutionNeeds) {
  const Convolution convolutions[] = {{2, 5, 7, 16, 0, 1, 1, 3}, {2, 6, 5, 8, 1, 1, 1, 3}, {3, 9, 8, 12, 2, 2, 1, 5},
                                      {2, 9, 9, 8, 2, 1, 2, 3},  {2, 8, 11, 8, 1, 3, 2, 2}};
  constexpr int pixels = 24, perPixel = 8;
  for (const Convolution &c : convolutions)
    for (auto [r, s, first, channel] : {std::tuple{0, 0, 0, 0}, {1, 0, 3, 0}, {1, 1, 11, 8}}) {
      TestDevice device(hopper(r + first + 1));
      std::vector<float> image(c.batch * c.height * c.width * c.channels);
      for (size_t i = 0; i < image.size(); ++i)
        image[i] = static_cast<float>(i + 1);
      uint64_t dims[] = {uint64_t(c.channels), uint64_t(c.width), uint64_t(c.height), uint64_t(c.batch)};
      uint64_t strides[] = {dims[0] * 4, dims[0] * dims[1] * 4, dims[0] * dims[1] * dims[2] * 4};
      uint32_t steps[] = {1, uint32_t(c.stride), uint32_t(c.stride), 1};
      int upper = c.pad - c.dilation * (c.filter - 1);
      int32_t lowerCorner[] = {-c.pad, -c.pad}, upperCorner[] = {upper, upper};
      uint64_t from = device.upload(image);
      TensorMapRequest request = {4, true, 4, from, dims, strides, nullptr, steps, Swizzle::None, false};
      request.isIm2col = true;
      request.lower = lowerCorner;
      request.upper = upperCorner;
      request.channels = perPixel;
      request.pixels = pixels;
      TensorMap map;
      std::string why;
      ASSERT_TRUE(encodeTensorMap(request, map, why)) << why;
      int q = first % c.outWidth(), p = first / c.outWidth() % c.outHeight(), n = first / c.outWidth() / c.outHeight();
      auto text = [](int value) { return std::to_string(value); };
      std::string body =
          "mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " + text(pixels * perPixel * 4) + ";\n"
          "mov.b32 %r2, " + text(q * c.stride - c.pad) + "; mov.b32 %r3, " + text(p * c.stride - c.pad) + ";\n"
          ".reg .b16 %w, %h; mov.b16 %w, " + text(s * c.dilation) + "; mov.b16 %h, " + text(r * c.dilation) + ";\n"
          "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%map, {" + text(channel) + ", %r2, %r3, " + text(n) + "}], {%w, %h};\n"
          "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%shared], [%map, {" +
          text(channel) + ", %r2, %r3, " + text(n) + "}], [bar], {%w, %h};\n"
          "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0;\n@!%done bra WAIT;\n"
          "mov.b32 %r4, 0;\nCOPY: add.u32 %r5, %shared, %r4; ld.shared.b32 %r6, [%r5];\n"
          "cvt.u64.u32 %s1, %r4; add.u64 %s1, %s1, %out; st.global.b32 [%s1], %r6;\n"
          "add.u32 %r4, %r4, 4; setp.lt.u32 %done, %r4, " + text(pixels * perPixel * 4) + "; @%done bra COPY;";
      ASSERT_TRUE(device.load(kernel(body))) << device.message;
      uint64_t out = device.allocate(pixels * perPixel * 4);
      std::vector<uint8_t> params(144);
      std::memcpy(params.data(), &map, 128);
      uint64_t input = device.upload(std::vector<float>(32, 0));
      std::memcpy(params.data() + 128, &input, 8);
      std::memcpy(params.data() + 136, &out, 8);
      ASSERT_TRUE(device.launchBytes("k", {1}, {32}, params)) << device.report();
      EXPECT_EQ(device.download<float>(out, pixels * perPixel),
                im2colRows(c, image, first, pixels, r, s, channel, perPixel));
    }
}

/// A thread that has waited for a later copy into shared memory knows nothing of a store in front of it.
TEST(BulkForms, ALoadSaysNothingOfStores) {
  const std::string body = "mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
                           "cp.async.bulk.global.shared::cta.bulk_group [%out], [%shared], 128; cp.async.bulk.commit_group;\n"
                           "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n"
                           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%shared+128], [%in], 128, [bar];\n"
                           "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0;\n@!%done bra WAIT;\n";
  const std::string overwrite = "mov.b32 %r4, 5; st.shared.b32 [%shared], %r4;\n", wait = "cp.async.bulk.wait_group 0;\n";
  for (bool isRight : {true, false})
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      TestDevice device(hopper(seed));
      bool completed = false;
      launch(device, body + (isRight ? wait + overwrite : overwrite + wait), std::vector<uint32_t>(32, 7),
             std::vector<uint32_t>(32, 0), completed);
      EXPECT_EQ(completed, isRight) << device.report();
      EXPECT_EQ(device.found(FindingKind::Race), !isRight) << device.report();
    }
}

TEST(BulkForms, RulesOfIm2col) {
  auto why = [](auto change) {
    uint64_t dims[] = {16, 9, 9, 2}, strides[] = {64, 576, 5184};
    uint32_t steps[] = {1, 1, 1, 1};
    int32_t lower[] = {-1, -1}, upper[] = {-1, -1};
    TensorMapRequest request = {4, true, 4, 0x1000, dims, strides, nullptr, steps, Swizzle::None, false};
    request.isIm2col = true;
    request.lower = lower;
    request.upper = upper;
    request.channels = 8;
    request.pixels = 32;
    change(request, lower, upper);
    TensorMap map;
    std::string text;
    return encodeTensorMap(request, map, text) ? "" : text;
  };
  using R = TensorMapRequest;
  EXPECT_EQ(why([](R &, int32_t *, int32_t *) {}), "");
  EXPECT_NE(why([](R &request, int32_t *, int32_t *) { request.rank = 2; }).find("3 to 5"), std::string::npos);
  EXPECT_NE(why([](R &, int32_t *lower, int32_t *) { lower[0] = -129; }).find("-128 to 127"), std::string::npos);
  EXPECT_NE(why([](R &, int32_t *, int32_t *upper) { upper[1] = 128; }).find("-128 to 127"), std::string::npos);
  EXPECT_NE(why([](R &, int32_t *, int32_t *upper) { upper[1] = -10; }).find("empty"), std::string::npos);
  EXPECT_NE(why([](R &request, int32_t *, int32_t *) { request.channels = 257; }).find("1 to 256"), std::string::npos);
  EXPECT_NE(why([](R &request, int32_t *, int32_t *) { request.pixels = 1025; }).find("1 to 1024"), std::string::npos);
  EXPECT_NE(why([](R &request, int32_t *, int32_t *) { request.channels = 6; }).find("multiple of 16"), std::string::npos);
  EXPECT_NE(why([](R &request, int32_t *, int32_t *) {
              request.channels = 16;
              request.swizzle = Swizzle::Bytes32;
            }).find("swizzled"),
            std::string::npos);
}

} // namespace
