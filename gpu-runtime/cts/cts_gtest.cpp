// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conformance suite under GoogleTest: one test per device and case, named
// `vulkan_0/buffer.write_read`.
#include "cts.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tilewright::cts;

namespace {

class CtsTest : public testing::Test {
public:
  CtsTest(std::shared_ptr<Instance> instance, std::string device, Case test)
      : instance(std::move(instance)), device(std::move(device)), test(test) {}
  void TestBody() override {
    Result result = runCase(*instance, device, test);
    if (result.outcome == Outcome::Skip)
      GTEST_SKIP() << result.text;
    EXPECT_EQ(result.outcome, Outcome::Pass) << result.text;
  }

private:
  std::shared_ptr<Instance> instance;
  std::string device;
  Case test;
};

} // namespace

int main(int argc, char **argv) {
  becomeChild(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  auto instance = std::make_shared<Instance>(InstanceOptions());
  for (const DeviceInfo &info : instance->devices()) {
    if (!info.available)
      continue;
    std::string suite = info.name, device = info.name;
    std::replace(suite.begin(), suite.end(), ':', '_');
    for (const Case &test : allCases())
      if (test.isFor(info.name))
        testing::RegisterTest(
            suite.c_str(), test.name, nullptr, nullptr, __FILE__, __LINE__,
            [=]() -> CtsTest * { return new CtsTest(instance, device, test); });
  }
  return RUN_ALL_TESTS();
}
