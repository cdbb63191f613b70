// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps: programs/tensor.cu at the edges of a tensor and with every swizzle, the place of each element worked out
// here from the ISA's tables; and the rules of encoding.

#include "Harness.h"

#include "async/TensorMap.h"

#include <numeric>

using namespace tilewright::ptxsim;

namespace {

MachineOptions hopper(uint64_t seed, bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.checks = checks;
  return options;
}

constexpr int rows = 20, columns = 44, pitch = 48;

struct Arrays {
  uint64_t dims[2] = {columns, rows}, strides[1] = {pitch * 4};
  uint32_t box[2] = {32, 8}, elementStrides[2] = {1, 1};
};

TensorMap encode(uint64_t address, Swizzle swizzle, bool nan = false) {
  Arrays arrays;
  TensorMapRequest request = {4, true, 2, address, arrays.dims, arrays.strides, arrays.box, arrays.elementStrides, swizzle, nan};
  request.dataType = 7;
  TensorMap map;
  std::string why;
  EXPECT_TRUE(encodeTensorMap(request, map, why)) << why;
  return map;
}

std::vector<uint8_t> params(const TensorMap &from, const TensorMap &to, uint64_t seen, int x, int y) {
  std::vector<uint8_t> bytes(128 + 128 + 16);
  std::memcpy(bytes.data(), &from, 128);
  std::memcpy(bytes.data() + 128, &to, 128);
  std::memcpy(bytes.data() + 256, &seen, 8);
  std::memcpy(bytes.data() + 264, &x, 4);
  std::memcpy(bytes.data() + 268, &y, 4);
  return bytes;
}

/// The 16-byte piece of a row of 128 bytes where piece `piece` of row `row` lies, in a tile aligned to 1024 bytes.
int placeOfPiece(Swizzle swizzle, int row, int piece) {
  switch (swizzle) {
  case Swizzle::Bytes128:
    return piece ^ row % 8;
  default:
    return piece;
  }
}

TEST(Tensor, MovesTilesAndClips) {
  for (Swizzle swizzle : {Swizzle::None, Swizzle::Bytes128})
    for (bool checks : {true, false})
      for (auto [x, y] : {std::pair{0, 0}, {4, 3}, {20, 15}, {-3, -2}, {100, 0}}) {
        TestDevice device(hopper(x + 7, checks));
        ASSERT_TRUE(device.load(readTestFile("programs/tensor.ptx"))) << device.message;
        std::vector<float> in(rows * pitch);
        std::iota(in.begin(), in.end(), 1.0f);
        uint64_t from = device.upload(in), to = device.upload(std::vector<float>(rows * pitch, -1));
        uint64_t seen = device.allocate(1024);
        TensorMap fromMap = encode(from, swizzle), toMap = encode(to, swizzle);
        ASSERT_TRUE(device.launchBytes("moveTiles", {1}, {256}, params(fromMap, toMap, seen, x, y))) << device.report();
        EXPECT_EQ(device.findings.size(), 0u) << device.report();
        auto inside = [&](int row, int column) { return row >= 0 && row < rows && column >= 0 && column < columns; };
        std::vector<float> tile = device.download<float>(seen, 256), out = device.download<float>(to, in.size());
        for (int row = 0; row < 8; ++row)
          for (int column = 0; column < 32; ++column) {
            int at = row * 32 + placeOfPiece(swizzle, row, column / 4) * 4 + column % 4;
            float want = inside(y + row, x + column) ? in[(y + row) * pitch + x + column] : 0;
            EXPECT_EQ(tile[at], want) << row << " " << column;
          }
        for (int row = 0; row < rows; ++row)
          for (int column = 0; column < pitch; ++column) {
            bool copied = column < columns && row >= y && row < y + 8 && column >= x && column < x + 32;
            EXPECT_EQ(out[row * pitch + column], copied ? in[row * pitch + column] : -1.0f) << row << " " << column;
          }
      }
}

TEST(Tensor, SwizzlesByTheAddress) {
  // PTX ISA, the tables of swizzling modes: rows of 128 bytes, pieces of 16.
  EXPECT_EQ(swizzled(0x000, Swizzle::Bytes128), 0x000u);
  EXPECT_EQ(swizzled(0x080, Swizzle::Bytes128), 0x090u);
  EXPECT_EQ(swizzled(0x3f0, Swizzle::Bytes128), 0x380u);
  EXPECT_EQ(swizzled(0x400, Swizzle::Bytes128), 0x400u);
  EXPECT_EQ(swizzled(0x080, Swizzle::Bytes64), 0x090u);
  EXPECT_EQ(swizzled(0x1b0, Swizzle::Bytes64), 0x180u);
  EXPECT_EQ(swizzled(0x200, Swizzle::Bytes64), 0x200u);
  EXPECT_EQ(swizzled(0x080, Swizzle::Bytes32), 0x090u);
  EXPECT_EQ(swizzled(0x110, Swizzle::Bytes32), 0x110u);
}

TEST(Tensor, OutOfBoundsMayBeNaN) {
  TestDevice device(hopper(1));
  ASSERT_TRUE(device.load(readTestFile("programs/tensor.ptx"))) << device.message;
  uint64_t from = device.upload(std::vector<float>(rows * pitch, 1)), seen = device.allocate(1024);
  TensorMap map = encode(from, Swizzle::None, true), to = encode(device.allocate(rows * pitch * 4), Swizzle::None);
  ASSERT_TRUE(device.launchBytes("moveTiles", {1}, {256}, params(map, to, seen, 40, 0))) << device.report();
  std::vector<float> tile = device.download<float>(seen, 256);
  EXPECT_EQ(tile[3], 1.0f);
  EXPECT_TRUE(tile[4] != tile[4]);
}

TEST(Tensor, ForgottenExpectationIsFound) {
  std::string text = readTestFile("programs/tensor.ptx");
  std::string expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, ";
  size_t at = text.find(expect);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, text.find(';', at) - at, "mov.u32 %r1, %r1");
  TestDevice device(hopper(1));
  ASSERT_TRUE(device.load(text)) << device.message;
  uint64_t from = device.upload(std::vector<float>(rows * pitch, 1)), seen = device.allocate(1024);
  TensorMap map = encode(from, Swizzle::None);
  EXPECT_FALSE(device.launchBytes("moveTiles", {1}, {256}, params(map, map, seen, 0, 0)));
}

TEST(Tensor, WhatIsNoMapIsFound) {
  TestDevice device(hopper(1));
  ASSERT_TRUE(device.load(readTestFile("programs/tensor.ptx"))) << device.message;
  TensorMap nothing;
  EXPECT_FALSE(device.launchBytes("moveTiles", {1}, {256}, params(nothing, nothing, device.allocate(1024), 0, 0)));
  EXPECT_NE(device.report().find("no tensor map"), std::string::npos) << device.report();
}

TEST(Tensor, RulesOfEncoding) {
  auto why = [](auto change) {
    Arrays arrays;
    TensorMapRequest request = {4, false, 2, 0x1000, arrays.dims, arrays.strides, arrays.box, arrays.elementStrides, Swizzle::Bytes128, false};
    change(request, arrays);
    TensorMap map;
    std::string text;
    return encodeTensorMap(request, map, text) ? "" : text;
  };
  EXPECT_EQ(why([](auto &, auto &) {}), "");
  EXPECT_NE(why([](auto &request, auto &) { request.rank = 6; }), "");
  EXPECT_NE(why([](auto &request, auto &) { request.address = 0x1008; }), "");
  EXPECT_NE(why([](auto &request, auto &) { request.fillsNaN = true; }), "");
  EXPECT_NE(why([](auto &, auto &arrays) { arrays.strides[0] = 200; }), "");
  EXPECT_NE(why([](auto &, auto &arrays) { arrays.dims[1] = 0; }), "");
  EXPECT_NE(why([](auto &, auto &arrays) { arrays.box[1] = 257; }), "");
  EXPECT_NE(why([](auto &, auto &arrays) { arrays.box[0] = 30; }), "");
  EXPECT_NE(why([](auto &, auto &arrays) { arrays.box[0] = 64; }), "");
  EXPECT_NE(why([](auto &, auto &arrays) { arrays.elementStrides[0] = 9; }), "");
}

} // namespace
