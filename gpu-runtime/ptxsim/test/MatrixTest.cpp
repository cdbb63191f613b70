// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync against a plain product. Where each element of a fragment lies is written here as the PTX ISA says it, shape
// by shape, not as the simulator computes it.

#include "Harness.h"

#include "arithmetic/Half.h"

#include <functional>

using namespace tilewright::ptxsim;

namespace {

struct At {
  int row, column;
};
/// Element number i of the fragment of a lane.
using Layout = std::function<At(int lane, int i)>;

struct MmaCase {
  const char *name;
  const char *instruction;
  int m, n, k;
  /// Bits of an element of A and B, of C and D, and of a register of each.
  int inputBits, outputBits;
  Layout a, b;
  /// Encodings of small integers.
  std::function<uint64_t(int)> encodeA, encodeB;
  int low, high;
};

int group(int lane) { return lane >> 2; }
int quad(int lane) { return lane % 4; }

uint64_t half(int value) { return doubleToSmall(value, f16Format); }
uint64_t bfloat(int value) { return doubleToSmall(value, bf16Format); }
uint64_t single(int value) { return bitCast<uint32_t>(static_cast<float>(value)); }
uint64_t wide(int value) { return bitCast<uint64_t>(static_cast<double>(value)); }
uint64_t e4m3(int value) { return doubleToSmall(value, e4m3Format); }
uint64_t e5m2(int value) { return doubleToSmall(value, e5m2Format); }
uint64_t integer(int value) { return static_cast<uint64_t>(value); }

// PTX ISA, "Matrix Fragments for mma.m16n8k8" with .f16 or .bf16
const Layout a16x8half = [](int l, int i) { return At{i < 2 ? group(l) : group(l) + 8, quad(l) * 2 + (i & 1)}; };
const Layout b8x8half = [](int l, int i) { return At{quad(l) * 2 + i, group(l)}; };
// mma.m16n8k16 with floating point types
const Layout a16x16half = [](int l, int i) {
  bool upper = (i >= 0 && i < 2) || (i >= 4 && i < 6);
  return At{upper ? group(l) : group(l) + 8, i < 4 ? quad(l) * 2 + (i & 1) : quad(l) * 2 + (i & 1) + 8};
};
const Layout b16x8half = [](int l, int i) { return At{i < 2 ? quad(l) * 2 + (i & 1) : quad(l) * 2 + (i & 1) + 8, group(l)}; };
// mma.m16n8k4 with .tf32
const Layout a16x4word = [](int l, int i) { return At{i == 0 ? group(l) : group(l) + 8, quad(l)}; };
const Layout b4x8word = [](int l, int) { return At{quad(l), group(l)}; };
// mma.m16n8k8 with .tf32
const Layout a16x8word = [](int l, int i) { return At{i == 0 || i == 2 ? group(l) : group(l) + 8, i < 2 ? quad(l) : quad(l) + 4}; };
const Layout b8x8word = [](int l, int i) { return At{i == 0 ? quad(l) : quad(l) + 4, group(l)}; };
// mma.m8n8k4 with .f64
const Layout a8x4wide = [](int l, int) { return At{group(l), quad(l)}; };
// mma.m16n8k16 with .f64
const Layout a16x16wide = [](int l, int i) { return At{i % 2 == 0 ? group(l) : group(l) + 8, i / 2 * 4 + quad(l)}; };
const Layout b16x8wide = [](int l, int i) { return At{quad(l) + i * 4, group(l)}; };
// mma.m8n8k16 with .u8 or .s8
const Layout a8x16byte = [](int l, int i) { return At{group(l), quad(l) * 4 + i}; };
const Layout b16x8byte = [](int l, int i) { return At{quad(l) * 4 + i, group(l)}; };
// mma.m16n8k16 with .u8 or .s8
const Layout a16x16byte = [](int l, int i) { return At{i < 4 ? group(l) : group(l) + 8, quad(l) * 4 + (i & 3)}; };
// mma.m16n8k32 with bytes
const Layout a16x32byte = [](int l, int i) {
  bool upper = (i >= 0 && i < 4) || (i >= 8 && i < 12);
  return At{upper ? group(l) : group(l) + 8, i < 8 ? quad(l) * 4 + (i & 3) : quad(l) * 4 + (i & 3) + 16};
};
const Layout b32x8byte = [](int l, int i) { return At{i < 4 ? quad(l) * 4 + (i & 3) : quad(l) * 4 + (i & 3) + 16, group(l)}; };
// mma.m8n8k32 and m16n8k32, m16n8k64 with nibbles
const Layout a8x32nibble = [](int l, int i) { return At{group(l), quad(l) * 8 + i}; };
const Layout b32x8nibble = [](int l, int i) { return At{quad(l) * 8 + (i & 7), group(l)}; };
const Layout a16x32nibble = [](int l, int i) { return At{i < 8 ? group(l) : group(l) + 8, quad(l) * 8 + (i & 7)}; };
const Layout a16x64nibble = [](int l, int i) {
  bool upper = (i >= 0 && i < 8) || (i >= 16 && i < 24);
  return At{upper ? group(l) : group(l) + 8, i < 16 ? quad(l) * 8 + (i & 7) : quad(l) * 8 + (i & 7) + 32};
};
const Layout b64x8nibble = [](int l, int i) { return At{i < 8 ? quad(l) * 8 + (i & 7) : quad(l) * 8 + (i & 7) + 32, group(l)}; };
// mma.m8n8k128, m16n8k128, m16n8k256 with .b1
const Layout a8x128bit = [](int l, int i) { return At{group(l), quad(l) * 32 + i}; };
const Layout b128x8bit = [](int l, int i) { return At{quad(l) * 32 + i, group(l)}; };
const Layout a16x128bit = [](int l, int i) { return At{i < 32 ? group(l) : group(l) + 8, quad(l) * 32 + (i & 31)}; };
const Layout a16x256bit = [](int l, int i) {
  bool upper = (i >= 0 && i < 32) || (i >= 64 && i < 96);
  return At{upper ? group(l) : group(l) + 8, i < 64 ? quad(l) * 32 + (i & 31) : quad(l) * 32 + (i & 31) + 128};
};
const Layout b256x8bit = [](int l, int i) { return At{i < 32 ? quad(l) * 32 + (i & 31) : quad(l) * 32 + (i & 31) + 128, group(l)}; };

// Every accumulator.
At accumulator(int m, int lane, int i) {
  return m == 16 ? At{i < 2 ? group(lane) : group(lane) + 8, quad(lane) * 2 + (i & 1)} : At{group(lane), quad(lane) * 2 + i};
}

const MmaCase cases[] = {
    {"F16K8", "m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, 16, 32, a16x8half, b8x8half, half, half, -8, 8},
    {"F16K8IntoF16", "m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 8, 16, 16, a16x8half, b8x8half, half, half, -8, 8},
    {"F16K16", "m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, 16, 32, a16x16half, b16x8half, half, half, -8, 8},
    {"F16K16IntoF16", "m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, 16, 16, a16x16half, b16x8half, half, half, -8, 8},
    {"BF16K8", "m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 8, 16, 32, a16x8half, b8x8half, bfloat, bfloat, -8, 8},
    {"BF16K16", "m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, 16, 32, a16x16half, b16x8half, bfloat, bfloat, -8, 8},
    {"TF32K4", "m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, 32, 32, a16x4word, b4x8word, single, single, -8, 8},
    {"TF32K8", "m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, 32, 32, a16x8word, b8x8word, single, single, -8, 8},
    {"F64M8", "m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, 64, 64, a8x4wide, b4x8word, wide, wide, -8, 8},
    {"F64K4", "m16n8k4.row.col.f64.f64.f64.f64", 16, 8, 4, 64, 64, a16x4word, b4x8word, wide, wide, -8, 8},
    {"F64K8", "m16n8k8.row.col.f64.f64.f64.f64", 16, 8, 8, 64, 64, a16x8word, b8x8word, wide, wide, -8, 8},
    {"F64K16", "m16n8k16.row.col.f64.f64.f64.f64", 16, 8, 16, 64, 64, a16x16wide, b16x8wide, wide, wide, -8, 8},
    {"S8M8", "m8n8k16.row.col.s32.s8.s8.s32", 8, 8, 16, 8, 32, a8x16byte, b16x8byte, integer, integer, -128, 127},
    {"U8K16", "m16n8k16.row.col.s32.u8.s8.s32", 16, 8, 16, 8, 32, a16x16byte, b16x8byte, integer, integer, 0, 127},
    {"S8K32", "m16n8k32.row.col.satfinite.s32.s8.s8.s32", 16, 8, 32, 8, 32, a16x32byte, b32x8byte, integer, integer, -128, 127},
    {"S4M8", "m8n8k32.row.col.s32.s4.s4.s32", 8, 8, 32, 4, 32, a8x32nibble, b32x8nibble, integer, integer, -8, 7},
    {"U4K32", "m16n8k32.row.col.s32.u4.u4.s32", 16, 8, 32, 4, 32, a16x32nibble, b32x8nibble, integer, integer, 0, 15},
    {"S4K64", "m16n8k64.row.col.s32.s4.s4.s32", 16, 8, 64, 4, 32, a16x64nibble, b64x8nibble, integer, integer, -8, 7},
    {"B1M8", "m8n8k128.row.col.s32.b1.b1.s32.and.popc", 8, 8, 128, 1, 32, a8x128bit, b128x8bit, integer, integer, 0, 1},
    {"B1K128", "m16n8k128.row.col.s32.b1.b1.s32.and.popc", 16, 8, 128, 1, 32, a16x128bit, b128x8bit, integer, integer, 0, 1},
    {"B1K256", "m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 8, 256, 1, 32, a16x256bit, b256x8bit, integer, integer, 0, 1},
    {"F8K16", "m16n8k16.row.col.f32.e4m3.e5m2.f32", 16, 8, 16, 8, 32, a16x16byte, b16x8byte, e4m3, e5m2, -4, 4},
    {"F8K32", "m16n8k32.row.col.f32.e5m2.e4m3.f32", 16, 8, 32, 8, 32, a16x32byte, b32x8byte, e5m2, e4m3, -4, 4},
    {"F8K32IntoF16", "m16n8k32.row.col.f16.e4m3.e4m3.f16", 16, 8, 32, 8, 16, a16x32byte, b32x8byte, e4m3, e4m3, -4, 4},
};

int registersFor(int rows, int columns, int bits) { return rows * columns * bits / (bits == 64 ? 64 : 32) / 32; }

std::string registerList(const char *prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(prefix) + std::to_string(i);
  return text + "}";
}

/// Lane l finds its register number r at word r * 32 + l of each array.
std::string kernel(const MmaCase &test) {
  int counts[] = {registersFor(test.m, test.k, test.inputBits), registersFor(test.k, test.n, test.inputBits),
                  registersFor(test.m, test.n, test.outputBits)};
  int bits[] = {test.inputBits == 64 ? 64 : 32, test.inputBits == 64 ? 64 : 32, test.outputBits == 64 ? 64 : 32};
  std::string body;
  const char *names[] = {"a", "b", "c"};
  for (int x = 0; x < 3; ++x)
    for (int r = 0; r < counts[x]; ++r)
      body += "  ld.global.b" + std::to_string(bits[x]) + " %" + names[x] + std::to_string(r) + ", [%p" + names[x] +
              "+" + std::to_string(r * 32 * bits[x] / 8) + "];\n";
  auto type = [&](int x, bool isFloat) { return bits[x] == 64 ? ".f64" : isFloat ? ".f32" : ".b32"; };
  bool floatOut = std::string(test.instruction).find(".f32.") != std::string::npos && test.outputBits == 32;
  body += std::string("  mma.sync.aligned.") + test.instruction + " " + registerList("%d", counts[2]) + ", " +
          registerList("%a", counts[0]) + ", " + registerList("%b", counts[1]) + ", " +
          registerList("%c", counts[2]) + ";\n";
  for (int r = 0; r < counts[2]; ++r)
    body += "  st.global.b" + std::to_string(bits[2]) + " [%pd+" + std::to_string(r * 32 * bits[2] / 8) + "], %d" +
            std::to_string(r) + ";\n";
  std::string text = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry test(";
  for (const char *name : {"a", "b", "c", "d"})
    text += std::string(*name == 'a' ? "" : ", ") + ".param .u64 " + name;
  text += ") {\n  .reg .b32 %lane;\n  .reg .b64 %pa, %pb, %pc, %pd;\n";
  text += std::string("  .reg ") + type(0, false) + " %a<16>, %b<16>;\n  .reg " + type(2, floatOut) + " %c<8>, %d<8>;\n";
  text += "  mov.u32 %lane, %laneid;\n";
  for (int x = 0; x < 4; ++x) {
    std::string name(1, "abcd"[x]);
    int width = bits[x == 3 ? 2 : x] / 8;
    text += "  ld.param.u64 %p" + name + ", [" + name + "];\n  mad.wide.u32 %p" + name + ", %lane, " +
            std::to_string(width) + ", %p" + name + ";\n";
  }
  return text + body + "  ret;\n}\n";
}

/// Packs the fragments of all lanes: registers of `bits`-wide elements, register r of lane l at index r * 32 + l.
std::vector<uint8_t> pack(const std::vector<int> &matrix, int columns, int count, int bits, const Layout &layout,
                          const std::function<uint64_t(int)> &encode) {
  int registerBits = bits == 64 ? 64 : 32, each = registerBits / bits;
  std::vector<uint8_t> bytes(size_t(count) * 32 * registerBits / 8);
  for (int lane = 0; lane < 32; ++lane)
    for (int r = 0; r < count; ++r) {
      uint64_t word = 0;
      for (int j = 0; j < each; ++j) {
        At at = layout(lane, r * each + j);
        word |= (encode(matrix[size_t(at.row * columns + at.column)]) & lowBits(bits)) << (bits * j);
      }
      std::memcpy(bytes.data() + size_t(r * 32 + lane) * registerBits / 8, &word, registerBits / 8);
    }
  return bytes;
}

class Mma : public ::testing::TestWithParam<MmaCase> {};

TEST_P(Mma, AgreesWithAPlainProduct) {
  const MmaCase &test = GetParam();
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  TestDevice device(options);
  ASSERT_TRUE(device.load(kernel(test))) << device.message;
  auto random = [state = 12345u](int low, int high) mutable {
    state = state * 1664525 + 1013904223;
    return low + static_cast<int>((state >> 8) % static_cast<unsigned>(high - low + 1));
  };
  std::vector<int> a(test.m * test.k), b(test.k * test.n), c(test.m * test.n);
  for (int &value : a)
    value = random(test.low, test.high);
  for (int &value : b)
    value = random(test.low, test.high);
  for (int &value : c)
    value = random(-20, 20);
  bool isInteger = test.encodeA(1) == 1;
  auto encodeC = [&](int value) {
    return test.outputBits == 16 ? half(value) : test.outputBits == 64 ? wide(value) : isInteger ? integer(value) : single(value);
  };
  auto layoutC = [&](int lane, int i) { return accumulator(test.m, lane, i); };
  int outputs = registersFor(test.m, test.n, test.outputBits);
  uint64_t pa = device.upload(pack(a, test.k, registersFor(test.m, test.k, test.inputBits), test.inputBits, test.a, test.encodeA));
  uint64_t pb = device.upload(pack(b, test.n, registersFor(test.k, test.n, test.inputBits), test.inputBits, test.b, test.encodeB));
  uint64_t pc = device.upload(pack(c, test.n, outputs, test.outputBits, layoutC, encodeC));
  std::vector<int> expected = c;
  for (int i = 0; i < test.m; ++i)
    for (int j = 0; j < test.n; ++j)
      for (int k = 0; k < test.k; ++k)
        expected[i * test.n + j] += a[i * test.k + k] * b[k * test.n + j];
  std::vector<uint8_t> wanted = pack(expected, test.n, outputs, test.outputBits, layoutC, encodeC);
  uint64_t pd = device.allocate(wanted.size());
  ASSERT_TRUE(device.launch("test", {1}, {32}, pa, pb, pc, pd)) << device.report();
  EXPECT_EQ(device.download<uint8_t>(pd, wanted.size()), wanted);
  EXPECT_TRUE(device.copyOut(pd, wanted.size()));
}

void PrintTo(const MmaCase &test, std::ostream *stream) { *stream << test.name; }

INSTANTIATE_TEST_SUITE_P(Forms, Mma, ::testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.name); });

const char *const moves = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry test(.param .u64 out) {
  .shared .align 16 .b8 tile[512];
  .reg .b32 %r<16>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  // tile[i] = i, 256 elements of 16 bits; each lane writes 8
  mov.u32 %r2, tile;
  mad.lo.u32 %r3, %r1, 16, %r2;
  mul.lo.u32 %r4, %r1, 0x00080008;
  add.u32 %r4, %r4, 0x00010000;
  st.shared.b32 [%r3], %r4;
  add.u32 %r4, %r4, 0x00020002;
  st.shared.b32 [%r3+4], %r4;
  add.u32 %r4, %r4, 0x00020002;
  st.shared.b32 [%r3+8], %r4;
  add.u32 %r4, %r4, 0x00020002;
  st.shared.b32 [%r3+12], %r4;
  bar.warp.sync -1;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r3];
  ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r9}, [%r3];
  movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r5;
  bar.warp.sync -1;
  stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r3], {%r5};
  bar.warp.sync -1;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r11}, [%r3];
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  st.global.b32 [%rd2], %r5;
  st.global.b32 [%rd2+128], %r6;
  st.global.b32 [%rd2+256], %r8;
  st.global.b32 [%rd2+384], %r9;
  st.global.b32 [%rd2+512], %r10;
  st.global.b32 [%rd2+640], %r11;
  ret;
}
)";

TEST(Matrix, LoadsStoresAndTransposes) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  TestDevice device(options);
  ASSERT_TRUE(device.load(moves)) << device.message;
  uint64_t out = device.allocate(768);
  ASSERT_TRUE(device.launch("test", {1}, {32}, out)) << device.report();
  std::vector<uint16_t> got = device.download<uint16_t>(out, 384);
  for (int lane = 0; lane < 32; ++lane)
    for (int j = 0; j < 2; ++j) {
      int row = lane / 4, column = lane % 4 * 2 + j, at = 2 * lane + j;
      EXPECT_EQ(got[at], row * 8 + column);
      EXPECT_EQ(got[64 + at], 64 + row * 8 + column);
      EXPECT_EQ(got[128 + at], 192 + row * 8 + column);
      for (int part = 3; part < 6; ++part)
        EXPECT_EQ(got[64 * part + at], column * 8 + row) << part;
    }
}

TEST(Matrix, MissingBarrierIsARace) {
  std::string text = moves;
  text.replace(text.find("  bar.warp.sync -1;"), 19, "");
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  TestDevice device(options);
  ASSERT_TRUE(device.load(text)) << device.message;
  EXPECT_FALSE(device.launch("test", {1}, {32}, device.allocate(768)));
  EXPECT_TRUE(device.found(FindingKind::Race)) << device.report();
}

TEST(Matrix, FormsThatDoNotExistAreRefused) {
  auto message = [](const std::string &header, const std::string &instruction) {
    MachineOptions options = TestDevice::defaults();
    if (header.find("sm_90") != std::string::npos)
      options.computeCapability = 90;
    TestDevice device(options);
    device.load(header + ".address_size 64\n.entry k() {\n.reg .b32 %r<8>;\n.reg .f32 %f<8>;\n" + instruction + "\n}\n");
    return device.message;
  };
  std::string k16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
                    "{%f0,%f1,%f2,%f3};";
  EXPECT_EQ(message(".version 7.0\n.target sm_80\n", k16), "");
  EXPECT_NE(message(".version 7.0\n.target sm_75\n", k16).find("needs sm_80"), std::string::npos);
  EXPECT_NE(message(".version 6.5\n.target sm_80\n", k16).find("needs PTX 7.0"), std::string::npos);
  std::string wrong = k16;
  wrong.replace(wrong.find("k16"), 3, "k32");
  EXPECT_NE(message(".version 7.0\n.target sm_80\n", wrong).find("shape"), std::string::npos);
  wrong = k16;
  wrong.replace(wrong.find(",%r3}"), 5, "}");
  EXPECT_NE(message(".version 7.0\n.target sm_80\n", wrong).find("expected 4 registers, found 3"), std::string::npos);
  // Sums of 8-bit floats in f16 came later than those in f32.
  std::string half = "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%r0,%r1}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
                     "{%r0,%r1};";
  EXPECT_EQ(message(".version 8.7\n.target sm_90\n", half), "");
  EXPECT_NE(message(".version 8.4\n.target sm_90\n", half).find("needs PTX 8.7"), std::string::npos);
}

} // namespace
