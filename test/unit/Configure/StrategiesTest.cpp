// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every strategy of configure promises, for kernels of each of them.

#include "Strategy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;

static constexpr char kGpu[] =
    R"(#tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>)";
static constexpr char kCpu[] =
    R"(#tilewright.target<"test", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 16, vector_bytes = 32, thread_memory = 4194304}>)";

static constexpr char kMaps[] = R"(
#id = affine_map<(a, b) -> (a, b)>
#t = affine_map<(a, b) -> (b, a)>
#row = affine_map<(a, b) -> (a)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
)";

/// A product of operands of `type`.
static std::string product(int64_t m, int64_t n, int64_t k, StringRef type) {
  auto tensor = [](int64_t rows, int64_t columns, StringRef element) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
           element.str() + ">";
  };
  std::string a = tensor(m, k, type), b = tensor(k, n, type), c = tensor(m, n, "f32");
  std::string wide = type == "f32" ? R"(
    %p = arith.mulf %0, %1 : f32)"
                                   : R"(
    %x = arith.extf %0 : f16 to f32
    %y = arith.extf %1 : f16 to f32
    %p = arith.mulf %x, %y : f32)";
  return "func.func private @k(%a: " + a + ", %b: " + b + ", %o: " + c + ") -> " + c +
         R"( attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
  %m = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : )" +
         a + ", " + b + ") outs(%o : " + c + ") {\n  ^bb0(%0: " + type.str() +
         ", %1: " + type.str() + ", %2: f32):" + wide + R"(
    %q = arith.addf %p, %2 : f32
    linalg.yield %q : f32
  } -> )" + c + "\n  return %m : " + c + "\n}\n";
}

static std::string elementwise(StringRef map, StringRef from) {
  return "func.func private @k(%x: " + from.str() +
         R"(, %o: tensor<1024x512xf32>) -> tensor<1024x512xf32> attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %r = linalg.generic {indexing_maps = [)" +
         map.str() + R"(, #id], iterator_types = ["parallel", "parallel"]} ins(%x : )" +
         from.str() + R"() outs(%o : tensor<1024x512xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %0 : f32
    linalg.yield %s : f32
  } -> tensor<1024x512xf32>
  return %r : tensor<1024x512xf32>
}
)";
}

static constexpr char kRowSums[] = R"(
func.func private @k(%x: tensor<1024x512xf32>, %o: tensor<1024xf32>) -> tensor<1024xf32> attributes {tilewright.kernel, tilewright.access = ["read", "readwrite"]} {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1024x512xf32>) outs(%o : tensor<1024xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  return %r : tensor<1024xf32>
}
)";

namespace {
class StrategiesTest : public ::testing::Test {
protected:
  StrategiesTest() {
    context.loadDialect<TilewrightDialect, func::FuncDialect, linalg::LinalgDialect,
                        arith::ArithDialect, tensor::TensorDialect>();
  }

  void check(StringRef target, Strategy expected, StringRef kernel) {
    std::string text = std::string(kMaps) + "module attributes {tilewright.target = " +
                       target.str() + "} {\n" + kernel.str() + "}\n";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    auto func = *module->getOps<func::FuncOp>().begin();
    FailureOr<KernelInfo> info = KernelInfo::get(func);
    ASSERT_TRUE(succeeded(info));
    EXPECT_EQ(info->strategy, expected) << stringifyStrategy(info->strategy).str();
    TargetAttr attr = getTarget(func);
    unsigned fitting = 0, matching = 0;
    for (const ScheduleStrategy *strategy : strategiesFor(attr)) {
      if (!strategy->match(*info, attr))
        continue;
      ++matching;
      EXPECT_FALSE(strategy->explain(*info).empty());
      for (LoweringConfigAttr config : strategy->enumerate(*info, attr)) {
        std::string name;
        llvm::raw_string_ostream(name) << config;
        EXPECT_EQ(config.getStrategy(), strategy->getName()) << name;
        EXPECT_EQ(strategyOf(*info, config, attr).getName(), strategy->getName()) << name;
        EXPECT_EQ(whyNotCarriedOut(config, attr).str(), "") << name;
        OrRefusal<TilePlan> plan = fits(*info, config, attr);
        if (!plan) {
          EXPECT_FALSE(plan.why().str().empty()) << name;
          continue;
        }
        ++fitting;
        Refusal why = strategyOf(*info, config, attr).check(*info, config, *plan, attr);
        EXPECT_FALSE(why) << name << ": " << why.str();
      }
    }
    EXPECT_GT(matching, 0u);
    EXPECT_GT(fitting, 0u);
  }

  MLIRContext context;
};
} // namespace

TEST_F(StrategiesTest, Elementwise) {
  std::string text = elementwise("#id", "tensor<1024x512xf32>");
  check(kGpu, Strategy::Streaming, text);
  check(kCpu, Strategy::Streaming, text);
}

TEST_F(StrategiesTest, Transposes) {
  std::string text = elementwise("#t", "tensor<512x1024xf32>");
  check(kGpu, Strategy::Streaming, text);
  check(kCpu, Strategy::Streaming, text);
}

TEST_F(StrategiesTest, Reductions) {
  check(kGpu, Strategy::Reduction, kRowSums);
  check(kCpu, Strategy::Reduction, kRowSums);
}

TEST_F(StrategiesTest, ProductsByInstructions) {
  std::string text = product(256, 256, 256, "f16");
  check(kGpu, Strategy::SimtContraction, text);
  check(kCpu, Strategy::SimtContraction, text);
}

TEST_F(StrategiesTest, ProductsByThreads) {
  std::string text = product(256, 256, 256, "f32");
  check(kGpu, Strategy::SimtContraction, text);
  check(kCpu, Strategy::SimtContraction, text);
}

TEST_F(StrategiesTest, ProductsOfFewRows) {
  std::string text = product(2, 256, 256, "f32");
  check(kGpu, Strategy::SkinnyContraction, text);
  check(kCpu, Strategy::SimtContraction, text);
}
