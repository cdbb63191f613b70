// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bugs of host programs: a correct program, and the same with one thing left out or done too early. Work on streams runs
// in a seeded order; every bug must show, as an error or as a wrong result, under some seed, and the correct program never
// fails. Each run is a process of its own, because the order is chosen at cuInit.

#include "driver/Cuda.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

const char *const kernels = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 to, .param .u64 from) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd2];
  mul.lo.u32 %r2, %r2, 3;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

enum Bug { None, NoWait, WaitBeforeRecord, EarlyFree, SourceReused, ReadTooEarly, NoSynchronisation, FreeOnOtherStream };
const char *const bugNames[] = {"None",         "NoWait",       "WaitBeforeRecord",  "EarlyFree",
                                "SourceReused", "ReadTooEarly", "NoSynchronisation", "FreeOnOtherStream"};

/// Upload on one stream, compute and download on another. 0 when everything went as a user would hope.
int program(Bug bug) {
  void *library = dlopen(PTXSIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  bool ok = library != nullptr;
#define PTXSIM_API_NONE(name, symbol, version, params, args)                                                           \
  [[maybe_unused]] auto symbol = reinterpret_cast<CUresult(*) params>(dlsym(library, #symbol));
#include "driver/Implemented.def"
  auto must = [&](CUresult result) { ok &= result == CUDA_SUCCESS; };
  CUcontext context;
  CUmodule module;
  CUfunction scale;
  CUstream copies, work;
  CUevent uploaded;
  CUdeviceptr from, to;
  void *host, *back;
  must(cuInit(0));
  must(cuDevicePrimaryCtxRetain(&context, 0));
  must(cuCtxSetCurrent(context));
  must(cuModuleLoadData(&module, kernels));
  must(cuModuleGetFunction(&scale, module, "scale"));
  must(cuStreamCreate(&copies, CU_STREAM_NON_BLOCKING));
  must(cuStreamCreate(&work, CU_STREAM_NON_BLOCKING));
  must(cuEventCreate(&uploaded, 0));
  must(cuMemAlloc_v2(&to, 128));
  must(cuMemAllocAsync(&from, 128, copies));
  must(cuMemHostAlloc(&host, 128, 0));
  must(cuMemHostAlloc(&back, 128, 0));
  unsigned *values = static_cast<unsigned *>(host), *results = static_cast<unsigned *>(back);
  for (unsigned i = 0; i < 32; ++i)
    values[i] = i + 1;
  must(cuMemcpyHtoDAsync_v2(from, host, 128, copies));
  if (bug == SourceReused)
    for (unsigned i = 0; i < 32; ++i)
      values[i] = 0;
  if (bug == WaitBeforeRecord)
    must(cuStreamWaitEvent(work, uploaded, 0));
  must(cuEventRecord(uploaded, copies));
  if (bug != NoWait && bug != WaitBeforeRecord)
    must(cuStreamWaitEvent(work, uploaded, 0));
  if (bug == EarlyFree)
    must(cuMemFreeAsync(from, copies));
  void *params[] = {&to, &from};
  must(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, work, params, nullptr));
  if (bug == FreeOnOtherStream)
    must(cuMemFreeAsync(from, copies));
  must(cuMemcpyDtoHAsync_v2(back, to, 128, work));
  unsigned early = results[31];
  if (bug != NoSynchronisation && bug != ReadTooEarly)
    must(cuStreamSynchronize(work));
  if (bug == ReadTooEarly) {
    ok &= early == 96;
    must(cuStreamSynchronize(work));
  }
  for (unsigned i = 0; i < 32; ++i)
    ok &= results[i] == 3 * (i + 1);
  must(cuCtxSynchronize());
  return ok ? 0 : 1;
}

bool goesWell(Bug bug, unsigned seed) {
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    setenv("PTXSIM_QUEUE", "seeded", 1);
    setenv("PTXSIM_SEED", std::to_string(seed).c_str(), 1);
    if (!std::freopen("/dev/null", "w", stderr))
      _exit(3);
    _exit(program(bug));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Of a run before it may be left what it found.
TEST(HostProgram, ARunWithoutFindingsReportsNone) {
  std::string path = testing::TempDir() + "ptxsim-report-" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << "of another run";
  setenv("PTXSIM_REPORT", path.c_str(), 1);
  EXPECT_TRUE(goesWell(None, 1));
  unsetenv("PTXSIM_REPORT");
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  EXPECT_EQ(text.str(), "[]\n");
}

constexpr unsigned seeds = 12;

TEST(HostProgram, TheCorrectOneAlwaysWorks) {
  for (unsigned seed = 1; seed <= seeds; ++seed)
    EXPECT_TRUE(goesWell(None, seed)) << "seed " << seed;
}

class HostBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(HostBugs, Show) {
  unsigned shown = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed)
    shown += !goesWell(GetParam(), seed);
  // What happens-before decides shows always; what only the order of events decides, most of the time.
  bool always = GetParam() == NoWait || GetParam() == WaitBeforeRecord;
  EXPECT_GE(shown, always ? seeds : seeds / 2);
}

INSTANTIATE_TEST_SUITE_P(Planted, HostBugs,
                         ::testing::Values(NoWait, WaitBeforeRecord, EarlyFree, SourceReused, ReadTooEarly,
                                           NoSynchronisation, FreeOnOtherStream),
                         [](const auto &info) { return std::string(bugNames[info.param]); });

/// A program may hold the simulator and a real driver: the file's name is libcuda.so.1, its SONAME is not, so a later
/// dlopen by that name does not get the simulator; and nothing of it is visible to others.
TEST(TwoLibraries, TheSimulatorDoesNotAnswerToTheDriversName) {
  void *library = dlopen(PTXSIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  void *real = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (real) {
    EXPECT_NE(real, library);
    EXPECT_EQ(dlsym(real, "ptxsimVersion"), nullptr);
  }
  EXPECT_NE(dlopen("libtilewright_ptxsim.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr);
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "cuInit"), nullptr);
  EXPECT_EQ(dlsym(library, "_ZN10tilewright6ptxsim6driverEv"), nullptr);
  Dl_info info;
  ASSERT_NE(dladdr(dlsym(library, "cuInit"), &info), 0);
  EXPECT_NE(std::string(info.dli_fname).find("ptxsim"), std::string::npos);
}

} // namespace
