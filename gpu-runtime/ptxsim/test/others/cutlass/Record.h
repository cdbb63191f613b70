// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a host program made of CUTLASS would hand to the driver, written down: the kernel's parameters as bytes, which of
// them are pointers into which buffer, and which are tensor maps. Nothing here runs on a GPU; the addresses are made up.

#ifndef TILEWRIGHT_PTXSIM_TEST_OTHERS_CUTLASS_RECORD_H
#define TILEWRIGHT_PTXSIM_TEST_OTHERS_CUTLASS_RECORD_H

#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

namespace record {

/// Addresses that nothing else looks like: the buffer's number above 40 bits of offset.
template <typename T> T *buffer(unsigned index) {
  return reinterpret_cast<T *>((uint64_t(0x7a5000 + index)) << 40);
}

struct TensorMap {
  unsigned buffer;
  uint64_t offset;
  int type, interleave, swizzle, promotion, fill;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, elementStrides;
};

inline std::vector<TensorMap> &tensorMaps() {
  static std::vector<TensorMap> maps;
  return maps;
}

constexpr uint64_t mapMark = 0x5ac7e5ed70614d00;

inline void printNumbers(const char *name, const std::vector<uint64_t> &values) {
  std::printf(" %s", name);
  for (size_t i = 0; i < values.size(); ++i)
    std::printf("%c%llu", i == 0 ? ' ' : 'x', static_cast<unsigned long long>(values[i]));
}

/// Fills what later calls will find on the stack.
[[gnu::noinline]] inline void paintStack(int value) {
  volatile unsigned char paint[256 * 1024];
  for (volatile unsigned char &byte : paint)
    byte = static_cast<unsigned char>(value);
}

/// Makes the parameters twice, over different garbage: bytes that differ were never set, and become zeros.
template <typename Params, typename Make> std::vector<unsigned char> setBytes(const Make &make) {
  alignas(128) static unsigned char storage[2][sizeof(Params)];
  for (int i = 0; i < 2; ++i) {
    std::memset(storage[i], i ? 0xff : 0, sizeof(Params));
    tensorMaps().clear();
    paintStack(i ? 0xff : 0);
    make(storage[i]);
  }
  std::vector<unsigned char> bytes(sizeof(Params));
  for (size_t i = 0; i < sizeof(Params); ++i)
    bytes[i] = storage[0][i] == storage[1][i] ? storage[0][i] : 0;
  return bytes;
}

/// Prints the lines that others/KernelFile.h reads.
inline void printParameters(const std::vector<unsigned char> &params) {
  size_t bytes = params.size();
  std::vector<uint64_t> words((bytes + 7) / 8);
  std::memcpy(words.data(), params.data(), bytes);
  std::vector<std::pair<size_t, TensorMap>> maps;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] >> 8 == mapMark >> 8) {
      maps.emplace_back(i * 8, tensorMaps()[words[i] & 0xff]);
      std::memset(&words[i], 0, 128);
    }
    if (unsigned index = static_cast<unsigned>(words[i] >> 40) - 0x7a5000; index < 16) {
      std::printf("// pointer %zu buffer %u offset %llu\n", i * 8, index,
                  static_cast<unsigned long long>(words[i] & ((1ull << 40) - 1)));
      words[i] = 0;
    }
  }
  for (const auto &[at, map] : maps) {
    std::printf("// tensormap %zu buffer %u offset %llu type %d", at, map.buffer,
                static_cast<unsigned long long>(map.offset), map.type);
    printNumbers("dims", map.dims);
    printNumbers("strides", map.strides);
    printNumbers("box", {map.box.begin(), map.box.end()});
    printNumbers("steps", {map.elementStrides.begin(), map.elementStrides.end()});
    std::printf(" interleave %d swizzle %d promotion %d fill %d\n", map.interleave, map.swizzle, map.promotion, map.fill);
  }
  std::printf("// parameters %zu\n", bytes);
  // Words that are not zero.
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] != 0)
      std::printf("// word %zu 0x%llx\n", i * 8, static_cast<unsigned long long>(words[i]));
}

inline void printLaunch(dim3 grid, dim3 cluster, unsigned threads, size_t shared, const char *kernel = "gemm") {
  std::printf("// kernel %s threads %u shared %zu\n", kernel, threads, shared);
  std::printf("// grid %ux%ux%u cluster %ux%ux%u\n", grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z);
}

} // namespace record

/// In the place of the driver's.
extern "C" inline CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                                  void *address, const cuuint64_t *dims, const cuuint64_t *strides,
                                                  const cuuint32_t *box, const cuuint32_t *elementStrides,
                                                  CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                                  CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  auto &maps = record::tensorMaps();
  uint64_t value = reinterpret_cast<uint64_t>(address);
  uint64_t mark = record::mapMark + maps.size();
  maps.push_back({static_cast<unsigned>(value >> 40) - 0x7a5000, value & ((1ull << 40) - 1), type, interleave, swizzle,
                  promotion, fill, {dims, dims + rank}, {strides, strides + rank - 1}, {box, box + rank},
                  {elementStrides, elementStrides + rank}});
  std::memset(map, 0, sizeof(*map));
  std::memcpy(map, &mark, sizeof(mark));
  return CUDA_SUCCESS;
}

#endif // TILEWRIGHT_PTXSIM_TEST_OTHERS_CUTLASS_RECORD_H
