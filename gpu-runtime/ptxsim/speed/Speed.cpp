// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ptxsim-speed FOLDER [KERNEL [speed|checks]]: simulated thread-instructions per second on one core, without and with
// checks, of the test programs in FOLDER (gpu-runtime/ptxsim/test/programs), and the multiply-adds of matrix instructions.
// Best of five launches; time is that of the processor, so that other work on the machine counts little.

#include "machine/Launch.h"
#include "machine/LoadedModule.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

using namespace tilewright::ptxsim;

namespace {

struct Workload {
  const char *file, *kernel, *what;
  Dim3 grid, block;
  /// Buffers of this many bytes, then 32-bit scalars.
  std::vector<uint64_t> buffers;
  std::vector<uint32_t> scalars;
  /// Multiply-adds of matrix instructions.
  double products = 0;
};

const Workload workloads[] = {
    {"classics.ptx", "saxpy", "streaming, 1 M elements", {4096}, {256}, {4 << 20, 4 << 20}, {0x40000000, 1 << 20}},
    {"classics.ptx", "matmulTiled", "f32 product in shared memory, 256", {16, 16}, {16, 16},
     {256 << 10, 256 << 10, 256 << 10}, {256}},
    {"classics.ptx", "reduceTree", "reduction in shared memory", {1024}, {256}, {1 << 20, 4096}, {}},
    {"gemm.ptx", "gemm", "f16 product: cp.async, ldmatrix, mma.sync, 256", {4, 4}, {128},
     {128 << 10, 128 << 10, 256 << 10}, {256, 256}, 256.0 * 256 * 256},
};

constexpr int launches = 5;

std::string readFile(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

double processorSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Rate {
  bool ok = false;
  /// Per second.
  double instructions = 0, products = 0;
};

Rate measure(const std::string &folder, const Workload &workload, bool checks) {
  MachineOptions options;
  options.checks = checks;
  options.workers = 1;
  DeviceMemory memory(1ull << 30);
  Diagnostic error;
  LoadedModule::Failure failure;
  auto module = LoadedModule::load(readFile(folder + "/" + workload.file), memory, options, nullptr, error, failure);
  if (!module) {
    std::fprintf(stderr, "%s: %s\n", workload.file, error.str().c_str());
    return {};
  }
  LaunchRequest request;
  request.program = module->kernel(workload.kernel);
  request.name = workload.kernel;
  request.grid = workload.grid;
  request.block = workload.block;
  auto append = [&](const void *value, size_t bytes) {
    size_t at = (request.params.size() + bytes - 1) / bytes * bytes;
    request.params.resize(at + bytes);
    std::memcpy(request.params.data() + at, value, bytes);
  };
  for (uint64_t bytes : workload.buffers) {
    uint64_t address = memory.allocate(bytes, 256, "", nullptr)->address;
    memory.markDefined(address, bytes);
    append(&address, 8);
  }
  for (uint32_t scalar : workload.scalars)
    append(&scalar, 4);
  Rate best = {true};
  for (int i = 0; i < launches; ++i) {
    FindingLog findings;
    request.launchId = static_cast<uint64_t>(i) + 1;
    double start = processorSeconds();
    LaunchResult result = runGrid(request, memory, options, findings);
    double seconds = processorSeconds() - start;
    if (!result.completed) {
      for (const Finding &finding : findings.all())
        std::fputs(finding.str().c_str(), stderr);
      return {};
    }
    best.instructions = std::max(best.instructions, static_cast<double>(result.threadInstructions) / seconds);
    best.products = std::max(best.products, workload.products / seconds);
  }
  return best;
}

} // namespace

int main(int argc, char **argv) {
  std::string only = argc > 2 ? argv[2] : "", mode = argc > 3 ? argv[3] : "";
  if (argc < 2 || argc > 4 || (!mode.empty() && mode != "speed" && mode != "checks")) {
    std::fprintf(stderr, "ptxsim-speed FOLDER [KERNEL [speed|checks]]\n");
    return 1;
  }
  bool failed = false, found = false;
  std::printf("million per second, one core: thread-instructions, and products of matrix instructions\n");
  for (const Workload &workload : workloads) {
    if (!only.empty() && only != workload.kernel)
      continue;
    found = true;
    for (bool checks : {false, true}) {
      if (!mode.empty() && checks != (mode == "checks"))
        continue;
      Rate rate = measure(argv[1], workload, checks);
      failed |= !rate.ok;
      std::printf("%-14s %-10s %8.1f", workload.kernel, checks ? "checks" : "speed mode", rate.instructions / 1e6);
      if (rate.products != 0)
        std::printf(" %8.0f", rate.products / 1e6);
      else
        std::printf(" %8s", "");
      std::printf("   %s\n", workload.what);
    }
  }
  if (!found)
    std::fprintf(stderr, "no program has a kernel '%s'\n", only.c_str());
  return failed || !found ? 1 : 0;
}
