// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container: what is written is read back; what is damaged is refused.

#include "tilewright/Artifact/Container.h"

#include "gtest/gtest.h"

using namespace tilewright;

static std::string write() {
  llvm::Expected<std::string> bytes =
      writeContainer({{"manifest", "{}"}, {"a/0.ptx", std::string(100, 'x')}});
  EXPECT_TRUE(bool(bytes));
  return *bytes;
}

TEST(Container, RoundTrip) {
  llvm::Expected<std::vector<Section>> sections = readContainer(write());
  ASSERT_TRUE(bool(sections));
  ASSERT_EQ(sections->size(), 2u);
  EXPECT_EQ((*sections)[0].name, "manifest");
  EXPECT_EQ((*sections)[1].bytes, std::string(100, 'x'));
}

TEST(Container, EveryFlippedByteIsNoticed) {
  std::string good = write();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 0x40;
    llvm::Expected<std::vector<Section>> sections = readContainer(bad);
    EXPECT_FALSE(bool(sections)) << "byte " << i;
    llvm::consumeError(sections.takeError());
  }
}

TEST(Container, EveryTruncationIsNoticed) {
  std::string good = write();
  for (size_t size = 0; size < good.size(); ++size) {
    llvm::Expected<std::vector<Section>> sections =
        readContainer(llvm::StringRef(good).take_front(size));
    EXPECT_FALSE(bool(sections)) << "size " << size;
    llvm::consumeError(sections.takeError());
  }
}

TEST(Container, NamesMustFitAndDiffer) {
  for (std::vector<Section> bad :
       {std::vector<Section>{{std::string(48, 'n'), ""}},
        std::vector<Section>{{"", ""}},
        std::vector<Section>{{"same", ""}, {"same", ""}}}) {
    llvm::Expected<std::string> bytes = writeContainer(bad);
    EXPECT_FALSE(bool(bytes));
    llvm::consumeError(bytes.takeError());
  }
}
