// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --explain for a terminal and for programs:
//
//   cuda:sm_80
//     @main(?x784xf32, …): 3 kernels
//       1  main_matmul_0 (argument 0, argument 1, argument 2)
//     main_matmul_0: 2 ops in one kernel
//       line 17  %m1 = linalg.matmul ins(%x, …     product: mulf, addf
//       strategy simt_contraction: root …
//       variant main_matmul_0  if numel(0) < …

#include "Explain.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilewright;

std::string ExplainInput::line(int64_t number, size_t width) const {
  StringRef rest = source, text;
  for (int64_t i = 0; i < number; ++i)
    std::tie(text, rest) = rest.split('\n');
  text = number > 0 ? text.trim() : StringRef();
  if (text.size() <= width)
    return text.str();
  // Not in the middle of a character of several bytes.
  size_t end = width - 1;
  while (end && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return (text.take_front(end) + "…").str();
}

ArrayRef<std::string> ExplainInput::linesOf(StringRef program,
                                            StringRef kernel) const {
  for (const KernelExplanation &entry : result.explanation)
    if (entry.program == program && entry.kernel == kernel)
      return entry.lines;
  return {};
}

/// The text behind "key = " up to the comma or bracket that ends it.
static StringRef valueOf(StringRef config, StringRef key) {
  size_t at = config.find((key + " = ").str());
  if (at == StringRef::npos)
    return "";
  StringRef value = config.drop_front(at + key.size() + 3);
  if (value.consume_front("["))
    return value.take_until([](char c) { return c == ']'; });
  return value.take_until([](char c) { return c == ',' || c == '>'; });
}

std::string configInWords(StringRef line, StringRef program) {
  if (!line.consume_front("config: "))
    return "";
  auto extents = [&](StringRef key) {
    SmallVector<StringRef> parts;
    valueOf(line, key).split(parts, ", ");
    return llvm::join(parts, " x ");
  };
  bool isCpu = program.starts_with("cpu");
  std::string text = "block tile " + extents("block");
  if (!valueOf(line, "warps").empty())
    text += ", " + extents("warps") + " warps";
  if (!valueOf(line, "mma").empty())
    text += ", matrix instruction " + valueOf(line, "mma").trim('"').str();
  else if (!valueOf(line, "thread").empty())
    text += ", " + (isCpu ? "register tile " + extents("thread")
                          : extents("thread") + " elements a thread");
  if (!valueOf(line, "promote").empty())
    text += ", operands " + valueOf(line, "promote").str() +
            (isCpu ? " packed" : " through shared memory");
  if (!valueOf(line, "stages").empty())
    text += " in " + valueOf(line, "stages").str() + " stages";
  if (!valueOf(line, "splits").empty())
    text += (valueOf(line, "strategy") == "irregular" ? ", places in " : ", sums in ") +
            valueOf(line, "splits").str() + " parts";
  if (!valueOf(line, "stream_k").empty())
    text += ", shared by " + valueOf(line, "stream_k").str() + " blocks";
  return text;
}

std::string sizesInWords(const ExplainedVariant &variant) {
  std::string text = std::to_string(variant.codeBytes) + " bytes of " +
                     (variant.language == "o" ? "object code"
                      : variant.language == "spv" ? "SPIR-V" : "PTX");
  if (variant.sharedBytes >= 0)
    text += ", " + std::to_string(variant.sharedBytes) +
            " bytes of shared memory";
  return text;
}

static std::string nameOf(int64_t from, const ProgramExplanation &program,
                          const ExplainedFunction &function) {
  if (from < 0)
    return "argument " + std::to_string(~from);
  return program.kernels[function.steps[from].kernel].name;
}

static void writeFunction(raw_ostream &os, const ProgramExplanation &program,
                          const ExplainedFunction &function) {
  size_t count = function.steps.size();
  os << "  @" << function.name << "(" << llvm::join(function.arguments, ", ")
     << "): " << count << (count == 1 ? " kernel\n" : " kernels\n");
  if (!function.flops.empty())
    os << "    operations " << function.flops << "\n";
  if (!function.bytes.empty())
    os << "    bytes that must move " << function.bytes << "\n";
  for (const std::string &note : function.notes)
    os << "    " << note << "\n";
  for (const ExplainedStep &step : function.steps) {
    os << "    " << std::string(2 * step.depth, ' ')
       << program.kernels[step.kernel].name << "(";
    llvm::interleaveComma(step.uses, os, [&](const ExplainedUse &use) {
      os << nameOf(use.from, program, function);
    });
    os << ")" << (step.depth ? " under control flow\n" : "\n");
  }
}

static void writeOps(raw_ostream &os, const ExplainInput &input,
                     const ExplainedKernel &kernel) {
  constexpr size_t kWidth = 64;
  int64_t last = 0;
  for (const ExplainedOp &op : kernel.ops) {
    // An op that became several is quoted once.
    bool again = op.line && op.line == last;
    std::string text = again ? "" : input.line(op.line, kWidth);
    os << "    ";
    if (op.line)
      os << (again ? std::string(10, ' ')
                   : formatv("line {0,-4} ", op.line).str());
    last = op.line;
    os << text;
    // Bytes that begin no character take no column.
    size_t columns = llvm::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    os << std::string(columns < kWidth ? kWidth - columns + 2 : 2, ' ')
       << op.kind << " -> " << op.type << "\n";
  }
}

static void writeLines(raw_ostream &os, StringRef program,
                       ArrayRef<std::string> lines, unsigned indent) {
  for (const std::string &line : lines) {
    std::string words = configInWords(line, program);
    if (!words.empty())
      os << std::string(indent, ' ') << words << "\n";
    os << std::string(indent, ' ') << line << "\n";
  }
}

static void writeKernel(raw_ostream &os, const ExplainInput &input,
                        const ProgramExplanation &program,
                        const ExplainedKernel &kernel) {
  os << "  " << kernel.name << ": " << kernel.ops.size()
     << (kernel.ops.size() == 1 ? " op\n" : " ops in one kernel\n");
  writeOps(os, input, kernel);
  os << "    operands: " << llvm::join(kernel.operands, ", ") << "\n";
  if (!kernel.scalars.empty())
    os << "    scalars: " << llvm::join(kernel.scalars, ", ") << "\n";
  if (!kernel.flops.empty())
    os << "    operations " << kernel.flops << "\n";
  if (!kernel.bytes.empty())
    os << "    bytes that must move " << kernel.bytes << "\n";
  bool several = program.programs.size() > 1;
  for (const std::string &name : program.programs) {
    if (several)
      os << "    for " << name << "\n";
    writeLines(os, name, input.linesOf(name, kernel.name), several ? 6 : 4);
  }
  for (const ExplainedVariant &variant : kernel.variants) {
    os << "    variant " << variant.name << ": " << sizesInWords(variant)
       << "\n      if " << variant.guard << "\n      grid (" << variant.grid
       << "), block (" << variant.block << ")\n";
    writeLines(os, variant.program, variant.lines, 6);
    if (variant.kernel != kernel.name)
      writeLines(os, variant.program, input.linesOf(variant.program, variant.kernel), 6);
  }
}

std::string explainText(const ExplainInput &input) {
  std::string text;
  raw_string_ostream os(text);
  for (const ProgramExplanation &program : input.result.programs) {
    os << program.target << "\n";
    for (const ExplainedFunction &function : program.functions)
      writeFunction(os, program, function);
    for (const ExplainedKernel &kernel : program.kernels)
      writeKernel(os, input, program, kernel);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static json::Array toJson(ArrayRef<ExplainedUse> uses) {
  json::Array list;
  for (const ExplainedUse &use : uses)
    list.push_back(use.from < 0
                       ? json::Object{{"argument", ~use.from}, {"type", use.type}}
                       : json::Object{{"from", use.from}, {"type", use.type}});
  return list;
}

static json::Value toJson(const PlannedResources &planned) {
  if (!planned.threads)
    return nullptr;
  return json::Object{{"threads", planned.threads},
                      {"shared_bytes", planned.sharedBytes},
                      {"registers", planned.registers}};
}

static json::Object toJson(const ExplainedKernel &kernel) {
  json::Array ops, variants;
  for (const ExplainedOp &op : kernel.ops)
    ops.push_back(json::Object{{"kind", op.kind},
                               {"line", op.line},
                               {"type", op.type},
                               {"uses", toJson(op.uses)}});
  for (const ExplainedVariant &variant : kernel.variants)
    variants.push_back(json::Object{{"name", variant.name},
                                    {"guard", variant.guard},
                                    {"grid", variant.grid},
                                    {"block", variant.block},
                                    {"language", variant.language},
                                    {"code_bytes", variant.codeBytes},
                                    {"shared_bytes", variant.sharedBytes},
                                    {"planned", toJson(variant.planned)},
                                    {"config", variant.config},
                                    {"lines", json::Array(variant.lines)}});
  return json::Object{{"name", kernel.name},
                      {"operands", json::Array(kernel.operands)},
                      {"scalars", json::Array(kernel.scalars)},
                      {"flops", kernel.flops},
                      {"bytes", kernel.bytes},
                      {"ops", std::move(ops)},
                      {"variants", std::move(variants)}};
}

/// What `lines` speak of, or null.
static const ExplainedVariant *findVariant(const ExplainInput &input,
                                           const KernelExplanation &lines) {
  for (const ProgramExplanation &explained : input.result.programs)
    for (const ExplainedKernel &kernel : explained.kernels)
      for (const ExplainedVariant &variant : kernel.variants)
        if (variant.program == lines.program && variant.kernel == lines.kernel)
          return &variant;
  return nullptr;
}

std::string explainJson(const ExplainInput &input) {
  json::Array kernels, programs;
  for (const KernelExplanation &kernel : input.result.explanation) {
    json::Object entry{{"program", kernel.program},
                       {"kernel", kernel.kernel},
                       {"lines", json::Array(kernel.lines)}};
    if (const ExplainedVariant *variant = findVariant(input, kernel)) {
      entry["config"] = variant->config;
      entry["guard"] = variant->guard;
    }
    kernels.push_back(std::move(entry));
  }
  for (const ProgramExplanation &program : input.result.programs) {
    json::Array functions, groups;
    for (const ExplainedFunction &function : program.functions) {
      json::Array steps;
      for (const ExplainedStep &step : function.steps)
        steps.push_back(json::Object{{"kernel", program.kernels[step.kernel].name},
                                     {"depth", step.depth},
                                     {"uses", toJson(step.uses)}});
      functions.push_back(
          json::Object{{"name", function.name},
                       {"arguments", json::Array(function.arguments)},
                       {"notes", json::Array(function.notes)},
                       {"steps", std::move(steps)},
                       {"results", toJson(function.results)},
                       {"flops", function.flops},
                       {"bytes", function.bytes}});
    }
    for (const ExplainedKernel &kernel : program.kernels)
      groups.push_back(toJson(kernel));
    programs.push_back(json::Object{{"target", program.target},
                                    {"programs", json::Array(program.programs)},
                                    {"functions", std::move(functions)},
                                    {"kernels", std::move(groups)}});
  }
  return formatv("{0:2}\n",
                 json::Value(json::Object{{"kernels", std::move(kernels)},
                                          {"programs", std::move(programs)}}))
      .str();
}
