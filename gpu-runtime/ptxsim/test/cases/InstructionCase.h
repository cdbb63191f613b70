// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instruction with its operands and its result, and the kernel that runs it. A signature names the registers, result
// first: `r=rr` is a 32-bit result of two 32-bit operands; h is 16 bits wide, d 64, p a predicate, i an immediate written
// into the text. In a text with `$`, `$0` stands for the result and `$1`, `$2`, ... for the operands.

#ifndef TILEWRIGHT_PTXSIM_TEST_CASES_INSTRUCTIONCASE_H
#define TILEWRIGHT_PTXSIM_TEST_CASES_INSTRUCTIONCASE_H

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::ptxsim {

struct InstructionCase {
  const char *text;
  const char *signature;
  std::vector<uint64_t> operands;
  uint64_t expected;
};

inline std::string registerName(char kind, size_t index) { return std::string("%") + kind + std::to_string(index); }

/// A kernel that loads the operands from a table, runs the instruction and stores the result as 64 bits.
inline std::string instructionKernel(const InstructionCase &test, const std::string &target = "sm_90") {
  std::string signature = test.signature;
  std::string body, operands;
  char resultKind = signature[0];
  std::string result = registerName(resultKind, 0);
  size_t slot = 0;
  for (size_t i = 2; i < signature.size(); ++i, ++slot) {
    char kind = signature[i];
    if (kind == 'i') {
      operands += ", " + std::to_string(static_cast<int64_t>(test.operands[slot]));
      continue;
    }
    std::string name = registerName(kind, slot + 1);
    std::string at = "[%address+" + std::to_string(8 * slot) + "]";
    if (kind == 'p')
      body += "  ld.global.b32 %word, " + at + ";\n  setp.ne.u32 " + name + ", %word, 0;\n";
    else
      body += std::string("  ld.global.b") +
              (kind == 'h'   ? "16 "
               : kind == 'r' ? "32 "
                             : "64 ") +
              name + ", " + at + ";\n";
    operands += ", " + name;
  }
  std::string text = test.text;
  if (text.find('$') == std::string::npos)
    text += " " + result + operands;
  for (size_t at; (at = text.find('$')) != std::string::npos;) {
    size_t index = static_cast<size_t>(text[at + 1] - '0');
    text.replace(at, 2, registerName(signature[index == 0 ? 0 : index + 1], index));
  }
  body += "  " + text + ";\n";
  if (resultKind == 'p')
    body += "  selp.b64 %out, 1, 0, " + result + ";\n";
  else if (resultKind == 'd')
    body += "  mov.b64 %out, " + result + ";\n";
  else
    body += std::string("  cvt.u64.u") + (resultKind == 'h' ? "16" : "32") + " %out, " + result + ";\n";
  return ".version 8.6\n.target " + target +
         "\n.address_size 64\n.visible .entry test(.param .u64 data, .param .u64 out) {\n"
         "  .reg .pred %p<8>;\n  .reg .b16 %h<8>;\n  .reg .b32 %r<8>;\n  .reg .b64 %d<8>;\n"
         "  .reg .b32 %word;\n  .reg .b64 %address, %result, %out;\n"
         "  ld.param.u64 %address, [data];\n  ld.param.u64 %result, [out];\n" +
         body + "  st.global.b64 [%result], %out;\n  ret;\n}\n";
}

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_TEST_CASES_INSTRUCTIONCASE_H
