// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the expansions of math functions to their documented errors, on a CPU,
// against the C library in extended precision.

#include "CpuFixture.h"

#include <cmath>
#include <random>

namespace {
using Reference = long double (*)(long double, long double);

struct Function {
  const char *op;
  Reference reference;
  double from, to;   // magnitudes that are tried, both signs unless from > 0
  double single, wide; // allowed error in units of the last place
  bool binary = false;
  bool positive = false;
};

#define UNARY(f) [](long double x, long double) -> long double { return f(x); }
const Function kFunctions[] = {
    {"exp", UNARY(expl), 1e-8, 800, 2, 2},
    {"exp2", UNARY(exp2l), 1e-8, 1100, 2, 2},
    {"expm1", UNARY(expm1l), 1e-8, 800, 2, 2},
    {"log", UNARY(logl), 1e-38, 1e38, 2, 2, false, true},
    {"log2", UNARY(log2l), 1e-38, 1e38, 2, 2, false, true},
    {"log10", UNARY(log10l), 1e-38, 1e38, 2, 2, false, true},
    {"log1p", UNARY(log1pl), 1e-10, 1, 2, 2},
    {"sin", UNARY(sinl), 1e-6, 1e5, 2, 2},
    {"cos", UNARY(cosl), 1e-6, 1e5, 2, 2},
    {"tan", UNARY(tanl), 1e-6, 1e4, 4, 4},
    {"asin", UNARY(asinl), 1e-6, 1, 4, 4},
    {"acos", UNARY(acosl), 1e-6, 1, 4, 4},
    {"atan", UNARY(atanl), 1e-6, 1e10, 4, 4},
    {"sinh", UNARY(sinhl), 1e-6, 720, 4, 4},
    {"cosh", UNARY(coshl), 1e-6, 720, 4, 4},
    {"tanh", UNARY(tanhl), 1e-6, 50, 4, 4},
    {"asinh", UNARY(asinhl), 1e-6, 1e30, 4, 4},
    {"acosh", UNARY(acoshl), 1, 1e30, 4, 4, false, true},
    {"atanh", UNARY(atanhl), 1e-6, 1, 4, 4},
    {"erf", UNARY(erfl), 1e-6, 10, 4, 4},
    {"erfc", UNARY(erfcl), 1e-6, 28, 4, 4},
    {"cbrt", UNARY(cbrtl), 1e-38, 1e38, 2, 2},
    {"rsqrt", [](long double x, long double) { return 1 / sqrtl(x); }, 1e-38,
     1e38, 2, 2, false, true},
    {"powf", [](long double x, long double y) { return powl(x, y); }, 1e-3, 1e3,
     2, 2, true, true},
    {"atan2", [](long double y, long double x) { return atan2l(y, x); }, 1e-20,
     1e20, 4, 4, true},
};

struct MathTest : CpuFixture {
  template <typename T> void check(const char *type, double Function::*allowed) {
    std::string text;
    for (const Function &f : kFunctions) {
      std::string name = f.op, t = type, v = "vector<16x" + t + ">";
      std::string m = "memref<?x" + t + ">";
      text += "func.func private @" + name + "(%x: " + m + ", %y: " + m +
              ", %o: " + m + ") attributes {tilewright.kernel, tilewright.access = "
              "[\"read\", \"read\", \"write\"]} {\n"
              "%c0 = arith.constant 0 : index\n%c16 = arith.constant 16 : index\n"
              "%z = arith.constant 1.0 : " + t + "\n"
              "%n = memref.dim %x, %c0 : " + m + "\n"
              "scf.for %i = %c0 to %n step %c16 {\n"
              "%a = vector.transfer_read %x[%i], %z : " + m + ", " + v + "\n"
              "%b = vector.transfer_read %y[%i], %z : " + m + ", " + v + "\n"
              "%r = math." + name + " %a" + (f.binary ? ", %b" : "") + " : " + v +
              "\nvector.transfer_write %r, %o[%i] : " + v + ", " + m + "\n}\n"
              "return\n}\n";
    }
    ASSERT_TRUE(compile(text)) << error;
    std::mt19937_64 random(1);
    for (auto [number, f] : llvm::enumerate(kFunctions)) {
      double to = std::min<double>(f.to, sizeof(T) == 4 ? 3e38 : f.to);
      std::uniform_real_distribution<double> exponent(std::log(f.from),
                                                      std::log(to));
      std::vector<T> x, y;
      for (int i = 0; i < 20000; ++i) {
        auto sample = [&](bool positive) {
          double value = std::exp(exponent(random));
          return T(random() & 1 && !positive ? -value : value);
        };
        x.push_back(sample(f.positive));
        y.push_back(f.binary ? sample(false) : T(1));
      }
      T infinity = std::numeric_limits<T>::infinity(), nan = std::nan("");
      T edges[] = {0, -T(0), 1, -1, T(0.5), 2, infinity, -infinity, nan,
                   std::numeric_limits<T>::max(), std::numeric_limits<T>::min(),
                   std::numeric_limits<T>::denorm_min(), T(-2.5), 3, -3};
      const T one[] = {1};
      for (T a : edges)
        for (T b : f.binary ? llvm::ArrayRef<T>(edges) : llvm::ArrayRef<T>(one)) {
          // Reduction of huge arguments is documented not to be exact.
          if (std::abs(a) > 1e9 && std::isfinite(a) &&
              llvm::is_contained({llvm::StringRef("sin"), llvm::StringRef("cos"),
                                  llvm::StringRef("tan")},
                                 f.op))
            continue;
          x.push_back(a);
          y.push_back(b);
        }
      std::vector<T> out(x.size());
      uint64_t size = x.size();
      launch(number, 1, {address(x.data()), address(y.data()), address(out.data()),
                         size, size, size});
      double worst = 0;
      size_t at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        long double exact = f.reference(x[i], y[i]);
        T rounded = T(exact);
        if (std::isnan(rounded) || std::isinf(rounded) || std::isinf(out[i])) {
          bool same = std::isnan(rounded) ? std::isnan(out[i]) : out[i] == rounded;
          // Next to the largest number, an infinity is one unit away.
          bool edge = std::isinf(out[i]) != std::isinf(rounded) &&
                      std::abs(exact) > 0.999999 * std::numeric_limits<T>::max();
          EXPECT_TRUE(same || edge)
              << type << " " << f.op << "(" << x[i] << ", " << y[i] << ") = "
              << out[i] << ", not " << rounded;
          continue;
        }
        T ulp = std::nextafter(std::abs(rounded), infinity) - std::abs(rounded);
        double error = double(std::abs((long double)(out[i]) - exact) / ulp);
        if (!(error <= worst))
          worst = error, at = i;
      }
      EXPECT_LE(worst, f.*allowed)
          << type << " " << f.op << "(" << x[at] << ", " << y[at] << ") = "
          << out[at] << ", not " << (double)f.reference(x[at], y[at]);
      RecordProperty(f.op, std::to_string(worst));
      if (getenv("TILEWRIGHT_SHOW_ERRORS"))
        llvm::errs() << type << " " << f.op << " " << worst << "\n";
    }
  }
};
} // namespace

TEST_F(MathTest, SinglePrecision) { check<float>("f32", &Function::single); }
TEST_F(MathTest, DoublePrecision) { check<double>("f64", &Function::wide); }
