// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --explain as text, JSON and a page.

#ifndef TILEWRIGHT_TOOLS_COMPILE_EXPLAIN_H
#define TILEWRIGHT_TOOLS_COMPILE_EXPLAIN_H

#include "tilewright/Compiler/Compiler.h"

#include <string>
#include <utility>
#include <vector>

/// What an explanation is made from.
struct ExplainInput {
  std::string name; // of the source
  llvm::StringRef source;
  const tilewright::CompileResult &result;
  /// Name and path of stages' IR to link to; may be empty.
  std::vector<std::pair<std::string, std::string>> stages;

  /// Line `number` of the source, trimmed, at most `width` characters.
  std::string line(int64_t number, size_t width) const;
  /// What was said of a kernel of a program.
  llvm::ArrayRef<std::string> linesOf(llvm::StringRef program,
                                      llvm::StringRef kernel) const;
};

/// "%m1 = linalg.matmul …" where the line is known.
std::string explainText(const ExplainInput &input);
std::string explainJson(const ExplainInput &input);
/// One file without scripts or anything from outside.
std::string explainHtml(const ExplainInput &input);

/// "block tile 64 x 64 x 16, 2 x 2 x 1 warps, …" of a line "config: …", else "". `program` is
/// whose it is: words of CPUs are others.
std::string configInWords(llvm::StringRef line, llvm::StringRef program);
/// "3184 bytes of ptx, 16880 bytes of shared memory".
std::string sizesInWords(const tilewright::ExplainedVariant &variant);

#endif
