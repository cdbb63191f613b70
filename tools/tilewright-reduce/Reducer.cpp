// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//

#include "Reducer.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static std::string toText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  os << "\n";
  return text;
}

Reducer::Module Reducer::parse(StringRef source) {
  return parseSourceString<ModuleOp>(source, ParserConfig(&context));
}

bool Reducer::take(Module candidate, const Twine &what) {
  if (isInterrupted() || !candidate || failed(verify(*candidate)))
    return false;
  eraseDead(*candidate);
  std::string smaller = toText(*candidate);
  if (!tried.insert(smaller).second)
    return false;
  // What is printed is what is asked about: it must read back.
  if (!parse(smaller) || !interesting.whyNot(*candidate, smaller).empty())
    return false;
  current = std::move(candidate);
  text = std::move(smaller);
  keep(text);
  llvm::errs() << "reduce: " << what << "; " << countOps(*current)
               << " ops left\n";
  return true;
}

bool Reducer::tryEdit(llvm::function_ref<bool(ModuleOp)> edit,
                      const Twine &what) {
  Module copy(cast<ModuleOp>(current.get()->clone()));
  return edit(*copy) && take(std::move(copy), what);
}

bool Reducer::tryText(const std::string &edited, const Twine &what) {
  return edited != text && take(parse(edited), what);
}

bool Reducer::reduceSignatures() {
  bool changed = false;
  for (size_t i = countFunctions(*current); i-- > 0;)
    changed |= tryEdit([&](ModuleOp m) { return dropFunction(m, i); },
                       "a function went");
  for (size_t i = countResults(*current); i-- > 0;)
    changed |=
        tryEdit([&](ModuleOp m) { return dropResult(m, i); }, "a result went");
  changed |= tryEdit(dropUnusedArguments, "unused arguments went");
  changed |= tryEdit(dropAttributes, "attributes went");
  return changed;
}

bool Reducer::reduceOps(Instead instead) {
  bool changed = false;
  for (size_t chunk = std::max<size_t>(countOps(*current) / 2, 1);; chunk /= 2) {
    // From the end: results first, then what only they needed.
    for (size_t end = countOps(*current); end > 0;) {
      size_t first = end > chunk ? end - chunk : 0;
      changed |= tryEdit(
          [&](ModuleOp m) {
            return bypassOps(m, first, end - first, instead);
          },
          instead == Instead::Argument ? "ops became arguments" : "ops went");
      end = std::min(first, countOps(*current));
    }
    if (chunk <= 1)
      return changed;
  }
}

bool Reducer::reduceSizes() {
  // What is in runs, and what is smallest; with sizes known more can go.
  bool changed = tryText(withStaticDims(text, dim), "? is " + Twine(dim)) ||
                 tryText(withStaticDims(text, 1), "? is 1");
  for (int64_t size : sizesIn(text))
    for (int64_t to : {int64_t(1), int64_t(2), int64_t(4), int64_t(8),
                       int64_t(16), size / 2}) {
      if (to < 1 || to >= size)
        continue;
      std::string what =
          "size " + std::to_string(size) + " is " + std::to_string(to);
      if (tryText(withSize(text, size, to, /*constants=*/false), what) ||
          tryText(withSize(text, size, to, /*constants=*/true), what)) {
        changed = true;
        break;
      }
    }
  return changed;
}

bool Reducer::reduceTypes() {
  bool changed = false;
  for (auto [from, to] :
       {std::pair("f64", "f32"), {"bf16", "f32"}, {"f16", "f32"}, {"i64", "i32"},
        {"i16", "i32"}, {"i8", "i32"}})
    changed |= tryText(withWord(text, from, to),
                       Twine(from) + " is " + to);
  return changed;
}

std::string Reducer::reduce(StringRef source, std::string &error) {
  current = parse(source);
  if (!current) {
    error = "it does not parse";
    return "";
  }
  // Edits make invalid programs all the time; nobody wants to hear of them.
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
  text = toText(*current);
  error = interesting.whyNot(*current, text);
  if (!error.empty())
    return "";
  tried.insert(text);
  while (true) {
    bool changed = reduceSignatures();
    for (Instead instead :
         {Instead::LastOperand, Instead::FirstOperand, Instead::Argument})
      changed |= reduceOps(instead);
    changed |= reduceSignatures();
    changed |= reduceSizes();
    changed |= reduceTypes();
    if (!changed)
      return text;
  }
}
