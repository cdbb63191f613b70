// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameter files: what is read, what is refused, and programs whose constants are
// there. The test program's function scale_and_sum adds its constant, `bias`.

#include "core/api_handles.h"
#include "core/parameters.h"
#include "core/sha256.h"
#include "test_program.h"

#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

/// A file of the format with this header, padded to `headerSize`.
std::string parameterFile(std::string header, const std::string &data,
                          size_t headerSize = 0) {
  if (header.size() < headerSize)
    header.resize(headerSize, ' ');
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), sizeof(length)) +
         header + data;
}

std::string bytesOf(float value) {
  return std::string(reinterpret_cast<char *>(&value), sizeof(value));
}

class ParameterFileTest : public ::testing::Test {
protected:
  void TearDown() override { unlink(path.c_str()); }
  void write(const std::string &bytes) {
    unlink(path.c_str());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  std::string open(const std::string &bytes) {
    write(bytes);
    file = nullptr;
    return ParameterFile::open(path, file).message();
  }
  std::string openHeader(const std::string &header, const std::string &data) {
    return open(parameterFile(header, data));
  }
  std::string path = ::testing::TempDir() + "parameters-" +
                     std::to_string(getpid()) + ".safetensors";
  std::shared_ptr<const ParameterFile> file;
};

TEST_F(ParameterFileTest, ReadsTensors) {
  ASSERT_EQ(openHeader(R"({"__metadata__": {"format": "pt"},
      "a b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
      "n": {"dtype": "U8", "shape": [2, 2], "data_offsets": [0, 4]},
      "later": {"dtype": "F4_NEW", "shape": [8], "data_offsets": [12, 16]},
      "none": {"dtype": "I64", "shape": [0, 3], "data_offsets": [16, 16]}})",
                       "abcd" + bytesOf(1.5f) + bytesOf(2.5f) + "wxyz"),
            "");
  EXPECT_EQ(file->tensors().size(), 4u);
  const ParameterFile::Tensor *tensor = nullptr;
  ASSERT_TRUE(file->find("a b", TW_F32, {2}, tensor).isOk());
  EXPECT_EQ(std::memcmp(tensor->data, bytesOf(1.5f).data(), 4), 0);
  ASSERT_TRUE(file->find("n", TW_I8, {2, 2}, tensor).isOk());
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(tensor->data), 4), "abcd");
  ASSERT_TRUE(file->find("none", TW_I64, {0, 3}, tensor).isOk());
  EXPECT_EQ(tensor->size, 0u);

  EXPECT_EQ(file->find("b", TW_F32, {2}, tensor).message(),
            "it has no tensor 'b'; it has a b, later, n, none");
  EXPECT_EQ(file->find("a b", TW_F16, {2}, tensor).message(),
            "its tensor 'a b' is F32[2]; the program takes 2xf16");
  EXPECT_EQ(file->find("a b", TW_F32, {1, 2}, tensor).message(),
            "its tensor 'a b' is F32[2]; the program takes 1x2xf32");
  EXPECT_EQ(file->find("later", TW_I4, {8}, tensor).message(),
            "its tensor 'later' is F4_NEW[8]; the program takes 8xi4");
}

TEST_F(ParameterFileTest, RefusesWhatIsDamaged) {
  auto refused = [&](const std::string &header, const std::string &reason) {
    EXPECT_PRED2(contains, openHeader(header, std::string(16, 'x')), reason);
  };
  EXPECT_PRED2(contains, open(""), "is 0 bytes long");
  EXPECT_PRED2(contains, open(std::string(64, '\xff')),
               "says that its header has 18446744073709551615 bytes");
  std::string whole = parameterFile(
      R"({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}})",
      std::string(16, 'x'));
  EXPECT_EQ(open(whole), "");
  EXPECT_PRED2(contains, open(whole.substr(0, whole.size() - 1)),
               "ends at 16, but the file has 15 bytes of data (truncated?)");
  EXPECT_PRED2(contains, open(whole.substr(0, 40)), "truncated, or not");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(open(whole.substr(0, size)), "") << size;
  refused("{\"w\": ", "header: ");
  refused("[1]", "header: expected a JSON object");
  refused("{\"w\": 3}", "'w': expected an object");
  refused(std::string(1000, '['), "header: ");
  refused(R"({"w": {"shape": [4], "data_offsets": [0, 16]}})", "dtype");
  refused(R"({"w": {"dtype": "F32", "shape": [-4], "data_offsets": [0, 16]}})",
          "shape[0]");
  refused(R"({"w": {"dtype": "F32", "shape": [3], "data_offsets": [0, 16]}})",
          "F32[3] does not take 16 bytes");
  refused(R"({"w": {"dtype": "F32", "shape": [4294967296, 4294967296],
                    "data_offsets": [0, 16]}})",
          "has more elements than 64 bits count");
  refused(R"({"w": {"dtype": "F32", "shape": [4611686018427387904],
                    "data_offsets": [0, 0]}})",
          "does not take 0 bytes");
  refused(R"({"w": {"dtype": "F32", "shape": [4], "data_offsets": [16, 0]}})",
          "data_offsets[1]");
  refused(R"({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0]}})",
          "expected the two offsets");
  refused(R"({"w": {"dtype": "F32", "shape": [4], "data_offsets": [4, 20]}})",
          "ends at 20");
  refused(R"({"v": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
              "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})",
          "tensors 'w' and 'v' overlap");
  EXPECT_PRED2(contains,
               ParameterFile::open("/dev/zero", file).message(),
               "parameter file '/dev/zero': is not an ordinary file");
  Status missing = ParameterFile::open(path + "-no", file);
  EXPECT_EQ(missing.code(), StatusCode::NotFound);
}

TEST_F(ParameterFileTest, OtherBytesGiveTensorsInTheFileOrAnError) {
  const std::string good = parameterFile(
      R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
      R"("w":{"dtype":"I8","shape":[2,4],"data_offsets":[8,16]}})",
      std::string(16, 'x'));
  for (size_t i = 0; i + 16 < good.size(); ++i)
    for (char other : {'\0', '9', '"', '-', 'e', '}', '\xff'}) {
      std::string bad = good;
      bad[i] = other;
      if (!open(bad).empty())
        continue;
      uint64_t count = 0;
      for (const auto &[name, tensor] : file->tensors())
        count += std::string(reinterpret_cast<const char *>(tensor.data),
                             tensor.size)
                     .size();
      EXPECT_LE(count, 16u) << "byte " << i;
    }
}

TEST_F(ParameterFileTest, SharesMappingsOfOneStateOfAFile) {
  std::string header =
      R"({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";
  ASSERT_EQ(openHeader(header, bytesOf(1)), "");
  std::shared_ptr<const ParameterFile> again;
  ASSERT_TRUE(ParameterFile::open(path, again).isOk());
  EXPECT_EQ(again, file);
  // A file in its place is another one; who has the first keeps it.
  std::string other = path + ".new";
  std::ofstream(other, std::ios::binary) << parameterFile(header, bytesOf(2));
  ASSERT_EQ(rename(other.c_str(), path.c_str()), 0);
  ASSERT_TRUE(ParameterFile::open(path, again).isOk());
  EXPECT_NE(again, file);
  EXPECT_EQ(std::memcmp(file->tensors().at("w").data, bytesOf(1).data(), 4), 0);
  EXPECT_EQ(std::memcmp(again->tensors().at("w").data, bytesOf(2).data(), 4), 0);
}

class ParametersTest : public ProgramTest {
protected:
  void SetUp() override {
    ProgramTest::SetUp();
    folder = ::testing::TempDir() + "parameters-" + std::to_string(getpid()) + "/";
    ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  }
  void TearDown() override {
    for (const char *name : {"p.safetensors", "q.safetensors"})
      unlink((folder + name).c_str());
    rmdir(folder.c_str());
    ProgramTest::TearDown();
  }
  std::string write(const char *name, float bias, size_t headerSize) {
    std::ofstream(folder + name, std::ios::binary) << parameterFile(
        R"({"bias": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})",
        bytesOf(bias), headerSize);
    return folder + name;
  }
  static std::string artifact(const std::string &constant) {
    Sections sections = testSections();
    std::string &text = sections[0].second;
    const std::string before = "\"section\": \"constants/0\"";
    text.replace(text.find(before), before.size(), constant);
    text.replace(text.find('{'), 1, "{\"parameters\": {\"file\": \"p.safetensors\"},");
    return writeArtifact(sections);
  }
  static std::string parameter(float bias) {
    return R"("parameter": "bias", "bytes": 4, "sha256": ")" +
           toHex(sha256(&bias, sizeof(bias))) + "\"";
  }
  std::string load(const std::string &bytes, const std::string &path,
                   bool verify, tilewright_program *&loaded) {
    tilewright_program_options options = {};
    options.parameters = path.c_str();
    options.verify_parameters = verify;
    return take(tilewright_program_load(device, bytes.data(), bytes.size(),
                                        &options, &loaded));
  }
  /// scale_and_sum of a zero: the bias.
  float biasOf(tilewright_program *loaded) {
    size_t function = 0;
    EXPECT_OK(tilewright_program_function_find(loaded, "scale_and_sum", &function));
    tilewright_value arguments[] = {value(tensor<float>(TW_F32, {1}, {0})),
                                    scalar(1.0f)};
    tilewright_value results[2] = {};
    EXPECT_OK(tilewright_program_call(loaded, function, stream, 2, arguments, 2,
                                      results));
    if (!results[0].view)
      return -1;
    float bias = elements<float>(results[0].view)[0];
    tilewright_view_release(results[0].view);
    return bias;
  }
  std::string folder;
};

TEST_F(ParametersTest, ComeFromTheFileOfTheFolderOrAnother) {
  std::string bytes = artifact(parameter(0.5f));
  write("p.safetensors", 0.5f, 0);
  // Data at a multiple of 64 is used in place, other data is copied.
  for (size_t size : {120, 121, 128}) {
    std::string other = write("q.safetensors", 2.5f, size);
    tilewright_program *first = nullptr, *second = nullptr;
    ASSERT_EQ(load(bytes, folder, true, first), "");
    ASSERT_EQ(load(bytes, other, false, second), "");
    EXPECT_EQ(biasOf(first), 0.5f);
    EXPECT_EQ(biasOf(second), 2.5f);
    // The mapping outlives the file's name.
    unlink(other.c_str());
    tilewright_program_release(first);
    EXPECT_EQ(biasOf(second), 2.5f);
    tilewright_program_release(second);
  }
}

TEST_F(ParametersTest, AreOnTheDeviceOnceForAllProgramsOfAFile) {
  auto bufferOf = [](tilewright_program *program) {
    return program->object->constants()[0].buffer;
  };
  std::string bytes = artifact(parameter(0.5f));
  // Data at a multiple of 64 is used in place, other data is copied.
  for (size_t size : {121, 128}) {
    std::string path = write("p.safetensors", 0.5f, size),
                other = write("q.safetensors", 2.5f, size);
    tilewright_program *first = nullptr, *second = nullptr, *third = nullptr;
    ASSERT_EQ(load(bytes, path, false, first), "");
    ASSERT_EQ(load(bytes, path, true, second), "");
    ASSERT_EQ(load(bytes, other, false, third), "");
    EXPECT_EQ(bufferOf(first), bufferOf(second));
    EXPECT_NE(bufferOf(first), bufferOf(third));
    tilewright_program_release(first);
    EXPECT_EQ(biasOf(second), 0.5f);
    EXPECT_EQ(biasOf(third), 2.5f);
    EXPECT_PRED2(contains, load(bytes, other, true, first), "has other values");
    tilewright_program_release(second);
    tilewright_program_release(third);
    // Nobody has it any more.
    ASSERT_EQ(load(bytes, path, false, first), "");
    EXPECT_EQ(biasOf(first), 0.5f);
    tilewright_program_release(first);
    unlink(path.c_str());
    unlink(other.c_str());
  }
}

TEST_F(ParametersTest, AreCheckedWhenAProgramLoads) {
  std::string bytes = artifact(parameter(0.5f));
  tilewright_program *loaded = nullptr;
  EXPECT_PRED2(contains, load(bytes, folder, false, loaded),
               "No such file or directory; the program takes 1 tensors from there");
  std::string path = write("p.safetensors", 1.5f, 0);
  EXPECT_PRED2(contains, load(bytes, path, true, loaded),
               "p.safetensors': its tensor 'bias' has other values than the one "
               "that the program was compiled with");
  std::ofstream(path, std::ios::binary) << parameterFile(
      R"({"bias": {"dtype": "F16", "shape": [1], "data_offsets": [0, 2]}})", "xx");
  EXPECT_PRED2(contains, load(bytes, path, false, loaded),
               "its tensor 'bias' is F16[1]; the program takes 1xf32");
  std::ofstream(path, std::ios::binary) << parameterFile("{}", "");
  EXPECT_PRED2(contains, load(bytes, path, false, loaded),
               "it has no tensor 'bias'; it has none");
  EXPECT_EQ(loaded, nullptr);
}

TEST_F(ParametersTest, AreCheckedInManifests) {
  tilewright_program *loaded = nullptr;
  auto refused = [&](const std::string &constant, const std::string &reason) {
    EXPECT_PRED2(contains, load(artifact(constant), folder, false, loaded), reason);
  };
  std::string good = parameter(0.5f);
  refused(good + ", \"section\": \"constants/0\"",
          "has both a section and a parameter");
  refused(R"("parameter": "bias", "bytes": 8)",
          "constants[0].bytes: a parameter 1xf32 takes 4 bytes");
  refused(R"("parameter": "bias", "bytes": 4, "sha256": "ABC")",
          "expected 64 lower-case hexadecimal digits");
  refused(R"("parameter": 3)", "constants[0].parameter");
  // Of a function that runs at load.
  auto atLoad = [&](const std::string &functions, const std::string &constant,
                    const std::string &reason) {
    Sections sections = testSections();
    std::string &text = sections[0].second;
    const std::string before = "\"section\": \"constants/0\"", list = "\"constants\":";
    text.replace(text.find(before), before.size(), constant);
    text.insert(text.find(list), "\"at_load\": " + functions + ", ");
    EXPECT_PRED2(contains, load(writeArtifact(sections), folder, false, loaded), reason);
  };
  const std::string results = R"([{"name": "f", "results": [{"kind": "tensor", "dtype": "f32", "shape": [1]}]}])";
  atLoad("[]", R"("at_load": 0, "result": 0)", "constants[0].at_load");
  atLoad(results, R"("at_load": 0, "result": 1)", "constants[0].result");
  atLoad(R"([{"name": "f", "results": [{"kind": "tensor", "dtype": "f32", "shape": [-1]}]}])",
         R"("at_load": 0, "result": 0)", "expected a tensor of static shape");
  atLoad(R"([{"name": "f", "results": [{"kind": "tensor", "dtype": "f32", "shape": [2]}]}])",
         R"("at_load": 0, "result": 0)", "has another type than result 0 of function 'f'");
  atLoad(results, R"("at_load": 0, "result": 0)", "functions; the manifest has");
  auto file = [&](const std::string &with) {
    Sections sections = testSections();
    std::string &text = sections[0].second;
    const std::string before = "\"section\": \"constants/0\"";
    text.replace(text.find(before), before.size(), good);
    text.replace(text.find('{'), 1, "{" + with);
    return load(writeArtifact(sections), folder, false, loaded);
  };
  EXPECT_PRED2(contains, file(""),
               "has parameter 'bias', but the manifest names no file");
  EXPECT_PRED2(contains, file("\"parameters\": {\"file\": \"a/b\"},"),
               "parameters.file: expected a name without a folder");
  EXPECT_PRED2(contains, file("\"parameters\": 3,"), "parameters: expected");
}

} // namespace
