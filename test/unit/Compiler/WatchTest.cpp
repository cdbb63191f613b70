// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reproducers of crashes, with passes that crash on purpose.

#include "tilewright/Compiler/Compiler.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace tilewright;

static constexpr char kSource[] = R"mlir(
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %r = arith.addf %a, %a : tensor<8xf32>
  return %r : tensor<8xf32>
}
)mlir";

namespace {
struct CrashPass
    : mlir::PassWrapper<CrashPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CrashPass)
  llvm::StringRef getArgument() const override { return "test-crash"; }
  void runOnOperation() override { __builtin_trap(); }
};

class Reproducer : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("reproducer", "mlir", path));
    llvm::sys::fs::remove(path);
    options.targets = "cuda:sm_80";
    options.watch.crashReproducer = path.str().str();
  }
  void TearDown() override { llvm::sys::fs::remove(path); }
  std::string written() {
    auto file = llvm::MemoryBuffer::getFile(path);
    return file ? (*file)->getBuffer().str() : "";
  }
  llvm::SmallString<128> path;
  CompileOptions options;
};
} // namespace

TEST_F(Reproducer, OfAPassThatCrashes) {
  options.watch.extend = [](Stage stage, mlir::OpPassManager &pm) {
    if (stage == Stage::Configure)
      pm.addPass(std::make_unique<CrashPass>());
  };
  CompileResult result = compile(kSource, "a.mlir", options);
  EXPECT_FALSE(result.succeeded);
  EXPECT_NE(result.diagnostics.find("reproducer generated at"),
            std::string::npos)
      << result.diagnostics;
  std::string text = written();
  EXPECT_EQ(text.find("// tilewright-opt --run-reproducer "), 0u);
  EXPECT_NE(text.find("tilewright-configure"), std::string::npos);
  EXPECT_NE(text.find("test-crash"), std::string::npos);
  EXPECT_NE(text.find("linalg.generic"), std::string::npos);
}

TEST_F(Reproducer, OfACrashOutsideOfPasses) {
  options.watch.extend = [](Stage stage, mlir::OpPassManager &) {
    if (stage == Stage::Tile)
      __builtin_trap();
  };
  CompileResult result = compile(kSource, "a.mlir", options);
  EXPECT_FALSE(result.succeeded);
  EXPECT_NE(result.diagnostics.find("the compiler crashed"), std::string::npos)
      << result.diagnostics;
  std::string text = written();
  EXPECT_EQ(text.find("// tilewright-compile -o /dev/null --target=cuda:sm_80 "),
            0u);
  EXPECT_NE(text.find(kSource), std::string::npos);
}

TEST_F(Reproducer, NoneWithoutAFailure) {
  CompileResult result = compile(kSource, "a.mlir", options);
  EXPECT_TRUE(result.succeeded) << result.diagnostics;
  EXPECT_FALSE(llvm::sys::fs::exists(path));
}
