// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's mathematical functions, compiled by nvcc (programs/math.cu), against those of this machine: within the errors
// that NVIDIA documents, on ordinary, large, tiny and special arguments.

#include "Harness.h"

#include <cmath>
#include <limits>
#include <random>

using namespace tilewright::ptxsim;

namespace {

template <typename T> std::vector<T> arguments() {
  std::mt19937_64 random(7);
  std::vector<T> values = {T(0), T(-0.0), T(1), T(-1), T(0.5), std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(),
                           std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max()};
  std::normal_distribution<double> ordinary(0, 3);
  std::uniform_real_distribution<double> exponent(-30, 30);
  while (values.size() < 1024) {
    double scale = values.size() % 2 ? std::pow(10, exponent(random)) : 1;
    values.push_back(static_cast<T>(ordinary(random) * scale));
  }
  return values;
}

/// Distance in units of the last place of the wanted value; infinite where one is NaN or infinite and the other is not.
template <typename T> double distance(T got, T want) {
  if (got == want || (got != got && want != want))
    return 0;
  if (!std::isfinite(got) || !std::isfinite(want))
    return std::numeric_limits<double>::infinity();
  T magnitude = std::max(std::fabs(want), std::numeric_limits<T>::min());
  T unit = std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return std::fabs(double(got) - double(want)) / double(unit);
}

template <typename T> struct MathCase {
  const char *kernel;
  T (*reference)(T);
  double allowed;
};

/// The reference is computed in a wider type for floats.
#define REFERENCE(name)                                                                                                \
  float float_##name(float x) { return static_cast<float>(std::name(static_cast<double>(x))); }                        \
  double double_##name(double x) { return std::name(x); }
REFERENCE(sin)
REFERENCE(exp)
REFERENCE(log)
REFERENCE(tanh)
REFERENCE(erf)
REFERENCE(cbrt)
REFERENCE(atan)

template <typename T> void check(TestDevice &device, const MathCase<T> &test) {
  std::vector<T> in = arguments<T>();
  uint64_t out = device.allocate(in.size() * sizeof(T));
  ASSERT_TRUE(device.launch(test.kernel, {8}, {128}, device.upload(in), out)) << device.report();
  std::vector<T> got = device.download<T>(out, in.size());
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_LE(distance(got[i], test.reference(in[i])), test.allowed)
        << test.kernel << "(" << in[i] << ") = " << got[i] << ", not " << test.reference(in[i]);
  EXPECT_TRUE(device.copyOut(out, in.size() * sizeof(T)));
}

// CUDA C++ Programming Guide, maximum errors; one more for the reference's own in double.
const MathCase<float> floats[] = {{"float_sin", float_sin, 2},   {"float_exp", float_exp, 2},   {"float_log", float_log, 1},
                                  {"float_tanh", float_tanh, 2}, {"float_erf", float_erf, 2},   {"float_cbrt", float_cbrt, 1},
                                  {"float_atan", float_atan, 2}};
const MathCase<double> doubles[] = {{"double_sin", double_sin, 3},   {"double_exp", double_exp, 2},
                                    {"double_log", double_log, 2},   {"double_tanh", double_tanh, 3},
                                    {"double_erf", double_erf, 3},   {"double_cbrt", double_cbrt, 2},
                                    {"double_atan", double_atan, 3}};

TEST(Math, AgreesWithTheHost) {
  TestDevice device;
  ASSERT_TRUE(device.load(readTestFile("programs/math.ptx"))) << device.message;
  for (const auto &test : floats)
    check(device, test);
  for (const auto &test : doubles)
    check(device, test);
}

} // namespace
