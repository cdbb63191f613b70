// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The expression evaluator: every operation, overflow, errors, folding.

#include "core/expression.h"

#include <gtest/gtest.h>

using namespace tilewright::runtime;

namespace {

// Operands: 0 is 6x0x5 at address 48, 1 is 7x9 at address 4096, 2 is a scalar
// tensor, 3 a 7x9 window with strides 40 and 3, 5 elements behind its buffer.
// Host scalars: -3, 1 << 40.
struct Fixture {
  int64_t dims0[3] = {6, 0, 5}, dims1[2] = {7, 9}, strides3[2] = {40, 3};
  ExpressionOperand operands[4] = {
      {dims0, 3, 48}, {dims1, 2, 4096}, {}, {dims1, 2, 20, strides3, 5}};
  int64_t scalars[2] = {-3, int64_t(1) << 40};
  ExpressionScope scope{{3, 2, 0, 2}, 2};
};

std::string run(const std::string &text) {
  Fixture f;
  Expression expression;
  if (Status s = Expression::parseText(text, f.scope, expression))
    return s.message();
  auto evaluate = [&](const Expression &e) {
    int64_t value;
    if (Status s = e.evaluate({f.operands, f.scalars}, value))
      return s.message();
    return std::to_string(value);
  };
  std::string result = evaluate(expression);
  // Binding changes no value (unbound facts are 0).
  Expression bound = expression;
  bound.bind([](const std::string &) { return 0; });
  EXPECT_EQ(evaluate(bound), result) << text;
  return result;
}

TEST(Expression, Leaves) {
  EXPECT_EQ(run("42"), "42");
  EXPECT_EQ(run("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(run("true"), "1");
  EXPECT_EQ(run("false"), "0");
  EXPECT_EQ(run(R"(["dim", 0, 2])"), "5");
  EXPECT_EQ(run(R"(["stride", 0, 0])"), "0");
  EXPECT_EQ(run(R"(["stride", 0, 1])"), "5");
  EXPECT_EQ(run(R"(["stride", 1, 0])"), "9");
  EXPECT_EQ(run(R"(["stride", 1, 1])"), "1");
  EXPECT_EQ(run(R"(["numel", 0])"), "0");
  EXPECT_EQ(run(R"(["numel", 1])"), "63");
  EXPECT_EQ(run(R"(["numel", 2])"), "1");
  EXPECT_EQ(run(R"(["align", 0])"), "16");
  EXPECT_EQ(run(R"(["align", 1])"), "256");
  EXPECT_EQ(run(R"(["stride", 3, 0])"), "40");
  EXPECT_EQ(run(R"(["stride", 3, 1])"), "3");
  EXPECT_EQ(run(R"(["numel", 3])"), "63");
  EXPECT_EQ(run(R"(["offset", 1])"), "0");
  EXPECT_EQ(run(R"(["offset", 3])"), "5");
  EXPECT_EQ(run(R"(["span", 0])"), "0");
  EXPECT_EQ(run(R"(["span", 1])"), "63");
  EXPECT_EQ(run(R"(["span", 2])"), "1");
  EXPECT_EQ(run(R"(["span", 3])"), "270"); // 5 + 6 * 40 + 8 * 3 + 1
  EXPECT_EQ(run(R"(["align", 3])"), "4");
  EXPECT_EQ(run(R"(["scalar", 0])"), "-3");
  EXPECT_EQ(run(R"(["device", "sm"])"), "0");
}

// What decides between 32-bit and 64-bit indices.
TEST(Expression, IndexGuards) {
  auto holds = [](const char *guard, std::vector<int64_t> dims,
                  std::vector<int64_t> strides, int64_t offset) {
    Expression expression;
    EXPECT_FALSE(Expression::parseText(guard, {{2}, 0}, expression));
    ExpressionOperand operand = {dims.data(), 2, 0,
                                 strides.empty() ? nullptr : strides.data(),
                                 offset};
    int64_t value = -1;
    EXPECT_FALSE(expression.evaluate({&operand, nullptr}, value));
    return value;
  };
  const char *dense = R"(["lt", ["numel", 0], 2147483648])";
  EXPECT_EQ(holds(dense, {65536, 32767}, {}, 0), 1);
  EXPECT_EQ(holds(dense, {65536, 32768}, {}, 0), 0);
  EXPECT_EQ(holds(dense, {int64_t(1) << 40, 0}, {}, 0), 1);
  const char *window = R"(["lt", ["span", 0], 2147483648])";
  EXPECT_EQ(holds(window, {2048, 8}, {1 << 20, 1}, 0), 1);
  EXPECT_EQ(holds(window, {2049, 8}, {1 << 20, 1}, 0), 0);
  EXPECT_EQ(holds(window, {2048, 8}, {1 << 20, 1}, (1 << 20) - 8), 0);
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(run(R"(["add", 1, 2, 3])"), "6");
  EXPECT_EQ(run(R"(["sub", 1, 2])"), "-1");
  EXPECT_EQ(run(R"(["mul", 2, 3, 4])"), "24");
  EXPECT_EQ(run(R"(["min", 5, -2, 7])"), "-2");
  EXPECT_EQ(run(R"(["max", 5, -2, 7])"), "7");
  EXPECT_EQ(run(R"(["floordiv", 7, 2])"), "3");
  EXPECT_EQ(run(R"(["floordiv", -7, 2])"), "-4");
  EXPECT_EQ(run(R"(["floordiv", 7, -2])"), "-4");
  EXPECT_EQ(run(R"(["ceildiv", 7, 2])"), "4");
  EXPECT_EQ(run(R"(["ceildiv", -7, 2])"), "-3");
  EXPECT_EQ(run(R"(["ceildiv", 8, 2])"), "4");
  EXPECT_EQ(run(R"(["mod", 7, 3])"), "1");
  EXPECT_EQ(run(R"(["mod", -7, 3])"), "2");
  EXPECT_EQ(run(R"(["mod", 7, -3])"), "-2");
  EXPECT_EQ(run(R"(["mod", -9223372036854775808, -1])"), "0");
}

TEST(Expression, Logic) {
  EXPECT_EQ(run(R"(["eq", 1, 1])"), "1");
  EXPECT_EQ(run(R"(["ne", 1, 1])"), "0");
  EXPECT_EQ(run(R"(["lt", -1, 1])"), "1");
  EXPECT_EQ(run(R"(["le", 1, 1])"), "1");
  EXPECT_EQ(run(R"(["gt", 1, 1])"), "0");
  EXPECT_EQ(run(R"(["ge", 1, 1])"), "1");
  EXPECT_EQ(run(R"(["not", 5])"), "0");
  EXPECT_EQ(run(R"(["and", 1, 2, 3])"), "1");
  EXPECT_EQ(run(R"(["or", 0, 0])"), "0");
  // Decided from the left: the division is never made.
  EXPECT_EQ(run(R"(["and", 0, ["floordiv", 1, 0]])"), "0");
  EXPECT_EQ(run(R"(["or", 2, ["floordiv", 1, 0]])"), "1");
}

TEST(Expression, OverflowIsAnError) {
  EXPECT_EQ(run(R"(["add", 9223372036854775807, 1])"),
            "add(9223372036854775807, 1) overflows 64 bits");
  EXPECT_EQ(run(R"(["sub", -9223372036854775808, 1])"),
            "sub(-9223372036854775808, 1) overflows 64 bits");
  EXPECT_EQ(run(R"(["mul", ["scalar", 1], ["scalar", 1]])"),
            "mul(1099511627776, 1099511627776) overflows 64 bits");
  EXPECT_EQ(run(R"(["floordiv", -9223372036854775808, -1])"),
            "floordiv(-9223372036854775808, -1) overflows 64 bits");
  EXPECT_EQ(run(R"(["ceildiv", -9223372036854775808, -1])"),
            "ceildiv(-9223372036854775808, -1) overflows 64 bits");
  EXPECT_EQ(run(R"(["mod", 5, ["dim", 0, 1]])"), "mod(5, 0) divides by zero");
  EXPECT_EQ(run(R"(["ceildiv", 5, 0])"), "ceildiv(5, 0) divides by zero");
}

TEST(Expression, ParseErrors) {
  EXPECT_EQ(run("9223372036854775808"),
            "expression: expected an integer of 64 bits; found "
            "9223372036854775808");
  EXPECT_EQ(run("1.5"),
            "expression: expected an integer of 64 bits; found 1.5");
  EXPECT_EQ(run("[]"), "expression: expected an integer, true, false, or an "
                       "array that starts with the name of an operation; found "
                       "an array of 0");
  EXPECT_EQ(run("{}"), "expression: expected an integer, true, false, or an "
                       "array that starts with the name of an operation; found "
                       "an object");
  EXPECT_EQ(run(R"(["pow", 1, 2])"), "expression[0]: unknown operation 'pow'");
  EXPECT_EQ(run(R"(["", 1])"), "expression[0]: unknown operation ''");
  EXPECT_EQ(run(R"(["sub", 1])"),
            "expression: 'sub' takes 2 arguments; found 1");
  EXPECT_EQ(run(R"(["add", 1])"),
            "expression: 'add' takes 2 to 64 arguments; found 1");
  EXPECT_EQ(run(R"(["dim", 4, 0])"),
            "expression[1]: expected an integer from 0 to 3; found 4");
  EXPECT_EQ(run(R"(["dim", 1, 2])"),
            "expression[2]: expected an integer from 0 to 1; found 2");
  EXPECT_EQ(run(R"(["dim", 2, 0])"), "expression: operand 2 has no dims");
  EXPECT_EQ(run(R"(["scalar", 2])"),
            "expression[1]: expected an integer from 0 to 1; found 2");
  EXPECT_EQ(
      run(R"(["device", 5])"),
      "expression[1]: expected a string of 1 to 4096 characters; found 5");
  EXPECT_EQ(run(R"(["add", 1, ["mul", 1, "x"]])"),
            "expression[2][2]: expected an integer, true, false, or an array "
            "that starts with the name of an operation; found \"x\"");
}

TEST(Expression, NestingIsLimited) {
  std::string text = "1";
  for (int i = 0; i < 40; ++i)
    text = R"(["not", )" + text + "]";
  EXPECT_NE(run(text).find("nested deeper than 32 levels"), std::string::npos);
  EXPECT_NE(run(std::string(100000, '[')).find("nested deeper than 96 levels"),
            std::string::npos);
}

TEST(Expression, BindingFoldsFacts) {
  Fixture f;
  Expression e;
  ASSERT_TRUE(
      Expression::parseText(
          R"(["and", ["ge", ["device", "sm"], 80], ["dim", 0, 0]])", f.scope, e)
          .isOk());
  Expression old = e, young = e;
  old.bind([](const std::string &key) { return key == "sm" ? 75 : 0; });
  EXPECT_TRUE(old.isConstant());
  EXPECT_EQ(old.constantValue(), 0);
  young.bind([](const std::string &key) { return key == "sm" ? 90 : 0; });
  EXPECT_FALSE(young.isConstant());
  EXPECT_EQ(young.text(), "and(1, dim(0, 0))");
}

} // namespace
