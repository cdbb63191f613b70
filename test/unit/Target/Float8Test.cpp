// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of 8-bit floats on a CPU against LLVM's software floats: every
// value of them, every f16 and bf16, and of f32 and f64 all numbers around which
// rounding changes.

#include "CpuFixture.h"

#include "llvm/ADT/APFloat.h"

#include <random>

namespace {
struct Wide {
  const char *name;
  const llvm::fltSemantics &semantics;
  unsigned bits;
};

struct Float8Test : testing::TestWithParam<const char *> {
  const llvm::fltSemantics &narrow() const {
    llvm::StringRef name = GetParam();
    if (name.ends_with("FNUZ"))
      return name == "f8E4M3FNUZ" ? llvm::APFloat::Float8E4M3FNUZ()
                                  : llvm::APFloat::Float8E5M2FNUZ();
    return name == "f8E4M3FN" ? llvm::APFloat::Float8E4M3FN()
                              : llvm::APFloat::Float8E5M2();
  }
};

const Wide kWide[] = {{"f16", llvm::APFloat::IEEEhalf(), 16},
                      {"bf16", llvm::APFloat::BFloat(), 16},
                      {"f32", llvm::APFloat::IEEEsingle(), 32},
                      {"f64", llvm::APFloat::IEEEdouble(), 64}};

llvm::APFloat convert(llvm::APFloat value, const llvm::fltSemantics &to) {
  bool lossy;
  value.convert(to, llvm::APFloat::rmNearestTiesToEven, &lossy);
  return value;
}

std::string kernel(const std::string &op, const std::string &from,
                   const std::string &to) {
  std::string in = "memref<?x" + from + ">", out = "memref<?x" + to + ">",
              v = "vector<16x" + from + ">", w = "vector<16x" + to + ">";
  return "func.func private @" + op + from + to + "(%x: " + in + ", %o: " + out +
         ") attributes {tilewright.kernel, tilewright.access = [\"read\", "
         "\"write\"]} {\n%c0 = arith.constant 0 : index\n"
         "%c16 = arith.constant 16 : index\n%z = arith.constant 1.0 : " + from +
         "\n%n = memref.dim %x, %c0 : " + in +
         "\nscf.for %i = %c0 to %n step %c16 {\n"
         "%a = vector.transfer_read %x[%i], %z : " + in + ", " + v +
         "\n%r = arith." + op + " %a : " + v + " to " + w +
         "\nvector.transfer_write %r, %o[%i] : " + w + ", " + out +
         "\n}\nreturn\n}\n";
}

/// Numbers of `wide` at which rounding to `narrow` may go wrong.
std::vector<uint64_t> samples(const Wide &wide, const llvm::fltSemantics &narrow) {
  std::vector<uint64_t> result;
  if (wide.bits == 16) {
    for (unsigned bits = 0; bits < 65536; ++bits)
      result.push_back(bits);
    return result;
  }
  auto add = [&](const llvm::APFloat &value) {
    uint64_t bits = value.bitcastToAPInt().getZExtValue();
    for (uint64_t around : {bits - 2, bits - 1, bits, bits + 1, bits + 2})
      result.push_back(around);
  };
  llvm::APFloat half(wide.semantics, "0.5");
  for (unsigned bits = 0; bits < 256; ++bits) {
    llvm::APFloat value =
        convert(llvm::APFloat(narrow, llvm::APInt(8, bits)), wide.semantics);
    llvm::APFloat next = convert(
        llvm::APFloat(narrow, llvm::APInt(8, (bits + 1) & 255)), wide.semantics);
    add(value);
    // Ties, and beyond the largest number.
    add((value + next) * half);
    add(value * llvm::APFloat(wide.semantics, "1.0625"));
    add(value * llvm::APFloat(wide.semantics, "1.03125"));
    add(value * half);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 50000; ++i)
    result.push_back(random());
  // Magnitudes that are not all far outside.
  for (int i = 0; i < 50000; ++i) {
    double value = std::ldexp(1 + double(random() >> 12) * 0x1p-52,
                              int(random() % 40) - 20);
    result.push_back(convert(llvm::APFloat(random() & 1 ? value : -value),
                             wide.semantics)
                         .bitcastToAPInt()
                         .getZExtValue());
  }
  if (wide.bits == 32)
    for (uint64_t &bits : result)
      bits &= 0xffffffff;
  return result;
}

std::vector<uint8_t> toBytes(const std::vector<uint64_t> &values, unsigned bits) {
  std::vector<uint8_t> result;
  for (uint64_t value : values)
    for (unsigned at = 0; at < bits; at += 8)
      result.push_back(uint8_t(value >> at));
  return result;
}

uint64_t element(const std::vector<uint8_t> &bytes, size_t i, unsigned bits) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + i * bits / 8, bits / 8);
  return value;
}
} // namespace

// The fixture compiles; a test with a parameter has another base.
struct Float8Runner : CpuFixture {
  void TestBody() override {}
  using CpuFixture::compile;
  using CpuFixture::error;
  using CpuFixture::launch;
  using CpuFixture::SetUp;
  using CpuFixture::TearDown;
};

TEST_P(Float8Test, ConvertsLikeSoftwareFloats) {
  std::string text;
  for (const Wide &wide : kWide)
    text += kernel("extf", GetParam(), wide.name) +
            kernel("truncf", wide.name, GetParam());
  Float8Runner runner;
  ASSERT_TRUE(runner.compile(text)) << runner.error;
  unsigned number = 0;
  auto run = [&](const std::vector<uint64_t> &in, unsigned from, unsigned to) {
    std::vector<uint8_t> bytes = toBytes(in, from), out(in.size() * to / 8);
    uint64_t size = in.size();
    runner.launch(number++, 1, {CpuFixture::address(bytes.data()),
                                CpuFixture::address(out.data()), size, size});
    return out;
  };
  // NaN is compared as NaN, in the one form that is written.
  auto check = [&](const std::vector<uint64_t> &in,
                   const std::vector<uint8_t> &out,
                   const llvm::fltSemantics &from, unsigned fromBits,
                   const llvm::fltSemantics &to, unsigned toBits) {
    for (size_t i = 0; i < in.size() && !HasFailure(); ++i) {
      llvm::APFloat want =
          convert(llvm::APFloat(from, llvm::APInt(fromBits, in[i])), to);
      llvm::APFloat got(to, llvm::APInt(toBits, element(out, i, toBits)));
      EXPECT_TRUE(want.isNaN() ? got.isNaN() : want.bitwiseIsEqual(got))
          << GetParam() << ", " << fromBits << " bits " << std::hex << in[i]
          << ": got " << element(out, i, toBits) << ", want "
          << want.bitcastToAPInt().getZExtValue();
    }
  };
  std::vector<uint64_t> all;
  for (unsigned bits = 0; bits < 256; ++bits)
    all.push_back(bits);
  for (const Wide &wide : kWide) {
    check(all, run(all, 8, wide.bits), narrow(), 8, wide.semantics, wide.bits);
    std::vector<uint64_t> in = samples(wide, narrow());
    check(in, run(in, wide.bits, 8), wide.semantics, wide.bits, narrow(), 8);
  }
}

INSTANTIATE_TEST_SUITE_P(, Float8Test, testing::Values("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ",
                                         "f8E5M2FNUZ"),
                         [](const auto &info) { return std::string(info.param); });
