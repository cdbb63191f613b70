// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler as a library: same bytes from every way of calling it, errors
// as text, a cache that is used, calls at the same time.

#include "tilewright/Compiler/Compiler.h"

#include "gtest/gtest.h"

#include <thread>

using namespace tilewright;

static constexpr char kSource[] = R"mlir(
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
)mlir";

static CompileOptions gpuOptions() {
  CompileOptions options;
  options.targets = "cuda:sm_80,vulkan+subgroup=32";
  return options;
}

TEST(Compiler, SameBytesWithAndWithoutThreads) {
  CompileOptions options = gpuOptions();
  CompileResult parallel = compile(kSource, "a.mlir", options);
  ASSERT_TRUE(parallel.succeeded) << parallel.diagnostics;
  options.parallel = false;
  CompileResult serial = compile(kSource, "a.mlir", options);
  ASSERT_TRUE(serial.succeeded) << serial.diagnostics;
  ASSERT_EQ(parallel.outputs.size(), 1u);
  EXPECT_EQ(parallel.outputs[0].bytes, serial.outputs[0].bytes);
}

TEST(Compiler, CacheIsUsedAndChangesNothing) {
  CompileOptions options = gpuOptions();
  CompileResult plain = compile(kSource, "a.mlir", options);
  KernelCache cache;
  options.cache = &cache;
  CompileResult first = compile(kSource, "a.mlir", options);
  size_t kernels = cache.size();
  // Two targets, each an aligned and a general variant and three for few aligned rows; cuda one for 64 bits.
  EXPECT_EQ(kernels, 11u);
  CompileResult second = compile(kSource, "a.mlir", options);
  EXPECT_EQ(cache.size(), kernels);
  ASSERT_TRUE(plain.succeeded && first.succeeded && second.succeeded);
  EXPECT_EQ(plain.outputs[0].bytes, first.outputs[0].bytes);
  EXPECT_EQ(first.outputs[0].bytes, second.outputs[0].bytes);
}

TEST(Compiler, CallsAtTheSameTime) {
  CompileOptions options = gpuOptions();
  KernelCache cache;
  options.cache = &cache;
  std::vector<CompileResult> results(4);
  std::vector<std::thread> threads;
  for (CompileResult &result : results)
    threads.emplace_back(
        [&] { result = compile(kSource, "a.mlir", options); });
  for (std::thread &thread : threads)
    thread.join();
  for (CompileResult &result : results) {
    ASSERT_TRUE(result.succeeded) << result.diagnostics;
    EXPECT_EQ(result.outputs[0].bytes, results[0].outputs[0].bytes);
  }
}

TEST(Compiler, ErrorsAreTextWithALocation) {
  CompileResult result =
      compile("func.func @f() { return }\nfoo", "bad.mlir", gpuOptions());
  EXPECT_FALSE(result.succeeded);
  EXPECT_TRUE(result.outputs.empty());
  EXPECT_NE(result.diagnostics.find("bad.mlir:2:"), std::string::npos)
      << result.diagnostics;
}

TEST(Compiler, UnknownTargetNamesWhatIsAccepted) {
  CompileOptions options;
  options.targets = "metal";
  CompileResult result = compile(kSource, "a.mlir", options);
  EXPECT_FALSE(result.succeeded);
  EXPECT_NE(result.diagnostics.find("vulkan"), std::string::npos);
}

TEST(Compiler, StagesStopAndAreReported) {
  CompileOptions options = gpuOptions();
  options.stopAfter = Stage::Tile;
  std::vector<std::string> seen;
  options.onStage = [&](Stage stage, llvm::StringRef) {
    seen.push_back(getStageName(stage).str());
  };
  CompileResult result = compile(kSource, "a.mlir", options);
  ASSERT_TRUE(result.succeeded) << result.diagnostics;
  EXPECT_EQ(seen.front(), "input");
  EXPECT_EQ(seen.back(), "tile");
  EXPECT_NE(result.outputs[0].bytes.find("tilewright.tile_id"),
            std::string::npos);
}
