// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest's integer expressions: grids, guards, checks, scalars.
//
//   ["ceildiv", ["dim", 0, 1], 128]   ──parse──▶   nodes     ──evaluate──▶
//   64-bit
//
// An expression is a tree in one array, children before parents. parse() checks
// arity, operand numbers and depth once, so that evaluate() can only fail by
// arithmetic: overflow and division by zero are errors that name the operation
// and both values. `and` / `or` stop as soon as they are decided.
//
// Device facts do not change: bind() replaces them by their values and folds
// what becomes constant, so that a guard over facts alone costs nothing later.
#ifndef TILEWRIGHT_CORE_EXPRESSION_H
#define TILEWRIGHT_CORE_EXPRESSION_H

#include "core/status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::runtime {

class JsonCursor;

/// Limits of one expression.
constexpr int kMaxExpressionDepth = 32;
constexpr size_t kMaxExpressionNodes = 4096;

/// What an expression may refer to: the rank of each operand, and the number of
/// host scalars.
struct ExpressionScope {
  std::vector<int> operandRanks;
  size_t numScalars = 0;
};

/// The operand values of one launch.
struct ExpressionOperand {
  const int64_t *dims = nullptr;
  int rank = 0;
  uint64_t address = 0; // of element 0, or an offset into aligned memory
  const int64_t *strides = nullptr; // null: dense row-major
  int64_t offset = 0; // elements from what a kernel gets to element 0,
  int64_t before = 0; // less these, of a padded operand
};
struct ExpressionValues {
  const ExpressionOperand *operands = nullptr;
  const int64_t *scalars = nullptr;
};

class Expression {
public:
  /// The constant 0.
  Expression();
  static Expression constant(int64_t value);

  /// Reads the JSON form.
  static Status parse(const JsonCursor &json, const ExpressionScope &scope,
                      Expression &result);
  /// The same from text, for tests.
  static Status parseText(std::string_view text, const ExpressionScope &scope,
                          Expression &result);

  /// Substitutes device facts and folds constants. A subexpression that would
  /// fail is left to fail when it is evaluated.
  void bind(const std::function<int64_t(const std::string &)> &fact);

  /// The value, if it depends on nothing.
  bool isConstant() const;
  int64_t constantValue() const;

  /// Values must match the scope that the expression was parsed with; unbound
  /// device facts are 0.
  Status evaluate(const ExpressionValues &values, int64_t &result) const;

  /// Prefix form for messages: `ceildiv(dim(0, 1), 128)`.
  std::string text() const;

private:
  enum class Op : uint8_t {
    Constant,
    Dim,
    Stride,
    Numel,
    Offset,
    Span,
    Align,
    Scalar,
    Device,
    Add,
    Sub,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
    Min,
    Max,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Not
  };
  // A leaf keeps its operands in a and b; the children of an operation are
  // children[a] … children[a + b - 1].
  struct Node {
    Op op = Op::Constant;
    int64_t a = 0;
    int64_t b = 0;
  };
  struct OpInfo;
  static const OpInfo *infos();

  Status parseNode(const JsonCursor &json, const ExpressionScope &scope,
                   int depth, int64_t &index);
  Status evaluateNode(int64_t index, const ExpressionValues &values,
                      int64_t &result) const;
  Status evaluateLogical(const Node &node, const ExpressionValues &values,
                         int64_t &result) const;
  Status evaluateArithmetic(const Node &node, const ExpressionValues &values,
                            int64_t &result) const;
  static Status apply(Op op, int64_t a, int64_t b, int64_t &result);
  bool foldNode(int64_t index);
  std::string nodeText(int64_t index) const;
  static bool isLeaf(Op op) { return op <= Op::Device; }

  std::vector<Node> nodes;
  std::vector<int64_t> children;
  std::vector<std::string> facts;
  int64_t root = 0;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_EXPRESSION_H
