// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles host programs, loads them, and runs them against a mock runtime.

#include "MockRuntime.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>
#include <random>

static const char *kKernels = R"(
  func.func private @inc(tensor<?xf32>) -> tensor<?xf32>
      attributes {tilewright.kernel, tilewright.access = ["readwrite"]}
  func.func private @copy(tensor<?xf32>, i32, tensor<?xf32>) -> tensor<?xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]}
)";

namespace {
struct HostTest : MockRuntimeTest {
  bool compile(const std::string &text) {
    return load(kKernels + text, compileHost);
  }
};
} // namespace

TEST_F(HostTest, DispatchesIntoANewTensor) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>, %s: i32) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %e = tensor.empty(%n) : tensor<?xf32>
      %r = tilewright.dispatch @copy(%x, %s : tensor<?xf32>, i32)
             outs(%e : tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    })")) << error;
  EXPECT_EQ(exports->numFunctions, 1u);
  EXPECT_STREQ(exports->functions[0].name, "main");
  EXPECT_EQ(program.dispatches, (std::vector<std::string>{"inc", "copy"}));
  EXPECT_TRUE(program.imports.empty());
  tw_view *x = tensor({1, 2, 3});
  call(0, {slot(x), uint64_t(-4)});
  EXPECT_EQ(take(0), (Floats{-3, -2, -1}));
  EXPECT_EQ(run.log, "alloc; dispatch 1/2/1; ");
  EXPECT_EQ(run.live, 1);
}

TEST_F(HostTest, CopiesDestinationsThatAreNeededLater) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
      %a = tilewright.dispatch @inc() outs(%x : tensor<?xf32>) -> tensor<?xf32>
      %b = tilewright.dispatch @inc() outs(%a : tensor<?xf32>) -> tensor<?xf32>
      %c = tilewright.dispatch @inc() outs(%b : tensor<?xf32>) -> tensor<?xf32>
      return %a, %c : tensor<?xf32>, tensor<?xf32>
    })")) << error;
  tw_view *x = tensor({1, 2});
  call(0, {slot(x)});
  EXPECT_EQ(take(0), (Floats{2, 3}));
  EXPECT_EQ(take(1), (Floats{4, 5}));
  EXPECT_EQ(*x->data, (Floats{1, 2}));
  EXPECT_EQ(run.log, "clone; dispatch 0/1/0; clone; dispatch 0/1/0; dispatch 0/1/0; ");
  EXPECT_EQ(run.live, 1);
}

TEST_F(HostTest, LoopsCarryTensorsInPlace) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = tilewright.dispatch @inc() outs(%x : tensor<?xf32>) -> tensor<?xf32>
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<?xf32> {
        %b = tilewright.dispatch @inc() outs(%t : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %b : tensor<?xf32>
      }
      return %r : tensor<?xf32>
    })")) << error;
  tw_view *x = tensor({1});
  call(0, {slot(x), 3});
  EXPECT_EQ(take(0), (Floats{5}));
  EXPECT_EQ(run.log, "clone; dispatch 0/1/0; dispatch 0/1/0; dispatch 0/1/0; "
                     "dispatch 0/1/0; ");
  call(0, {slot(x), 0});
  EXPECT_EQ(take(0), (Floats{2}));
  EXPECT_EQ(run.live, 1);
}

TEST_F(HostTest, SwapsLoopCarriedTensors) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index)
        -> (tensor<?xf32>, tensor<?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %t = %y)
          -> (tensor<?xf32>, tensor<?xf32>) {
        %b = tilewright.dispatch @inc() outs(%t : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %b, %s : tensor<?xf32>, tensor<?xf32>
      }
      return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
    })")) << error;
  tw_view *x = tensor({0}), *y = tensor({10});
  call(0, {slot(x), slot(y), 3});
  EXPECT_EQ(take(0), (Floats{12}));
  EXPECT_EQ(take(1), (Floats{1}));
  EXPECT_EQ(*x->data, (Floats{0}));
  EXPECT_EQ(*y->data, (Floats{10}));
  EXPECT_EQ(run.live, 2);
}

TEST_F(HostTest, BranchesKeepWhatTheyYield) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>, %c: i1) -> (tensor<?xf32>, tensor<?xf32>) {
      %r = scf.if %c -> tensor<?xf32> {
        %b = tilewright.dispatch @inc() outs(%x : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %b : tensor<?xf32>
      } else {
        scf.yield %x : tensor<?xf32>
      }
      %d = tilewright.dispatch @inc() outs(%r : tensor<?xf32>) -> tensor<?xf32>
      return %r, %d : tensor<?xf32>, tensor<?xf32>
    })")) << error;
  tw_view *x = tensor({1});
  call(0, {slot(x), 1});
  EXPECT_EQ(take(0), (Floats{2}));
  EXPECT_EQ(take(1), (Floats{3}));
  call(0, {slot(x), 0});
  EXPECT_EQ(take(0), (Floats{1}));
  EXPECT_EQ(take(1), (Floats{2}));
  EXPECT_EQ(run.live, 1);
}

TEST_F(HostTest, LooksAtElementsAndLoopsOnThem) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, f32) {
      %c0 = arith.constant 0 : index
      %limit = arith.constant 10.0 : f32
      %r = scf.while (%t = %x) : (tensor<?xf32>) -> tensor<?xf32> {
        %v = tensor.extract %t[%c0] : tensor<?xf32>
        %go = arith.cmpf olt, %v, %limit : f32
        scf.condition(%go) %t : tensor<?xf32>
      } do {
      ^bb0(%t: tensor<?xf32>):
        %b = tilewright.dispatch @inc() outs(%t : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %b : tensor<?xf32>
      }
      %v = tensor.extract %r[%c0] : tensor<?xf32>
      return %r, %v : tensor<?xf32>, f32
    }
    func.func @out_of_bounds(%x: tensor<?xf32>, %i: index) -> f32 {
      %v = tensor.extract %x[%i] : tensor<?xf32>
      return %v : f32
    })")) << error;
  tw_view *x = tensor({3, 0});
  call(0, {slot(x)});
  EXPECT_EQ(take(0), (Floats{10, 7}));
  float v;
  memcpy(&v, &results[1], 4);
  EXPECT_EQ(v, 10);
  EXPECT_EQ(run.live, 1);
  call(1, {slot(x), 2});
  EXPECT_EQ(run.error, "tensor.extract: an index is out of bounds");
}

TEST_F(HostTest, RoundsMultiplyAddOnce) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: f64, %y: f64, %z: f64) -> f64 {
      %r = math.fma %x, %y, %z : f64
      return %r : f64
    }
    func.func @single(%x: f32, %y: f32, %z: f32) -> f32 {
      %r = math.fma %x, %y, %z : f32
      return %r : f32
    })")) << error;
  auto check = [&](double x, double y, double z) {
    call(0, {llvm::bit_cast<uint64_t>(x), llvm::bit_cast<uint64_t>(y),
             llvm::bit_cast<uint64_t>(z)});
    double got = llvm::bit_cast<double>(results[0]), want = std::fma(x, y, z);
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got)
                                 : results[0] == llvm::bit_cast<uint64_t>(want))
        << x << " * " << y << " + " << z << ": got " << got << ", want " << want;
    float a = x, b = y, c = z, single = std::fma(a, b, c);
    call(1, {llvm::bit_cast<uint32_t>(a), llvm::bit_cast<uint32_t>(b),
             llvm::bit_cast<uint32_t>(c)});
    float gotSingle = llvm::bit_cast<float>(uint32_t(results[0]));
    EXPECT_TRUE(std::isnan(single) ? std::isnan(gotSingle)
                                   : uint32_t(results[0]) ==
                                         llvm::bit_cast<uint32_t>(single))
        << a << " * " << b << " + " << c << ": got " << gotSingle << ", want "
        << single;
  };
  const double inf = std::numeric_limits<double>::infinity();
  const double special[] = {0,   -0.0,   1,       -3,          0x1p-1074, 0x1p-149,
                            inf, -inf,   0x1p1023, 0x1p127,    NAN,       0x1p-126,
                            0.1, 0x1p-600, 1e300,   -0x1p-1022, 1 + 0x1p-52};
  for (double x : special)
    for (double y : special)
      for (double z : special)
        check(x, y, z);
  std::mt19937_64 random(1);
  auto number = [&](int spread) {
    return std::ldexp(1 + double(random() >> 12) * 0x1p-52,
                      int(random() % spread) - spread / 2) *
           (random() & 1 ? 1 : -1);
  };
  for (int i = 0; i < 2000; ++i) {
    double x = number(120), y = number(120);
    check(x, y, number(120));
    check(x, y, -x * y);
    check(x * 0x1p-520, y * 0x1p-520, number(8) * 0x1p-1060);
    check(float(x), float(y), -float(x) * float(y));
  }
}

TEST_F(HostTest, WritesBuffersInPlace) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%m: memref<?xf32>) {
      %t = bufferization.to_tensor %m restrict writable : memref<?xf32> to tensor<?xf32>
      %b = tilewright.dispatch @inc() outs(%t : tensor<?xf32>) -> tensor<?xf32>
      bufferization.materialize_in_destination %b in restrict writable %m
          : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    }
    func.func @from(%m: memref<?xf32>, %x: tensor<?xf32>) {
      bufferization.materialize_in_destination %x in restrict writable %m
          : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    })")) << error;
  tw_view *m = tensor({1, 2}), *x = tensor({7, 8});
  call(0, {slot(m)});
  EXPECT_EQ(*m->data, (Floats{2, 3}));
  EXPECT_EQ(run.log, "dispatch 0/1/0; ");
  call(1, {slot(m), slot(x)});
  EXPECT_EQ(*m->data, (Floats{7, 8}));
  EXPECT_EQ(run.live, 2);
}

TEST_F(HostTest, CallsShareAndReshape) {
  ASSERT_TRUE(compile(R"(
    func.func private @identity(%x: tensor<?xf32>) -> tensor<?xf32> {
      return %x : tensor<?xf32>
    }
    func.func @main(%x: tensor<?xf32>) -> (tensor<1x?xf32>, tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %y = func.call @identity(%x) : (tensor<?xf32>) -> tensor<?xf32>
      %z = tensor.expand_shape %y [[0, 1]] output_shape [1, %n] : tensor<?xf32> into tensor<1x?xf32>
      %w = tensor.collapse_shape %z [[0, 1]] : tensor<1x?xf32> into tensor<?xf32>
      %r = tilewright.dispatch @inc() outs(%w : tensor<?xf32>) -> tensor<?xf32>
      %s = tensor.cast %r : tensor<?xf32> to tensor<4xf32>
      return %z, %s : tensor<1x?xf32>, tensor<4xf32>
    })")) << error;
  tw_view *x = tensor({1, 2, 3, 4});
  call(0, {slot(x)});
  EXPECT_EQ(take(0), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(take(1), (Floats{2, 3, 4, 5}));
  EXPECT_EQ(run.live, 1);
  tw_view *y = tensor({1});
  call(0, {slot(y)});
  EXPECT_EQ(run.error, "tensor.cast: dim 0 is not what was promised (1 vs 4)");
}

TEST_F(HostTest, ConstantsAreNotOverwritten) {
  ASSERT_TRUE(compile(R"(
    func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) {
      %k = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
      %t = tensor.cast %k : tensor<2xf32> to tensor<?xf32>
      %r = tilewright.dispatch @inc() outs(%t : tensor<?xf32>) -> tensor<?xf32>
      %s = tensor.cast %r : tensor<?xf32> to tensor<2xf32>
      %c1 = arith.constant 1 : index
      %v = arith.constant 9.0 : f32
      %f = tensor.from_elements %v, %v, %v : tensor<3xf32>
      %z = arith.constant 1.0 : f32
      %g = tensor.insert %z into %f[%c1] : tensor<3xf32>
      return %k, %s, %g : tensor<2xf32>, tensor<2xf32>, tensor<3xf32>
    })")) << error;
  ASSERT_EQ(program.constants.data.size(), 1u);
  FailureOr<std::string> bytes = getConstantBytes(program.constants.data[0]);
  ASSERT_TRUE(succeeded(bytes));
  EXPECT_EQ(memcmp(bytes->data(), run.constant.data(), 8), 0);
  call(0, {});
  EXPECT_EQ(take(0), (Floats{5, 6}));
  EXPECT_EQ(take(1), (Floats{6, 7}));
  EXPECT_EQ(take(2), (Floats{9, 1, 9}));
  EXPECT_EQ(run.live, 0);
}

TEST_F(HostTest, PrintsAndChecks) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%a: i32, %b: i32, %f: f16) -> i32 {
      %v = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi32>
      vector.print %v : vector<2x2xi32>
      vector.print str "q = "
      %q = arith.floordivsi %a, %b : i32
      vector.print %q : i32
      vector.print %f : f16
      %c0 = arith.constant 0 : i32
      %ok = arith.cmpi ne, %q, %c0 : i32
      cf.assert %ok, "the quotient is zero"
      return %q : i32
    })")) << error;
  call(0, {uint64_t(-7), 2, 0x3c00});
  EXPECT_EQ(int32_t(results[0]), -4);
  EXPECT_EQ(run.output, "( ( 1, 2 ), ( 3, 4 ) )\nq = -4\n1.000000\n");
  EXPECT_EQ(run.error, "");
  call(0, {1, 2, 0});
  EXPECT_EQ(run.error, "the quotient is zero");
  run.error.clear();
  call(0, {1, 0, 0});
  EXPECT_NE(run.error.find("arith.floordivsi: the result does not exist"),
            std::string::npos);
}

TEST_F(HostTest, ImportsOnlyWhatIsDeclared) {
  ASSERT_TRUE(compile(R"(
    func.func private @labs(i64) -> i64
    func.func @main(%a: i64) -> i64 {
      %r = func.call @labs(%a) : (i64) -> i64
      return %r : i64
    })")) << error;
  EXPECT_EQ(program.imports, std::vector<std::string>{"labs"});
  call(0, {uint64_t(-3)});
  EXPECT_EQ(results[0], 3u);
}

TEST_F(HostTest, ExplainsWhatItRefuses) {
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<*xf32>) { return })"));
  EXPECT_NE(error.find("ranked tensors"), std::string::npos) << error;
  error.clear();
  EXPECT_FALSE(compile(R"(
    func.func private @f(tensor<4xf32>)
    func.func @main() { return })"));
  EXPECT_NE(error.find("external functions take scalars"), std::string::npos)
      << error;
  error.clear();
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
      %0 = tensor.concat dim(0) %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    })"));
  EXPECT_NE(error.find("tensor.concat"), std::string::npos) << error;
}

TEST_F(HostTest, TwoCompilationsAreIdentical) {
  std::string text = R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %a = tilewright.dispatch @inc() outs(%x : tensor<?xf32>) -> tensor<?xf32>
      return %a : tensor<?xf32>
    })";
  auto module = parseSourceString<ModuleOp>(kKernels + text, &context);
  ASSERT_TRUE(bool(module));
  FailureOr<HostProgram> one = compileHost(*module, HostOptions());
  FailureOr<HostProgram> two = compileHost(*module, HostOptions());
  ASSERT_TRUE(succeeded(one) && succeeded(two));
  EXPECT_EQ(one->bytes, two->bytes);
}
