// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Target/Target.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct RegistryTest : testing::Test {
  RegistryTest() { context.loadDialect<TilewrightDialect>(); }
  /// The normalised name, or the error.
  std::string parse(StringRef text) {
    llvm::Expected<ParsedTarget> target = registry.parse(&context, text);
    return target ? target->name : "error: " + llvm::toString(target.takeError());
  }
  MLIRContext context;
  TargetRegistry registry = createTargetRegistry();
};
} // namespace

TEST_F(RegistryTest, KnowsComputeCapabilities) {
  for (StringRef text : {"cuda:sm_75", "cuda:sm_80", "cuda:sm_90", "cuda:sm_90a",
                         "cuda:sm_100a", "cuda:sm_100f", "cuda:sm_121"})
    EXPECT_EQ(parse(text), text);
  for (StringRef text : {"cuda", "cuda:80", "cuda:sm_70", "cuda:sm_80a",
                         "cuda:sm_90f", "cuda:sm_", "cuda:sm_80+x"})
    EXPECT_NE(parse(text).find("accepted is cuda:sm_NN"), std::string::npos)
        << parse(text);
}

TEST_F(RegistryTest, NamesWhatIsAccepted) {
  std::string error = parse("metal");
  EXPECT_NE(error.find("unknown target 'metal'; accepted are cuda:sm_NN"),
            std::string::npos)
      << error;
}

TEST_F(RegistryTest, GivesEveryVariantTheCommonFacts) {
  for (const auto &backend : registry.getBackends()) {
    std::string text = backend->getTargetName().str();
    if (text == "cuda")
      text += ":sm_80";
    llvm::Expected<ParsedTarget> target = registry.parse(&context, text);
    ASSERT_TRUE(bool(target)) << llvm::toString(target.takeError());
    EXPECT_EQ(registry.lookupBackend(target->backend), backend.get());
    ASSERT_FALSE(target->variants.empty());
    if (backend->getKernelForm() == KernelForm::None)
      continue;
    for (const TargetVariant &variant : target->variants)
      for (StringRef fact : {"subgroup", "max_threads", "shared_memory",
                             "registers", "access_bytes", "index_bits"})
        EXPECT_GE(variant.target.getFact(fact, -1), 0) << text << ": " << fact.str();
  }
}

TEST_F(RegistryTest, TakesArmProcessors) {
  for (StringRef text : {"cpu:aarch64", "cpu:aarch64+dotprod", "cpu:aarch64+sve=2048",
                         "cpu:neoverse-v1", "cpu-reference:aarch64"})
    EXPECT_EQ(parse(text), text);
  auto target = registry.parse(&context, "cpu:aarch64+bf16+sve=256");
  ASSERT_TRUE(bool(target)) << llvm::toString(target.takeError());
  TargetAttr facts = target->variants.front().target;
  EXPECT_EQ(facts.getFact("vector_bytes", 0), 32);
  EXPECT_EQ(facts.getFact("registers", 0), 32);
  EXPECT_EQ(facts.getText("features"), "+bf16,+sve");
  EXPECT_EQ(facts.getText("triple"), "aarch64-unknown-linux-gnu");
  EXPECT_EQ(target->required.getInteger("sve_bits"), 256);
  EXPECT_EQ(target->required.getInteger("aarch64"), 1);
  // A core is its features.
  auto core = registry.parse(&context, "cpu:neoverse-v1");
  ASSERT_TRUE(bool(core)) << llvm::toString(core.takeError());
  EXPECT_EQ(core->variants.front().target.getText("features"),
            "+bf16,+dotprod,+fullfp16,+i8mm,+sve");
  for (StringRef text : {"cpu:aarch64+sve", "cpu:aarch64+sve=192", "cpu:aarch64+sve=4096"})
    EXPECT_NE(parse(text).find("sve=128, 256, 512, 1024 or 2048"), std::string::npos)
        << parse(text);
  EXPECT_NE(parse("cpu:aarch64+avx2").find("no AArch64 processor has a feature 'avx2'"),
            std::string::npos);
  EXPECT_NE(parse("cpu:x86-64-v3+sve=256").find("no x86 processor has a feature 'sve'"),
            std::string::npos);
  EXPECT_NE(parse("cpu:neoverse").find("unknown processor 'neoverse'"), std::string::npos);
  EXPECT_NE(parse("cpu-reference:sparc").find("accepted is cpu-reference[:aarch64]"),
            std::string::npos);
}

TEST_F(RegistryTest, TakesShapesOfCooperativeMatrices) {
  auto instructions = [&](StringRef text) {
    llvm::Expected<ParsedTarget> target = registry.parse(&context, text);
    if (!target)
      return "error: " + llvm::toString(target.takeError());
    std::string names;
    auto mma = target->variants.front().target.getFacts().getAs<ArrayAttr>("mma");
    if (mma)
      for (auto name : mma.getAsRange<StringAttr>())
        names += name.getValue().str() + " ";
    return names;
  };
  EXPECT_EQ(instructions("vulkan"), "");
  EXPECT_EQ(instructions("vulkan+coopmat"),
            "coopmat.m16n16k16.f16.f32 coopmat.m16n16k16.f16.f16 ");
  EXPECT_EQ(instructions("vulkan:1.3+subgroup=8+coopmat=8x8x8:u8:u32"
                         "+coopmat=16x8x32:s8:s32"),
            "coopmat.m8n8k8.u8.u32 coopmat.m16n8k32.s8.s32 ");
  EXPECT_EQ(parse("vulkan+coopmat=8x8x8:f16:f32+coopmat=16x16x16:bf16:f32"),
            "vulkan+coopmat=8x8x8:f16:f32+coopmat=16x16x16:bf16:f32");
  for (StringRef shape : {"8x8:f16:f32", "8x8x8:f16", "8x8x8:f32:f32",
                          "8x8x8:s8:f32", "12x8x8:f16:f32", "4x8x8:f16:f32",
                          "8x8x8x8:f16:f32", "f16:f32:8x8x8"})
    EXPECT_NE(parse(("vulkan+coopmat=" + shape).str())
                  .find("is no shape of cooperative matrices"),
              std::string::npos)
        << shape.str();
  EXPECT_NE(parse("vulkan:1.2+coopmat").find("need vulkan:1.3"),
            std::string::npos);
  EXPECT_NE(parse("vulkan+subgroup=8+subgroup=16").find("given twice"),
            std::string::npos);
}

TEST_F(RegistryTest, ListsRefuseOneTargetTwice) {
  llvm::Expected<std::vector<ParsedTarget>> list =
      registry.parseList(&context, "cuda:sm_80,cuda:sm_80");
  ASSERT_FALSE(bool(list));
  EXPECT_EQ(llvm::toString(list.takeError()),
            "target 'cuda:sm_80' is given twice");
}
