// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GELU, which is one function on AVX-512 and AVX2, against the C library in double precision: for
// all exponents of f32 and evenly where Phi is neither zero nor one.

#include "CpuFixture.h"

#include <cmath>
#include <random>

namespace {
double geluByErf(double x) { return 0.5 * x * std::erfc(-x * std::sqrt(0.5)); }
double geluByTanh(double x) {
  double s = 0.79788456080286536 * (x + 0.044715 * x * x * x);
  // Of -infinity, x is multiplied with zero.
  return s < -300 && !std::isinf(x) ? -0.0 : x / (1 + std::exp(-2 * s));
}

/// 0.5 x (1 + f) in vectors of f32. `f`: ops that yield %f.
std::string kernel(const std::string &name, const std::string &f) {
  const char *vector = "vector<64xf32>";
  std::string text = "func.func private @" + name + R"((%x: memref<?xf32>, %o: memref<?xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0.0 : f32
    %half = arith.constant dense<0.5> : V
    %one = arith.constant dense<1.0> : V
    %n = memref.dim %x, %c0 : memref<?xf32>
    scf.for %i = %c0 to %n step %c64 {
      %a = vector.transfer_read %x[%i], %z : memref<?xf32>, V
      )" + f + R"(
      %g = arith.addf %f, %one : V
      %h = arith.mulf %a, %half : V
      %r = arith.mulf %h, %g : V
      vector.transfer_write %r, %o[%i] : V, memref<?xf32>
    }
    return
  }
)";
  for (size_t at; (at = text.find(": V")) != text.npos;)
    text.replace(at + 2, 1, vector);
  for (size_t at; (at = text.find(", V\n")) != text.npos;)
    text.replace(at + 2, 1, vector);
  return text;
}

const std::string kByErf = R"(
      %root = arith.constant dense<0.70710678> : V
      %s = arith.mulf %a, %root : V
      %f = math.erf %s : V)";
const std::string kByTanh = R"(
      %c = arith.constant dense<0.044715> : V
      %k = arith.constant dense<0.7978845608> : V
      %p = arith.mulf %a, %a : V
      %q = arith.mulf %p, %a : V
      %t = arith.mulf %q, %c : V
      %u = arith.addf %a, %t : V
      %s = arith.mulf %u, %k : V
      %f = math.tanh %s : V)";

std::vector<float> arguments() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> list = {0.0f,      -0.0f,      kInfinity, -kInfinity,
                             std::nanf(""), 0x1p-149f, -0x1p-149f, 5.75f, -5.75f, 7.5f, -7.5f};
  std::mt19937 random(1);
  std::uniform_real_distribution<float> busy(-8, 8);
  for (int i = 0; i < 1 << 19; ++i) {
    list.push_back(busy(random));
    list.push_back(llvm::bit_cast<float>(uint32_t(random())));
  }
  return list;
}

struct GeluOfAvx2 : CpuFixture {
  /// The error is at most 2^-23 |x|, and from -3 on at most twelve units of the result's last
  /// place.
  void check(const std::string &f, double (*gelu)(double)) {
    ASSERT_TRUE(compile(kernel("gelu", f))) << error;
    std::vector<float> x = arguments(), out(x.size());
    uint64_t size = x.size();
    launch(0, 1, {address(x.data()), address(out.data()), size, size});
    for (auto [argument, result] : llvm::zip_equal(x, out)) {
      double exact = gelu(argument);
      if (std::isnan(exact) || std::isinf(exact)) {
        ASSERT_TRUE(std::isnan(exact) ? std::isnan(result) : exact == result) << argument;
        continue;
      }
      ASSERT_EQ(std::signbit(result), std::signbit(argument)) << argument;
      double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
      double error = std::abs(result - exact);
      ASSERT_LE(error, 0x1p-23 * std::abs(argument) + 0x1p-149) << argument;
      if (argument > -3)
        ASSERT_LE(error, 12 * unit) << argument;
    }
  }
};

struct Gelu : GeluOfAvx2 {
  Gelu() { targetSpec = "cpu:x86-64-v4"; }
  void checkIfPresent(const std::string &f, double (*gelu)(double)) {
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq"))
      GTEST_SKIP() << "this processor has no AVX-512";
    check(f, gelu);
  }
};
} // namespace

TEST_F(GeluOfAvx2, ByErf) { check(kByErf, geluByErf); }
TEST_F(GeluOfAvx2, ByTanh) { check(kByTanh, geluByTanh); }
TEST_F(Gelu, ByErf) { checkIfPresent(kByErf, geluByErf); }
TEST_F(Gelu, ByTanh) { checkIfPresent(kByTanh, geluByTanh); }
