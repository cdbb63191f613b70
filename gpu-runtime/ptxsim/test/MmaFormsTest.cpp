// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.m8n8k4 with f16, in every layout; special values, rounding and saturation of the other forms.

#include "Harness.h"
#include "arithmetic/Half.h"
#include "matrix/Matrix.h"

#include <random>

using namespace tilewright::ptxsim;

namespace {

using E = MatrixElement;

struct Position {
  int row, column;
};

/// A kernel that reads the registers of A, B and C from memory (8 bytes per lane each) and writes those of D.
std::string mmaKernel(const std::string &instruction, int countD, int countA, int countB, int countC, bool f64) {
  auto name = [&](char matrix, int i) { return std::string("%") + (f64 ? "d" : "r") + matrix + std::to_string(i); };
  auto vector = [&](char matrix, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i)
      text += (i ? ", " : "") + name(matrix, i);
    return text + "}";
  };
  std::string body;
  int slot = 0;
  auto load = [&](char matrix, int count) {
    for (int i = 0; i < count; ++i, ++slot)
      body += "  ld.global." + std::string(f64 ? "f64 " : "b32 ") + name(matrix, i) + ", [%at+" +
              std::to_string(slot * 256) + "];\n";
  };
  load('a', countA);
  load('b', countB);
  load('c', countC);
  body += "  " + instruction + " " + vector('d', countD) + ", " + vector('a', countA) + ", " + vector('b', countB) +
          ", " + vector('c', countC) + ";\n";
  for (int i = 0; i < countD; ++i)
    body += "  st.global." + std::string(f64 ? "f64" : "b32") + " [%to+" + std::to_string(i * 256) + "], " +
            name('d', i) + ";\n";
  std::string type = f64 ? ".f64" : ".b32", registers;
  for (char matrix : {'a', 'b', 'c', 'd'})
    registers += "  .reg " + type + " " + std::string(f64 ? "%d" : "%r") + matrix + "<8>;\n";
  return ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n" +
         registers +
         "  .reg .b32 %lane;\n  .reg .b64 %at, %to, %offset;\n  ld.param.u64 %at, [in];\n  ld.param.u64 %to, [out];\n"
         "  mov.u32 %lane, %laneid;\n  mul.wide.u32 %offset, %lane, 8;\n  add.s64 %at, %at, %offset;\n"
         "  add.s64 %to, %to, %offset;\n" +
         body + "  ret;\n}\n";
}

MachineOptions hopper() {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  return options;
}

/// m8n8k4: four products by quad pairs, every layout of A and B, and accumulators of both types.
TEST(MmaQuads, EveryLayoutAndAccumulator) {
  std::mt19937_64 random(3);
  for (bool columnA : {false, true})
    for (bool rowB : {false, true})
      for (int types = 0; types < 3; ++types) {
        E typeC = types == 2 ? E::F32 : E::F16, typeD = types == 0 ? E::F16 : E::F32;
        int countC = typeC == E::F16 ? 4 : 8, countD = typeD == E::F16 ? 4 : 8;
        float a[4][8][4], b[4][4][8], c[4][8][8];
        auto value = [&] { return static_cast<float>(static_cast<int>(random() % 17) - 8); };
        for (int q = 0; q < 4; ++q)
          for (int i = 0; i < 8; ++i)
            for (int j = 0; j < 8; ++j) {
              a[q][i][j % 4] = value();
              b[q][i % 4][j] = value();
              c[q][i][j] = value();
            }
        std::vector<uint64_t> input((4 + countC) * 32);
        auto half = [](float x) { return uint64_t(doubleToSmall(x, f16Format)); };
        auto accumulator = [](E type, int lane, int i) -> Position {
          int high = lane < 16 ? 0 : 4;
          if (type == E::F16)
            return {lane % 4 + high, i};
          return {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
        };
        for (int lane = 0; lane < 32; ++lane) {
          int q = lane % 16 / 4, high = lane < 16 ? 0 : 4;
          for (int i = 0; i < 4; ++i) {
            float x = columnA ? a[q][i % 4 + high][lane % 4] : a[q][lane % 4 + high][i];
            float y = rowB ? b[q][lane % 4][i + high] : b[q][i][lane % 4 + high];
            input[i / 2 * 32 + lane] |= half(x) << i % 2 * 16;
            input[(2 + i / 2) * 32 + lane] |= half(y) << i % 2 * 16;
          }
          for (int i = 0; i < 8; ++i) {
            Position p = accumulator(typeC, lane, i);
            if (typeC == E::F16)
              input[(4 + i / 2) * 32 + lane] |= half(c[q][p.row][p.column]) << i % 2 * 16;
            else
              input[(4 + i) * 32 + lane] = bitCast<uint32_t>(c[q][p.row][p.column]);
          }
        }
        std::string text = std::string("mma.sync.aligned.m8n8k4.") + (columnA ? "col." : "row.") +
                           (rowB ? "row." : "col.") + std::string(typeD == E::F16 ? "f16" : "f32") + ".f16.f16." +
                           std::string(typeC == E::F16 ? "f16" : "f32");
        TestDevice device(hopper());
        ASSERT_TRUE(device.load(mmaKernel(text, countD, 2, 2, countC, false))) << device.message;
        uint64_t in = device.upload(input), out = device.upload(std::vector<uint64_t>(countD * 32));
        ASSERT_TRUE(device.launch("k", {1}, {32}, in, out)) << device.report();
        std::vector<uint64_t> result = device.download<uint64_t>(out, countD * 32);
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 8; ++i) {
            int q = lane % 16 / 4;
            Position p = accumulator(typeD, lane, i);
            float expected = c[q][p.row][p.column];
            for (int k = 0; k < 4; ++k)
              expected += a[q][p.row][k] * b[q][k][p.column];
            uint64_t got = typeD == E::F16 ? result[i / 2 * 32 + lane] >> i % 2 * 16 & 0xffff : result[i * 32 + lane];
            ASSERT_EQ(elementValue(typeD, got), expected) << text << " lane " << lane << " element " << i;
          }
      }
}

TEST(MmaForms, SpecialValuesAndRounding) {
  // One product of interest: A(0,0) * B(0,0) + C(0,0), all held by lane 0.
  struct Case {
    const char *text;
    bool f64;
    uint64_t a, b, c, expected;
  };
  const double tiny = 0x1p-60;
  const Case cases[] = {
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", false, 0x7c00, 0x0000, 0, 0x7fffffff},  // inf * 0
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", false, 0x0001, 0x3c00, 0, 0x33800000},  // subnormal * 1
      {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", false, 0x7bff, 0x4000, 0, 0x7c00},      // overflow
      {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", false, 0x3f801fff, 0x3f800000, 0, 0x3f800000},
      {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rp", true, bitCast<uint64_t>(tiny), bitCast<uint64_t>(tiny),
       bitCast<uint64_t>(1.0), bitCast<uint64_t>(1.0 + 0x1p-52)},
      {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", true, bitCast<uint64_t>(tiny), bitCast<uint64_t>(tiny),
       bitCast<uint64_t>(1.0), bitCast<uint64_t>(1.0)},
      {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", false, 127, 1, 0x7fffffff, 0x8000007e},
      {"mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32", false, 127, 1, 0x7fffffff, 0x7fffffff},
      {"mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32", false, 0xff, 1, 0x80000000, 0x80000000},
  };
  for (const Case &test : cases) {
    std::string text = test.text;
    bool wide = text.find("m16") != std::string::npos;
    bool half = text.find("f16.f16.f16.f16") != std::string::npos;
    int countA = wide ? 2 : 1, countC = wide && !half ? 4 : 2;
    std::vector<uint64_t> input((countA + 1 + countC) * 32);
    input[0] = test.a;
    input[countA * 32] = test.b;
    input[(countA + 1) * 32] = test.c;
    TestDevice device(hopper());
    ASSERT_TRUE(device.load(mmaKernel(text, countC, countA, 1, countC, test.f64))) << device.message;
    uint64_t in = device.upload(input), out = device.upload(std::vector<uint64_t>(countC * 32));
    ASSERT_TRUE(device.launch("k", {1}, {32}, in, out)) << device.report();
    uint64_t result = device.download<uint64_t>(out, 1)[0];
    EXPECT_EQ(half ? result & 0xffff : result, test.expected) << text;
  }
}

TEST(MmaForms, GatesOfM8n8k4) {
  struct Refusal {
    const char *target, *version, *text, *message;
  };
  const Refusal refusals[] = {
      {"sm_70", "6.3", "m8n8k4.row.col.f16.f16.f16.f16", "needs PTX 6.4"},
      {"sm_70", "6.4", "m16n8k8.row.col.f16.f16.f16.f16", "needs PTX 6.5"},
      {"sm_80", "7.0", "m8n8k4.row.col.f16.f16.f16.f32", "this combination of types"},
      {"sm_80", "7.0", "m16n8k8.row.col.f32.f16.f16.f16", "this combination of types"},
      {"sm_80", "7.0", "m16n8k8.col.col.f16.f16.f16.f16", "this layout"},
      {"sm_80", "7.0", "m16n8k8.row.f16.f16.f16.f16", "needs .row or .col"},
      {"sm_80", "7.0", "m16n8k8.row.col.rz.f16.f16.f16.f16", "expected the types"},
  };
  for (const Refusal &refusal : refusals) {
    TestDevice device(hopper());
    std::string text = mmaKernel("mma.sync.aligned." + std::string(refusal.text), 4, 2, 2, 4, false);
    text.replace(0, std::strlen(".version 8.7\n.target sm_90"),
                 std::string(".version ") + refusal.version + "\n.target " + refusal.target);
    EXPECT_FALSE(device.load(text)) << refusal.text;
    EXPECT_NE(device.message.find(refusal.message), std::string::npos) << refusal.text << "\n  " << device.message;
  }
}

} // namespace
