// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container: what is read back, and that damage of any byte is found.

#include "core/artifact.h"
#include "core/sha256.h"
#include "test_program.h"

#include <cstring>

using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

std::string parse(const std::string &bytes) {
  std::shared_ptr<const Artifact> artifact;
  return Artifact::parse(bytes.data(), bytes.size(), artifact).message();
}

TEST(Sha256, KnownAnswers) {
  auto hex = [](const std::string &text) {
    return toHex(sha256(text.data(), text.size()));
  };
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb924"
                     "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223"
                        "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67"
                                            "f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039"
            "a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Artifact, ReadsBack) {
  std::string bytes =
      writeArtifact({{"manifest", "{}"}, {"a/b", ""}, {"c", "xyz"}});
  std::shared_ptr<const Artifact> artifact;
  ASSERT_TRUE(Artifact::parse(bytes.data(), bytes.size(), artifact).isOk());
  EXPECT_EQ(artifact->sections().size(), 3u);
  const Artifact::Section *section = artifact->find("c");
  ASSERT_NE(section, nullptr);
  EXPECT_EQ(
      std::string(reinterpret_cast<const char *>(section->data), section->size),
      "xyz");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(section->data) % 64, 0u);
  EXPECT_EQ(artifact->find("d"), nullptr);
}

TEST(Artifact, EveryFlippedByteIsFound) {
  std::string good = writeArtifact({{"manifest", "{}"}, {"c", "xyz"}});
  ASSERT_EQ(parse(good), "");
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 0x10;
    EXPECT_NE(parse(bad), "") << "byte " << i;
  }
}

TEST(Artifact, EveryTruncationIsFound) {
  std::string good = writeArtifact({{"manifest", "{}"}, {"c", "xyz"}});
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(parse(good.substr(0, size)), "") << size;
  EXPECT_NE(parse(good + "x").find("its header says"), std::string::npos);
}

TEST(Artifact, NamesWhatIsWrong) {
  std::string good = writeArtifact({{"manifest", "{}"}, {"c", "xyz"}});
  EXPECT_EQ(parse(std::string(100, 'x')),
            "not a Tilewright artifact: the file does not start with the bytes "
            "TILEWRT 01");
  EXPECT_EQ(parse("abc"),
            "artifact is 3 bytes long; its header alone takes 56");
  std::string future = good;
  future[8] = 2;
  EXPECT_EQ(parse(future), "artifact has container version 2; this runtime "
                           "reads version 1");
  std::string damaged = good;
  damaged.back() ^= 1;
  EXPECT_EQ(parse(damaged), "artifact is damaged: its SHA-256 differs from the "
                            "one in its header");

  // With a right hash, the structure still has to hold.
  auto tamper = [&](size_t at, uint64_t value, size_t size) {
    std::string bytes = good;
    std::memcpy(&bytes[at], &value, size);
    rehash(bytes);
    return parse(bytes);
  };
  EXPECT_NE(tamper(12, 0xffffffff, 4).find("room for"), std::string::npos);
  EXPECT_NE(tamper(56 + 48, 0, 8).find("lie outside the data"),
            std::string::npos);
  EXPECT_NE(tamper(56 + 48, uint64_t(-64), 8).find("lie outside the data"),
            std::string::npos);
  EXPECT_NE(tamper(56 + 56, uint64_t(-1), 8).find("lie outside the data"),
            std::string::npos);
  EXPECT_NE(tamper(56 + 48, 193, 8).find("not a multiple of 64"),
            std::string::npos);
  EXPECT_EQ(tamper(56, 0, 1), "section 0 has no name");
  EXPECT_NE(tamper(56 + 56, 65, 8).find("overlap"), std::string::npos);
  EXPECT_EQ(parse(writeArtifact({{"a", "1"}, {"a", "2"}})),
            "section 1 'a': the name is used twice");
}

} // namespace
