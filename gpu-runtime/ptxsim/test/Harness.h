// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device for tests: load PTX text, make buffers, launch, look at findings.

#ifndef TILEWRIGHT_PTXSIM_TEST_HARNESS_H
#define TILEWRIGHT_PTXSIM_TEST_HARNESS_H

#include "machine/Launch.h"
#include "machine/LoadedModule.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

namespace tilewright::ptxsim {

inline std::string readTestFile(const std::string &name) {
  std::ifstream file(std::string(PTXSIM_TEST_DATA) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class TestDevice {
public:
  explicit TestDevice(MachineOptions chosen = defaults()) : options(chosen), memory(256ull << 20) {}

  static MachineOptions defaults() {
    MachineOptions options;
    options.instructionLimit = 50'000'000;
    return options;
  }

  bool load(std::string text) {
    Diagnostic error;
    LoadedModule::Failure failure;
    module = LoadedModule::load(std::move(text), memory, options, this, error, failure);
    message = module ? "" : error.str();
    return module != nullptr;
  }

  template <typename T> uint64_t upload(const std::vector<T> &values) {
    uint64_t address = allocate(values.size() * sizeof(T));
    if (!values.empty())
      std::memcpy(memory.backing(address), values.data(), values.size() * sizeof(T));
    memory.markDefined(address, values.size() * sizeof(T));
    return address;
  }
  uint64_t allocate(size_t bytes) { return memory.allocate(bytes, 256, "", this)->address; }
  template <typename T> std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    if (count)
      std::memcpy(values.data(), memory.backing(address), count * sizeof(T));
    return values;
  }
  template <typename T> std::vector<T> definedBits(uint64_t address, size_t count) {
    std::vector<T> values(count);
    if (count)
      std::memcpy(values.data(), memory.shadow(address), count * sizeof(T));
    return values;
  }

  /// Arguments are placed at their natural alignment.
  template <typename... Args> bool launch(const std::string &kernel, Dim3 grid, Dim3 block, Args... args) {
    std::vector<uint8_t> params;
    (append(params, args), ...);
    return launchBytes(kernel, grid, block, std::move(params));
  }
  bool launchBytes(const std::string &kernel, Dim3 grid, Dim3 block, std::vector<uint8_t> params) {
    LaunchRequest request;
    request.program = module->kernel(kernel);
    if (!request.program) {
      ADD_FAILURE() << "no kernel " << kernel;
      return false;
    }
    request.name = kernel;
    request.grid = grid;
    request.block = block;
    request.cluster = cluster;
    request.explicitCluster = cluster.count() != 1;
    request.dynamicShared = dynamicShared;
    request.params = std::move(params);
    request.launchId = ++launches;
    result = runGrid(request, memory, options, findings);
    return result.completed;
  }
  /// What the driver does when the host copies bytes out; false when some are undefined.
  bool copyOut(uint64_t address, size_t bytes) {
    for (uint8_t defined : definedBits<uint8_t>(address, bytes))
      if (defined != 0xff) {
        Finding finding;
        finding.kind = FindingKind::Undefined;
        finding.message = "undefined bytes copied to the host";
        findings.add(finding);
        return false;
      }
    return true;
  }
  std::string report() const {
    std::string text;
    for (const Finding &finding : findings.all())
      text += finding.str();
    return text;
  }
  bool found(FindingKind kind) const {
    for (const Finding &finding : findings.all())
      if (finding.kind == kind)
        return true;
    return false;
  }

  MachineOptions options;
  DeviceMemory memory;
  FindingLog findings;
  std::unique_ptr<LoadedModule> module;
  std::string message;
  uint32_t dynamicShared = 0;
  Dim3 cluster;
  uint64_t launches = 0;
  LaunchResult result;

private:
  template <typename T> static void append(std::vector<uint8_t> &params, T value) {
    params.resize((params.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    size_t at = params.size();
    params.resize(at + sizeof(T));
    std::memcpy(params.data() + at, &value, sizeof(T));
  }
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_TEST_HARNESS_H
