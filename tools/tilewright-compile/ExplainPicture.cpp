// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The picture of one function as SVG: kernels as boxes from top to bottom with their ops as boxes
// inside, and shapes on the edges.
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

#include "ExplainHtml.h"

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

class Picture {
public:
  Picture(const ExplainInput &input, const ProgramExplanation &program,
          const ExplainedFunction &function)
      : input(input), program(program), function(function), os(body) {}

  std::string draw();

private:
  void text(int x, int y, StringRef kind, StringRef value,
            StringRef align = "start");
  void rect(int x, int y, int width, int height, StringRef kind);
  void path(const Twine &d);
  void pill(int x, int y, int width, StringRef name, StringRef type);
  /// Results side by side: those of the last kernel with an edge, others with
  /// the name of what they come from. Gives the y behind them.
  int drawResults(int y);
  /// An edge to a box whose top is `top`, at `x`: from the box before straight
  /// down, from one further up around the right side.
  void join(const ExplainedUse &use, int top, int x);
  std::string strategyOf(const ExplainedKernel &kernel) const;
  int heightOf(const ExplainedKernel &kernel) const;
  void drawStep(size_t index, const ExplainedStep &step, int top);
  void drawOps(const ExplainedKernel &kernel, int top);

  const ExplainInput &input;
  const ProgramExplanation &program;
  const ExplainedFunction &function;
  std::string body;
  raw_string_ostream os;
  std::vector<int> bottoms; // of the kernels drawn
  int detours = 0;
};

} // namespace

std::string Picture::draw() {
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

void Picture::text(int x, int y, StringRef kind, StringRef value,
                   StringRef align) {
  os << formatv("<text x=\"{0}\" y=\"{1}\" class=\"{2}\" "
                "text-anchor=\"{3}\">{4}</text>\n",
                x, y, kind, align, escaped(value));
}

void Picture::rect(int x, int y, int width, int height, StringRef kind) {
  os << formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
                "rx=\"6\" class=\"{4}\"/>\n",
                x, y, width, height, kind);
}

void Picture::path(const Twine &d) {
  os << "<path class=\"edge\" marker-end=\"url(#tip)\" d=\"" << d << "\"/>\n";
}

void Picture::pill(int x, int y, int width, StringRef name, StringRef type) {
  rect(x, y, width, kPill, "pill");
  text(x + 8, y + (type.empty() ? 19 : 13), "", name);
  if (!type.empty())
    text(x + 8, y + 25, "shape", type);
}

int Picture::drawResults(int y) {
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

void Picture::join(const ExplainedUse &use, int top, int x) {
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

std::string Picture::strategyOf(const ExplainedKernel &kernel) const {
  for (const std::string &name : program.programs)
    for (StringRef line : input.linesOf(name, kernel.name))
      if (line.consume_front("strategy "))
        return line.take_until([](char c) { return c == ':'; }).str();
  return "";
}

int Picture::heightOf(const ExplainedKernel &kernel) const {
  int ops = kernel.ops.size();
  return kTitle + ops * kOp + std::max(ops - 1, 0) * kBetweenOps + kPadding;
}

void Picture::drawStep(size_t index, const ExplainedStep &step, int top) {
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

void Picture::drawOps(const ExplainedKernel &kernel, int top) {
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

std::string drawFunction(const ExplainInput &input, const ProgramExplanation &program,
                         const ExplainedFunction &function) {
  return Picture(input, program, function).draw();
}
