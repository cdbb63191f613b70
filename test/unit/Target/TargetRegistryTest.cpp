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

TEST_F(RegistryTest, ListsRefuseOneTargetTwice) {
  llvm::Expected<std::vector<ParsedTarget>> list =
      registry.parseList(&context, "cuda:sm_80,cuda:sm_80");
  ASSERT_FALSE(bool(list));
  EXPECT_EQ(llvm::toString(list.takeError()),
            "target 'cuda:sm_80' is given twice");
}
