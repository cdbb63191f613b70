// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fixture.h"
#include "tilewright/Analysis/KernelLoops.h"

using namespace mlir;
using namespace tilewright;

/// Row sums, and each element over its row's: two loops, of which one is reduced.
static constexpr char kNormalise[] = R"(
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @k(%x: tensor<?x512xf32>, %o: tensor<?x512xf32>) -> tensor<?x512xf32> attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x512xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x512xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %a = arith.addf %0, %1 : f32
    linalg.yield %a : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x512xf32>, tensor<?xf32>) outs(%o : tensor<?x512xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %q = arith.divf %0, %1 : f32
    linalg.yield %q : f32
  } -> tensor<?x512xf32>
  return %r : tensor<?x512xf32>
})";

TEST_F(AnalysisTest, LoopsOfTwoOpsAreOneClass) {
  func::FuncOp kernel = parse(kNormalise);
  ASSERT_TRUE(kernel);
  FailureOr<KernelLoops> loops = KernelLoops::get(kernel);
  ASSERT_TRUE(succeeded(loops));
  ASSERT_EQ(loops->classes.size(), 2u);
  // The reduction is the root.
  EXPECT_EQ(loops->root.getNumReductionLoops(), 1u);
  linalg::LinalgOp sum = loops->ops[1], quotient = loops->ops[2];
  EXPECT_EQ(loops->root, sum);
  EXPECT_EQ(loops->getClasses(sum), loops->getClasses(quotient));
  const LoopClass &rows = loops->classes[loops->getClasses(sum)[0]];
  const LoopClass &columns = loops->classes[loops->getClasses(sum)[1]];
  EXPECT_TRUE(rows.parallel);
  EXPECT_TRUE(ShapedType::isDynamic(rows.extent));
  EXPECT_EQ(rows.argument, 0u);
  EXPECT_EQ(rows.dim, 0u);
  EXPECT_FALSE(columns.parallel);
  EXPECT_EQ(columns.extent, 512);
  EXPECT_TRUE(loops->getProducts().empty());
  EXPECT_EQ(loops->getNumConfigLoops(), 2u);
  EXPECT_EQ(loops->getSplits(), 1);
}

TEST_F(AnalysisTest, FusedProducers) {
  func::FuncOp kernel = parse(R"(
#id = affine_map<(i, j) -> (i, j)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @k(%x: tensor<64x128xf32>, %w: tensor<128x32xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> attributes {tilewright.kernel} {
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%0: f32, %1: f32):
    %a = arith.negf %0 : f32
    linalg.yield %a : f32
  } -> tensor<64x128xf32>
  %m = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%f, %w : tensor<64x128xf32>, tensor<128x32xf32>) outs(%o : tensor<64x32xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    %r = arith.addf %2, %p : f32
    linalg.yield %r : f32
  } -> tensor<64x32xf32>
  return %m : tensor<64x32xf32>
})");
  ASSERT_TRUE(kernel);
  FailureOr<KernelLoops> loops = KernelLoops::get(kernel);
  ASSERT_TRUE(succeeded(loops));
  EXPECT_EQ(loops->root, loops->ops[1]);
  EXPECT_EQ(loops->classes.size(), 3u);
  EXPECT_TRUE(isFusedProducer(*loops, loops->ops[0]));
  EXPECT_FALSE(isFusedProducer(*loops, loops->ops[1]));
}

TEST_F(AnalysisTest, AnOpThatIsNoPartOfAKernel) {
  func::FuncOp kernel = parse(R"(
func.func @k(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  return %x : tensor<4xf32>
})");
  ASSERT_TRUE(kernel);
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(KernelLoops::get(kernel)));
  EXPECT_NE(said.find("no linalg op of the kernel computes"), std::string::npos) << said;
}
