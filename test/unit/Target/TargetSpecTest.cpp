// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Target/TargetSpec.h"

#include "gtest/gtest.h"

using namespace tilewright;

static std::string normalise(llvm::StringRef text) {
  llvm::Expected<TargetSpec> spec = parseTargetSpec(text);
  return spec ? spec->str() : "error: " + llvm::toString(spec.takeError());
}

TEST(TargetSpec, SplitsNameVersionAndFeatures) {
  llvm::Expected<TargetSpec> spec = parseTargetSpec("vulkan:1.3+subgroup=32+x");
  ASSERT_TRUE(bool(spec));
  EXPECT_EQ(spec->name, "vulkan");
  EXPECT_EQ(spec->version, "1.3");
  EXPECT_EQ(spec->getFeature("subgroup"), llvm::StringRef("32"));
  EXPECT_EQ(spec->getFeature("x"), llvm::StringRef(""));
  EXPECT_EQ(spec->getFeature("y"), std::nullopt);
}

TEST(TargetSpec, SortsFeatures) {
  EXPECT_EQ(normalise("cpu:x86-64-v3+b=2+a"), "cpu:x86-64-v3+a+b=2");
  EXPECT_EQ(normalise("cpu-reference"), "cpu-reference");
}

TEST(TargetSpec, KeepsSeveralValuesInOrder) {
  llvm::Expected<TargetSpec> spec =
      parseTargetSpec("vulkan+x=2:b+subgroup=8+x=1:a");
  ASSERT_TRUE(bool(spec));
  llvm::SmallVector<llvm::StringRef> expected = {"2:b", "1:a"};
  EXPECT_EQ(spec->getValues("x"), expected);
  EXPECT_EQ(spec->str(), "vulkan+subgroup=8+x=2:b+x=1:a");
}

TEST(TargetSpec, RefusesMalformedText) {
  for (llvm::StringRef text : {"", ":sm_80", "cuda:", "cuda:+x", "cuda+", "cuda+=1",
                               "cuda+x=", "cuda+x=a:", "cuda+x=1+x=1", "cu da", "cuda+x+x", "cuda:a:b"})
    EXPECT_TRUE(llvm::StringRef(normalise(text)).starts_with("error: target '"))
        << text.str();
}

TEST(TargetSpec, ListsRefuseRepetition) {
  EXPECT_TRUE(bool(parseTargetSpecs("cuda:sm_80,cpu")));
  llvm::Expected<llvm::SmallVector<TargetSpec>> twice =
      parseTargetSpecs("cpu+a+b,cpu+b+a");
  ASSERT_FALSE(bool(twice));
  EXPECT_EQ(llvm::toString(twice.takeError()),
            "target 'cpu+a+b' is given twice");
}
