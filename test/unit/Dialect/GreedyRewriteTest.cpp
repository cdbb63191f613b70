// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy rewriting ends, whatever the patterns do.

#include "tilewright/Dialect/GreedyRewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;

namespace {
constexpr llvm::StringLiteral kProgram = R"(
func.func @f(%a: i32, %b: i32) -> i32 {
  %c = arith.muli %a, %b : i32
  %d = arith.subi %c, %b : i32
  return %d : i32
})";

/// Two of these undo each other.
template <typename From, typename To> struct Replace : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, op.getLhs(), op.getRhs());
    return success();
  }
};

struct GreedyRewrite : ::testing::Test {
  GreedyRewrite() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(kProgram, &context);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(GreedyRewrite, AppliesPatterns) {
  RewritePatternSet patterns(&context);
  patterns.add<Replace<arith::SubIOp, arith::AddIOp>>(&context);
  EXPECT_TRUE(succeeded(applyPatternsBounded(*module, std::move(patterns),
                                             "normalize", "replacing")));
  module->walk([](Operation *op) { EXPECT_FALSE(isa<arith::SubIOp>(op)); });
}

TEST_F(GreedyRewrite, NamesTheOpThatIsRewrittenWithoutEnd) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  RewritePatternSet patterns(&context);
  patterns.add<Replace<arith::MulIOp, arith::DivSIOp>,
               Replace<arith::DivSIOp, arith::MulIOp>>(&context);
  EXPECT_TRUE(failed(applyPatternsBounded(*module, std::move(patterns),
                                          "normalize", "replacing")));
  EXPECT_TRUE(message.find("'arith.muli' op") != message.npos ||
              message.find("'arith.divsi' op") != message.npos)
      << message;
  EXPECT_NE(
      message.find("replacing in the stage 'normalize' does not converge"),
      message.npos)
      << message;
}
