// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps that kernels make (tensormap.replace on zeros, tensormap.cp_fenceproxy) are those that the host encodes.

#include "Harness.h"

#include "async/TensorMap.h"

using namespace tilewright::ptxsim;

namespace {

const std::string kernel = R"(
.version 8.6
.target sm_90a
.address_size 64
.visible .entry make(.param .u64 tensor, .param .u64 map) {
  .shared .align 128 .b8 space[128];
  .reg .b32 %t, %a, %zero, %size;
  .reg .b64 %tensor, %map, %stride;
  .reg .pred %p;
  ld.param.u64 %tensor, [tensor];
  ld.param.u64 %map, [map];
  mov.u32 %t, %tid.x;
  mov.u32 %zero, 0;
  shl.b32 %a, %t, 2;
  mov.u32 %size, space;
  add.u32 %a, %a, %size;
  st.shared.u32 [%a], %zero;
  mov.u32 %size, 44;
  mov.u64 %stride, 192;
  bar.warp.sync -1;
  setp.ne.u32 %p, %t, 0;
  @%p bra SHARE;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [space], %tensor;
  tensormap.replace.tile.rank.shared::cta.b1024.b32 [space], 2;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [space], 0, 16;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [space], 1, 8;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [space], 2, 2;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [space], 0, %size;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [space], 1, 20;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [space], 2, 3;
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [space], 0, %stride;
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [space], 1, 4096;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [space], 0, 1;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [space], 1, 2;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [space], 2, 1;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [space], 10;
  tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [space], 0;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [space], 1;
  tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [space], 1;
SHARE:
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%map], [space], 128;
  fence.proxy.tensormap::generic.acquire.gpu [%map], 128;
  setp.eq.u32 %p, %t, 0;
  mov.u32 %zero, 0;
  @%p cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%map, {%zero, %zero, %zero}];
  ret;
}
)";

struct Device : TestDevice {
  Device() : TestDevice(hopper()) {}
  static MachineOptions hopper() {
    MachineOptions options = TestDevice::defaults();
    options.computeCapability = 90;
    return options;
  }
  /// What is found when a part of the kernel is exchanged; "" for nothing.
  static std::string foundWhen(const std::string &from, const std::string &to) {
    std::string text = kernel;
    text.replace(text.find(from), from.size(), to);
    Device device;
    if (!device.load(text))
      return device.message;
    device.launch("make", {1}, {32}, uint64_t(0x1000), device.allocate(128));
    return device.report();
  }
};

TEST(TensorMapEdit, MakesWhatTheHostEncodes) {
  Device device;
  ASSERT_TRUE(device.load(kernel)) << device.message;
  uint64_t tensor = device.allocate(3 * 4096), where = device.allocate(128);
  ASSERT_TRUE(device.launch("make", {1}, {32}, tensor, where)) << device.report();
  EXPECT_EQ(device.findings.size(), 0u) << device.report();
  uint64_t dims[] = {44, 20, 3}, strides[] = {192, 4096};
  uint32_t box[] = {16, 8, 2}, steps[] = {1, 2, 1};
  TensorMapRequest request;
  request.elementBytes = 2;
  request.dataType = 9;
  request.isFloat = true;
  request.rank = 3;
  request.address = tensor;
  request.dims = dims;
  request.strides = strides;
  request.box = box;
  request.elementStrides = steps;
  request.swizzle = Swizzle::Bytes32;
  request.fillsNaN = true;
  TensorMap expected;
  std::string why;
  ASSERT_TRUE(encodeTensorMap(request, expected, why)) << why;
  std::vector<uint8_t> bytes(sizeof(expected)), got = device.download<uint8_t>(where, sizeof(expected));
  std::memcpy(bytes.data(), &expected, sizeof(expected));
  for (size_t i = 0; i < sizeof(expected); ++i)
    EXPECT_EQ(int(got[i]), int(bytes[i])) << "byte " << i;
}

TEST(TensorMapEdit, WhatCannotBeIsFound) {
  auto found = [](const std::string &from, const std::string &to, const std::string &text) {
    std::string report = Device::foundWhen(from, to);
    EXPECT_NE(report.find(text), std::string::npos) << to << ": " << report;
  };
  found("mov.u32 %zero, 0;", "mov.u32 %zero, 7;", "nor zeros to make one of");
  found("mov.u64 %stride, 192;", "mov.u64 %stride, 200;", "a tensor map cannot have 200 as its global_stride");
  found("[space], 2;", "[space], 5;", "cannot have 5 as its rank");
  found("box_dim.shared::cta.b1024.b32 [space], 0, 16;", "box_dim.shared::cta.b1024.b32 [space], 5, 16;",
        "the ordinal must be an integer below 5");
  found("elemtype.shared::cta.b1024.b32 [space], 10;", "elemtype.shared::cta.b1024.b32 [space], 13;",
        "the value must be an integer below 13");
  found("elemtype.shared::cta.b1024.b32 [space], 10;", "elemtype.shared::cta.b1024.b32 [space], %size;",
        "must be an integer literal");
  found("global_address.shared::cta.b1024.b64", "global_address.shared::cta.b1024.b32", "needs .b64");
  found("[space], 128;", "[space], 64;", "the size must be 128");
  found("SHARE:\n  bar.warp.sync -1;", "bar.warp.sync -1;\nSHARE:", "deadlock");
  found("sm_90a", "sm_90", "needs .target sm_90a");
}

TEST(TensorMapEdit, MapsAreCheckedWhereTheyAreUsed) {
  EXPECT_EQ(Device::foundWhen("SHARE:", "SHARE:"), "");
  // The copy is for the whole warp: lanes that come early wait.
  EXPECT_EQ(Device::foundWhen("SHARE:\n  bar.warp.sync -1;", "SHARE:"), "");
  auto found = [](const std::string &from, const std::string &to, const std::string &text) {
    std::string report = Device::foundWhen(from, to);
    EXPECT_NE(report.find(text), std::string::npos) << to << ": " << report;
  };
  found("[space], 0, 16;", "[space], 0, 24;", "more than the 32 that are swizzled");
  found("[space], 0, 16;", "[space], 0, 9;", "they must be a multiple of 16");
  found("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [space], 10;", "", "the data type is unknown");
  found("[space], 2;", "[space], 3;", "the tensor map is of rank 4, the instruction of 3");
  found("setp.eq.u32 %p, %t, 0;", "setp.eq.u32 %p, %t, 7;", "race");
}

} // namespace
