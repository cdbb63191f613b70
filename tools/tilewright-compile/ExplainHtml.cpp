// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --explain=html: per target a picture of each function, kernels as boxes from
// top to bottom with their ops as boxes inside and shapes on the edges, and
// below it the details of every kernel. One file: HTML, CSS and SVG.
//
//   argument 0 ──▶ ┌─ main_matmul_0 ────────┐
//     ?x784xf32    │ ┌────────────────────┐ │
//                  │ │ product: mulf, addf│ │
//                  │ └─────────┬──────────┘ │
//                  │       ?x256xf32        │
//                  │ ┌─────────▼──────────┐ │
//                  │ │ elementwise: …     │ │
//                  └─┴────────────────────┴─┘
//                         │ ?x256xf32

#include "Explain.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tilewright;

namespace {

// Measures of the picture, in pixels.
constexpr int kLeft = 230, kBox = 520, kRight = 210;
constexpr int kTitle = 46, kOp = 46, kBetweenOps = 30, kPadding = 14;
constexpr int kBetweenKernels = 48, kPill = 30, kTop = 12;

std::string escaped(StringRef text) {
  std::string result;
  raw_string_ostream os(result);
  printHTMLEscaped(text, os);
  return result;
}

/// A name for links: letters, digits and '-'.
std::string anchor(StringRef target, StringRef kernel) {
  std::string text = (target + "-" + kernel).str();
  for (char &c : text)
    if (!isAlnum(c) && c != '_')
      c = '-';
  return text;
}

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

/// The picture of one function.
class Picture {
public:
  Picture(const ExplainInput &input, const ProgramExplanation &program,
          const ExplainedFunction &function)
      : input(input), program(program), function(function), os(body) {}

  std::string draw() {
    int y = kTop;
    for (const auto &[index, step] : llvm::enumerate(function.steps)) {
      drawStep(index, step, y);
      y = bottoms.back() + kBetweenKernels;
    }
    y = drawResults(y);
    int width = kLeft + kBox + kRight;
    return formatv("<svg width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                   "role=\"img\">\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" "
                   "refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
                   "orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" "
                   "fill=\"#56637a\"/></marker></defs>\n{2}</svg>\n",
                   width, y + kTop, body)
        .str();
  }

private:
  void text(int x, int y, StringRef kind, StringRef value,
            StringRef align = "start") {
    os << formatv("<text x=\"{0}\" y=\"{1}\" class=\"{2}\" "
                  "text-anchor=\"{3}\">{4}</text>\n",
                  x, y, kind, align, escaped(value));
  }
  void rect(int x, int y, int width, int height, StringRef kind) {
    os << formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
                  "rx=\"6\" class=\"{4}\"/>\n",
                  x, y, width, height, kind);
  }
  void path(const Twine &d) {
    os << "<path class=\"edge\" marker-end=\"url(#tip)\" d=\"" << d << "\"/>\n";
  }
  void pill(int x, int y, int width, StringRef name, StringRef type) {
    rect(x, y, width, kPill, "pill");
    text(x + 8, y + (type.empty() ? 19 : 13), "", name);
    if (!type.empty())
      text(x + 8, y + 25, "shape", type);
  }

  /// Results side by side: those of the last kernel with an edge, others with
  /// the name of what they come from. Gives the y behind them.
  int drawResults(int y) {
    constexpr int kWidth = 160, kStep = 174, kPerRow = kBox / kStep;
    for (const auto &[index, result] : llvm::enumerate(function.results)) {
      int column = int(index) % kPerRow;
      if (index && !column)
        y += kPill + 10;
      int x = kLeft + 2 + column * kStep;
      bool last = result.from >= 0 && result.from + 1 == int64_t(bottoms.size());
      std::string name = "result " + std::to_string(index);
      if (!last)
        name += result.from < 0
                    ? ": argument " + std::to_string(~result.from)
                    : ": " + program.kernels[function.steps[result.from].kernel].name;
      pill(x, y, kWidth, name, result.type);
      if (last && int(index) < kPerRow)
        path(formatv("M{0} {1} L{0} {2}", x + kWidth / 2, bottoms.back(), y)
                 .str());
    }
    return y + kPill;
  }

  /// An edge to a box whose top is `top`, at `x`: from the box before straight
  /// down, from one further up around the right side.
  void join(const ExplainedUse &use, int top, int x) {
    if (use.from < 0) {
      pill(10, top, 170, "argument " + std::to_string(~use.from), use.type);
      path(formatv("M180 {0} L{1} {0}", top + kPill / 2, kLeft).str());
      return;
    }
    int from = bottoms[use.from];
    if (use.from + 1 == int64_t(bottoms.size())) {
      path(formatv("M{0} {1} L{0} {2}", x, from, top).str());
      text(x + 6, (from + top) / 2 + 4, "shape", use.type);
      return;
    }
    int right = kLeft + kBox + 18 + 14 * (detours++ % 4);
    path(formatv("M{0} {1} L{2} {1} L{2} {3} L{0} {3}", kLeft + kBox, from - 8,
                 right, top + 16)
             .str());
    text(right + 5, top + 12, "shape", use.type);
  }

  std::string strategyOf(const ExplainedKernel &kernel) const {
    for (const std::string &name : program.programs)
      for (StringRef line : input.linesOf(name, kernel.name))
        if (line.consume_front("strategy "))
          return line.take_until([](char c) { return c == ':'; }).str();
    return "";
  }

  int heightOf(const ExplainedKernel &kernel) const {
    int ops = kernel.ops.size();
    return kTitle + ops * kOp + std::max(ops - 1, 0) * kBetweenOps + kPadding;
  }

  void drawStep(size_t index, const ExplainedStep &step, int top) {
    const ExplainedKernel &kernel = program.kernels[step.kernel];
    int pills = llvm::count_if(step.uses,
                               [](const ExplainedUse &use) { return use.from < 0; });
    int height = std::max(heightOf(kernel), pills * (kPill + 8) + 8);
    os << "<a href=\"#" << anchor(program.target, kernel.name) << "\">\n";
    rect(kLeft, top, kBox, height, "kernel");
    text(kLeft + kPadding, top + 20, "name", kernel.name);
    std::string how = strategyOf(kernel);
    if (step.depth)
      how += ", under control flow";
    text(kLeft + kBox - kPadding, top + 20, "", how, "end");
    if (!kernel.variants.empty())
      text(kLeft + kPadding, top + 36, "code",
           std::to_string(kernel.variants.size()) +
               (kernel.variants.size() == 1 ? " variant" : " variants") +
               ", first " + sizesInWords(kernel.variants.front()));
    os << "</a>\n";
    drawOps(kernel, top + kTitle);
    int y = top + 6, x = kLeft + kBox / 2 - 60;
    for (const ExplainedUse &use : step.uses)
      if (use.from < 0) {
        join(use, y, 0);
        y += kPill + 8;
      } else {
        join(use, top, x);
        x += 60;
      }
    bottoms.push_back(top + height);
  }

  void drawOps(const ExplainedKernel &kernel, int top) {
    int left = kLeft + 46, width = kBox - 92;
    std::vector<int> tops;
    for (const auto &[index, op] : llvm::enumerate(kernel.ops)) {
      int y = top + int(index) * (kOp + kBetweenOps);
      tops.push_back(y);
      StringRef family = StringRef(op.kind).take_until(
          [](char c) { return c == ':'; });
      rect(left, y, width, kOp, family);
      text(left + 10, y + 18, "", op.kind);
      if (op.line)
        text(left + width - 10, y + 18, "code",
             "line " + std::to_string(op.line), "end");
      text(left + 10, y + 35, "code", input.line(op.line, 60));
      for (const ExplainedUse &use : op.uses) {
        if (use.from < 0)
          continue;
        if (use.from + 1 == int64_t(index)) {
          int x = left + width / 2;
          path(formatv("M{0} {1} L{0} {2}", x, y - kBetweenOps, y).str());
          text(x + 6, y - kBetweenOps / 2 + 4, "shape", use.type);
        } else { // around the left side, inside the kernel
          int x = left - 12 - 8 * int((index + use.from) % 4);
          path(formatv("M{0} {1} L{2} {1} L{2} {3} L{0} {3}", left,
                       tops[use.from] + kOp - 10, x, y + 12)
                   .str());
        }
      }
    }
  }

  const ExplainInput &input;
  const ProgramExplanation &program;
  const ExplainedFunction &function;
  std::string body;
  raw_string_ostream os;
  std::vector<int> bottoms; // of the kernels drawn
  int detours = 0;
};

void writeWork(raw_ostream &os, StringRef flops, StringRef bytes) {
  if (!flops.empty())
    os << "<p class=\"said\">Operations: <code>" << escaped(flops)
       << "</code></p>\n";
  if (!bytes.empty())
    os << "<p class=\"said\">Bytes that must move: <code>" << escaped(bytes)
       << "</code></p>\n";
}

void writeLine(raw_ostream &os, StringRef line) {
  std::string words = configInWords(line);
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
    if (variant.name == kernel.name)
      continue;
    for (const std::string &name : program.programs)
      for (const std::string &line : input.linesOf(name, variant.name))
        os << "<tr><td></td><td colspan=\"4\">" << escaped(line)
           << "</td></tr>\n";
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
      writeLine(os, line);
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
      os << Picture(input, program, function).draw();
    }
    os << "<h3>Kernels</h3>\n";
    for (const ExplainedKernel &kernel : program.kernels)
      writeKernel(os, input, program, kernel);
  }
  os << "</body>\n</html>\n";
  return text;
}
