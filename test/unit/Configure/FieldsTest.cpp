// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/configs.md has the fields that the classes declare.

#include "Fields.h"

#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace tilewright;

TEST(FieldsTest, DocsHaveTheTableOfTheClasses) {
  auto page = llvm::MemoryBuffer::getFile(TILEWRIGHT_DOCS "/configs.md", /*IsText=*/true);
  ASSERT_TRUE(bool(page)) << page.getError().message();
  EXPECT_TRUE((*page)->getBuffer().contains("\n\n" + describeFields() + "\n"))
      << "docs/configs.md must have this table:\n"
      << describeFields();
}
