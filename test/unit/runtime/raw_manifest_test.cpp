// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What examples/raw makes of a manifest is what the runtime makes of it.

#include "../../../examples/raw/manifest.h"

#include "core/expression.h"

#include <gtest/gtest.h>

using namespace tilewright::runtime;

TEST(RawManifest, ExpressionsAsInTheRuntime) {
  const std::vector<manifest::Shape> shapes = {{5, 7, 3}, {}};
  ExpressionOperand operands[2];
  operands[0].dims = shapes[0].data();
  operands[0].rank = 3;
  const int64_t host[] = {11, -4};
  ExpressionScope scope;
  scope.operandRanks = {3, 0};
  scope.numScalars = 2;
  for (const char *text :
       {R"(["dim", 0, 1])", R"(["stride", 0, 0])", R"(["stride", 0, 2])", R"(["numel", 0])",
        R"(["numel", 1])", R"(["span", 0])", R"(["offset", 0])", R"(["scalar", 0])", R"(["scalar", 1])",
        R"(["ceildiv", ["scalar", 0], 4])", R"(["add", ["offset", 0], ["span", 0], ["scalar", 1]])",
        R"(["and", ["lt", ["span", 0], 106], ["not", ["eq", ["scalar", 1], 0]]])"}) {
    Expression expression;
    ASSERT_TRUE(Expression::parseText(text, scope, expression).isOk()) << text;
    int64_t expected = 0;
    ASSERT_TRUE(expression.evaluate({operands, host}, expected).isOk()) << text;
    EXPECT_EQ(manifest::evaluate(nlohmann::json::parse(text), shapes, {}, {11, -4}), expected) << text;
  }
}

TEST(RawManifest, WhatIsNotKnownIsAnError) {
  for (const char *text : {R"(["twist", 1])", R"(["twist", 1, 2])", R"(["scalar", 0])"})
    EXPECT_THROW(manifest::evaluate(nlohmann::json::parse(text), {}, {}), std::exception) << text;
}

TEST(RawManifest, ChecksAreOptional) {
  manifest::json program = manifest::json::parse(R"({"dispatches": [{"name": "d", "variants": [
    {"name": "k", "section": "cuda/k.ptx", "guard": true, "grid": [["ceildiv", ["scalar", 0], 4], 1, 1],
     "block": [32, 1, 1], "cluster": [1, 1, 1], "params": [{"scalar": "i64", "value": ["scalar", 0]}]}]}]})");
  manifest::Launch launch(program, 0, {}, {}, {9});
  EXPECT_EQ(launch.grid[0], 3u);
  EXPECT_EQ(launch.scalars.at(0).bits, 9u);
}
