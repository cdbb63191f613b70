// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering configs with another value of one field have all others as they were.

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;

namespace {
class LoweringConfig : public testing::Test {
protected:
  LoweringConfig() { context.loadDialect<TilewrightDialect>(); }

  /// A config, each field of which is none that it has if it is not written.
  std::string write(StringRef of = "", StringRef to = "") {
    std::string text = "#tilewright.lowering_config<strategy = warp_specialized, "
                       "block = [128, 256, 64], warps = [8, 1, 1], thread = [2, 2, 2], "
                       "stages = 4, promote = [0, 1], mma = \"wgmma.m64n256k16.f16.f32\", "
                       "splits = 2, raster = 8, registers = [40, 232], persistent = true, "
                       "cluster = [2, 1, 1], tma_store = true, two_level_sums = true>";
    if (size_t at = text.find(of.str()); !of.empty() && at != std::string::npos)
      text.replace(at, of.size(), to.str());
    return text;
  }
  LoweringConfigAttr read(const std::string &text) {
    return cast<LoweringConfigAttr>(parseAttribute(text, &context));
  }
  void expect(LoweringConfigAttr config, StringRef of, StringRef to) {
    std::string text;
    llvm::raw_string_ostream(text) << config;
    EXPECT_EQ(config, read(write(of, to))) << text;
  }

  MLIRContext context;
};
} // namespace

TEST_F(LoweringConfig, OneFieldIsAnother) {
  LoweringConfigAttr config = read(write());
  expect(config.withBlock({64, 64, 32}), "block = [128, 256, 64]", "block = [64, 64, 32]");
  expect(config.withPromote({1}), "promote = [0, 1]", "promote = [1]");
  expect(config.withSplits(4), "splits = 2", "splits = 4");
  expect(config.withRaster(1), "raster = 8, ", "");
  expect(config.withRegisters({24, 240}), "registers = [40, 232]", "registers = [24, 240]");
  expect(config.withPersistent(false), "persistent = true, ", "");
  expect(config.withCluster({}), "cluster = [2, 1, 1], ", "");
  expect(config.withTmaStore(false), "tma_store = true, ", "");
  expect(config.withTwoLevelSums(false), ", two_level_sums = true", "");
}

TEST_F(LoweringConfig, FieldsThatGoTogether) {
  LoweringConfigAttr config = read(write());
  expect(config.withStream(132, 3).withSplits(2), "two_level_sums = true",
         "two_level_sums = true, stream_k = 132");
  expect(config.withoutProducer().withRegisters(config.getRegisters()),
         "two_level_sums = true", "two_level_sums = true, producer = false");
  expect(config.withoutTmaCopy().withCluster(config.getCluster()), "two_level_sums = true",
         "two_level_sums = true, tma_copy = false");
  EXPECT_TRUE(config.withoutProducer().getRegisters().empty());
  EXPECT_TRUE(config.withoutTmaCopy().getCluster().empty());
  EXPECT_TRUE(config.withPersistent(false).withStream(132, 3).getPersistent());
  EXPECT_EQ(config.withStream(132, 3).getSplits(), 3);
}

TEST_F(LoweringConfig, FieldsOfLoopsChangeTogether) {
  auto reversed = [](ArrayRef<int64_t> values) {
    return SmallVector<int64_t>(values.rbegin(), values.rend());
  };
  LoweringConfigAttr config = read(write()).withLoops(reversed);
  EXPECT_EQ(config.getBlock(), (ArrayRef<int64_t>{64, 256, 128}));
  EXPECT_EQ(config.getWarps(), (ArrayRef<int64_t>{1, 1, 8}));
  EXPECT_EQ(config.getThread(), (ArrayRef<int64_t>{2, 2, 2}));
  EXPECT_EQ(config.getCluster(), (ArrayRef<int64_t>{1, 1, 2}));
  EXPECT_EQ(config.withLoops(reversed), read(write()));
}
