// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs small modules compiled for cpu-reference.

#include "MockRuntime.h"

namespace {
struct ReferenceTest : MockRuntimeTest {
  bool compile(const std::string &text) { return load(text, compileReference); }
};
} // namespace

TEST_F(ReferenceTest, MultipliesMatrices) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = tensor.dim %a, %c0 : tensor<?x?xf32>
      %n = tensor.dim %b, %c1 : tensor<?x?xf32>
      %z = arith.constant 0.0 : f32
      %e = tensor.empty(%m, %n) : tensor<?x?xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
      %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
             outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
      return %r : tensor<?x?xf32>
    })")) << error;
  tw_view *a = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  tw_view *b = tensor({1, 0, 0, 1, 1, 1}, {3, 2});
  call(0, {slot(a), slot(b)});
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(take(0), (Floats{4, 5, 10, 11}));
  // Zero rows; and no columns at all gives the initial value.
  tw_view *none = tensor({}, {0, 3});
  call(0, {slot(none), slot(b)});
  EXPECT_EQ(take(0), (Floats{}));
  tw_view *left = tensor({}, {1, 0}), *right = tensor({}, {0, 2});
  call(0, {slot(left), slot(right)});
  EXPECT_EQ(take(0), (Floats{0, 0}));
  // Inner dims that differ are an error that leaves the call.
  call(0, {slot(a), slot(a)});
  EXPECT_NE(run.error.find("linalg"), std::string::npos) << run.error;
}

TEST_F(ReferenceTest, SumsInDoublePrecision) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%a: tensor<?xf32>) -> tensor<f32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<f32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
      %r = linalg.reduce {arith.addf} ins(%a : tensor<?xf32>) outs(%f : tensor<f32>) dimensions = [0]
      return %r : tensor<f32>
    })")) << error;
  std::vector<float> values(10001, 1.0f);
  values[0] = 16777216.0f;
  tw_view *a = tensor(values);
  call(0, {slot(a)});
  EXPECT_EQ(take(0), (Floats{16787216.0f}));
}

TEST_F(ReferenceTest, KeepsArgumentsAndWritesBuffers) {
  ASSERT_TRUE(compile(R"(
    func.func @tensors(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %c1 = arith.constant 1 : index
      %v = arith.constant 9.0 : f32
      %r = tensor.insert %v into %a[%c1] : tensor<4xf32>
      return %r, %b : tensor<4xf32>, tensor<4xf32>
    }
    func.func @buffers(%a: memref<4xf32>, %b: memref<4xf32>) {
      linalg.add ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%b : memref<4xf32>)
      return
    })")) << error;
  tw_view *a = tensor({1, 2, 3, 4});
  call(0, {slot(a), slot(a)});
  EXPECT_EQ(take(0), (Floats{1, 9, 3, 4}));
  EXPECT_EQ(take(1), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(*a->data, (Floats{1, 2, 3, 4}));
  tw_view *b = tensor({1, 1, 1, 1});
  call(1, {slot(a), slot(b)});
  EXPECT_EQ(*b->data, (Floats{2, 3, 4, 5}));
}

TEST_F(ReferenceTest, ComputesSoftmaxPadAndControlFlow) {
  ASSERT_TRUE(compile(R"(
    func.func @softmax(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %e = tensor.empty() : tensor<2x2xf32>
      %r = linalg.softmax dimension(1) ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
      return %r : tensor<2x2xf32>
    }
    func.func @pad(%a: tensor<?xf32>) -> tensor<?xf32> {
      %v = arith.constant 7.0 : f32
      %p = tensor.pad %a low[1] high[2] {
      ^bb0(%i: index):
        tensor.yield %v : f32
      } : tensor<?xf32> to tensor<?xf32>
      %s = tensor.extract_slice %p[1] [3] [1] : tensor<?xf32> to tensor<3xf32>
      %c = tensor.concat dim(0) %p, %s : (tensor<?xf32>, tensor<3xf32>) -> tensor<?xf32>
      return %c : tensor<?xf32>
    }
    func.func private @double(%a: tensor<2xf32>) -> tensor<2xf32> {
      %e = tensor.empty() : tensor<2xf32>
      %r = linalg.add ins(%a, %a : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
      return %r : tensor<2xf32>
    }
    func.func @loop(%a: tensor<2xf32>, %n: index) -> tensor<2xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<2xf32> {
        %d = func.call @double(%t) : (tensor<2xf32>) -> tensor<2xf32>
        scf.yield %d : tensor<2xf32>
      }
      %v = tensor.extract %r[%c0] : tensor<2xf32>
      vector.print %v : f32
      return %r : tensor<2xf32>
    })")) << error;
  tw_view *a = tensor({0, 0, 1, 1}, {2, 2});
  call(0, {slot(a)});
  EXPECT_EQ(take(0), (Floats{0.5, 0.5, 0.5, 0.5}));
  tw_view *b = tensor({1, 2});
  call(1, {slot(b)});
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(take(0), (Floats{7, 1, 2, 7, 7, 1, 2, 7}));
  call(2, {slot(b), 3});
  EXPECT_EQ(take(0), (Floats{8, 16}));
  EXPECT_EQ(run.output, "8.000000\n");
}

TEST_F(ReferenceTest, LeavesTheCallOnErrors) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%a: tensor<?xf32>, %n: index) -> f32 {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0.0 : f32
      %e = tensor.empty(%n) : tensor<?xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %v = tensor.extract %a[%n] : tensor<?xf32>
      %w = tensor.extract %f[%c0] : tensor<?xf32>
      %r = arith.addf %v, %w : f32
      return %r : f32
    })")) << error;
  tw_view *a = tensor({1, 2});
  call(0, {slot(a), 1});
  EXPECT_EQ(run.error, "");
  call(0, {slot(a), 5});
  EXPECT_NE(run.error, "");
  run.error.clear();
  call(0, {slot(a), uint64_t(1) << 40});
  EXPECT_EQ(run.error, "no memory");
}
