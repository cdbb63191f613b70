// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// That kernels of others run without findings says little if nothing would be found in them: bugs planted into their PTX
// are.

#include "Gpu.h"
#include "KernelFile.h"
#include "Numbers.h"
#include "Results.h"

#include <algorithm>
#include <regex>

using namespace others;

namespace {

struct Bug {
  const char *name, *file;
  /// A regular expression, of which every match is replaced, and how many there are.
  const char *from, *to;
  ptrdiff_t matches;
  /// One of these kinds is found.
  std::set<std::string> expected;
};

const Bug bugs[] = {
    {"CopiesNotWaitedFor", "triton/gemm-f16-sm80.ptx", "cp\\.async\\.wait_group[^;]*;", "", 5, {"race", "undefined-value"}},
    {"NoBarriers", "triton/gemm-f16-sm80.ptx", "bar\\.sync[^;]*;", "", 8, {"race", "undefined-value"}},
    {"OneGroupTooFew", "triton/gemm-f16-sm90.ptx", "cp\\.async\\.wait_group\\s*2;", "cp.async.wait_group 3;", 1,
     {"race", "undefined-value"}},
    {"ProductsNotWaitedFor", "triton/gemm-f16-sm90.ptx", "wgmma\\.wait_group\\.sync\\.aligned 0;", "", 1,
     {"wgmma-misuse", "race"}},
    {"NoFenceOfProducts", "triton/gemm-f16-sm90.ptx", "wgmma\\.fence\\.sync\\.aligned;", "", 1, {"wgmma-misuse"}},
    {"CopiesOfCutlassNotWaitedFor", "cutlass/gemm-f16-sm80.ptx", "cp\\.async\\.wait_group[^;]*;", "", 2,
     {"race", "undefined-value"}},
};

class OthersBugs : public ::testing::TestWithParam<Bug> {};

/// 64 x 64 x 128, or as recorded.
TEST_P(OthersBugs, AreFound) {
  const Bug &bug = GetParam();
  const char *checks = std::getenv("PTXSIM_CHECKS");
  if (checks && std::string(checks) == "off")
    return;
  SKIP_WITHOUT(bug.file);
  KernelFile file(bug.file);
  std::regex from(bug.from);
  ASSERT_EQ(std::distance(std::sregex_iterator(file.text.begin(), file.text.end(), from), {}), bug.matches);
  std::string text = std::regex_replace(file.text, from, bug.to);
  Gpu gpu;
  CUdeviceptr scratch = 0;
  std::vector<double> values = makeValues(128 * 128, f16, Data::SmallIntegers, 1);
  std::vector<CUdeviceptr> buffers = {gpu.upload(toBytes(values, f16)), gpu.upload(toBytes(values, f16)),
                                      gpu.allocate(128 * 128 * 4)};
  int m = 64, n = 64, k = 128;
  void *ofTriton[] = {&buffers[0], &buffers[1], &buffers[2], &m, &n, &k, &scratch, &scratch};
  std::vector<uint8_t> parameters = file.parameters(gpu, buffers);
  void *ofCutlass[] = {parameters.data()};
  CUfunction function = gpu.load(text, file.kernel);
  bool isRecorded = !parameters.empty();
  gpu.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(file.shape.shared));
  gpu.cuLaunchKernel(function, file.shape.grid[0], file.shape.grid[1], 1, file.shape.block[0], 1, 1, file.shape.shared,
                     nullptr, isRecorded ? ofCutlass : ofTriton, nullptr);
  EXPECT_NE(gpu.cuCtxSynchronize(), CUDA_SUCCESS);
  std::set<std::string> kinds = gpu.findingKinds();
  EXPECT_TRUE(std::any_of(kinds.begin(), kinds.end(), [&](auto &kind) { return bug.expected.count(kind) != 0; }))
      << gpu.findings();
}

void PrintTo(const Bug &bug, std::ostream *stream) { *stream << bug.name; }

INSTANTIATE_TEST_SUITE_P(Planted, OthersBugs, ::testing::ValuesIn(bugs),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
