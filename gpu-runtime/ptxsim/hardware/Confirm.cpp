// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the simulator's tests believe, asked of a driver: every instruction case, bit by bit (within the documented error
// for .approx), products on matrix units, and the return codes and effects of the driver API. Runs on a real GPU and, in
// the tests, on the simulator, from this same source. Writes a JSON line per question:
//
//   {"question": "add.f32 r=rr 3f800000 3f800000", "expected": "40000000", "got": "40000000", "agrees": true}
//
//   confirm [--library=libcuda.so.1] [--output=results.jsonl] [--programs=test/programs]
//
// Exit code 0: all agree, 2: some do not, 1: error.

#include "hardware/Client.h"
#include "test/cases/FloatCases.h"
#include "test/cases/IntegerCases.h"
#include "test/cases/VideoCases.h"

#include <cmath>
#include <cstring>

namespace tilewright::ptxsim::confirm {
namespace {

std::string hex(uint64_t value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%llx", static_cast<unsigned long long>(value));
  return buffer;
}

std::string describe(const InstructionCase &test) {
  std::string text = std::string(test.text) + " " + test.signature;
  for (uint64_t operand : test.operands)
    text += " " + hex(operand);
  return text;
}

/// Relative error that the PTX ISA allows the instruction; 0 where it defines every bit.
double allowed(const std::string &text) {
  if (text.find("approx") == std::string::npos && text.find("div.full") == std::string::npos)
    return 0;
  if (text.find("tanh") == 0)
    return std::ldexp(1, text.find("bf16") != std::string::npos ? -7 : -10);
  if (text.find("16") != std::string::npos)
    return std::ldexp(1, text.find("bf16") != std::string::npos ? -7 : -9);
  return std::ldexp(1, -20);
}

double number(uint64_t bits, char kind) {
  if (kind == 'd') {
    double value;
    std::memcpy(&value, &bits, 8);
    return value;
  }
  uint32_t word = static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

bool agrees(const InstructionCase &test, uint64_t got) {
  if (got == test.expected)
    return true;
  double error = allowed(test.text);
  char kind = test.signature[0];
  if (error == 0 || kind == 'h')
    // Neighbours among the 16-bit floats.
    return error != 0 && (got > test.expected ? got - test.expected : test.expected - got) <= 1;
  double want = number(test.expected, kind), have = number(got, kind);
  return std::isfinite(want) && std::fabs(have - want) <= error * std::fabs(want);
}

void askInstruction(Client &client, const InstructionCase &test, const std::string &target) {
  std::string question = describe(test);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUresult result = client.cuModuleLoadData(&module, instructionKernel(test, target).c_str());
  if (result != CUDA_SUCCESS) {
    // A GPU older than the instruction has nothing to say about it.
    client.record(question, hex(test.expected), "not loaded: " + client.name(result), target < "sm_90");
    return;
  }
  std::vector<uint64_t> operands = test.operands;
  operands.resize(8);
  uint64_t got = 0;
  CUdeviceptr data = 0;
  client.must(client.cuModuleGetFunction(&function, module, "test"), "cuModuleGetFunction");
  client.must(client.cuMemAlloc_v2(&data, 128), "cuMemAlloc");
  client.must(client.cuMemcpyHtoD_v2(data, operands.data(), 64), "cuMemcpyHtoD");
  CUdeviceptr out = data + 64;
  void *params[] = {&data, &out};
  client.must(client.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr), "cuLaunchKernel");
  client.must(client.cuMemcpyDtoH_v2(&got, out, 8), "cuMemcpyDtoH");
  client.cuMemFree_v2(data);
  client.cuModuleUnload(module);
  client.record(question, hex(test.expected), hex(got), agrees(test, got));
}

template <size_t Size> void askAll(Client &client, const InstructionCase (&tests)[Size], const std::string &target) {
  for (const InstructionCase &test : tests)
    askInstruction(client, test, target);
}

int run(const std::string &library, const std::string &output, const std::string &programs) {
  Client client(library, output);
  int major = 0, minor = 0;
  client.must(client.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, client.device), "major");
  client.must(client.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, client.device), "minor");
  std::string target = major >= 9 ? "sm_90" : "sm_" + std::to_string(10 * major + minor);
  askAll(client, cases::integer::arithmetic, target);
  askAll(client, cases::integer::bits, target);
  askAll(client, cases::integer::comparisons, target);
  askAll(client, cases::video::scalar, target);
  askAll(client, cases::video::lanes, target);
  askAll(client, cases::floating::single, target);
  askAll(client, cases::floating::doubles, target);
  askAll(client, cases::floating::halves, target);
  askAll(client, cases::floating::conversions, target);
  askPrograms(client, programs);
  askClusters(client, programs);
  askModules(client, programs);
  askLitmus(client);
  askSparse(client);
  askTensorMaps(client);
  askHostMemory(client);
  askApi(client);
  return client.finish();
}

} // namespace
} // namespace tilewright::ptxsim::confirm

int main(int argc, char **argv) {
  std::string library = "libcuda.so.1", output = "results.jsonl", programs = "test/programs";
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.rfind("--library=", 0) == 0)
      library = argument.substr(10);
    else if (argument.rfind("--output=", 0) == 0)
      output = argument.substr(9);
    else if (argument.rfind("--programs=", 0) == 0)
      programs = argument.substr(11);
    else {
      std::fprintf(stderr, "confirm [--library=PATH] [--output=FILE] [--programs=FOLDER]\n");
      return 1;
    }
  }
  return tilewright::ptxsim::confirm::run(library, output, programs);
}
