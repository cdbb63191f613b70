// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which reductions are split, and into how many parts.

#include "tilewright/Configure/Splits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct Answer {
  int64_t parts = 1, unit = 1, loop = -1;
  std::string reason;
};

struct Reduction {
  /// Shape of the input, as in types, and its maps.
  std::string input, output, inputMap, outputMap, iterators;
};

class SplitsTest : public ::testing::Test {
protected:
  SplitsTest() {
    context.loadDialect<TilewrightDialect, arith::ArithDialect,
                        func::FuncDialect, linalg::LinalgDialect>();
  }

  Answer choose(const Reduction &r, int64_t subgroup = 32) {
    std::string loops = r.iterators.size() == 1   ? "(a)"
                        : r.iterators.size() == 2 ? "(a, b)"
                                                  : "(a, b, c)";
    std::string iterators;
    for (char c : r.iterators)
      iterators += std::string(iterators.empty() ? "" : ", ") +
                   (c == 'r' ? "\"reduction\"" : "\"parallel\"");
    std::string in = "tensor<" + r.input + "xf32>";
    std::string out =
        r.output.empty() ? "tensor<f32>" : "tensor<" + r.output + "xf32>";
    std::string text = "func.func @f(%x: " + in + ", %o: " + out + ") -> " + out +
                       " {\n%r = linalg.generic {indexing_maps = [affine_map<" +
                       loops + " -> " + r.inputMap + ">, affine_map<" + loops +
                       " -> " + r.outputMap + ">], iterator_types = [" +
                       iterators + "]} ins(%x : " + in + ") outs(%o : " + out +
                       ") {\n^bb0(%0: f32, %1: f32):\n%s = arith.addf %0, %1 : "
                       "f32\nlinalg.yield %s : f32\n} -> " +
                       out + "\nreturn %r : " + out + "\n}";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    Builder b(&context);
    auto target = TargetAttr::get(
        &context, "test", "test",
        b.getDictionaryAttr(
            {b.getNamedAttr("subgroup", b.getI64IntegerAttr(subgroup))}));
    Answer answer;
    module->walk([&](linalg::LinalgOp op) {
      OrRefusal<Split> split = chooseSplit(op, target);
      answer.reason = split.why().str();
      if (split)
        answer = {split->parts, split->unit, split->loop, ""};
    });
    return answer;
  }

  MLIRContext context;
};
} // namespace

TEST_F(SplitsTest, PartsGrowWithTheVectorAndAreBounded) {
  auto vector = [&](const std::string &size) {
    return choose({size, "", "(a)", "()", "r"});
  };
  EXPECT_EQ(vector("4096").parts, 1);
  EXPECT_EQ(vector("61441").parts, 16);
  EXPECT_EQ(vector("999983").parts, 245);
  EXPECT_EQ(vector("1000000000").parts, 256);
  EXPECT_EQ(vector("?").parts, 256);
  EXPECT_EQ(vector("999983").unit, 4096);
  EXPECT_EQ(vector("0").reason, "it has no elements");
}

// The chip that is assumed has 68 multiprocessors.
TEST_F(SplitsTest, RowsShareTheMachine) {
  auto rows = [&](const std::string &rows, const std::string &columns) {
    return choose({rows + "x" + columns, rows, "(a, b)", "(a)", "pr"});
  };
  EXPECT_EQ(rows("1", "1000000").parts, 245);
  EXPECT_EQ(rows("4", "1000000").parts, 64);
  EXPECT_EQ(rows("3", "1000000").parts, 64);
  EXPECT_EQ(rows("40", "1000000").parts, 4);
  EXPECT_EQ(rows("100", "1000000").parts, 1);
  EXPECT_EQ(rows("128", "1000000").reason, "128 results fill the machine");
  EXPECT_EQ(rows("?", "1000000").reason,
            "1024 results (assumed) fill the machine");
  EXPECT_EQ(rows("4", "?").parts, 64);
}

TEST_F(SplitsTest, ColumnsAreCutAcross) {
  auto columns = [&](const std::string &rows, const std::string &columns) {
    return choose({rows + "x" + columns, columns, "(b, a)", "(a)", "pr"});
  };
  EXPECT_EQ(columns("100000", "64").parts, 128);
  EXPECT_EQ(columns("100000", "64").unit, 64);
  EXPECT_EQ(columns("1000", "64").parts, 16);
  EXPECT_EQ(columns("500", "64").parts, 1);
  EXPECT_EQ(columns("100000", "4096").reason, "4096 results fill the machine");
}

TEST_F(SplitsTest, TheLongestLoopIsCut) {
  Answer outer = choose({"2048x1024x3", "3", "(b, c, a)", "(a)", "prr"});
  EXPECT_EQ(outer.loop, 1);
  Answer inner = choose({"8x100000", "", "(a, b)", "()", "rr"});
  EXPECT_EQ(inner.loop, 1);
  EXPECT_EQ(inner.unit, 512);
  // Equal ones: the outer, whose parts are whole rows.
  Answer square = choose({"1024x1024", "", "(a, b)", "()", "rr"});
  EXPECT_EQ(square.loop, 0);
  EXPECT_EQ(square.unit, 4);
  EXPECT_EQ(square.parts, 256);
}

TEST_F(SplitsTest, TasksOfCpusAreFewerAndLarger) {
  Answer answer = choose({"?", "", "(a)", "()", "r"}, 1);
  EXPECT_EQ(answer.parts, 16);
  EXPECT_EQ(answer.unit, 65536);
  EXPECT_EQ(choose({"1000000", "", "(a)", "()", "r"}, 1).parts, 16);
  EXPECT_EQ(choose({"500000", "", "(a)", "()", "r"}, 1).parts, 1);
}
