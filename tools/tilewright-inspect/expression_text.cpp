// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infix text with as few parentheses as the ranks of the operators allow.

#include "expression_text.h"

#include <map>

namespace tilewright::inspect {

using nlohmann::json;

namespace {

struct Infix {
  const char *text;
  int rank; // binds tighter the larger
};

const std::map<std::string, Infix> &infixes() {
  static const std::map<std::string, Infix> table = {
      {"or", {" or ", 1}},       {"and", {" and ", 2}},
      {"eq", {" == ", 3}},       {"ne", {" != ", 3}},
      {"lt", {" < ", 3}},        {"le", {" <= ", 3}},
      {"gt", {" > ", 3}},        {"ge", {" >= ", 3}},
      {"add", {" + ", 4}},       {"sub", {" - ", 4}},
      {"mul", {" * ", 5}},       {"floordiv", {" floordiv ", 5}},
      {"ceildiv", {" ceildiv ", 5}}, {"mod", {" mod ", 5}}};
  return table;
}

std::string write(const json &node, int outer) {
  if (node.is_boolean())
    return node.get<bool>() ? "always" : "never";
  if (!node.is_array() || node.empty() || !node[0].is_string())
    return node.dump();
  std::string op = node[0];
  auto infix = infixes().find(op);
  if (infix == infixes().end()) { // dim(0, 1), min(a, b), not(a)
    std::string text = op + "(";
    for (size_t i = 1; i < node.size(); ++i)
      text += (i > 1 ? ", " : "") +
              (node[i].is_string() ? node[i].get<std::string>()
                                   : write(node[i], 0));
    return text + ")";
  }
  int rank = infix->second.rank;
  bool associates = op == "or" || op == "and" || op == "add" || op == "mul";
  std::string text;
  for (size_t i = 1; i < node.size(); ++i) {
    // Products mixed with divisions are bracketed: few know who goes first.
    bool product = rank == 5 && node[i].is_array() && !node[i].empty() &&
                   node[i][0] != op;
    text += (i > 1 ? infix->second.text : "") +
            write(node[i], product ? 6 : associates ? rank : rank + 1);
  }
  return rank < outer ? "(" + text + ")" : text;
}

} // namespace

std::string expressionText(const json &expression) {
  return write(expression, 0);
}

} // namespace tilewright::inspect
