// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses, folds and evaluates expressions; see expression.h. The recursions go
// no deeper than kMaxExpressionDepth, which parse() enforces.

#include "core/expression.h"

#include "core/checked.h"
#include "core/dtype.h"
#include "core/json_reader.h"

#include <algorithm>

namespace tilewright::runtime {

// Rows in the order of Op. minArgs and maxArgs count what follows the name;
// kMany is any number.
struct Expression::OpInfo {
  const char *name;
  int minArgs;
  int maxArgs;
};

namespace {
constexpr int kMany = 64;
} // namespace

const Expression::OpInfo *Expression::infos() {
  static const OpInfo table[] = {
      {"", 0, 0},      {"dim", 2, 2},     {"stride", 2, 2},   {"numel", 1, 1},
      {"offset", 1, 1}, {"span", 1, 1},
      {"align", 1, 1}, {"scalar", 1, 1},  {"device", 1, 1},   {"add", 2, kMany},
      {"sub", 2, 2},   {"mul", 2, kMany}, {"floordiv", 2, 2}, {"ceildiv", 2, 2},
      {"mod", 2, 2},   {"min", 2, kMany}, {"max", 2, kMany},  {"eq", 2, 2},
      {"ne", 2, 2},    {"lt", 2, 2},      {"le", 2, 2},       {"gt", 2, 2},
      {"ge", 2, 2},    {"and", 1, kMany}, {"or", 1, kMany},   {"not", 1, 1},
  };
  static_assert(sizeof(table) / sizeof(table[0]) == size_t(Op::Not) + 1,
                "one row per operation");
  return table;
}

Expression::Expression() : nodes(1) {}

Expression Expression::constant(int64_t value) {
  Expression result;
  result.nodes[0].a = value;
  return result;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

Status Expression::parse(const JsonCursor &json, const ExpressionScope &scope,
                         Expression &result) {
  Expression expression;
  expression.nodes.clear();
  if (Status s = expression.parseNode(json, scope, 0, expression.root))
    return s;
  result = std::move(expression);
  return Status::ok();
}

Status Expression::parseText(std::string_view text,
                             const ExpressionScope &scope, Expression &result) {
  JsonValue json;
  if (Status s = parseJson("expression", text, json))
    return s;
  return parse(JsonCursor(json, "expression"), scope, result);
}

Status Expression::parseNode(const JsonCursor &json,
                             const ExpressionScope &scope, int depth,
                             int64_t &index) {
  if (depth > kMaxExpressionDepth)
    return json.error("expression nested deeper than " +
                      std::to_string(kMaxExpressionDepth) + " levels");
  if (nodes.size() >= kMaxExpressionNodes)
    return json.error("expression has more than " +
                      std::to_string(kMaxExpressionNodes) + " terms");
  Node node;
  if (json.json().is(JsonValue::Kind::Boolean)) {
    node.a = json.json().boolean;
  } else if (json.json().isNumber()) {
    if (Status s = json.integer(INT64_MIN, INT64_MAX, node.a))
      return s;
  } else {
    std::string name;
    if (!json.json().is(JsonValue::Kind::Array) || json.size() == 0 ||
        !json.json().elements[0].is(JsonValue::Kind::String))
      return json.expected("an integer, true, false, or an array that starts "
                           "with the name of an operation");
    name = json.json().elements[0].text;
    const OpInfo *table = infos();
    size_t op = 1;
    while (op <= size_t(Op::Not) && name != table[op].name)
      ++op;
    if (op > size_t(Op::Not))
      return json[size_t(0)].error("unknown operation '" + name + "'");
    node.op = static_cast<Op>(op);
    int count = static_cast<int>(std::min<size_t>(json.size() - 1, 1 << 20));
    if (count < table[op].minArgs || count > table[op].maxArgs) {
      std::string wanted = std::to_string(table[op].minArgs);
      if (table[op].maxArgs != table[op].minArgs)
        wanted += " to " + std::to_string(table[op].maxArgs);
      return json.error("'" + name + "' takes " + wanted +
                        " arguments; found " + std::to_string(count));
    }
    if (node.op == Op::Device) {
      std::string fact;
      if (Status s = json[size_t(1)].string(fact))
        return s;
      node.a = static_cast<int64_t>(facts.size());
      facts.push_back(std::move(fact));
    } else if (node.op == Op::Scalar) {
      if (scope.numScalars == 0)
        return json.error("there are no scalars to refer to");
      if (Status s =
              json[size_t(1)].integer(0, int64_t(scope.numScalars) - 1, node.a))
        return s;
    } else if (isLeaf(node.op)) {
      if (scope.operandRanks.empty())
        return json.error("there are no operands to refer to");
      if (Status s = json[size_t(1)].integer(
              0, int64_t(scope.operandRanks.size()) - 1, node.a))
        return s;
      int rank = scope.operandRanks[node.a];
      if (table[op].minArgs == 2) {
        if (rank <= 0)
          return json.error("operand " + std::to_string(node.a) +
                            " has no dims");
        if (Status s = json[size_t(2)].integer(0, rank - 1, node.b))
          return s;
      }
    } else {
      std::vector<int64_t> arguments(count);
      for (int i = 0; i < count; ++i)
        if (Status s =
                parseNode(json[size_t(i + 1)], scope, depth + 1, arguments[i]))
          return s;
      node.a = static_cast<int64_t>(children.size());
      node.b = count;
      children.insert(children.end(), arguments.begin(), arguments.end());
    }
  }
  index = static_cast<int64_t>(nodes.size());
  nodes.push_back(node);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

Status Expression::apply(Op op, int64_t a, int64_t b, int64_t &result) {
  bool good = true;
  switch (op) {
  case Op::Add:
    good = checkedAdd(a, b, result);
    break;
  case Op::Sub:
    good = checkedSub(a, b, result);
    break;
  case Op::Mul:
    good = checkedMul(a, b, result);
    break;
  case Op::FloorDiv:
    good = checkedFloorDiv(a, b, result);
    break;
  case Op::CeilDiv:
    good = checkedCeilDiv(a, b, result);
    break;
  case Op::Mod:
    good = checkedFloorMod(a, b, result);
    break;
  case Op::Min:
    result = std::min(a, b);
    break;
  case Op::Max:
    result = std::max(a, b);
    break;
  case Op::Eq:
    result = a == b;
    break;
  case Op::Ne:
    result = a != b;
    break;
  case Op::Lt:
    result = a < b;
    break;
  case Op::Le:
    result = a <= b;
    break;
  case Op::Gt:
    result = a > b;
    break;
  case Op::Ge:
    result = a >= b;
    break;
  default:
    return internalError("not a binary operation");
  }
  if (good)
    return Status::ok();
  bool division = op == Op::FloorDiv || op == Op::CeilDiv || op == Op::Mod;
  return programError(
      std::string(infos()[size_t(op)].name) + "(" + std::to_string(a) + ", " +
      std::to_string(b) + ") " +
      (division && b == 0 ? "divides by zero" : "overflows 64 bits"));
}

// One more than the offset of the last element, at least; 0 without elements. False if that
// overflows.
static bool spanOf(const ExpressionOperand &operand, int64_t &result) {
  if (std::find(operand.dims, operand.dims + operand.rank, 0) !=
      operand.dims + operand.rank) {
    result = 0;
    return true;
  }
  int64_t last = operand.offset, dense = 1;
  for (int d = operand.rank - 1; d >= 0; --d) {
    int64_t reach;
    if (!checkedMul(operand.dims[d] - 1, operand.strides ? operand.strides[d] : dense, reach) ||
        !checkedAdd(last, reach, last) || !checkedMul(dense, operand.dims[d], dense))
      return false;
  }
  return checkedAdd(last, 1, result);
}

// The product of the dims from `first` on. False if that overflows.
static bool productOf(const ExpressionOperand &operand, int first, int64_t &result) {
  int64_t product = 1;
  for (int d = first; d < operand.rank; ++d)
    if (!checkedMul(product, operand.dims[d], product))
      return false;
  result = product;
  return true;
}

Status Expression::evaluateLogical(const Node &node, const ExpressionValues &values,
                                   int64_t &result) const {
  bool isOr = node.op == Op::Or;
  for (int64_t i = 0; i < node.b; ++i) {
    int64_t value;
    if (Status s = evaluateNode(children[node.a + i], values, value))
      return s;
    if ((value != 0) == isOr) {
      result = isOr;
      return Status::ok();
    }
  }
  result = !isOr;
  return Status::ok();
}

Status Expression::evaluateArithmetic(const Node &node, const ExpressionValues &values,
                                      int64_t &result) const {
  int64_t value;
  if (Status s = evaluateNode(children[node.a], values, value))
    return s;
  for (int64_t i = 1; i < node.b; ++i) {
    int64_t next;
    if (Status s = evaluateNode(children[node.a + i], values, next))
      return s;
    if (Status s = apply(node.op, value, next, value))
      return s;
  }
  result = value;
  return Status::ok();
}

Status Expression::evaluateNode(int64_t index, const ExpressionValues &values,
                                int64_t &result) const {
  const Node &node = nodes[index];
  auto within = [&](bool isWithin) {
    return isWithin ? Status::ok() : programError(nodeText(index) + " overflows 64 bits");
  };
  switch (node.op) {
  case Op::Constant:
    result = node.a;
    return Status::ok();
  case Op::Dim:
    result = values.operands[node.a].dims[node.b];
    return Status::ok();
  case Op::Offset:
    result = values.operands[node.a].offset - values.operands[node.a].before;
    return Status::ok();
  case Op::Span:
    return within(spanOf(values.operands[node.a], result));
  case Op::Stride: {
    const ExpressionOperand &operand = values.operands[node.a];
    if (!operand.strides) // dense, row-major
      return within(productOf(operand, static_cast<int>(node.b) + 1, result));
    result = operand.strides[node.b];
    return Status::ok();
  }
  case Op::Numel:
    return within(productOf(values.operands[node.a], 0, result));
  case Op::Align: {
    uint64_t address = values.operands[node.a].address | 256;
    result = static_cast<int64_t>(address & (~address + 1));
    return Status::ok();
  }
  case Op::Scalar:
    result = values.scalars[node.a];
    return Status::ok();
  case Op::Device:
    result = 0;
    return Status::ok();
  case Op::And:
  case Op::Or:
    return evaluateLogical(node, values, result);
  case Op::Not: {
    int64_t value;
    if (Status s = evaluateNode(children[node.a], values, value))
      return s;
    result = value == 0;
    return Status::ok();
  }
  default:
    return evaluateArithmetic(node, values, result);
  }
}

Status Expression::evaluate(const ExpressionValues &values,
                            int64_t &result) const {
  return evaluateNode(root, values, result);
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

void Expression::bind(const std::function<int64_t(const std::string &)> &fact) {
  for (Node &node : nodes)
    if (node.op == Op::Device)
      node = {Op::Constant, fact(facts[node.a]), 0};
  foldNode(root);
}

bool Expression::foldNode(int64_t index) {
  Node &node = nodes[index];
  if (isLeaf(node.op))
    return node.op == Op::Constant;
  bool all = true;
  bool decided = false;
  for (int64_t i = 0; i < node.b; ++i) {
    int64_t child = children[node.a + i];
    if (!foldNode(child))
      all = false;
    else if (all && ((node.op == Op::And && nodes[child].a == 0) ||
                     (node.op == Op::Or && nodes[child].a != 0)))
      decided = true;
  }
  if (!all && !decided)
    return false;
  int64_t value;
  if (evaluateNode(index, ExpressionValues(), value))
    return false;
  node = {Op::Constant, value, 0};
  return true;
}

bool Expression::isConstant() const { return nodes[root].op == Op::Constant; }

int64_t Expression::constantValue() const { return nodes[root].a; }

std::string Expression::nodeText(int64_t index) const {
  const Node &node = nodes[index];
  if (node.op == Op::Constant)
    return std::to_string(node.a);
  std::string result = std::string(infos()[size_t(node.op)].name) + "(";
  if (node.op == Op::Device)
    return result + facts[node.a] + ")";
  if (isLeaf(node.op)) {
    result += std::to_string(node.a);
    if (node.op == Op::Dim || node.op == Op::Stride)
      result += ", " + std::to_string(node.b);
    return result + ")";
  }
  for (int64_t i = 0; i < node.b; ++i)
    result += (i ? ", " : "") + nodeText(children[node.a + i]);
  return result + ")";
}

std::string Expression::text() const { return nodeText(root); }

} // namespace tilewright::runtime
