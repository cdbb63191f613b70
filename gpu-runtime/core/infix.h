// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of manifests (docs/abi.md) as people write them, with as few
// parentheses as the ranks of the operators allow:
//
//   ["and", ["lt", ["numel", 2], 64], ["eq", ["mod", ["dim", 0, 1], 8], 0]]
//   numel(2) < 64 and dim(0, 1) mod 8 == 0
//
// Over any JSON library: the compiler and tilewright-inspect each have their own.
// A Node has boolean() and string(), each an optional; size(), of an array, 0 for
// everything else; at(i), a Node; and json(), its text.
#ifndef TILEWRIGHT_CORE_INFIX_H
#define TILEWRIGHT_CORE_INFIX_H

#include <cstddef>
#include <optional>
#include <string>

namespace tilewright::runtime {

struct InfixOperator {
  const char *name, *text;
  int rank; // binds tighter the larger
};

/// Null: it is written as a function.
inline const InfixOperator *findInfix(const std::string &name) {
  static const InfixOperator table[] = {
      {"or", " or ", 1},   {"and", " and ", 2},
      {"eq", " == ", 3},   {"ne", " != ", 3},
      {"lt", " < ", 3},    {"le", " <= ", 3},
      {"gt", " > ", 3},    {"ge", " >= ", 3},
      {"add", " + ", 4},   {"sub", " - ", 4},
      {"mul", " * ", 5},   {"floordiv", " floordiv ", 5},
      {"mod", " mod ", 5}, {"ceildiv", " ceildiv ", 5}};
  for (const InfixOperator &row : table)
    if (name == row.name)
      return &row;
  return nullptr;
}

/// Within an operator of rank `outer`. What is no expression is its JSON.
template <typename Node>
std::string infixText(const Node &node, int outer = 0) {
  if (std::optional<bool> constant = node.boolean())
    return *constant ? "always" : "never";
  std::optional<std::string> op;
  if (node.size())
    op = node.at(0).string();
  if (!op)
    return node.json();
  const InfixOperator *infix = findInfix(*op);
  std::string text;
  if (!infix) { // dim(0, 1), min(a, b), not(a)
    for (size_t i = 1; i < node.size(); ++i) {
      std::optional<std::string> word = node.at(i).string();
      text += (i > 1 ? ", " : "") + (word ? *word : infixText(node.at(i)));
    }
    return *op + "(" + text + ")";
  }
  bool associates = *op == "or" || *op == "and" || *op == "add" || *op == "mul";
  int inner = associates ? infix->rank : infix->rank + 1;
  for (size_t i = 1; i < node.size(); ++i) {
    const Node &operand = node.at(i);
    // Products mixed with divisions are bracketed: few know who goes first.
    bool mixed = infix->rank == 5 && operand.size() &&
                 operand.at(0).string() != op;
    text += (i > 1 ? infix->text : "") + infixText(operand, mixed ? 6 : inner);
  }
  return infix->rank < outer ? "(" + text + ")" : text;
}

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_INFIX_H
