// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that Triton compiled (triton/kernels.py): exact on small integers, within their bounds on random numbers, and
// without findings.

#include "Gpu.h"
#include "KernelFile.h"
#include "Numbers.h"
#include "Results.h"

#include <algorithm>

using namespace others;

namespace {

/// A launch of a file's kernel; Triton's kernels take two pointers behind their arguments: scratch memory, and memory for
/// a profiler.
template <typename... Args>
void run(Gpu &gpu, const KernelFile &file, std::array<unsigned, 3> grid, Args... args) {
  Shape shape = file.shape;
  shape.grid = grid;
  CUdeviceptr profile = 0, scratch = file.workspace ? gpu.allocate(file.workspace * grid[0] * grid[1] * grid[2]) : 0;
  void *arguments[] = {&args..., &scratch, &profile};
  gpu.launch(gpu.load(file.text, file.kernel), shape, arguments);
}

struct Gemm {
  const char *file;
  Type input, output;
  bool bByColumns;
  unsigned m, n, k, tileM, tileN;
  bool byDescriptors = false;
  std::set<std::string> findings = {};
  /// Blocks that share a tile.
  unsigned cluster = 1;
};

CUtensorMap tensorMap(Gpu &gpu, CUdeviceptr address, unsigned rows, unsigned columns) {
  CUtensorMap map;
  const cuuint64_t dims[] = {columns, rows}, strides[] = {columns * 2};
  const cuuint32_t box[] = {64, 64}, ones[] = {1, 1};
  gpu.must(gpu.cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, reinterpret_cast<void *>(address), dims,
                                      strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

/// Each tensor map is followed by its dims and its strides.
void runWithDescriptors(Gpu &gpu, const KernelFile &file, const Gemm &gemm, CUdeviceptr a, CUdeviceptr b,
                        CUdeviceptr c) {
  auto [m, n, k] = std::array<unsigned, 3>{gemm.m, gemm.n, gemm.k};
  uint64_t one = 1;
  run(gpu, file, {m / gemm.tileM, n / gemm.tileN, 1}, tensorMap(gpu, a, m, k), m, k, uint64_t(k), one,
      tensorMap(gpu, b, k, n), k, n, uint64_t(n), one, tensorMap(gpu, c, m, n), m, n, uint64_t(n), one, k);
}

class TritonGemm : public ::testing::TestWithParam<Gemm> {};

TEST_P(TritonGemm, IsRight) {
  const Gemm &gemm = GetParam();
  unsigned m = gemm.m, n = gemm.n, k = gemm.k;
  for (Data data : {Data::SmallIntegers, Data::Random}) {
    Gpu gpu;
    KernelFile file(std::string("triton/") + gemm.file);
    auto a = makeValues(m * k, gemm.input, data, 1), b = makeValues(k * n, gemm.input, data, 2);
    CUdeviceptr c = gpu.allocate(m * n * gemm.output.bytes);
    CUdeviceptr x = gpu.upload(toBytes(a, gemm.input)), y = gpu.upload(toBytes(b, gemm.input));
    if (gemm.byDescriptors)
      runWithDescriptors(gpu, file, gemm, x, y, c);
    else
      run(gpu, file, {gemm.cluster * ((m + gemm.tileM - 1) / gemm.tileM), (n + gemm.tileN - 1) / gemm.tileN, 1}, x, y, c,
          m, n, k);
    auto got = fromBytes(gpu.download(c, m * n * gemm.output.bytes), gemm.output);
    expectFindings(gpu, gemm.findings);
    Product product = multiply(a, b, gemm.bByColumns, m, n, k);
    expectProduct(got, product, data, k, gemm.output);
  }
}

// The edges of the tiles are masked: m needs no divisor, n and k are multiples of 16.
const Gemm gemms[] = {
    {"gemm-f16-sm80.ptx", f16, f32, false, 100, 80, 112, 64, 64},
    {"gemm-tf32-sm80.ptx", tf32, f32, false, 70, 80, 80, 64, 64},
    {"gemm-s8-sm80.ptx", s8, s32, true, 70, 80, 192, 64, 64},
    {"gemm-f16-sm90.ptx", f16, f32, false, 100, 80, 208, 64, 64},
    {"gemm-bf16-sm90.ptx", bf16, bf16, false, 130, 80, 160, 128, 64},
    {"gemm-s8-sm90.ptx", s8, s32, true, 70, 80, 256, 64, 64},
    {"gemm-e4m3-sm90.ptx", e4m3, f32, true, 70, 80, 512, 64, 64},
    {"gemm-cluster-sm90.ptx", f16, f32, false, 130, 80, 208, 128, 64, false, none, 2},
    {"gemm-tf32-sm90.ptx", tf32, f32, false, 70, 80, 80, 64, 64},
    {"gemm-device-descriptors-sm90.ptx", f16, f32, true, 100, 64, 208, 64, 64},
    {"gemm-descriptors-sm90.ptx", f16, f16, false, 128, 64, 256, 64, 64, true, proxyWarnings},
};

void PrintTo(const Gemm &gemm, std::ostream *stream) { *stream << gemm.file; }

INSTANTIATE_TEST_SUITE_P(Types, TritonGemm, ::testing::ValuesIn(gemms), [](const auto &info) {
  std::string name = info.param.file;
  name.resize(name.size() - 4);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// Bytes times halves.
TEST(Triton, ProductOfMixedTypesIsExact) {
  constexpr unsigned m = 70, n = 80, k = 192;
  Gpu gpu;
  auto a = makeValues(m * k, s8, Data::Random, 1), b = makeValues(k * n, bf16, Data::SmallIntegers, 2);
  CUdeviceptr c = gpu.allocate(m * n * 4);
  run(gpu, KernelFile("triton/gemm-mixed-sm90.ptx"), {2, 2, 1}, gpu.upload(toBytes(a, s8)),
      gpu.upload(toBytes(b, bf16)), c, m, n, k);
  EXPECT_EQ(fromBytes(gpu.download(c, m * n * 4), f32), multiply(a, b, false, m, n, k).value);
  expectFindings(gpu, none);
}

/// softmax(q k^T * ln(2) scale) v of one head.
std::vector<double> attend(const double *q, const double *k, const double *v, size_t length, size_t dims, double scale,
                           bool causal) {
  std::vector<double> out(length * dims);
  for (size_t i = 0; i < length; ++i) {
    std::vector<double> weights(causal ? i + 1 : length);
    double sum = 0;
    for (size_t j = 0; j < weights.size(); ++j) {
      double score = 0;
      for (size_t d = 0; d < dims; ++d)
        score += q[i * dims + d] * k[j * dims + d];
      sum += weights[j] = std::exp2(score * scale);
    }
    for (size_t j = 0; j < weights.size(); ++j)
      for (size_t d = 0; d < dims; ++d)
        out[i * dims + d] += weights[j] / sum * v[j * dims + d];
  }
  return out;
}

void testAttention(const char *name, size_t length, size_t dims, bool causal, const std::set<std::string> &findings) {
  constexpr size_t heads = 2;
  float scale = 0.25f;
  Gpu gpu;
  KernelFile file(name);
  size_t count = heads * length * dims;
  auto q = makeValues(count, f16, Data::Random, 1), k = makeValues(count, f16, Data::Random, 2),
       v = makeValues(count, f16, Data::Random, 3);
  CUdeviceptr out = gpu.allocate(count * 2);
  run(gpu, file, {unsigned(length / 64), heads, 1}, gpu.upload(toBytes(q, f16)), gpu.upload(toBytes(k, f16)),
      gpu.upload(toBytes(v, f16)), out, scale, int(length));
  auto got = fromBytes(gpu.download(out, count * 2), f16);
  expectFindings(gpu, findings);
  std::vector<double> expected;
  for (size_t at = 0; at < count; at += length * dims) {
    auto one = attend(&q[at], &k[at], &v[at], length, dims, scale, causal);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  // Weights are rounded to f16 before they multiply values below 1, their sum is not; then the result is rounded. The
  // rest (f32, and ex2.approx) is below a tenth of that.
  expectNear(got, [&](size_t i) { return expected[i]; }, [](size_t) { return 2.2 * 0x1p-11; });
}

TEST(Triton, AttentionOnAmpereIsRight) { testAttention("triton/attention-sm80.ptx", 128, 32, true, none); }
TEST(Triton, AttentionOnHopperIsRight) { testAttention("triton/attention-sm90.ptx", 128, 64, false, proxyWarnings); }

TEST(Triton, SoftmaxIsRight) {
  constexpr int rows = 3, columns = 401;
  Gpu gpu;
  auto x = makeValues(rows * columns, f32, Data::Random, 1);
  CUdeviceptr y = gpu.allocate(rows * columns * 4);
  run(gpu, KernelFile("triton/softmax-sm80.ptx"), {rows, 1, 1}, gpu.upload(toBytes(x, f32)), y, columns);
  auto got = fromBytes(gpu.download(y, rows * columns * 4), f32);
  expectFindings(gpu, none);
  std::vector<double> sums(rows);
  for (size_t i = 0; i < x.size(); ++i)
    sums[i / columns] += std::exp(x[i]);
  auto expected = [&](size_t i) { return std::exp(x[i]) / sums[i / columns]; };
  // The argument of ex2.approx, its result, the sum's nine levels, the quotient.
  expectNear(got, expected, [&](size_t i) { return 16 * 0x1p-23 * expected(i); });
}

TEST(Triton, LayerNormIsRight) {
  constexpr int rows = 3, columns = 300;
  float epsilon = 1e-5f;
  Gpu gpu;
  auto x = makeValues(rows * columns, f16, Data::Random, 1), weight = makeValues(columns, f16, Data::Random, 2),
       bias = makeValues(columns, f16, Data::Random, 3);
  CUdeviceptr y = gpu.allocate(rows * columns * 2);
  run(gpu, KernelFile("triton/layer-norm-sm90.ptx"), {rows, 1, 1}, gpu.upload(toBytes(x, f16)),
      gpu.upload(toBytes(weight, f16)), gpu.upload(toBytes(bias, f16)), y, columns, epsilon);
  auto got = fromBytes(gpu.download(y, rows * columns * 2), f16);
  expectFindings(gpu, none);
  auto expected = [&](size_t i) {
    const double *row = &x[i / columns * columns];
    double mean = 0, variance = 0;
    for (int c = 0; c < columns; ++c)
      mean += row[c] / columns;
    for (int c = 0; c < columns; ++c)
      variance += (row[c] - mean) * (row[c] - mean) / columns;
    return (x[i] - mean) / std::sqrt(variance + epsilon) * weight[i % columns] + bias[i % columns];
  };
  expectNear(got, expected, [&](size_t i) { return 0x1p-11 * std::fabs(expected(i)) + 0x1p-16; });
}

TEST(Triton, AtomicsOfAllBlocksAddUp) {
  constexpr int count = 1900, bins = 16;
  Gpu gpu;
  auto x = makeValues(count, s8, Data::Random, 1);
  CUdeviceptr sum = gpu.upload(toBytes({0}, s32)), largest = gpu.upload(toBytes({-1000}, s32)),
              histogram = gpu.upload(toBytes(std::vector<double>(bins + 1), s32));
  run(gpu, KernelFile("triton/reduce-atomic-sm80.ptx"), {4, 1, 1}, gpu.upload(toBytes(x, s32)), sum, largest, histogram,
      count);
  std::vector<double> expected(bins + 1);
  double total = 0;
  for (double value : x) {
    total += value;
    ++expected[static_cast<int>(value) & (bins - 1)];
  }
  expected[bins] = count;
  EXPECT_EQ(fromBytes(gpu.download(sum, 4), s32)[0], total);
  EXPECT_EQ(fromBytes(gpu.download(largest, 4), s32)[0], *std::max_element(x.begin(), x.end()));
  EXPECT_EQ(fromBytes(gpu.download(histogram, 4 * (bins + 1)), s32), expected);
  expectFindings(gpu, none);
}

TEST(Triton, BlocksTakeTurnsByALock) {
  constexpr int block = 128, blocks = 5;
  Gpu gpu;
  auto x = makeValues(block * blocks, s8, Data::Random, 1);
  CUdeviceptr lock = gpu.upload(toBytes({0}, s32)), sums = gpu.upload(toBytes(std::vector<double>(block), s32));
  run(gpu, KernelFile("triton/locked-sum-sm80.ptx"), {blocks, 1, 1}, gpu.upload(toBytes(x, s32)), lock, sums);
  std::vector<double> expected(block);
  for (size_t i = 0; i < x.size(); ++i)
    expected[i % block] += x[i];
  EXPECT_EQ(fromBytes(gpu.download(sums, block * 4), s32), expected);
  expectFindings(gpu, none);
}

TEST(Triton, AtomicsOnVectorsOfHalvesAddUp) {
  constexpr int block = 512, blocks = 3;
  Gpu gpu;
  auto x = makeValues(block * blocks, f16, Data::SmallIntegers, 1);
  CUdeviceptr sums = gpu.upload(std::vector<uint8_t>(block * 2));
  run(gpu, KernelFile("triton/reduce-halves-sm90.ptx"), {blocks, 1, 1}, gpu.upload(toBytes(x, f16)), sums);
  std::vector<double> expected(block);
  for (size_t i = 0; i < x.size(); ++i)
    expected[i % block] += x[i];
  EXPECT_EQ(fromBytes(gpu.download(sums, block * 2), f16), expected);
  expectFindings(gpu, none);
}

/// The ten rounds of Philox 4x32, of which Triton's rand takes the first word as a number of [0, 1).
double philox(uint32_t seed, uint32_t at) {
  uint32_t c[4] = {at, 0, 0, 0}, key[2] = {seed, 0};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = 0xd2511f53ull * c[0], b = 0xcd9e8d57ull * c[2];
    uint32_t next[4] = {uint32_t(b >> 32) ^ c[1] ^ key[0], uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ key[1], uint32_t(a)};
    std::copy(next, next + 4, c);
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  int32_t word = static_cast<int32_t>(c[0]);
  return float(word < 0 ? -word - 1 : word) * 4.6566127342e-10f;
}

/// To the nearest number with this many bits behind the first, ties to even.
double rounded(double value, int fraction) {
  int exponent;
  double significand = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(significand, fraction + 1)), exponent - fraction - 1);
}

TEST(Triton, FunctionsAreNear) {
  constexpr int count = 500, rows = 9;
  Gpu gpu;
  auto x = makeValues(count, f32, Data::Random, 1);
  for (double &value : x)
    value *= 8;
  CUdeviceptr y = gpu.allocate(rows * count * 4);
  run(gpu, KernelFile("triton/functions-sm90.ptx"), {2, 1, 1}, gpu.upload(toBytes(x, f32)), y, count);
  auto got = fromBytes(gpu.download(y, rows * count * 4), f32);
  expectFindings(gpu, none);
  auto expected = [&](size_t i) {
    double v = x[i % count];
    switch (i / count) {
    case 0:
      return std::exp(v);
    case 1:
      return std::log(std::fabs(v) + 1);
    case 2:
      return std::sin(v) * std::cos(v);
    case 3:
      return std::erf(v);
    case 4:
      return 1 / (1 + std::exp(-v));
    case 5:
      return 1 / std::sqrt(std::fabs(v) + 1);
    case 6:
      return std::floor(v) + v / 3 + std::sqrt(std::fabs(v));
    case 7:
      return philox(7, uint32_t(i % count));
    default:
      return rounded(v, 2) + rounded(v, 3);
    }
  };
  // Exact: random numbers, and 8-bit floats. The others: a few roundings of f32 of numbers below 16, or of the result.
  expectNear(got, expected, [&](size_t i) {
    return i / count >= 7 ? 0 : 8 * 0x1p-23 * std::max(std::fabs(expected(i)), i / count == 6 ? 16.0 : 1.0);
  });
}

TEST(Triton, ScanAndSortAreRight) {
  constexpr int block = 256, blocks = 2;
  Gpu gpu;
  auto x = makeValues(block * blocks, s8, Data::Random, 1);
  CUdeviceptr sums = gpu.allocate(block * blocks * 4), sorted = gpu.allocate(block * blocks * 4);
  run(gpu, KernelFile("triton/scan-sort-sm90.ptx"), {blocks, 1, 1}, gpu.upload(toBytes(x, s32)), sums, sorted);
  auto inOrder = x, added = x;
  for (int at = 0; at < block * blocks; at += block) {
    std::sort(inOrder.begin() + at, inOrder.begin() + at + block);
    for (int i = at + 1; i < at + block; ++i)
      added[i] += added[i - 1];
  }
  EXPECT_EQ(fromBytes(gpu.download(sums, block * blocks * 4), s32), added);
  EXPECT_EQ(fromBytes(gpu.download(sorted, block * blocks * 4), s32), inOrder);
  expectFindings(gpu, none);
}

} // namespace
