// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Artifacts and fixtures for tests; see test_program.h.

#include "test_program.h"

#include "core/sha256.h"

#include <cstring>
#include <fstream>
#include <iterator>

namespace tilewright::test {

namespace {

template <typename T> void append(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

void pad(std::string &bytes) { bytes.resize((bytes.size() + 63) / 64 * 64); }

} // namespace

void rehash(std::string &artifact) {
  runtime::Sha256Digest digest =
      runtime::sha256(artifact.data() + 56, artifact.size() - 56);
  std::memcpy(artifact.data() + 24, digest.data(), digest.size());
}

std::string writeArtifact(const Sections &sections) {
  std::string table, data;
  size_t base = (56 + 64 * sections.size() + 63) / 64 * 64;
  for (const auto &[name, bytes] : sections) {
    std::string padded = name;
    padded.resize(48);
    table += padded;
    append<uint64_t>(table, base + data.size());
    append<uint64_t>(table, bytes.size());
    data += bytes;
    pad(data);
  }
  std::string artifact("TILEWRT\x01", 8);
  append<uint32_t>(artifact, 1);
  append<uint32_t>(artifact, static_cast<uint32_t>(sections.size()));
  append<uint64_t>(artifact, base + data.size());
  artifact.append(32, '\0');
  artifact += table;
  artifact.resize(base);
  artifact += data;
  rehash(artifact);
  return artifact;
}

const std::string &hostProgram() {
  static const std::string bytes = [] {
    std::ifstream file(TEST_HOST_PROGRAM, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return bytes;
}

std::string testManifest() {
  return R"json({
  "format": 1, "producer": "test",
  "programs": [{
    "target": "cpu", "driver": "cpu",
    "host": {"section": "cpu/host.so"},
    "functions": [
      {"name": "main",
       "inputs": [{"kind": "tensor", "dtype": "f32", "shape": [-1, -1]},
                  {"kind": "tensor", "dtype": "f32", "shape": [-1, 3]}],
       "results": [{"kind": "tensor", "dtype": "f32", "shape": [-1, 3],
                    "reduction": ["dim", 0, 1]}],
       "flops": ["mul", 2, ["dim", 0, 0], ["dim", 0, 1], ["dim", 1, 1]]},
      {"name": "scale_and_sum",
       "inputs": [{"kind": "tensor", "dtype": "f32", "shape": [-1]},
                  {"kind": "scalar", "dtype": "f32"}],
       "results": [{"kind": "tensor", "dtype": "f32", "shape": [-1]},
                   {"kind": "scalar", "dtype": "f32"}]},
      {"name": "inplace",
       "inputs": [{"kind": "buffer", "dtype": "i32", "shape": [-1]}],
       "results": []},
      {"name": "fail", "inputs": [],
       "results": [{"kind": "tensor", "dtype": "i32", "shape": [16]}]},
      {"name": "print", "inputs": [{"kind": "scalar", "dtype": "i64"}],
       "results": [{"kind": "tensor", "dtype": "i64", "shape": [-1]}]},
      {"name": "loop",
       "inputs": [{"kind": "tensor", "dtype": "i32", "shape": [-1]},
                  {"kind": "scalar", "dtype": "index"}],
       "results": [{"kind": "tensor", "dtype": "i32", "shape": [-1, 2]}]},
      {"name": "hang",
       "inputs": [{"kind": "buffer", "dtype": "i32", "shape": [-1]}],
       "results": []},
      {"name": "stale", "inputs": [], "results": []},
      {"name": "crawl",
       "inputs": [{"kind": "buffer", "dtype": "i32", "shape": [-1]}],
       "results": []},
      {"name": "check_later",
       "inputs": [{"kind": "tensor", "dtype": "i32", "shape": [1]},
                  {"kind": "scalar", "dtype": "index"}],
       "results": [{"kind": "tensor", "dtype": "i32", "shape": [1]}]}
    ],
    "constants": [{"dtype": "f32", "shape": [1], "section": "constants/0"}],
    "dispatches": [
      {"name": "matmul",
       "operands": [
         {"dtype": "f32", "shape": [-1, -1], "access": "read"},
         {"dtype": "f32", "shape": [-1, 3], "access": "read"},
         {"dtype": "f32", "shape": [-1, 3], "access": "write"}],
       "checks": [{"equal": [["dim", 0, 1], ["dim", 1, 0]],
                   "message": "linalg.matmul: K of the operands differs"}],
       "variants": [{
         "name": "matmul",
         "guard": ["lt", ["numel", 2], 2147483648],
         "grid": [["dim", 2, 1], ["dim", 2, 0], 1],
         "params": [{"buffer": 0}, {"buffer": 1}, {"buffer": 2},
                    {"scalar": "i32", "value": ["dim", 0, 1]},
                    {"scalar": "i32", "value": ["dim", 1, 1]}]}]},
      {"name": "scale",
       "operands": [
         {"dtype": "f32", "shape": [-1], "access": "read"},
         {"dtype": "f32", "shape": [1], "access": "read"},
         {"dtype": "f32", "shape": [-1], "access": "write"}],
       "scalars": ["f32"],
       "variants": [
         {"name": "never", "guard": ["device", "no such fact"],
          "grid": [1, 1, 1], "params": []},
         {"name": "scale", "guard": ["lt", ["numel", 0], 1000],
          "grid": [["ceildiv", ["dim", 0, 0], 8], 1, 1],
          "params": [{"buffer": 0}, {"buffer": 1}, {"buffer": 2},
                     {"scalar": "i64", "value": ["dim", 0, 0]},
                     {"scalar": "f32", "value": ["scalar", 0]}]}]},
      {"name": "increment",
       "operands": [{"dtype": "i32", "shape": [-1], "access": "readwrite"}],
       "variants": [{"name": "increment", "grid": [["dim", 0, 0], 1, 1],
                     "params": [{"buffer": 0}]}]},
      {"name": "spin",
       "operands": [{"dtype": "i32", "shape": [-1], "access": "readwrite"}],
       "variants": [{"name": "spin", "grid": [1, 1, 1],
                     "params": [{"buffer": 0}]}]},
      {"name": "crawl",
       "operands": [{"dtype": "i32", "shape": [-1], "access": "readwrite"}],
       "variants": [{"name": "crawl", "grid": [1000000, 1, 1],
                     "params": [{"buffer": 0}]}]}
    ]
  }]
})json";
}

Sections testSections() {
  float bias = 0.5f;
  return {{"manifest", testManifest()},
          {"cpu/host.so", hostProgram()},
          {"constants/0",
           std::string(reinterpret_cast<char *>(&bias), sizeof(bias))}};
}

const std::string &testArtifact() {
  static const std::string artifact = writeArtifact(testSections());
  return artifact;
}

std::string take(tilewright_status *status) {
  if (!status)
    return "";
  std::string text = std::to_string(tilewright_status_code(status)) + ": " +
                     tilewright_status_message(status);
  tilewright_status_release(status);
  return text;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

void ProgramTest::SetUp() {
  ASSERT_OK(tilewright_instance_create(nullptr, &instance));
  ASSERT_OK(tilewright_device_open(instance, "cpu", &device));
  ASSERT_OK(tilewright_stream_create(device, &stream));
  ASSERT_OK(tilewright_program_load(device, testArtifact().data(),
                                    testArtifact().size(), nullptr, &program));
}

void ProgramTest::TearDown() {
  for (tilewright_view *view : owned)
    tilewright_view_release(view);
  tilewright_program_release(program);
  tilewright_stream_release(stream);
  tilewright_device_release(device);
  tilewright_instance_release(instance);
}

tilewright_view *ProgramTest::newView(int32_t dtype,
                                      std::vector<int64_t> dims) {
  tilewright_view *view = nullptr;
  EXPECT_OK(tilewright_view_allocate(
      device, dtype, static_cast<int32_t>(dims.size()), dims.data(), &view));
  owned.push_back(view);
  return view;
}

std::string ProgramTest::call(const char *name,
                              std::vector<tilewright_value> args,
                              std::vector<tilewright_value> &results) {
  size_t function;
  std::string found =
      take(tilewright_program_function_find(program, name, &function));
  if (!found.empty())
    return found;
  tilewright_signature signature;
  EXPECT_OK(
      tilewright_program_function_signature(program, function, &signature));
  results.assign(signature.num_results, {});
  std::string status = take(
      tilewright_program_call(program, function, stream, args.size(),
                              args.data(), results.size(), results.data()));
  for (tilewright_value &result : results)
    if (result.view)
      owned.push_back(result.view);
  return status;
}

tilewright_value ProgramTest::scalar(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return scalar(uint64_t(bits));
}

} // namespace tilewright::test
