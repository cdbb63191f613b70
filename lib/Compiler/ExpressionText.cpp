// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infix text with as few parentheses as the ranks of the operators allow. The
// text is that of tilewright-inspect, which has no LLVM to share this with.

#include "ExpressionText.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tilewright;
using llvm::StringRef;

namespace json = llvm::json;

namespace {
struct Infix {
  const char *text = nullptr;
  int rank = 0; // binds tighter the larger
};
} // namespace

static Infix lookup(StringRef op) {
  return llvm::StringSwitch<Infix>(op)
      .Case("or", {" or ", 1})
      .Case("and", {" and ", 2})
      .Case("eq", {" == ", 3})
      .Case("ne", {" != ", 3})
      .Case("lt", {" < ", 3})
      .Case("le", {" <= ", 3})
      .Case("gt", {" > ", 3})
      .Case("ge", {" >= ", 3})
      .Case("add", {" + ", 4})
      .Case("sub", {" - ", 4})
      .Case("mul", {" * ", 5})
      .Case("floordiv", {" floordiv ", 5})
      .Case("ceildiv", {" ceildiv ", 5})
      .Case("mod", {" mod ", 5})
      .Default({});
}

static std::string write(const json::Value &node, int outer) {
  if (std::optional<bool> constant = node.getAsBoolean())
    return *constant ? "always" : "never";
  const json::Array *list = node.getAsArray();
  std::optional<StringRef> op =
      list && !list->empty() ? list->front().getAsString() : std::nullopt;
  if (!op)
    return llvm::formatv("{0}", node).str();
  std::string text;
  Infix infix = lookup(*op);
  if (!infix.text) { // dim(0, 1), min(a, b), not(a)
    text = op->str() + "(";
    for (size_t i = 1; i < list->size(); ++i) {
      std::optional<StringRef> word = (*list)[i].getAsString();
      text += (i > 1 ? ", " : "") + (word ? word->str() : write((*list)[i], 0));
    }
    return text + ")";
  }
  bool associates =
      *op == "or" || *op == "and" || *op == "add" || *op == "mul";
  for (size_t i = 1; i < list->size(); ++i) {
    const json::Array *inner = (*list)[i].getAsArray();
    // Products mixed with divisions are bracketed: few know who goes first.
    bool product = infix.rank == 5 && inner && !inner->empty() &&
                   inner->front() != list->front();
    text += (i > 1 ? infix.text : "") +
            write((*list)[i],
                  product ? 6 : associates ? infix.rank : infix.rank + 1);
  }
  return infix.rank < outer ? "(" + text + ")" : text;
}

std::string tilewright::expressionText(const json::Value &expression) {
  return write(expression, 0);
}
