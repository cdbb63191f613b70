// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was decided about a program, as data: which ops were fused into which
// kernels, how the kernels follow each other, which variants were compiled.
// Front ends turn it into text, JSON or a page.

#ifndef TILEWRIGHT_COMPILER_EXPLANATION_H
#define TILEWRIGHT_COMPILER_EXPLANATION_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tilewright {

/// What was decided about one kernel of one program, or what a variant of it
/// has beyond that.
struct KernelExplanation {
  std::string program, kernel;
  std::vector<std::string> lines;
  /// With the configs: what a tuning database knows the kernel by.
  std::vector<std::pair<std::string, std::string>> problem;
  std::vector<int64_t> shape; // -1: dynamic
  /// How many candidates were refused, by the kind of what stands against them.
  std::vector<std::pair<std::string, int64_t>> refused;
};

/// A value that an op, a kernel or a result takes.
struct ExplainedUse {
  /// Where from: number of an op or step; ~n is argument n of what is around.
  int64_t from = 0;
  std::string type; // "?x256xf32"
};

/// One structured op of a kernel.
struct ExplainedOp {
  std::string kind; // "product: mulf, addf"
  int64_t line = 0; // of the source; 0: unknown
  std::string type; // of its result
  std::vector<ExplainedUse> uses;
};

/// What the kernel's config was admitted for, before there was code; 0: not said.
struct PlannedResources {
  int64_t threads = 0, sharedBytes = 0, registers = 0;
};

/// Compiled code of a kernel.
struct ExplainedVariant {
  std::string program, kernel; // as in KernelExplanation
  std::string name, guard, grid, block;
  std::string language;     // ptx, spv, o
  int64_t codeBytes = 0;
  int64_t sharedBytes = -1; // of a block; -1: does not apply
  PlannedResources planned;
  std::string config;
  std::vector<std::string> lines; // what lowering says
};

struct ExplainedKernel {
  std::string name;
  std::vector<std::string> operands; // tensors: "read ?x784xf32"
  std::vector<std::string> scalars;  // "f32"
  std::vector<ExplainedOp> ops;
  std::vector<ExplainedVariant> variants; // in the order in which they are tried
  std::string flops, bytes; // in terms of dim(operand, d); empty: unknown
};

/// One launch in a function.
struct ExplainedStep {
  size_t kernel = 0;       // index in kernels
  int64_t depth = 0;       // loops and branches around it
  std::vector<ExplainedUse> uses;
};

struct ExplainedFunction {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<ExplainedStep> steps;
  std::vector<ExplainedUse> results;
  std::string flops, bytes; // in terms of dim(argument, d); empty: unknown
  std::vector<std::string> notes; // what was decided for all of it
};

struct ProgramExplanation {
  std::string target;
  /// The programs that share this structure ("vulkan_sg8", …), as in
  /// KernelExplanation.
  std::vector<std::string> programs;
  std::vector<ExplainedFunction> functions;
  std::vector<ExplainedKernel> kernels;
};

} // namespace tilewright

#endif
