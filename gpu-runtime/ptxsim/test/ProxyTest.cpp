// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules between the generic and the asynchronous proxy: hardware/Litmus.h's kernels, with the fences that each rule asks
// for and without. What no hardware has confirmed is a warning and fails no launch.

#include "Harness.h"

#include "hardware/Litmus.h"

using namespace tilewright::ptxsim;

namespace {

MachineOptions hopper(uint64_t seed) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.instructionLimit = 2'000'000;
  return options;
}

enum class Verdict { Clean, Warning, Error };

Verdict verdictOf(const litmus::Kernel &kernel, uint64_t seed, std::string &report) {
  TestDevice device(hopper(seed));
  EXPECT_TRUE(device.load(kernel.text())) << device.message << kernel.text();
  if (!device.module)
    return Verdict::Error;
  uint64_t data = device.upload(std::vector<uint32_t>(64, 0)), out = device.upload(std::vector<uint32_t>(4, 0));
  device.cluster = {kernel.cluster, 1, 1};
  bool completed = device.launch("litmus", {2}, {64}, data, out);
  report = device.report();
  for (const Finding &finding : device.findings.all())
    if (!finding.isWarning)
      return Verdict::Error;
  EXPECT_TRUE(completed) << report;
  EXPECT_EQ(device.download<uint32_t>(out, 1)[0], litmus::expected) << kernel.name;
  return device.findings.size() != 0 ? Verdict::Warning : Verdict::Clean;
}

TEST(Proxies, FencedKernelsAreClean) {
  for (const litmus::Kernel &kernel : litmus::kernels)
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      std::string report;
      EXPECT_EQ(verdictOf(kernel, seed, report), Verdict::Clean) << kernel.name << " seed " << seed << report;
    }
}

TEST(Proxies, MissingFencesAreSeen) {
  struct {
    const char *kernel, *from, *to;
    Verdict expected;
  } cases[] = {
      {"fence of the writer, shared memory", "fence.proxy.async.shared::cta;", "", Verdict::Error},
      {"fence of the writer, shared memory", "fence.proxy.async.shared::cta;", "fence.proxy.async.global;", Verdict::Error},
      {"fence of the writer, shared memory", "fence.proxy.async.shared::cta;", "fence.proxy.async;", Verdict::Clean},
      {"fence behind cp.async, shared memory", "fence.proxy.async.shared::cta;", "", Verdict::Warning},
      {"fence behind cp.async, shared memory", "fence.proxy.async.shared::cta;", "fence.proxy.async.global;", Verdict::Warning},
      {"fence behind cp.async, shared memory", "fence.proxy.async.shared::cta;", "fence.proxy.async;", Verdict::Clean},
      {"fence behind cp.async, shared memory", "cp.async.wait_all;", "", Verdict::Error},
      {"fence of the writer, global memory", "fence.proxy.async.global;", "", Verdict::Warning},
      {"fence of the writer, global memory", "fence.proxy.async.global;", "fence.proxy.async.shared::cta;", Verdict::Warning},
      {"fence of the writer, global memory", "fence.proxy.async.global;", "fence.proxy.async;", Verdict::Clean},
      {"fence of the issuer behind a barrier", "fence.proxy.async.global;", "", Verdict::Warning},
      {"fence of the issuer in another block", "fence.proxy.async.global;", "", Verdict::Warning},
      {"fence of the issuer in another block", "ld.acquire.gpu", "ld.relaxed.gpu", Verdict::Error},
      {"fence of the writer across a cluster", "fence.proxy.async.shared::cta;", "", Verdict::Warning},
      {"fence before overwriting", "fence.proxy.async.shared::cta;", "", Verdict::Warning},
      {"completion of a bulk store", "cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;", Verdict::Error},
  };
  for (const auto &one : cases) {
    litmus::Kernel kernel;
    for (const litmus::Kernel &known : litmus::kernels)
      if (std::string(known.name) == one.kernel)
        kernel = known;
    std::string body = kernel.body;
    size_t at = body.find(one.from);
    ASSERT_NE(at, std::string::npos) << one.kernel;
    body.replace(at, std::strlen(one.from), one.to);
    kernel.body = body.c_str();
    bool seen = false;
    std::string report;
    for (uint64_t seed = 1; seed <= 6; ++seed)
      seen |= verdictOf(kernel, seed, report) == one.expected;
    EXPECT_TRUE(seen) << one.kernel << ": " << one.from << " -> " << one.to << report;
  }
}

} // namespace
