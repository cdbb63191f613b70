// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Artifacts for every device; see device_program.h.

#include "device_program.h"

#include <numeric>

namespace tilewright::test {

namespace {

const char ptx[] =
#include "cts/kernels/kernels.ptx.inc"
    ;
const uint32_t incrementSpirv[] = {
#include "cts/kernels/increment.spv.inc"
};
const uint32_t spinSpirv[] = {
#include "cts/kernels/spin.spv.inc"
};

template <size_t N> std::string bytes(const uint32_t (&words)[N]) {
  return {reinterpret_cast<const char *>(words), sizeof(words)};
}

/// A dispatch of one of the two kernels.
std::string dispatch(const char *name, const std::string &section,
                     bool isSpin) {
  std::string text = std::string("{\"name\": \"") + name +
                     "\", \"operands\": [{\"dtype\": \"i32\", \"shape\": "
                     "[-1], \"access\": \"readwrite\"}], \"variants\": "
                     "[{\"section\": \"" +
                     section + "\", ";
  // lavapipe ends every loop after 65535 rounds, but not this many blocks.
  if (isSpin)
    return text + "\"name\": \"spin\", \"grid\": [65535, 65535, 1], "
                  "\"block\": [1, 1, 1], \"params\": [{\"buffer\": 0}]}]}";
  return text + "\"name\": \"increment\", \"grid\": [1, 1, 1], \"block\": "
                "[64, 1, 1], \"params\": [{\"buffer\": 0}, {\"scalar\": "
                "\"i32\", \"value\": 1}]}]}";
}

} // namespace

std::string deviceArtifact(const std::string &driver) {
  Sections sections = testSections();
  if (driver == "cpu")
    return writeArtifact(sections);
  std::string manifest = sections[0].second;
  std::string increment = "cuda/kernels.ptx", spin = increment;
  if (driver == "cuda") {
    sections.push_back({increment, ptx});
  } else {
    increment = "vulkan/increment.spv", spin = "vulkan/spin.spv";
    sections.push_back({increment, bytes(incrementSpirv)});
    sections.push_back({spin, bytes(spinSpirv)});
  }
  std::string cpu = "\"target\": \"cpu\", \"driver\": \"cpu\"";
  manifest.replace(manifest.find(cpu), cpu.size(),
                   "\"target\": \"" + driver + "\", \"driver\": \"" + driver +
                       "\"");
  manifest.resize(manifest.find("\"dispatches\""));
  manifest += "\"dispatches\": [" + dispatch("matmul", increment, false) + "," +
              dispatch("scale", increment, false) + "," +
              dispatch("increment", increment, false) + "," +
              dispatch("spin", spin, true) + "," +
              dispatch("crawl", spin, true) + "]}]}";
  sections[0].second = manifest;
  return writeArtifact(sections);
}

int32_t changed(const std::string &driver, int32_t number) {
  return driver == "cpu" ? number + 1 : 3 * number + 1;
}

std::string driverOf(const std::string &device) {
  std::string name = device.substr(0, device.find(':'));
  return name == "ptxsim" ? "cuda" : name;
}

std::string Opened::open(const std::string &name,
                         const tilewright_instance_options *options) {
  driver = driverOf(name);
  std::string artifact = deviceArtifact(driver);
  int64_t dims[] = {64};
  std::string why = take(tilewright_instance_create(options, &instance));
  if (why.empty())
    why = take(tilewright_device_open(instance, name.c_str(), &device));
  if (why.empty())
    why = take(tilewright_stream_create(device, &stream));
  if (why.empty())
    why = take(tilewright_program_load(device, artifact.data(),
                                       artifact.size(), nullptr, &program));
  if (why.empty())
    why = take(tilewright_view_allocate(device, TW_I32, 1, dims, &view));
  std::vector<int32_t> zeros(64);
  if (why.empty())
    why = take(tilewright_view_write(view, stream, zeros.data(), 256));
  return why;
}

std::string Opened::run(const char *name, bool onStream) {
  size_t function;
  std::string why =
      take(tilewright_program_function_find(program, name, &function));
  if (!why.empty())
    return why;
  bool isPrint = std::string(name) == "print";
  tilewright_value argument = {isPrint ? TILEWRIGHT_SCALAR : TILEWRIGHT_BUFFER,
                               isPrint ? nullptr : view, 3};
  tilewright_value result = {};
  why = take(tilewright_program_call(program, function,
                                     onStream ? stream : nullptr, 1, &argument,
                                     isPrint, &result));
  tilewright_view_release(result.view);
  return why;
}

std::string Opened::check() {
  std::vector<int32_t> numbers(64), back(64);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::string why = take(tilewright_view_write(view, stream, numbers.data(), 256));
  if (why.empty())
    why = run("inplace");
  std::string read = take(tilewright_view_read(view, stream, 256, back.data()));
  std::string done =
      take(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
  why = !why.empty() ? why : !read.empty() ? read : done;
  for (int i = 0; i < 64 && why.empty(); ++i)
    if (back[i] != changed(driver, i))
      why = "wrong result " + std::to_string(back[i]);
  return why;
}

void Opened::close() {
  tilewright_view_release(view);
  tilewright_program_release(program);
  tilewright_stream_release(stream);
  tilewright_device_release(device);
  tilewright_instance_release(instance);
  view = nullptr, program = nullptr, stream = nullptr;
  device = nullptr, instance = nullptr;
}

} // namespace tilewright::test
