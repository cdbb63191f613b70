// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fixture.h"
#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Analysis/Reductions.h"

using namespace mlir;
using namespace tilewright;

using Dims = SmallVector<unsigned>;

/// A product with these maps and types; `body` computes %r of %0, %1, %2.
static std::string product(StringRef maps, StringRef a, StringRef b, StringRef c,
                           StringRef kinds, StringRef body) {
  auto element = [](StringRef type) {
    return type.rsplit('x').second.empty() ? type.str()
                                           : type.rsplit('x').second.str();
  };
  std::string ta = "tensor<" + a.str() + ">", tb = "tensor<" + b.str() + ">",
              tc = "tensor<" + c.str() + ">";
  return "func.func @k(%a: " + ta + ", %b: " + tb + ", %c: " + tc + ") -> " + tc +
         " {\n  %m = linalg.generic {indexing_maps = [" + maps.str() +
         "], iterator_types = [" + kinds.str() + "]} ins(%a, %b : " + ta + ", " + tb +
         ") outs(%c : " + tc + ") {\n  ^bb0(%0: " + element(a) + ", %1: " + element(b) +
         ", %2: " + element(c) + "):\n" + body.str() + "\n    linalg.yield %r : " +
         element(c) + "\n  } -> " + tc + "\n  return %m : " + tc + "\n}\n";
}

static constexpr char kMatmul[] =
    "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, "
    "affine_map<(m, n, k) -> (m, n)>";
static constexpr char kKinds[] = R"("parallel", "parallel", "reduction")";
static constexpr char kF32[] = "    %p = arith.mulf %0, %1 : f32\n"
                               "    %r = arith.addf %2, %p : f32";
static constexpr char kF16[] = "    %x = arith.extf %0 : f16 to f32\n"
                               "    %y = arith.extf %1 : f16 to f32\n"
                               "    %p = arith.mulf %x, %y : f32\n"
                               "    %r = arith.addf %2, %p : f32";

TEST_F(AnalysisTest, LoopsHaveRoles) {
  linalg::LinalgOp op =
      parseOp(product(kMatmul, "64x128xf32", "128x32xf32", "64x32xf32", kKinds, kF32));
  ASSERT_TRUE(op);
  std::optional<Contraction> found = matchContraction(op);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->m, Dims{0});
  EXPECT_EQ(found->n, Dims{1});
  EXPECT_EQ(found->k, Dims{2});
  EXPECT_TRUE(found->batch.empty());
  EXPECT_EQ(found->a, 0u);
  EXPECT_FALSE(isSkinny(op, *found));
  EXPECT_EQ(contiguousSum(op, *found), std::optional<unsigned>(2));
  EXPECT_TRUE(runsAlongSum(op->getOpOperand(0)));
  EXPECT_FALSE(runsAlongSum(op->getOpOperand(1)));
  EXPECT_FALSE(isRowAlongSum(op));
}

TEST_F(AnalysisTest, OperandsInTheOrderOfTheMultiplication) {
  linalg::LinalgOp op = parseOp(product(kMatmul, "64x128xf32", "128x32xf32", "64x32xf32",
                                        kKinds,
                                        "    %p = arith.mulf %1, %0 : f32\n"
                                        "    %r = arith.addf %p, %2 : f32"));
  ASSERT_TRUE(op);
  std::optional<Contraction> found = matchContraction(op);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->a, 1u);
  EXPECT_EQ(found->m, Dims{1});
  Contraction other = swapped(*found);
  EXPECT_EQ(other.a, 0u);
  EXPECT_EQ(other.m, Dims{0});
}

TEST_F(AnalysisTest, SumsThatAreNoProducts) {
  // The sum is of one operand's squares.
  linalg::LinalgOp square =
      parseOp(product(kMatmul, "64x128xf32", "128x32xf32", "64x32xf32", kKinds,
                      "    %p = arith.mulf %0, %0 : f32\n"
                      "    %r = arith.addf %2, %p : f32"));
  ASSERT_TRUE(square);
  EXPECT_FALSE(matchProduct(square));
  linalg::LinalgOp largest =
      parseOp(product(kMatmul, "64x128xf32", "128x32xf32", "64x32xf32", kKinds,
                      "    %p = arith.mulf %0, %1 : f32\n"
                      "    %r = arith.maximumf %2, %p : f32"));
  ASSERT_TRUE(largest);
  EXPECT_FALSE(matchProduct(largest));
  EXPECT_FALSE(isSequentialReduction(largest));
}

TEST_F(AnalysisTest, AMatrixTimesAVector) {
  linalg::LinalgOp op = parseOp(product(
      "affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>",
      "64x128xf32", "128xf32", "64xf32", R"("parallel", "reduction")", kF32));
  ASSERT_TRUE(op);
  std::optional<Contraction> found = matchProduct(op);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->n.empty());
  EXPECT_FALSE(matchContraction(op));
  EXPECT_TRUE(isSkinny(op, *found));
}

TEST_F(AnalysisTest, OneRowByAMatrixAlongTheSum) {
  linalg::LinalgOp op = parseOp(product(
      "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
      "affine_map<(m, n, k) -> (m, n)>",
      "1x128xf32", "64x128xf32", "1x64xf32", kKinds, kF32));
  ASSERT_TRUE(op);
  EXPECT_TRUE(isRowAlongSum(op));
  EXPECT_TRUE(isSkinny(op, *matchContraction(op)));
}

TEST_F(AnalysisTest, WhyAnInstructionDoesNotComputeIt) {
  auto match = [&](linalg::LinalgOp op, StringRef name) {
    std::optional<Contraction> contraction = matchContraction(op);
    return matchInstruction(op, name, contraction ? &*contraction : nullptr);
  };
  linalg::LinalgOp half =
      parseOp(product(kMatmul, "64x128xf16", "128x32xf16", "64x32xf32", kKinds, kF16));
  ASSERT_TRUE(half);
  EXPECT_TRUE(match(half, "mma.m16n8k16.f16.f32"));
  EXPECT_EQ(match(half, "mma.m16n8k16.f16.f16").why().getKind(), Refused::Types);
  Refusal unknown = match(half, "mma.of.nothing").why();
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown.getKind(), Refused::Target);
  EXPECT_EQ(unknown.str(), "matrix instruction 'mma.of.nothing' is not understood");

  linalg::LinalgOp single =
      parseOp(product(kMatmul, "64x128xf32", "128x32xf32", "64x32xf32", kKinds, kF32));
  ASSERT_TRUE(single);
  EXPECT_EQ(match(single, "mma.m16n8k8.tf32.f32").why().getKind(), Refused::Numerics);
  (*module)->setAttr(kFpAttr, Builder(&context).getStrArrayAttr({"tf32"}));
  EXPECT_TRUE(match(single, "mma.m16n8k8.tf32.f32"));
}
