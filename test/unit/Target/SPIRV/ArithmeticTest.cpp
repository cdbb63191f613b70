// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic that must be exact: bits are compared with the host's.

#include "VulkanKernel.h"

#include <cmath>
#include <limits>
#include <random>

using namespace tilewright::test;

static const float kInf = std::numeric_limits<float>::infinity();
static const float kNaN = std::numeric_limits<float>::quiet_NaN();

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
static float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
static float fromBF16(uint16_t bits) { return floatOf(uint32_t(bits) << 16); }

/// Nearest bf16, ties to even, by search among the neighbours in f64.
static uint16_t toBF16(double value) {
  uint16_t low = uint16_t(bitsOf(float(value)) >> 16);
  uint16_t best = low;
  for (int d = -1; d <= 1; ++d) {
    uint16_t candidate = uint16_t(low + d);
    double distance = std::fabs(fromBF16(candidate) - value);
    double before = std::fabs(fromBF16(best) - value);
    if (distance < before || (distance == before && candidate % 2 == 0))
      best = candidate;
  }
  return best;
}

static std::vector<float> interestingFloats() {
  return {0.0f, -0.0f, 1.0f,   -1.0f, 0.5f,  -0.5f, 1.5f,  -1.5f,
          2.5f, 1e30f, -1e30f, kInf,  -kInf, kNaN,  3.25f, -7.75f};
}

/// All pairs.
static void product(std::vector<float> &x, std::vector<float> &y) {
  for (float a : interestingFloats())
    for (float b : interestingFloats())
      x.push_back(a), y.push_back(b);
}

static void expectSameFloats(const std::vector<float> &got,
                             const std::vector<float> &expected,
                             const std::vector<float> &x,
                             const std::vector<float> &y) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(got[i])) << x[i] << ", " << y[i] << ": " << got[i];
    else
      EXPECT_EQ(bitsOf(got[i]), bitsOf(expected[i]))
          << x[i] << ", " << y[i] << ": " << got[i] << " for " << expected[i];
  }
}

static float maximum(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return kNaN;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
static float minimum(float a, float b) { return -maximum(-a, -b); }

TEST_F(VulkanKernel, MinimaAndMaximaOfZerosAndNaN) {
  std::vector<float> x, y;
  product(x, y);
  auto check = [&](const char *op, auto reference) {
    SCOPED_TRACE(op);
    std::vector<float> expected;
    for (size_t i = 0; i < x.size(); ++i)
      expected.push_back(reference(x[i], y[i]));
    expectSameFloats(map<float>("f32", "f32",
                                std::string("%r = ") + op + " %x, %y : f32", x,
                                y),
                     expected, x, y);
  };
  check("arith.maximumf", maximum);
  check("arith.minimumf", minimum);
  // Which zero maxnumf gives is open, so take them out.
  for (float *v : {x.data(), y.data()})
    for (size_t i = 0; i < x.size(); ++i)
      if (v[i] == 0)
        v[i] = 0;
  check("arith.maxnumf", [](float a, float b) { return std::fmax(a, b); });
  check("arith.minnumf", [](float a, float b) { return std::fmin(a, b); });
}

TEST_F(VulkanKernel, MinimaAndMaximaWithConstants) {
  std::vector<float> x = interestingFloats();
  for (std::string c : {"0.0", "-0.0", "1.5", "-1.0"}) {
    SCOPED_TRACE(c);
    float value = std::stof(c);
    std::vector<float> high, low;
    for (float v : x)
      high.push_back(maximum(v, value)), low.push_back(minimum(v, value));
    std::string constant = "%c = arith.constant " + c + " : f32\n";
    expectSameFloats(map<float>("f32", "f32",
                                constant + "%r = arith.maximumf %x, %c : f32",
                                x),
                     high, x, x);
    expectSameFloats(map<float>("f32", "f32",
                                constant + "%r = arith.minimumf %c, %x : f32",
                                x),
                     low, x, x);
  }
}

TEST_F(VulkanKernel, ComparesFloats) {
  std::vector<float> x, y;
  product(x, y);
  auto unordered = [](float a, float b) {
    return std::isnan(a) || std::isnan(b);
  };
  auto check = [&](const char *predicate, auto reference) {
    SCOPED_TRACE(predicate);
    std::vector<uint8_t> expected;
    for (size_t i = 0; i < x.size(); ++i)
      expected.push_back(reference(x[i], y[i]));
    EXPECT_EQ(map<uint8_t>("f32", "i1",
                           std::string("%r = arith.cmpf ") + predicate +
                               ", %x, %y : f32",
                           x, y),
              expected);
  };
  check("olt", [](float a, float b) { return a < b; });
  check("oge", [](float a, float b) { return a >= b; });
  check("oeq", [](float a, float b) { return a == b; });
  check("one", [&](float a, float b) { return !unordered(a, b) && a != b; });
  check("ueq", [&](float a, float b) { return unordered(a, b) || a == b; });
  check("une", [](float a, float b) { return a != b; });
  check("ult", [&](float a, float b) { return unordered(a, b) || a < b; });
  check("uge", [&](float a, float b) { return unordered(a, b) || a >= b; });
  check("ord", [&](float a, float b) { return !unordered(a, b); });
  check("uno", unordered);
}

// x * x - 1 rounded once and twice: a product and a sum stay two operations.
// GLSL.std.450 Fma is fused where the device can; Vulkan lets it round twice
// (Mesa's lavapipe does).
TEST_F(VulkanKernel, FusesExactlyWhereAsked) {
  std::vector<float> x, fused, separate;
  for (int i = 1; i <= 64; ++i) {
    float v = 1.0f + float(i) * 0x1p-23f * 37;
    x.push_back(v);
    fused.push_back(std::fma(v, v, -1.0f));
    volatile float square = v * v;
    separate.push_back(square - 1.0f);
  }
  std::string one = "%one = arith.constant -1.0 : f32\n";
  std::vector<float> got =
      map<float>("f32", "f32", one + "%r = math.fma %x, %x, %one : f32", x);
  EXPECT_TRUE(got == fused || got == separate);
  EXPECT_EQ(map<float>("f32", "f32",
                       one + "%s = arith.mulf %x, %x : f32\n"
                             "%r = arith.addf %s, %one : f32",
                       x),
            separate);
}

TEST_F(VulkanKernel, RoundsToBF16) {
  std::mt19937_64 random(1);
  std::vector<float> singles;
  std::vector<double> doubles;
  std::vector<int32_t> words;
  std::vector<int64_t> longs;
  std::vector<uint16_t> ofSingles, ofDoubles, ofWords, ofLongs, ofUnsigned;
  for (int i = 0; i < 4096; ++i) {
    uint32_t bits = uint32_t(random()) & 0x7fffffff;
    bits = (bits % 0x7e000000) + 0x00800000;
    if (i % 4 == 0)
      bits = (bits & 0xffff0000) | 0x8000; // a tie
    if (i % 2)
      bits |= 0x80000000;
    float single = floatOf(bits);
    singles.push_back(single);
    ofSingles.push_back(toBF16(single));
    // Near a tie, on either side of it by less than f32 can see.
    uint32_t tie = (bits & 0xbfff0000) | 0x20008000;
    double wide = double(floatOf(tie)) * (1 + (int(i % 3) - 1) * 0x1p-40);
    doubles.push_back(wide);
    ofDoubles.push_back(toBF16(wide));
    int64_t number = int64_t(random()) >> (random() % 60);
    if (i % 3 == 0) // ties between bf16 values, broken by the lowest bit
      number = (int64_t(0x101 + 2 * (i % 64)) << (i % 40)) + (i % 2);
    longs.push_back(number);
    ofLongs.push_back(toBF16(double(number)));
    words.push_back(int32_t(number));
    ofWords.push_back(toBF16(double(int32_t(number))));
    ofUnsigned.push_back(toBF16(double(uint32_t(number))));
  }
  EXPECT_EQ(map<uint16_t>("f32", "bf16", "%r = arith.truncf %x : f32 to bf16",
                          singles),
            ofSingles);
  EXPECT_EQ(map<uint16_t>("f64", "bf16", "%r = arith.truncf %x : f64 to bf16",
                          doubles),
            ofDoubles);
  EXPECT_EQ(
      map<uint16_t>("i32", "bf16", "%r = arith.sitofp %x : i32 to bf16", words),
      ofWords);
  EXPECT_EQ(
      map<uint16_t>("i32", "bf16", "%r = arith.uitofp %x : i32 to bf16", words),
      ofUnsigned);
  // double(number) is inexact beyond 53 bits, never near a tie of 8.
  EXPECT_EQ(
      map<uint16_t>("i64", "bf16", "%r = arith.sitofp %x : i64 to bf16", longs),
      ofLongs);
  std::vector<uint16_t> nan =
      map<uint16_t>("f32", "bf16", "%r = arith.truncf %x : f32 to bf16",
                    std::vector<float>{floatOf(0x7f800001), floatOf(0xff800001),
                                       kInf, -kInf});
  EXPECT_TRUE(std::isnan(fromBF16(nan[0])) && std::isnan(fromBF16(nan[1])));
  EXPECT_EQ(fromBF16(nan[2]), kInf);
  EXPECT_EQ(fromBF16(nan[3]), -kInf);
}

TEST_F(VulkanKernel, ComputesInBF16) {
  std::vector<uint16_t> x, y, sum, product;
  std::mt19937 random(2);
  for (int i = 0; i < 1024; ++i) {
    x.push_back(uint16_t(0x3000 + random() % 0x2000));
    y.push_back(uint16_t(0xb000 + random() % 0x2000));
    sum.push_back(toBF16(double(fromBF16(x[i])) + fromBF16(y[i])));
    product.push_back(toBF16(double(fromBF16(x[i])) * fromBF16(y[i])));
    if (fromBF16(sum[i]) == 0)
      sum[i] = 0;
  }
  EXPECT_EQ(
      map<uint16_t>("bf16", "bf16", "%r = arith.addf %x, %y : bf16", x, y),
      sum);
  EXPECT_EQ(
      map<uint16_t>("bf16", "bf16", "%r = arith.mulf %x, %y : bf16", x, y),
      product);
}

TEST_F(VulkanKernel, ComputesInF16AndF64) {
  // 2048 + 1 is a tie in f16; 1 + 2^-50 needs f64.
  EXPECT_EQ(map<uint16_t>("f16", "f16", "%r = arith.addf %x, %y : f16",
                          std::vector<uint16_t>{0x6800, 0x3c00, 0x6801},
                          std::vector<uint16_t>{0x3c00, 0x3c00, 0x3c00}),
            (std::vector<uint16_t>{0x6800, 0x4000, 0x6802}));
  EXPECT_EQ(map<double>("f64", "f64", "%r = arith.addf %x, %y : f64",
                        std::vector<double>{1, 3},
                        std::vector<double>{0x1p-50, 4}),
            (std::vector<double>{1 + 0x1p-50, 7}));
  EXPECT_EQ(map<float>("f16", "f32", "%r = arith.extf %x : f16 to f32",
                       std::vector<uint16_t>{0x3c00, 0xbe00}),
            (std::vector<float>{1.0f, -1.5f}));
  // Conversions round to nearest even.
  EXPECT_EQ(
      map<uint16_t>("f32", "f16", "%r = arith.truncf %x : f32 to f16",
                    std::vector<float>{2049, 2051, 1 + 0x1.8p-11f, -2051}),
      (std::vector<uint16_t>{0x6800, 0x6802, 0x3c01, 0xe802}));
}

TEST_F(VulkanKernel, ComputesInSmallAndLargeIntegers) {
  std::vector<int8_t> x, y;
  for (int a : {-128, -127, -7, -1, 0, 1, 2, 7, 100, 127})
    for (int b : {-128, -3, -1, 1, 3, 127})
      if (!(a == -128 && b == -1))
        x.push_back(int8_t(a)), y.push_back(int8_t(b));
  auto check = [&](const char *op, auto reference) {
    SCOPED_TRACE(op);
    std::vector<int8_t> expected;
    for (size_t i = 0; i < x.size(); ++i)
      expected.push_back(int8_t(reference(x[i], y[i])));
    EXPECT_EQ(map<int8_t>("i8", "i8",
                          std::string("%r = ") + op + " %x, %y : i8", x, y),
              expected);
  };
  auto floorDiv = [](int a, int b) { return int(std::floor(double(a) / b)); };
  check("arith.addi", [](int a, int b) { return a + b; });
  check("arith.muli", [](int a, int b) { return a * b; });
  check("arith.divsi", [](int a, int b) { return a / b; });
  check("arith.remsi", [](int a, int b) { return a % b; });
  check("arith.floordivsi", floorDiv);
  check("arith.ceildivsi", [&](int a, int b) { return -floorDiv(-a, b); });
  check("arith.divui", [](int a, int b) { return uint8_t(a) / uint8_t(b); });
  check("arith.ceildivui", [](int a, int b) {
    return (uint8_t(a) + uint8_t(b) - 1) / uint8_t(b);
  });
  check("arith.maxsi", [](int a, int b) { return std::max(a, b); });
  check("arith.minui",
        [](int a, int b) { return std::min(uint8_t(a), uint8_t(b)); });

  EXPECT_EQ(map<int64_t>("i64", "i64", "%r = arith.muli %x, %y : i64",
                         std::vector<int64_t>{int64_t(1) << 33, -5},
                         std::vector<int64_t>{3, int64_t(1) << 35}),
            (std::vector<int64_t>{int64_t(3) << 33, -5 * (int64_t(1) << 35)}));
  EXPECT_EQ(map<int32_t>("i8", "i32", "%r = arith.extsi %x : i8 to i32",
                         std::vector<int8_t>{-1, 5}),
            (std::vector<int32_t>{-1, 5}));
  EXPECT_EQ(map<int32_t>("i8", "i32", "%r = arith.extui %x : i8 to i32",
                         std::vector<int8_t>{-1, 5}),
            (std::vector<int32_t>{255, 5}));
  EXPECT_EQ(map<int64_t>("i64", "index",
                         "%r = arith.index_cast %x : i64 to index",
                         std::vector<int64_t>{-9, 5}),
            (std::vector<int64_t>{-9, 5}));
}

TEST_F(VulkanKernel, CountsBits) {
  std::vector<int64_t> x{0, 1, 6, int64_t(1) << 40, -1, int64_t(5) << 33};
  auto check = [&](const char *op, std::vector<int64_t> expected) {
    SCOPED_TRACE(op);
    EXPECT_EQ(
        map<int64_t>("i64", "i64", std::string("%r = ") + op + " %x : i64", x),
        expected);
  };
  check("math.ctlz", {64, 63, 61, 23, 0, 28});
  check("math.cttz", {64, 0, 1, 40, 0, 33});
  check("math.ctpop", {0, 1, 2, 1, 64, 2});
  EXPECT_EQ(map<int8_t>("i8", "i8", "%r = math.ctlz %x : i8",
                        std::vector<int8_t>{0, 1, 64, -1}),
            (std::vector<int8_t>{8, 7, 1, 0}));
  EXPECT_EQ(map<int8_t>("i8", "i8", "%r = math.cttz %x : i8",
                        std::vector<int8_t>{0, 1, 64, -1}),
            (std::vector<int8_t>{8, 0, 6, 0}));
}

TEST_F(VulkanKernel, RoundsToIntegers) {
  std::vector<float> x{-2.5f, -1.5f, -0.5f, -0.0f, 0.5f, 1.5f, 2.5f, 1e9f};
  auto check = [&](const char *op, auto reference) {
    SCOPED_TRACE(op);
    std::vector<float> expected;
    for (float v : x)
      expected.push_back(reference(v));
    expectSameFloats(
        map<float>("f32", "f32", std::string("%r = ") + op + " %x : f32", x),
        expected, x, x);
  };
  check("math.trunc", [](float v) { return std::trunc(v); });
  check("math.floor", [](float v) { return std::floor(v); });
  check("math.ceil", [](float v) { return std::ceil(v); });
  check("math.roundeven", [](float v) { return std::nearbyint(v); });
  check("math.absf", [](float v) { return std::fabs(v); });
  check("math.sqrt", [](float v) { return v < 0 ? kNaN : std::sqrt(v); });
  EXPECT_EQ(map<float>("f32", "f32", "%r = math.copysign %x, %y : f32",
                       std::vector<float>{1, -2, 3},
                       std::vector<float>{-0.0f, 1, -1}),
            (std::vector<float>{-1, 2, -3}));
}

// The expansions that all targets share end in ops that this one has.
TEST_F(VulkanKernel, ExpandsMathFunctions) {
  std::vector<float> x{-10.0f, -1.0f, -0.25f, 0.0f, 0.5f, 1.0f, 4.0f, 20.0f};
  std::vector<float> got =
      map<float>("f32", "f32", "%r = math.exp %x : f32", x);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(got[i], std::exp(x[i]), std::exp(x[i]) * 1e-6);
  got = map<float>("f32", "f32", "%r = math.tanh %x : f32", x);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(got[i], std::tanh(x[i]), 1e-6);
  got = map<float>("f32", "f32", "%r = math.erf %x : f32", x);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(got[i], std::erf(x[i]), 1e-6);
}
