// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the texts of Vulkan targets mean. Needs no device.

#include "tilewright/Target/Target.h"

#include <gtest/gtest.h>

using namespace tilewright;

namespace {
class SPIRVBackend : public testing::Test {
protected:
  SPIRVBackend() { context.loadDialect<TilewrightDialect>(); }

  ParsedTarget parse(llvm::StringRef text) {
    llvm::Expected<ParsedTarget> target = registry.parse(&context, text);
    if (target)
      return std::move(*target);
    ADD_FAILURE() << llvm::toString(target.takeError());
    return {};
  }
  std::string error(llvm::StringRef text) {
    llvm::Expected<ParsedTarget> target = registry.parse(&context, text);
    return target ? "" : llvm::toString(target.takeError());
  }

  mlir::MLIRContext context;
  TargetRegistry registry = createTargetRegistry();
};
} // namespace

TEST_F(SPIRVBackend, GuardsAVariantPerSubgroupSize) {
  ParsedTarget target = parse("vulkan");
  EXPECT_EQ(target.driver, "vulkan");
  EXPECT_EQ(target.required.getInteger("vulkan"), 13);
  EXPECT_FALSE(target.required.get("subgroup"));
  ASSERT_EQ(target.variants.size(), 4u);
  int64_t size = 8;
  for (const TargetVariant &variant : target.variants) {
    EXPECT_EQ(variant.target.getFact("subgroup"), size);
    EXPECT_EQ(variant.tag, "_sg" + std::to_string(size));
    EXPECT_EQ(variant.guard,
              llvm::json::Value(llvm::json::Array{
                  "eq", llvm::json::Array{"device", "subgroup_size"}, size}));
    size *= 2;
  }
}

TEST_F(SPIRVBackend, TakesAGivenSubgroupSize) {
  ParsedTarget target = parse("vulkan:1.2+subgroup=16+f64=0");
  EXPECT_EQ(target.required.getInteger("vulkan"), 12);
  EXPECT_EQ(target.required.getInteger("subgroup"), 16);
  ASSERT_EQ(target.variants.size(), 1u);
  TargetAttr facts = target.variants[0].target;
  EXPECT_EQ(target.variants[0].guard, llvm::json::Value(true));
  EXPECT_EQ(facts.getText("version"), "1.2");
  EXPECT_EQ(facts.getFact("subgroup"), 16);
  EXPECT_EQ(facts.getFact("shared_memory"), 32768);
  EXPECT_EQ(facts.getFact("access_bytes"), 16);
  auto types = facts.getFacts().getAs<mlir::ArrayAttr>("types");
  ASSERT_TRUE(types);
  EXPECT_FALSE(
      llvm::is_contained(types, mlir::StringAttr::get(&context, "f64")));
  EXPECT_TRUE(
      llvm::is_contained(types, mlir::StringAttr::get(&context, "f16")));
}

TEST_F(SPIRVBackend, PlansForTheMultiprocessorsOfADevice) {
  ParsedTarget target = parse("vulkan:1.3+max_threads=256+multiprocessors=20");
  EXPECT_FALSE(target.required.getInteger("multiprocessors"));
  for (const auto &variant : target.variants) {
    EXPECT_EQ(variant.target.getFact("multiprocessors"), 20);
    EXPECT_EQ(variant.target.getFact("max_threads"), 256);
  }
  EXPECT_FALSE(parse("vulkan").variants[0].target.has("multiprocessors"));
}

TEST_F(SPIRVBackend, RefusesOtherTexts) {
  EXPECT_NE(error("vulkan:1.4").find("no version '1.4'"), std::string::npos);
  EXPECT_NE(error("vulkan+subgroup=12").find("must be a power of two"),
            std::string::npos);
  EXPECT_NE(error("vulkan+shared_memory=lots").find("must be a number"),
            std::string::npos);
  EXPECT_NE(error("vulkan+f16=2").find("must be a number from 0 to 1"),
            std::string::npos);
  EXPECT_NE(error("vulkan+raytracing").find("raytracing"), std::string::npos);
}
