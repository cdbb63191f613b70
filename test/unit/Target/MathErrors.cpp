// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The largest error of each math function, as vectors of a CPU compute it: over all
// values of f16 and bf16, a million of f32 and a quarter of a million of f64, against
// the C library in a wider type. Holds each to its bound, and docs/math.md to what was
// found:
//
//   MathErrorTests            fails where a bound or the page does not hold
//   MathErrorTests --record   writes the page

#include "CpuFixture.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <sstream>

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kAll = kInfinity;
enum Types { F16, BF16, F32, F64, NumTypes };

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

/// An IEEE interchange format; values are bits in an integer.
struct Format {
  const char *name;
  int exponentBits, mantissaBits;

  int bits() const { return 1 + exponentBits + mantissaBits; }
  int maxExponent() const { return (1 << (exponentBits - 1)) - 1; }
  int minExponent() const { return 1 - maxExponent(); }
  uint64_t infinity() const {
    return ((uint64_t(1) << exponentBits) - 1) << mantissaBits;
  }
  uint64_t one() const { return uint64_t(maxExponent()) << mantissaBits; }
  uint64_t sign() const { return uint64_t(1) << (bits() - 1); }

  double decode(uint64_t value) const {
    uint64_t fraction = value & ((uint64_t(1) << mantissaBits) - 1);
    int exponent = int(value >> mantissaBits) & ((1 << exponentBits) - 1);
    double size = exponent == (1 << exponentBits) - 1
                      ? (fraction ? std::nan("") : kInfinity)
                      : std::ldexp(double(fraction | uint64_t(exponent != 0)
                                                         << mantissaBits),
                                   std::max(exponent, 1) - maxExponent() - mantissaBits);
    return value & sign() ? -size : size;
  }
  /// For f32 and f64 alone.
  uint64_t encode(double value) const {
    if (bits() == 64)
      return llvm::bit_cast<uint64_t>(value);
    return llvm::bit_cast<uint32_t>(float(value));
  }
  /// The distance of numbers as large as `value`.
  long double ulp(long double value) const {
    int exponent = value == 0 ? minExponent()
                              : std::max(std::ilogb(value), minExponent());
    return std::ldexp(1.0L, std::min(exponent, maxExponent()) - mantissaBits);
  }
};

constexpr Format kFormats[NumTypes] = {
    {"f16", 5, 10}, {"bf16", 8, 7}, {"f32", 8, 23}, {"f64", 11, 52}};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

using Narrow = double (*)(double, double);
using Wide = long double (*)(long double, long double);

struct Function {
  const char *op;      // with its dialect
  const char *flags;   // "" or fast-math flags
  Narrow narrow;       // the reference of f16, bf16 and f32
  Wide wide;           // and of f64
  double from, to;     // magnitudes of half of the f32 and f64 arguments
  double bounds[NumTypes]; // allowed errors
  bool binary = false;
  double limit = kAll, wideLimit = kAll; // larger magnitudes are not held to the bound
};

#define UNARY(f)                                                                    \
  [](double x, double) -> double { return f(x); },                                  \
      [](long double x, long double) -> long double { return f##l(x); }
#define BINARY(f)                                                                   \
  [](double x, double y) -> double { return f(x, y); },                             \
      [](long double x, long double y) -> long double { return f##l(x, y); }

double rsqrt(double x) { return 1 / std::sqrt(x); }
long double rsqrtl(long double x) { return 1 / sqrtl(x); }

const Function kFunctions[] = {
    {"math.exp", "", UNARY(exp), 1e-3, 800, {0.51, 0.51, 2, 2}},
    {"math.exp2", "", UNARY(exp2), 1e-3, 1100, {0.51, 0.51, 2, 2}},
    {"math.exp2", " fastmath<afn>", UNARY(exp2), 1e-3, 150, {0.51, 0.51, 2, 0}},
    {"math.expm1", "", UNARY(expm1), 1e-5, 800, {0.51, 0.51, 2, 2}},
    {"math.log", "", UNARY(log), 0.1, 10, {0.51, 0.51, 2, 2}},
    {"math.log2", "", UNARY(log2), 0.1, 10, {0.51, 0.51, 2, 2}},
    {"math.log10", "", UNARY(log10), 0.1, 10, {0.51, 0.51, 2, 2}},
    {"math.log1p", "", UNARY(log1p), 1e-6, 10, {0.51, 0.51, 2, 2}},
    {"math.sin", "", UNARY(sin), 1e-3, 1e5, {0.51, 0.51, 2, 2}, false, 1e5, 1e9},
    {"math.cos", "", UNARY(cos), 1e-3, 1e5, {0.51, 0.51, 2, 2}, false, 1e5, 1e9},
    {"math.tan", "", UNARY(tan), 1e-3, 1e5, {0.51, 0.51, 4, 4}, false, 1e5, 1e9},
    {"math.asin", "", UNARY(asin), 1e-3, 1, {0.51, 0.51, 4, 4}},
    {"math.acos", "", UNARY(acos), 1e-3, 1, {0.51, 0.51, 4, 4}},
    {"math.atan", "", UNARY(atan), 1e-3, 100, {0.51, 0.51, 4, 4}},
    {"math.atan2", "", BINARY(atan2), 1e-3, 1e3, {0.51, 0.51, 4, 4}, true},
    {"math.sinh", "", UNARY(sinh), 1e-3, 720, {0.51, 0.51, 4, 4}},
    {"math.cosh", "", UNARY(cosh), 1e-3, 720, {0.51, 0.51, 4, 4}},
    {"math.tanh", "", UNARY(tanh), 1e-3, 20, {0.51, 0.51, 4, 4}},
    {"math.asinh", "", UNARY(asinh), 1e-3, 1e6, {0.51, 0.51, 4, 4}},
    {"math.acosh", "", UNARY(acosh), 1, 1e6, {0.51, 0.51, 4, 4}},
    {"math.atanh", "", UNARY(atanh), 1e-3, 1, {0.51, 0.51, 4, 4}},
    {"math.erf", "", UNARY(erf), 1e-3, 7, {0.51, 0.51, 4, 4}},
    {"math.erfc", "", UNARY(erfc), 1e-3, 28, {0.51, 0.51, 4, 4}},
    {"math.cbrt", "", UNARY(cbrt), 1e-3, 1e3, {0.51, 0.51, 2, 2}},
    {"math.sqrt", "", UNARY(sqrt), 1e-3, 1e3, {0.5, 0.5, 0.5, 0.5}},
    {"math.rsqrt", "", UNARY(rsqrt), 1e-3, 1e3, {0.51, 0.51, 2, 2}},
    {"math.powf", "", BINARY(pow), 1e-2, 1e2, {0.51, 0.51, 2, 2}, true},
    {"arith.remf", "", BINARY(fmod), 1e-2, 1e2, {0, 0, 0, 0}, true},
};

/// A row of the page.
std::string label(const Function &f) {
  return "`" + std::string(f.op) + (*f.flags ? "` (`afn`)" : "`");
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

struct Arguments {
  std::vector<uint64_t> x, y;
};

Arguments sample(const Function &f, const Format &format) {
  std::mt19937_64 random(1);
  Arguments list;
  uint64_t mask = format.sign() | (format.sign() - 1);
  auto add = [&](uint64_t x, uint64_t y) {
    list.x.push_back(x & mask);
    list.y.push_back(y & mask);
  };
  uint64_t infinity = format.infinity(), one = format.one();
  uint64_t step = uint64_t(1) << format.mantissaBits; // of the exponent
  uint64_t edges[] = {0, one, one - step, one + step, one + step + step / 2,
                      one + 2 * step + step / 4, infinity, infinity | step / 2,
                      infinity - 1, step, step - 1, 1, one - 1, one + 1};
  for (uint64_t a : edges)
    for (uint64_t b : edges)
      for (int signs = 0; signs < 4; ++signs)
        if (f.binary || (b == one && signs < 2))
          add(signs & 1 ? a | format.sign() : a, signs & 2 ? b | format.sign() : b);
  // All of 16 bits, each with a few second arguments.
  if (format.bits() == 16) {
    for (uint64_t x = 0; x < 0x10000; ++x)
      for (int i = 0; i < (f.binary ? 16 : 1); ++i)
        add(x, f.binary && i < 8 ? edges[i] : random());
    return list;
  }
  // Half of all bits, evenly; half of the magnitudes where the function is busy.
  uint64_t count = format.bits() == 32 ? 1 << 19 : 1 << 17;
  std::uniform_real_distribution<double> exponent(std::log2(f.from), std::log2(f.to));
  auto busy = [&](double from, double to) {
    double value = from + (to - from) * double(random() >> 11) * 0x1p-53;
    return random() & 1 ? -value : value;
  };
  uint64_t stride = (mask - 1) / count + 1;
  for (uint64_t i = 0; i < count; ++i) {
    add(i * stride + random() % stride, random());
    double x = i & 2 ? busy(f.from, f.to) : busy(0, 2);
    if (f.binary && !(i & 4))
      x = std::ldexp(busy(1, 2), int(random() % 200) - 100);
    // Powers whose results are within the range.
    double size = std::log2(std::abs(x));
    double y = f.binary ? busy(0, format.maxExponent() * 1.2 / std::max(std::abs(size), 0.01)) : 1;
    add(format.encode(x), format.encode(y));
  }
  return list;
}

struct Found {
  double error = 0;
  double x = 0, y = 0, got = 0, exact = 0;
};

std::map<std::string, double> found[NumTypes];

std::string precise(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", value);
  return text;
}

struct MathErrors : CpuFixture {
  bool isOnPage = true, areScalars = false;
  std::string write(const Format &format) {
    std::string text, t = format.name, v = areScalars ? t : "vector<16x" + t + ">";
    std::string m = "memref<?x" + t + ">", pad = areScalars ? "" : ", %z";
    std::string read = areScalars ? "memref.load" : "vector.transfer_read";
    std::string write = areScalars ? "memref.store" : "vector.transfer_write";
    std::string ofRead = areScalars ? m : m + ", " + v, ofWrite = areScalars ? m : v + ", " + m;
    int number = 0;
    for (const Function &f : kFunctions)
      text += "func.func private @f" + std::to_string(number++) + "(%x: " + m +
              ", %y: " + m + ", %o: " + m +
              ") attributes {tilewright.kernel, tilewright.access = "
              "[\"read\", \"read\", \"write\"]} {\n"
              "%c0 = arith.constant 0 : index\n"
              "%step = arith.constant " + (areScalars ? "1" : "16") + " : index\n"
              "%z = arith.constant 1.0 : " + t + "\n"
              "%n = memref.dim %x, %c0 : " + m + "\n"
              "scf.for %i = %c0 to %n step %step {\n"
              "%a = " + read + " %x[%i]" + pad + " : " + ofRead + "\n"
              "%b = " + read + " %y[%i]" + pad + " : " + ofRead + "\n"
              "%r = " + f.op + " %a" + (f.binary ? ", %b" : "") + f.flags + " : " + v +
              "\n" + write + " %r, %o[%i] : " + ofWrite + "\n}\n"
              "return\n}\n";
    return text;
  }

  /// The results of kernel `number`, of values stored in `T`s.
  template <typename T>
  std::vector<uint64_t> run(unsigned number, const Arguments &arguments) {
    std::vector<T> x(arguments.x.begin(), arguments.x.end());
    std::vector<T> y(arguments.y.begin(), arguments.y.end());
    std::vector<T> out(x.size());
    uint64_t size = x.size();
    launch(number, 1, {address(x.data()), address(y.data()), address(out.data()), size,
                       size, size});
    return {out.begin(), out.end()};
  }

  /// The largest error; infinite where there must be no number or another sign of zero.
  Found measure(const Function &f, Types type, const Arguments &arguments,
                const std::vector<uint64_t> &results) {
    const Format &format = kFormats[type];
    double limit = type == F64 ? f.wideLimit : f.limit;
    long double beyond = std::ldexp(1.0L, format.maxExponent() + 1);
    Found worst;
    for (size_t i = 0; i < results.size(); ++i) {
      double x = format.decode(arguments.x[i]), y = format.decode(arguments.y[i]);
      if (std::abs(x) > limit && !std::isinf(x))
        continue;
      long double exact = type == F64 ? f.wide(x, y) : (long double)(f.narrow(x, y));
      // Approximate powers that are not normal numbers of f32 are flushed; NaNs lose
      // their meaning where the lowest bits are set.
      if (*f.flags && (exact < 0x1p-126L || (arguments.x[i] & 0x1ff && std::isnan(x))))
        continue;
      double result = format.decode(results[i]);
      double error;
      if (std::isnan(exact) || std::isnan(result))
        error = std::isnan(exact) && std::isnan(result) ? 0 : kInfinity;
      else if (exact == 0 && (result == 0 || x == 0))
        error = result == 0 && std::signbit(exact) == std::signbit(result) ? 0 : kInfinity;
      else {
        // An infinity counts as the number after the largest.
        auto clamp = [&](long double v) { return std::clamp(v, -beyond, beyond); };
        error = double(std::abs(clamp(result) - clamp(exact)) / format.ulp(exact));
      }
      if (!(error <= worst.error))
        worst = {error, x, y, result, double(exact)};
    }
    return worst;
  }

  void check(Types type) {
    const Format &format = kFormats[type];
    ASSERT_TRUE(compile(write(format))) << error;
    for (auto [number, f] : llvm::enumerate(kFunctions)) {
      if (*f.flags && type == F64)
        continue;
      Arguments arguments = sample(f, format);
      std::vector<uint64_t> results = type == F64   ? run<uint64_t>(number, arguments)
                                      : type == F32 ? run<uint32_t>(number, arguments)
                                                    : run<uint16_t>(number, arguments);
      Found worst = measure(f, type, arguments, results);
      if (isOnPage)
        found[type][label(f)] = worst.error;
      EXPECT_LE(worst.error, f.bounds[type])
          << format.name << " " << f.op << f.flags << "(" << precise(worst.x)
          << (f.binary ? ", " + precise(worst.y) : "") << ") = " << precise(worst.got)
          << ", not " << precise(worst.exact);
    }
  }
};

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

const char kIntroduction[] = R"(# Errors of math functions

Every target computes math functions by the same expansions into arithmetic (`lib/Target/Math`); f16 and bf16 are computed in f32 and
rounded once. AVX-512 has an `exp`, an `erf` and a `tanh` of f32 of its own, AVX2 an `exp`, which are held to the same bounds. The largest errors
found, in units of the last place of the exact result (0.5: correctly rounded), as vectors of AVX2 compute them. Tried are all values of f16 and bf16 (each with 16 second arguments), a million of f32 and a quarter of a million of f64, half of them
evenly over all bit patterns: zeros with their signs, subnormal numbers, infinities and NaN are among them. The reference is the C library in double
precision, for f64 in extended precision. In parentheses: the bound that the test holds the function to.

NVIDIA's GPUs have an `exp` of f32 of their own, too: `ex2.approx` of what an integer power of two leaves, within 3 units in the last
place by what PTX says of that instruction (2^-22), which is not among what is tried here (`test/Target/NVVM/Code/math-errors.mlir` tries it on the simulator), and a `tanh` of it, within 4. Quotients by a number that several of a thread share are
products with its reciprocal and one correction there (0.5 + 2^-22 units, where no power below 2^-100 comes up), without the correction where the result
becomes f16 or bf16 (3 units of f32; on x86, too); other quotients that become these, and those of what is made of an exponential, are `div.full.f32` (2 units). All others are correctly rounded.
`rsqrt` of f32 is `rsqrt.approx` (2.2 units).

The bounds take it that a multiply-add is rounded once, which Vulkan does not promise. Mesa's lavapipe rounds it twice: `sin`, `cos` and `tan` of more than some
tens, and `pow`, exceed the bounds there.

On AVX-512 and AVX2, GELU, 0.5 x (1 + erf(x / sqrt 2)) or its approximation by `tanh`, is one function of f32: its error is at most 2^-23 |x|, less than that of the ops it is made of, and from x = -3
on at most 12 units in the last place (`TargetTests --gtest_filter='Gelu*'`).

`build/bin/MathErrorTests --record` makes this page; without the flag it fails where the page or a bound does not hold.

)";

const char kConclusion[] = R"(
`afn`: the approximate powers of fused attention; where 2^x is no normal number of f32, the result is zero or smaller than the smallest
normal number, and of a NaN whose lowest nine bits are not zero, as no operation makes it, anything.

Powers of the constant exponents 0, 1, 2, 3, 4, 0.5 and the negative ones of 1, 2 and 0.5 are products, quotients and roots (2 units,
-0.5 as `rsqrt`; on NVIDIA, -2 of what is made of an exponential 7).

`sin`, `cos` and `tan` are held to their bounds up to |x| = 100,000 (f64: 10^9). Beyond, the error grows with |x|: the reduction by multiples of
pi/2 has three numbers of the type for pi.
)";

std::string shorten(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.2f", std::max(0.0, std::ceil(value * 100 - 1e-6) / 100));
  return text;
}

std::string makePage() {
  std::string text = kIntroduction;
  text += "| op | f16 | bf16 | f32 | f64 |\n|---|---|---|---|---|\n";
  for (const Function &f : kFunctions) {
    text += "| " + label(f);
    for (int type = 0; type < NumTypes; ++type) {
      auto entry = found[type].find(label(f));
      char bound[16];
      snprintf(bound, sizeof bound, " (%g)", f.bounds[type]);
      text += entry == found[type].end() ? " | –" : " | " + shorten(entry->second) + bound;
    }
    text += " |\n";
  }
  return text + kConclusion;
}

bool record = false;
} // namespace

TEST_F(MathErrors, F16) { check(F16); }
TEST_F(MathErrors, BF16) { check(BF16); }
TEST_F(MathErrors, F32) { check(F32); }
TEST_F(MathErrors, F64) { check(F64); }

/// Functions that have tables and instructions there.
struct MathErrorsOfAvx512 : MathErrors {
  MathErrorsOfAvx512() { targetSpec = "cpu:x86-64-v4"; }
  void checkIfPresent(Types type) {
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw"))
      GTEST_SKIP() << "this processor has no AVX-512";
    isOnPage = false;
    check(type);
  }
};
TEST_F(MathErrorsOfAvx512, F32) { checkIfPresent(F32); }
TEST_F(MathErrorsOfAvx512, F16) { checkIfPresent(F16); }
TEST_F(MathErrorsOfAvx512, BF16) { checkIfPresent(BF16); }

/// The expansions that all targets have.
struct MathErrorsOfScalars : MathErrors {
  MathErrorsOfScalars() { isOnPage = false, areScalars = true; }
};
TEST_F(MathErrorsOfScalars, F32) { check(F32); }

TEST(MathErrorsPage, IsWhatWasFound) {
  for (const auto &type : found)
    if (type.empty())
      GTEST_SKIP() << "not all types were measured";
  const char *path = TILEWRIGHT_SOURCE_DIR "/docs/math.md";
  if (record) {
    std::ofstream(path) << makePage();
    return;
  }
  std::ifstream file(path);
  std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(page, makePage()) << "docs/math.md is stale; MathErrorTests --record";
}

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (llvm::StringRef(argv[i]) != "--record") {
      llvm::errs() << "MathErrorTests: unknown argument '" << argv[i]
                   << "'; --record is known\n";
      return 2;
    }
    record = true;
  }
  return RUN_ALL_TESTS();
}
