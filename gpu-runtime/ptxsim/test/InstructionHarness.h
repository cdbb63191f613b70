// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one instruction on given register values.

#ifndef TILEWRIGHT_PTXSIM_TEST_INSTRUCTIONHARNESS_H
#define TILEWRIGHT_PTXSIM_TEST_INSTRUCTIONHARNESS_H

#include "Harness.h"
#include "cases/InstructionCase.h"

namespace tilewright::ptxsim {

/// Checks the case, on a device with checks: operands are defined, so the result must be.
inline void checkInstruction(const InstructionCase &test) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  TestDevice device(options);
  std::string label = std::string(test.text) + " " + test.signature;
  for (uint64_t operand : test.operands)
    label += " " + std::to_string(operand);
  ASSERT_TRUE(device.load(instructionKernel(test))) << label << ": " << device.message;
  std::vector<uint64_t> operands = test.operands;
  operands.push_back(0);
  uint64_t data = device.upload(operands), out = device.allocate(8);
  ASSERT_TRUE(device.launch("test", {1}, {1}, data, out)) << label << ": " << device.report();
  EXPECT_EQ(device.definedBits<uint64_t>(out, 1)[0], ~0ull) << label;
  EXPECT_EQ(device.download<uint64_t>(out, 1)[0], test.expected)
      << label << std::hex << ": got 0x" << device.download<uint64_t>(out, 1)[0] << ", expected 0x" << test.expected;
}

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_TEST_INSTRUCTIONHARNESS_H
