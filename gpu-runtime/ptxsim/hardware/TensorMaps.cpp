// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of tensor maps: what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col refuse.

#include "hardware/Client.h"

namespace tilewright::ptxsim::confirm {
namespace {

constexpr auto invalid = CUDA_ERROR_INVALID_VALUE;

struct Arguments {
  CUdeviceptr address = 0;
  cuuint32_t rank = 4;
  cuuint64_t dims[5] = {16, 9, 9, 2, 1}, strides[4] = {32, 288, 2592, 5184};
  cuuint32_t box[5] = {16, 4, 4, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
  int lower[3] = {-1, -1, 0}, upper[3] = {-1, -1, 0};
  cuuint32_t channels = 8, pixels = 32;
  int swizzle = 0;
  int fill = 0;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
};

void ask(Client &c, CUdeviceptr memory) {
  auto tiled = [&](const char *question, CUresult expected, auto change) {
    Arguments a;
    a.address = memory;
    change(a);
    CUtensorMap map;
    c.expect(std::string("tensor map, ") + question, expected,
             c.cuTensorMapEncodeTiled(&map, a.type, a.rank, reinterpret_cast<void *>(a.address), a.dims, a.strides,
                                      a.box, a.steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                      static_cast<CUtensorMapSwizzle>(a.swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                      static_cast<CUtensorMapFloatOOBfill>(a.fill)));
  };
  auto im2col = [&](const char *question, CUresult expected, auto change) {
    Arguments a;
    a.address = memory;
    change(a);
    CUtensorMap map;
    c.expect(std::string("im2col map, ") + question, expected,
             c.cuTensorMapEncodeIm2col(&map, a.type, a.rank, reinterpret_cast<void *>(a.address), a.dims, a.strides,
                                       a.lower, a.upper, a.channels, a.pixels, a.steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                       static_cast<CUtensorMapSwizzle>(a.swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                       static_cast<CUtensorMapFloatOOBfill>(a.fill)));
  };
  tiled("as it should be", CUDA_SUCCESS, [](Arguments &) {});
  tiled("a stride of dim 0, which is ignored", CUDA_SUCCESS, [](Arguments &a) { a.steps[0] = 2; });
  tiled("rank 6", invalid, [](Arguments &a) { a.rank = 6; });
  tiled("an address of 8 bytes' alignment", invalid, [](Arguments &a) { a.address += 8; });
  tiled("a stride that 16 does not divide", invalid, [](Arguments &a) { a.strides[0] = 40; });
  tiled("a box of 257", invalid, [](Arguments &a) { a.box[1] = 257; });
  tiled("a box of 24 bytes along dim 0", invalid, [](Arguments &a) { a.box[0] = 12; });
  tiled("a box wider than its swizzle", invalid, [](Arguments &a) { a.box[0] = 32, a.swizzle = 1; });
  tiled("NaN for integers", invalid, [](Arguments &a) { a.type = CU_TENSOR_MAP_DATA_TYPE_UINT8, a.fill = 1; });
  im2col("as it should be", CUDA_SUCCESS, [](Arguments &) {});
  im2col("rank 2", invalid, [](Arguments &a) { a.rank = 2; });
  im2col("a corner out of its range", invalid, [](Arguments &a) { a.lower[0] = -129; });
  im2col("an empty bounding box", invalid, [](Arguments &a) { a.upper[1] = -11; });
  im2col("257 channels", invalid, [](Arguments &a) { a.channels = 257; });
  im2col("1025 pixels", invalid, [](Arguments &a) { a.pixels = 1025; });
  im2col("pixels wider than their swizzle", invalid, [](Arguments &a) { a.channels = 32, a.swizzle = 1; });
}

} // namespace

void askTensorMaps(Client &client) {
  int major = 0;
  client.must(client.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, client.device), "major");
  if (major < 9)
    return;
  CUdeviceptr memory = 0;
  client.must(client.cuMemAlloc_v2(&memory, 1 << 16), "cuMemAlloc");
  ask(client, memory);
  client.cuMemFree_v2(memory);
}

} // namespace tilewright::ptxsim::confirm
