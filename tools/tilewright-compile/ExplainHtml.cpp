// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --explain=html: per target a picture of each function (ExplainPicture.cpp), and below it the
// details of every kernel. One file: HTML, CSS and SVG.

#include "ExplainHtml.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilewright;

std::string escaped(StringRef text) {
  std::string result;
  raw_string_ostream os(result);
  printHTMLEscaped(text, os);
  return result;
}

std::string anchor(StringRef target, StringRef kernel) {
  std::string text = (target + "-" + kernel).str();
  for (char &c : text)
    if (!isAlnum(c) && c != '_')
      c = '-';
  return text;
}

namespace {

const char *const kStyle = R"(
body { font: 14px/1.45 system-ui, sans-serif; color: #1c2430; margin: 24px auto; max-width: 1000px; padding: 0 16px; }
h1 { font-size: 22px; } h2 { font-size: 18px; border-bottom: 1px solid #ccd3dd; padding-bottom: 4px; margin-top: 36px; }
h3 { font-size: 15px; margin: 18px 0 6px; }
code, pre, td.code { font: 12px/1.4 ui-monospace, monospace; }
svg text { font: 12px system-ui, sans-serif; fill: #1c2430; }
svg text.code { font: 11px ui-monospace, monospace; fill: #56637a; }
svg text.name { font-weight: 600; font-size: 13px; }
svg text.shape { font: 11px ui-monospace, monospace; fill: #2257a8; }
svg a:hover rect.kernel { stroke: #2257a8; stroke-width: 2; }
rect.kernel { fill: #f2f5fa; stroke: #93a1b8; }
rect.product { fill: #ffe9d2; stroke: #d9913f; } rect.reduction { fill: #e2f3df; stroke: #5f9c55; }
rect.elementwise { fill: #e4ecfb; stroke: #5a7fc4; } rect.relayout { fill: #efe6f7; stroke: #8f6bb5; }
rect.pill { fill: #fff; stroke: #93a1b8; }
path.edge { fill: none; stroke: #56637a; stroke-width: 1.3; }
details { border: 1px solid #ccd3dd; border-radius: 6px; margin: 8px 0; padding: 6px 12px; }
details:target, details:has(:target) { border-color: #2257a8; }
details.variants { border: none; padding: 0; }
summary { font-weight: 600; cursor: pointer; } table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; } td, th { padding: 3px 10px 3px 0; vertical-align: top; border-bottom: 1px solid #edf0f5; }
p.refused { color: #8a4a1c; margin: 2px 0; } p.said { margin: 2px 0; } p.config { margin: 2px 0; color: #56637a; }
nav a { margin-right: 14px; }
)";

void writeWork(raw_ostream &os, StringRef flops, StringRef bytes) {
  if (!flops.empty())
    os << "<p class=\"said\">Operations: <code>" << escaped(flops)
       << "</code></p>\n";
  if (!bytes.empty())
    os << "<p class=\"said\">Bytes that must move: <code>" << escaped(bytes)
       << "</code></p>\n";
}

void writeLine(raw_ostream &os, StringRef program, StringRef line) {
  std::string words = configInWords(line, program);
  if (!words.empty())
    os << "<p class=\"said\">" << escaped(words) << "</p>\n";
  bool refused = line.starts_with("refused") || line.starts_with("not on");
  os << "<p class=\""
     << (refused ? "refused" : words.empty() ? "said" : "config") << "\">"
     << (words.empty() ? "" : "<code>") << escaped(line)
     << (words.empty() ? "" : "</code>") << "</p>\n";
}

void writeVariants(raw_ostream &os, const ExplainInput &input,
                   const ProgramExplanation &program,
                   const ExplainedKernel &kernel) {
  if (kernel.variants.empty())
    return;
  // A list that fills the screen is folded: Vulkan has one per subgroup size.
  constexpr size_t kShown = 2;
  os << "<details class=\"variants\""
     << (kernel.variants.size() <= kShown ? " open" : "") << "><summary>"
     << kernel.variants.size()
     << (kernel.variants.size() == 1 ? " variant" : " variants")
     << ", in the order in which they are tried</summary>\n<table>"
        "<tr><th>name</th><th>runs if</th><th>grid</th><th>block</th>"
        "<th>size</th></tr>\n";
  for (const ExplainedVariant &variant : kernel.variants) {
    os << "<tr><td class=\"code\">" << escaped(variant.name)
       << "</td><td class=\"code\">" << escaped(variant.guard)
       << "</td><td class=\"code\">" << escaped(variant.grid)
       << "</td><td class=\"code\">" << escaped(variant.block) << "</td><td>"
       << escaped(sizesInWords(variant)) << "</td></tr>\n";
    for (const std::string &line : variant.lines)
      os << "<tr><td></td><td colspan=\"4\">" << escaped(line) << "</td></tr>\n";
    if (variant.kernel == kernel.name)
      continue;
    for (const std::string &line : input.linesOf(variant.program, variant.kernel))
      os << "<tr><td></td><td colspan=\"4\">" << escaped(line) << "</td></tr>\n";
  }
  os << "</table></details>\n";
}

void writePrograms(raw_ostream &os, const ExplainInput &input,
                   const ProgramExplanation &program,
                   const ExplainedKernel &kernel) {
  bool several = program.programs.size() > 1;
  for (const auto &[number, name] : llvm::enumerate(program.programs)) {
    if (several)
      os << "<details class=\"variants\"" << (number ? "" : " open")
         << "><summary>" << escaped(name) << "</summary>\n";
    for (const std::string &line : input.linesOf(name, kernel.name))
      writeLine(os, name, line);
    if (several)
      os << "</details>\n";
  }
}

void writeKernel(raw_ostream &os, const ExplainInput &input,
                 const ProgramExplanation &program,
                 const ExplainedKernel &kernel) {
  os << "<details open id=\"" << anchor(program.target, kernel.name)
     << "\"><summary>" << escaped(kernel.name) << "</summary>\n";
  os << "<table>\n";
  for (const ExplainedOp &op : kernel.ops)
    os << "<tr><td>" << (op.line ? "line " + std::to_string(op.line) : "")
       << "</td><td class=\"code\">" << escaped(input.line(op.line, 90))
       << "</td><td>" << escaped(op.kind) << "</td><td class=\"code\">"
       << escaped(op.type) << "</td></tr>\n";
  os << "</table>\n<p class=\"said\">Operands: <code>"
     << escaped(llvm::join(kernel.operands, ", ")) << "</code></p>\n";
  writeWork(os, kernel.flops, kernel.bytes);
  writePrograms(os, input, program, kernel);
  writeVariants(os, input, program, kernel);
  os << "</details>\n";
}

} // namespace

std::string explainHtml(const ExplainInput &input) {
  std::string text;
  raw_string_ostream os(text);
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
     << "<title>" << escaped(input.name) << "</title>\n<style>" << kStyle
     << "</style>\n</head>\n<body>\n<h1>" << escaped(input.name)
     << "</h1>\n<nav>";
  for (const ProgramExplanation &program : input.result.programs)
    os << "<a href=\"#" << anchor("target", program.target) << "\">"
       << escaped(program.target) << "</a>";
  os << "</nav>\n";
  if (!input.stages.empty()) {
    os << "<p>IR after each stage:";
    for (const auto &[name, path] : input.stages)
      os << " <a href=\"" << escaped(path) << "\">" << escaped(name) << "</a>";
    os << "</p>\n";
  }
  for (const ProgramExplanation &program : input.result.programs) {
    os << "<h2 id=\"" << anchor("target", program.target) << "\">"
       << escaped(program.target) << "</h2>\n";
    for (const ExplainedFunction &function : program.functions) {
      os << "<h3>Function <code>" << escaped(function.name) << "("
         << escaped(llvm::join(function.arguments, ", ")) << ")</code></h3>\n";
      writeWork(os, function.flops, function.bytes);
      os << drawFunction(input, program, function);
    }
    os << "<h3>Kernels</h3>\n";
    for (const ExplainedKernel &kernel : program.kernels)
      writeKernel(os, input, program, kernel);
  }
  os << "</body>\n</html>\n";
  return text;
}
