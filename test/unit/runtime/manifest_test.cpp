// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifests that are refused, and the path that each message carries.

#include "core/manifest.h"
#include "test_program.h"

using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

std::string parseText(const std::string &text, Manifest &manifest) {
  std::string bytes = writeArtifact(
      {{"manifest", text}, {"cpu/host.so", "x"}, {"constants/0", "1234"}});
  std::shared_ptr<const Artifact> artifact;
  EXPECT_TRUE(Artifact::parse(bytes.data(), bytes.size(), artifact).isOk());
  return parseManifest(*artifact, manifest).message();
}

// The message for the test manifest with one piece of text replaced.
std::string with(const std::string &from, const std::string &to) {
  std::string text = testManifest();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at == std::string::npos)
    return "";
  text.replace(at, from.size(), to);
  Manifest manifest;
  return parseText(text, manifest);
}

TEST(Manifest, Reads) {
  Manifest manifest;
  ASSERT_EQ(parseText(testManifest(), manifest), "");
  ASSERT_EQ(manifest.programs.size(), 1u);
  const ProgramDesc &program = manifest.programs[0];
  EXPECT_EQ(program.driver, "cpu");
  EXPECT_EQ(program.functions.size(), 10u);
  EXPECT_EQ(program.functions[0].inputs[1].shape,
            (std::vector<int64_t>{-1, 3}));
  EXPECT_TRUE(program.functions[0].flops.has_value());
  EXPECT_FALSE(program.functions[1].flops.has_value());
  EXPECT_EQ(program.dispatches[1].variants.size(), 2u);
  EXPECT_TRUE(program.dispatches[2].operands[0].read);
  EXPECT_TRUE(program.dispatches[2].operands[0].written);
}

TEST(Manifest, ErrorsCarryThePath) {
  EXPECT_EQ(with("\"format\": 1", "\"format\": 2"),
            "manifest has format 2; this runtime reads format 1");
  EXPECT_EQ(with("\"target\": \"cpu\"", "\"target\": 5"),
            "manifest: programs[0].target: expected a string of 1 to 4096 "
            "characters; found 5");
  EXPECT_EQ(with("\"driver\": \"cpu\",", ""),
            "manifest: programs[0].driver: expected a string of 1 to 4096 "
            "characters; found nothing");
  EXPECT_EQ(with("\"section\": \"cpu/host.so\"", "\"section\": \"no\""),
            "manifest: programs[0].host.section: the artifact has no section "
            "'no'");
  EXPECT_EQ(with("\"dtype\": \"f32\", \"shape\": [-1, -1]",
                 "\"dtype\": \"f33\", \"shape\": [-1, -1]"),
            "manifest: programs[0].functions[0].inputs[0].dtype: expected one "
            "of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, f8E4M3FNUZ, "
            "f8E5M2FNUZ, i64, i32, i16, i8, i4, i2, i1, index; found \"f33\"");
  EXPECT_EQ(
      with("\"shape\": [-1, 3]", "\"shape\": [-2, 3]"),
      "manifest: programs[0].functions[0].inputs[1].shape[0]: expected an "
      "integer of at least -1; found -2");
  EXPECT_EQ(with("\"shape\": [-1, 3]", "\"shape\": [4611686018427387904, 3]"),
            "manifest: programs[0].functions[0].inputs[1].shape: tensor "
            "4611686018427387904x3xf32 is larger than 2^62 bytes");
  EXPECT_EQ(with("\"kind\": \"scalar\"", "\"kind\": \"thing\""),
            "manifest: programs[0].functions[1].inputs[1].kind: expected "
            "tensor, buffer or scalar; found \"thing\"");
  EXPECT_EQ(with("\"shape\": [1], \"section\"", "\"shape\": [2], \"section\""),
            "manifest: programs[0].constants[0].section: section 'constants/0' "
            "has 4 bytes; a constant 2xf32 takes 8");
  EXPECT_EQ(with("\"access\": \"write\"", "\"access\": \"w\""),
            "manifest: programs[0].dispatches[0].operands[2].access: expected "
            "read, write or readwrite; found \"w\"");
  EXPECT_EQ(with("[\"dim\", 2, 1]", "[\"dim\", 2, 2]"),
            "manifest: programs[0].dispatches[0].variants[0].grid[0][2]: "
            "expected an integer from 0 to 1; found 2");
  EXPECT_EQ(with("{\"buffer\": 2}", "{\"buffer\": 3}"),
            "manifest: programs[0].dispatches[0].variants[0].params[2].buffer: "
            "expected an integer from 0 to 2; found 3");
  EXPECT_EQ(with("{\"buffer\": 0}, {\"buffer\": 1}",
                 "{\"scalar\": \"i32\", \"value\": 1}, {\"buffer\": 1}"),
            "manifest: programs[0].dispatches[0].variants[0].params[1]: a "
            "buffer behind a scalar; buffers come first");
  EXPECT_EQ(
      with("\"equal\": [[\"dim\", 0, 1], [\"dim\", 1, 0]]", "\"equal\": [1]"),
      "manifest: programs[0].dispatches[0].checks[0].equal: expected an "
      "array of 2 expressions; found an array of 1");
  EXPECT_EQ(
      with("\"grid\": [1, 1, 1], \"params\": []",
           "\"grid\": [1, 1, 1], \"block\": [0, 1, 1], \"params\": []"),
      "manifest: programs[0].dispatches[1].variants[0].block[0]: expected "
      "an integer from 1 to 2147483647; found 0");
  EXPECT_EQ(with("\"host\": {\"section\": \"cpu/host.so\"},", ""),
            "manifest: programs[0]: has functions but no host program");
}

TEST(Manifest, RefusesWhatIsNoManifest) {
  Manifest manifest;
  EXPECT_EQ(parseText("[]", manifest), "manifest: expected a JSON object");
  EXPECT_NE(parseText("{\"format\": 1", manifest).find("parse error"),
            std::string::npos);
  EXPECT_NE(parseText("\xff\xfe\xfd", manifest).find("parse error"),
            std::string::npos);
  EXPECT_NE(parseText(std::string(100000, '['), manifest)
                .find("nested deeper than 96 levels"),
            std::string::npos);
  EXPECT_EQ(parseText("{\"format\": 1}", manifest),
            "manifest: programs: expected an array; found nothing");
}

// Cutting or damaging the text anywhere gives a message, never a crash.
TEST(Manifest, SurvivesDamage) {
  std::string text = testManifest();
  Manifest manifest;
  for (size_t size = 0; size < text.size(); size += 7)
    EXPECT_NE(parseText(text.substr(0, size), manifest), "") << size;
  for (size_t i = 0; i < text.size(); i += 3)
    for (char c : {'"', '[', '}', '-', '9', '\0'}) {
      std::string damaged = text;
      damaged[i] = c;
      parseText(damaged, manifest);
    }
}

} // namespace
