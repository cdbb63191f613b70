// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products out of CUTLASS's parts (cutlass/*.cu), with the parameters that its host code made: exact on small integers,
// within their bounds on random numbers, and without findings but those that README.md explains.

#include "Gpu.h"
#include "KernelFile.h"
#include "Numbers.h"
#include "Results.h"

#include <algorithm>

using namespace others;

namespace {

struct Gemm {
  const char *file;
  Type input, output;
  bool aByColumns = false, bByColumns = true;
  std::set<std::string> findings = {};
};

std::vector<double> transposed(const std::vector<double> &values, size_t rows, size_t columns) {
  std::vector<double> result(values.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      result[j * rows + i] = values[i * columns + j];
  return result;
}

class CutlassGemm : public ::testing::TestWithParam<Gemm> {};

TEST_P(CutlassGemm, IsRight) {
  const Gemm &gemm = GetParam();
  std::string name = std::string("cutlass/") + gemm.file;
  SKIP_WITHOUT(name);
  KernelFile file(name);
  auto [m, n, k] = file.sizes;
  for (Data data : {Data::SmallIntegers, Data::Random}) {
    Gpu gpu;
    auto a = makeValues(m * k, gemm.input, data, 1), b = makeValues(k * n, gemm.input, data, 2);
    CUdeviceptr c = gpu.allocate(m * n * gemm.output.bytes);
    std::vector<CUdeviceptr> buffers = {
        gpu.upload(toBytes(gemm.aByColumns ? transposed(a, m, k) : a, gemm.input)), gpu.upload(toBytes(b, gemm.input)), c,
        gpu.upload(std::vector<uint8_t>(std::max<size_t>(file.workspace, 16)))};
    std::vector<uint8_t> parameters = file.parameters(gpu, buffers);
    void *arguments[] = {parameters.data()};
    gpu.launch(gpu.load(file.text, file.kernel), file.shape, arguments);
    auto got = fromBytes(gpu.download(c, m * n * gemm.output.bytes), gemm.output);
    expectFindings(gpu, gemm.findings);
    expectProduct(got, multiply(a, b, gemm.bByColumns, m, n, k), data, k, gemm.output);
  }
}

const Gemm gemms[] = {
    {"gemm-f16-sm80.ptx", f16, f32},
    {"gemm-bf16-sm80.ptx", bf16, bf16, true, false},
    {"gemm-tf32-sm80.ptx", tf32, f32},
    {"gemm-s8-sm80.ptx", s8, s32},
    {"gemm-f64-sm80.ptx", f64, f64, true, false},
    {"gemm-slices-sm80.ptx", f16, f32},
    {"gemm-tf32-sm90.ptx", tf32, f32, true, true},
    {"gemm-wmma-sm80.ptx", f16, f32},
    {"gemm-pingpong-sm90.ptx", f16, f16},
    {"gemm-cooperative-sm90.ptx", f16, f32},
    {"gemm-e4m3-sm90.ptx", e4m3, f32},
    {"gemm-cp-async-sm90.ptx", bf16, f32, false, true, proxyWarnings},
    {"gemm-stream-sm90.ptx", f16, f32},
    {"gemm-cluster-sm90.ptx", f16, f32},
    {"gemm-cluster-pingpong-sm90.ptx", bf16, bf16},
};

void PrintTo(const Gemm &gemm, std::ostream *stream) { *stream << gemm.file; }

INSTANTIATE_TEST_SUITE_P(Kinds, CutlassGemm, ::testing::ValuesIn(gemms), [](const auto &info) {
  std::string name = info.param.file;
  name.resize(name.size() - 4);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// What a recorded kernel of two operands leaves in its result.
std::vector<double> runRecorded(const char *name, const std::vector<uint8_t> &a, const std::vector<uint8_t> &b,
                                Type result) {
  Gpu gpu;
  KernelFile file(name);
  size_t bytes = size_t(file.sizes[0]) * file.sizes[1] * result.bytes;
  CUdeviceptr c = gpu.allocate(bytes);
  CUdeviceptr kept = file.data.count(4) != 0 ? gpu.upload(file.data[4]) : 0;
  std::vector<uint8_t> parameters = file.parameters(gpu, {gpu.upload(a), gpu.upload(b), c, 0, kept});
  void *arguments[] = {parameters.data()};
  gpu.launch(gpu.load(file.text, file.kernel), file.shape, arguments);
  std::vector<double> got = fromBytes(gpu.download(c, bytes), result);
  expectFindings(gpu, none);
  return got;
}

/// Several elements to a byte, the first in the lowest bits.
std::vector<uint8_t> packed(const std::vector<double> &values, unsigned bits) {
  std::vector<uint8_t> bytes(values.size() * bits / 8);
  for (size_t i = 0; i < values.size(); ++i)
    bytes[i * bits / 8] |= (static_cast<int>(values[i]) & ((1 << bits) - 1)) << (i * bits % 8);
  return bytes;
}

TEST(Cutlass, ProductOfFourBitsIsExact) {
  SKIP_WITHOUT("cutlass/gemm-s4-sm80.ptx");
  constexpr size_t m = 68, n = 72, k = 352;
  auto a = makeValues(m * k, s8, Data::SmallIntegers, 1), b = makeValues(n * k, s8, Data::SmallIntegers, 2);
  EXPECT_EQ(runRecorded("cutlass/gemm-s4-sm80.ptx", packed(a, 4), packed(b, 4), s32), multiply(a, b, true, m, n, k).value);
}

TEST(Cutlass, DifferingBitsAreCounted) {
  SKIP_WITHOUT("cutlass/gemm-b1-sm80.ptx");
  constexpr size_t m = 68, n = 72, k = 1152;
  auto a = makeValues(m * k, s8, Data::Random, 1), b = makeValues(n * k, s8, Data::Random, 2);
  for (auto *values : {&a, &b})
    for (double &value : *values)
      value = value > 0;
  std::vector<double> expected(m * n);
  for (size_t i = 0; i < m * n; ++i)
    for (size_t l = 0; l < k; ++l)
      expected[i] += a[i / n * k + l] != b[i % n * k + l];
  EXPECT_EQ(runRecorded("cutlass/gemm-b1-sm80.ptx", packed(a, 1), packed(b, 1), s32), expected);
}

/// Two of every four elements of a are kept; gemm-sparse-sm80.cu says which.
TEST(Cutlass, SparseProductIsExact) {
  SKIP_WITHOUT("cutlass/gemm-sparse-sm80.ptx");
  constexpr size_t m = 64, n = 72, k = 192;
  constexpr size_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  auto kept = makeValues(m * k / 2, f16, Data::SmallIntegers, 1), b = makeValues(n * k, f16, Data::SmallIntegers, 2);
  std::vector<double> a(m * k);
  for (size_t i = 0; i < kept.size(); ++i) {
    size_t row = i / (k / 2), group = i % (k / 2) / 2;
    a[row * k + group * 4 + pairs[(5 * row + 3 * group) % 6][i % 2]] = kept[i];
  }
  EXPECT_EQ(runRecorded("cutlass/gemm-sparse-sm80.ptx", toBytes(kept, f16), toBytes(b, f16), f32),
            multiply(a, b, true, m, n, k).value);
}

TEST(Cutlass, SumsInHalvesAndReluAreExact) {
  SKIP_WITHOUT("cutlass/gemm-f16-sums-sm80.ptx");
  constexpr size_t m = 72, n = 72, k = 64;
  auto a = makeValues(m * k, f16, Data::SmallIntegers, 1), b = makeValues(n * k, f16, Data::SmallIntegers, 2);
  std::vector<double> expected = multiply(a, b, true, m, n, k).value;
  for (double &value : expected)
    value = std::max(value, 0.0);
  EXPECT_EQ(runRecorded("cutlass/gemm-f16-sums-sm80.ptx", toBytes(transposed(a, m, k), f16), toBytes(b, f16), f16),
            expected);
}

template <typename T> CUdeviceptr uploadArray(Gpu &gpu, const std::vector<T> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return gpu.upload(bytes);
}

/// Three products of different sizes in one launch.
TEST(Cutlass, GroupedProductsAreRight) {
  SKIP_WITHOUT("cutlass/gemm-grouped-sm90.ptx");
  struct Group {
    int m, n, k;
    std::vector<double> a, b;
    CUdeviceptr c;
  };
  std::vector<Group> groups = {{130, 72, 136, {}, {}, 0}, {64, 64, 64, {}, {}, 0}, {40, 136, 72, {}, {}, 0}};
  Gpu gpu;
  KernelFile file("cutlass/gemm-grouped-sm90.ptx");
  std::vector<int> sizes;
  std::vector<CUdeviceptr> pointers[3];
  std::vector<int64_t> strides[3];
  for (Group &group : groups) {
    group.a = makeValues(size_t(group.m) * group.k, f16, Data::SmallIntegers, 1);
    group.b = makeValues(size_t(group.n) * group.k, f16, Data::SmallIntegers, 2);
    group.c = gpu.allocate(size_t(group.m) * group.n * 4);
    sizes.insert(sizes.end(), {group.m, group.n, group.k});
    CUdeviceptr of[] = {gpu.upload(toBytes(group.a, f16)), gpu.upload(toBytes(group.b, f16)), group.c};
    const int64_t steps[] = {group.k, group.k, group.n};
    for (int i = 0; i < 3; ++i) {
      pointers[i].push_back(of[i]);
      strides[i].push_back(steps[i]);
    }
  }
  std::vector<CUdeviceptr> buffers = {uploadArray(gpu, sizes),       uploadArray(gpu, pointers[0]),
                                      uploadArray(gpu, strides[0]),  gpu.upload(std::vector<uint8_t>(file.workspace)),
                                      uploadArray(gpu, pointers[1]), uploadArray(gpu, strides[1]),
                                      uploadArray(gpu, pointers[2]), uploadArray(gpu, strides[2])};
  std::vector<uint8_t> parameters = file.parameters(gpu, buffers);
  void *arguments[] = {parameters.data()};
  gpu.launch(gpu.load(file.text, file.kernel), file.shape, arguments);
  for (const Group &group : groups)
    EXPECT_EQ(fromBytes(gpu.download(group.c, size_t(group.m) * group.n * 4), f32),
              multiply(group.a, group.b, true, size_t(group.m), size_t(group.n), size_t(group.k)).value);
  expectFindings(gpu, none);
}

/// Images of 9 x 11 x 16, 24 filters of 3 x 3, padding of 1, strides of 2.
TEST(Cutlass, ConvolutionIsRight) {
  SKIP_WITHOUT("cutlass/convolution-sm80.ptx");
  constexpr int images = 2, h = 9, w = 11, channels = 16, filters = 24, p = 5, q = 6;
  Gpu gpu;
  KernelFile file("cutlass/convolution-sm80.ptx");
  auto x = makeValues(images * h * w * channels, f16, Data::SmallIntegers, 1),
       f = makeValues(filters * 9 * channels, f16, Data::SmallIntegers, 2);
  CUdeviceptr y = gpu.allocate(images * p * q * filters * 4);
  std::vector<uint8_t> parameters =
      file.parameters(gpu, {gpu.upload(toBytes(x, f16)), gpu.upload(toBytes(f, f16)), y});
  void *arguments[] = {parameters.data()};
  gpu.launch(gpu.load(file.text, file.kernel), file.shape, arguments);
  std::vector<double> expected;
  auto pixel = [&](int image, int row, int column, int channel) {
    bool inside = row >= 0 && row < h && column >= 0 && column < w;
    return inside ? x[((image * h + row) * w + column) * channels + channel] : 0;
  };
  for (int at = 0; at < images * p * q * filters; ++at) {
    int filter = at % filters, column = at / filters % q, row = at / filters / q % p, image = at / filters / q / p;
    double sum = 0;
    for (int term = 0; term < 9 * channels; ++term)
      sum += f[filter * 9 * channels + term] * pixel(image, row * 2 + term / channels / 3 - 1,
                                                     column * 2 + term / channels % 3 - 1, term % channels);
    expected.push_back(sum);
  }
  EXPECT_EQ(fromBytes(gpu.download(y, expected.size() * 4), f32), expected);
  expectFindings(gpu, none);
}

} // namespace
