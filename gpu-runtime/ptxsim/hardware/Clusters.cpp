// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters: which launches are refused, what addresses in shared memory are, and programs/cluster.ptx, whose blocks read,
// copy and arrive in each other's shared memory.

#include "hardware/Client.h"

#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <vector>

namespace tilewright::ptxsim::confirm {
namespace {

const char *const kernels = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry plain() { ret; }
.visible .entry two() .reqnctapercluster 2 { ret; }
.visible .entry atLeastSome() .explicitcluster { ret; }
.visible .entry atMostFour() .explicitcluster .maxclusterrank 4 { ret; }
)";

/// Of 128 threads: thread t fills row t of 16 bytes of `tile` with eight halves of value t. Each block writes the addresses
/// that it has of its variables, those that mapa makes, and two sums of sixteen rows: wgmma's products of ones and the tile.
/// B is n-major, so rows 8 to 15 of k are read where the leading offset says, 128 bytes behind the first eight. The first
/// descriptor has the whole address, the second only the fourteen bits that are its own.
const char *const addresses = R"(
.version 8.0
.target sm_90a
.address_size 64
.shared .align 16 .b8 outer[16];
.extern .shared .align 16 .b8 dynamic[];
.visible .entry addresses(.param .u64 out) {
  .shared .align 128 .b8 tile[2048];
  .reg .b16 %half;
  .reg .b32 %thread, %rank, %other, %tile, %at, %word, %ones, %r<8>;
  .reg .b64 %out, %generic, %whole, %cut;
  .reg .f32 %d<4>, %e<4>;
  .reg .pred %p, %accumulates;
  ld.param.u64 %out, [out];
  mov.u32 %thread, %tid.x;
  mov.u32 %rank, %cluster_ctarank;
  mov.u32 %tile, tile;
  cvt.rn.f16.u32 %half, %thread;
  mov.b32 %word, {%half, %half};
  mad.lo.u32 %at, %thread, 16, %tile;
  st.shared.v4.b32 [%at], {%word, %word, %word, %word};
  fence.proxy.async.shared::cta;
  bar.sync 0;
  mov.b32 %ones, 0x3c003c00;
  shr.u32 %word, %tile, 4;
  cvt.u64.u32 %whole, %word;
  and.b32 %word, %word, 0x3fff;
  cvt.u64.u32 %cut, %word;
  add.u64 %whole, %whole, 0x800080000;
  add.u64 %cut, %cut, 0x800080000;
  setp.ne.u32 %accumulates, 0, 0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%ones, %ones, %ones, %ones}, %whole, %accumulates, 1, 1, 1;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%e0, %e1, %e2, %e3}, {%ones, %ones, %ones, %ones}, %cut, %accumulates, 1, 1, 1;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  setp.ne.u32 %p, %thread, 0;
  @%p bra END;
  mad.wide.u32 %out, %rank, 32, %out;
  mov.u32 %r0, outer;
  mov.u32 %r1, dynamic;
  cvta.shared.u64 %generic, tile;
  cvta.to.shared.u64 %generic, %generic;
  cvt.u32.u64 %r2, %generic;
  mapa.shared::cluster.u32 %r3, %tile, %rank;
  mapa.shared::cluster.u32 %r4, %tile, 0;
  cvt.rzi.u32.f32 %r5, %d0;
  cvt.rzi.u32.f32 %r6, %e0;
  st.global.v4.b32 [%out], {%tile, %r0, %r1, %r2};
  st.global.v4.b32 [%out+16], {%r3, %r4, %r5, %r6};
END:
  ret;
}
)";

struct Launcher {
  Client &c;
  CUmodule module = nullptr;

  CUfunction operator[](const char *name) {
    CUfunction function = nullptr;
    c.must(c.cuModuleGetFunction(&function, module, name), name);
    return function;
  }
  /// Zero for the cluster's x: none is given.
  CUresult launch(CUfunction function, unsigned grid, unsigned x, unsigned y = 1, void **params = nullptr,
                  unsigned block = 64) {
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = x;
    attribute.value.clusterDim.y = y;
    attribute.value.clusterDim.z = 1;
    CUlaunchConfig config = {grid, 1, 1, block, 1, 1, 0, nullptr, &attribute, x == 0 ? 0u : 1u};
    return c.cuLaunchKernelEx(&config, function, params, nullptr);
  }
};

void askRefusals(Client &c) {
  Launcher l = {c};
  c.must(c.cuModuleLoadData(&l.module, kernels), "cuModuleLoadData");
  CUfunction plain = l["plain"];
  c.expect("clusters of two blocks", CUDA_SUCCESS, l.launch(plain, 4, 2));
  c.expect("clusters of eight blocks", CUDA_SUCCESS, l.launch(plain, 8, 8));
  c.expect("a grid that clusters do not divide", CUDA_ERROR_INVALID_VALUE, l.launch(plain, 3, 2));
  c.expect("a cluster higher than the grid", CUDA_ERROR_INVALID_VALUE, l.launch(plain, 4, 2, 2));
  c.expect("clusters of sixteen blocks without leave", CUDA_ERROR_INVALID_CLUSTER_SIZE, l.launch(plain, 16, 16));
  c.expect("leave for them", CUDA_SUCCESS,
           c.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  c.expect("clusters of sixteen blocks with leave", CUDA_SUCCESS, l.launch(plain, 16, 16));
  c.expect("clusters of 32 blocks", CUDA_ERROR_INVALID_CLUSTER_SIZE, l.launch(plain, 32, 32));
  c.expect("a kernel that has clusters", CUDA_SUCCESS, l.launch(l["two"], 4, 0));
  c.expect("a kernel that has clusters, by cuLaunchKernel", CUDA_SUCCESS,
           c.cuLaunchKernel(l["two"], 4, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr));
  c.expect("clusters other than the kernel's", CUDA_ERROR_INVALID_CLUSTER_SIZE, l.launch(l["two"], 4, 4));
  c.expect("a grid that the kernel's clusters do not divide", CUDA_ERROR_INVALID_VALUE, l.launch(l["two"], 3, 0));
  c.expect("no clusters where the kernel wants some", CUDA_ERROR_INVALID_CLUSTER_SIZE,
           l.launch(l["atLeastSome"], 4, 0));
  c.expect("some clusters where the kernel wants some", CUDA_SUCCESS, l.launch(l["atLeastSome"], 4, 2));
  c.expect("more blocks than .maxclusterrank", CUDA_ERROR_INVALID_CLUSTER_SIZE, l.launch(l["atMostFour"], 8, 8));
  int value = 0;
  c.must(c.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, l["two"]), "cuFuncGetAttribute");
  c.record("required width of a cluster", "2", std::to_string(value), value == 2);
  c.expect("another required width than the compiled one", CUDA_ERROR_NOT_PERMITTED,
           c.cuFuncSetAttribute(l["two"], CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
  CUlaunchConfig config = {8, 1, 1, 64, 1, 1, 0, nullptr, nullptr, 0};
  c.expect("the largest cluster", CUDA_SUCCESS, c.cuOccupancyMaxPotentialClusterSize(&value, l["two"], &config));
  c.record("the largest portable cluster", "8", std::to_string(value), value == 8);
  c.expect("how many clusters fit", CUDA_SUCCESS, c.cuOccupancyMaxActiveClusters(&value, l["two"], &config));
  c.record("some clusters fit", "1", std::to_string(value > 0), value > 0);
  c.expect("how many clusters of no size fit", CUDA_ERROR_INVALID_CLUSTER_SIZE,
           c.cuOccupancyMaxActiveClusters(&value, plain, &config));
  c.expect("end of the launches", CUDA_SUCCESS, c.cuCtxSynchronize());
  c.cuModuleUnload(l.module);
}

/// From bit 24 on an address has the rank of the block whose memory it is, also where a block takes it of its own variable:
/// put whole into a descriptor of wgmma it makes the leading offset larger, by 256 bytes per rank.
void askAddresses(Client &c) {
  constexpr uint32_t size = 8, ways = 8;
  Launcher l = {c};
  if (CUresult result = c.cuModuleLoadData(&l.module, addresses))
    return c.record("addresses in clusters", "loaded", c.name(result), false);
  CUdeviceptr out = 0;
  std::vector<uint32_t> got(size * ways);
  c.must(c.cuMemAlloc_v2(&out, got.size() * 4), "cuMemAlloc");
  void *params[] = {&out};
  c.must(l.launch(l["addresses"], size, size, 1, params, 128), "addresses");
  c.must(c.cuMemcpyDtoH_v2(got.data(), out, got.size() * 4), "cuMemcpyDtoH");
  auto ask = [&](const char *question, auto expected, auto answer) {
    std::string wanted, had;
    for (uint32_t rank = 0; rank < size; ++rank) {
      wanted += (rank ? " " : "") + std::to_string(expected(rank));
      had += (rank ? " " : "") + std::to_string(answer(rank));
    }
    c.record(std::string("by rank in a cluster: ") + question, wanted, had, wanted == had);
  };
  const char *const names[] = {"mov of a variable", "mov of a module's variable", "mov of dynamic memory",
                               "cvta.to.shared of cvta of a variable", "mapa to the own rank", "mapa to rank 0"};
  for (uint32_t way = 0; way < std::size(names); ++way) {
    ask((std::string("bits from 24 on of ") + names[way]).c_str(), [&](uint32_t rank) { return way == 5 ? 0 : rank; },
        [&](uint32_t rank) { return got[rank * ways + way] >> 24; });
    ask((std::string("bits below 24 that differ from rank 0's of ") + names[way]).c_str(), [](uint32_t) { return 0; },
        [&](uint32_t rank) { return (got[rank * ways + way] ^ got[way]) & 0xffffff; });
  }
  ask("sum by a descriptor with the whole address", [](uint32_t rank) { return 120 + 128 * rank; },
      [&](uint32_t rank) { return got[rank * ways + 6]; });
  ask("sum by a descriptor with fourteen bits of it", [](uint32_t) { return 120; },
      [&](uint32_t rank) { return got[rank * ways + 7]; });
  c.cuMemFree_v2(out);
  c.cuModuleUnload(l.module);
}

/// Six blocks in clusters of three, 64 threads each.
void askTogether(Client &c, const std::string &path) {
  constexpr int blocks = 6, size = 3, rounds = 5;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Launcher l = {c};
  if (CUresult result = c.cuModuleLoadData(&l.module, text.str().c_str()))
    return c.record("cluster.ptx", "loaded", c.name(result), false);
  std::vector<int> in(rounds * 256);
  std::iota(in.begin(), in.end(), 1000);
  CUdeviceptr input = 0, out = 0;
  size_t most = blocks * rounds * 256;
  c.must(c.cuMemAlloc_v2(&input, in.size() * 4), "cuMemAlloc");
  c.must(c.cuMemAlloc_v2(&out, most * 4), "cuMemAlloc");
  c.must(c.cuMemcpyHtoD_v2(input, in.data(), in.size() * 4), "cuMemcpyHtoD");
  auto neighbour = [](int at, int step) { return at / (64 * size) * 64 * size + (at + 64 * step) % (64 * size); };
  auto ask = [&](const char *kernel, void **params, auto expected, size_t count) {
    c.must(c.cuMemsetD8_v2(out, 0xff, most * 4), "cuMemsetD8");
    c.must(l.launch(l[kernel], blocks, size, 1, params), kernel);
    std::vector<int> got(count);
    c.must(c.cuMemcpyDtoH_v2(got.data(), out, count * 4), "cuMemcpyDtoH");
    int wrong = 0;
    for (size_t i = 0; i < count; ++i)
      wrong += got[i] != expected(static_cast<int>(i));
    c.record(std::string("wrong results of ") + kernel + " of cluster.ptx", "0", std::to_string(wrong), wrong == 0);
  };
  int count = rounds;
  void *onlyOut[] = {&out}, *all[] = {&input, &out, &count};
  ask("ring", onlyOut, [&](int i) { return 3 * neighbour(i, 1) + 1; }, blocks * 64);
  ask("multicast", all, [&](int i) { return in[i % (rounds * 256)] + i / (rounds * 256) % size; }, most);
  ask("send", onlyOut,
      [&](int i) {
        int from = neighbour(i / 3, size - 1);
        return i % 3 == 0 ? 7 * from : i % 3 == 1 ? 5 * from : 64 * (from / 64 * 64) + 63 * 32;
      },
      blocks * 64 * 3);
  c.cuMemFree_v2(input);
  c.cuMemFree_v2(out);
  c.cuModuleUnload(l.module);
}

} // namespace

void askClusters(Client &client, const std::string &folder) {
  int major = 0, minor = 0;
  client.must(client.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, client.device), "major");
  client.must(client.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, client.device), "minor");
  if (major < 9)
    return;
  askRefusals(client);
  // Code for sm_90a runs on that GPU only.
  if (major != 9 || minor != 0)
    return;
  askAddresses(client);
  askTogether(client, folder + "/cluster.ptx");
}

} // namespace tilewright::ptxsim::confirm
