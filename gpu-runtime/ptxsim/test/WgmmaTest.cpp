// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma against a host reference. Where elements of shared memory lie is computed here from the canonical layouts as they
// are usually written (shapes and strides of nested tiles, then a swizzle of the offset), not from descriptors.

#include "Harness.h"
#include "arithmetic/Half.h"
#include "matrix/Matrix.h"

#include <random>

using namespace tilewright::ptxsim;

namespace {

using E = MatrixElement;

struct Form {
  const char *types;
  int n, k;
  E d, a, b;
  /// 0, 32, 64 or 128.
  int swizzleA, swizzleB;
  bool mMajor = false, nMajor = false;
  bool aInRegisters = false;
  int scaleA = 1, scaleB = 1;
};

const Form forms[] = {
    {"f32.f16.f16", 8, 16, E::F32, E::F16, E::F16, 0, 0},
    {"f32.f16.f16", 64, 16, E::F32, E::F16, E::F16, 128, 128},
    {"f32.f16.f16", 64, 16, E::F32, E::F16, E::F16, 64, 32, false, false, false, -1, 1},
    {"f32.f16.f16", 64, 16, E::F32, E::F16, E::F16, 32, 64, false, false, false, -1, -1},
    {"f32.f16.f16", 64, 16, E::F32, E::F16, E::F16, 128, 128, true, false},
    {"f32.f16.f16", 128, 16, E::F32, E::F16, E::F16, 128, 128, false, true},
    {"f32.bf16.bf16", 64, 16, E::F32, E::BF16, E::BF16, 64, 64, true, true},
    {"f32.bf16.bf16", 96, 16, E::F32, E::BF16, E::BF16, 32, 32, true, true, false, 1, -1},
    {"f32.bf16.bf16", 24, 16, E::F32, E::BF16, E::BF16, 0, 0, true, true},
    {"f32.f16.f16", 256, 16, E::F32, E::F16, E::F16, 128, 128, false, true, true},
    {"f16.f16.f16", 40, 16, E::F16, E::F16, E::F16, 128, 0, false, false, true, 1, -1},
    {"f16.f16.f16", 128, 16, E::F16, E::F16, E::F16, 0, 128},
    {"f32.tf32.tf32", 72, 8, E::F32, E::TF32, E::TF32, 128, 64},
    {"f32.tf32.tf32", 16, 8, E::F32, E::TF32, E::TF32, 0, 0, false, false, true},
    {"f32.e4m3.e5m2", 64, 32, E::F32, E::E4M3, E::E5M2, 128, 128},
    {"f16.e5m2.e5m2", 8, 32, E::F16, E::E5M2, E::E5M2, 0, 32, false, false, true},
    {"s32.s8.s8", 64, 32, E::S32, E::S8, E::S8, 128, 128},
    {"s32.u8.s8", 24, 32, E::S32, E::U8, E::S8, 64, 0},
    {"s32.s8.u8.satfinite", 48, 32, E::S32, E::S8, E::U8, 32, 32, false, false, true},
    {"s32.b1.b1.and.popc", 16, 256, E::S32, E::B1, E::B1, 128, 0},
};

/// Byte offset of bit-addressed element (row, column of k) and the descriptor's offsets, for one operand.
struct Layout {
  int swizzle, leading, stride, bytes;
  bool isMajor;
  int bits;

  Layout(int rows, int width, int swizzle, bool isMajor, int k) : swizzle(swizzle), isMajor(isMajor), bits(width) {
    int row = swizzle == 0 ? 16 : swizzle;
    if (!isMajor) {
      // ((8, m), (T, 2)): eight rows of `row` bytes are a tile; tiles follow each other.
      leading = swizzle == 0 ? rows * 16 : 16;
      stride = 8 * row;
      bytes = swizzle == 0 ? 2 * rows * 16 : rows * row;
      return;
    }
    int units = rows / 8, perRow = row / 16, tiles = (units + perRow - 1) / perRow;
    // Tiles of eight k; without swizzle units are the outer direction.
    if (swizzle == 0) {
      leading = 128;
      stride = 128 * (k / 8);
      bytes = units * stride;
    } else {
      stride = 8 * row;
      leading = stride * (k / 8);
      bytes = tiles * leading;
    }
  }
  /// In bits.
  int at(int row, int column) const {
    int width = swizzle == 0 ? 16 : swizzle, offset;
    if (!isMajor) {
      int byte = column * bits / 8;
      offset = row % 8 * width + row / 8 * stride + (swizzle == 0 ? byte / 16 * leading + byte % 16 : byte);
    } else {
      int unit = row / 8, perRow = width / 16;
      offset = swizzle == 0 ? unit * stride + column % 8 * 16 + column / 8 * leading
                            : unit % perRow * 16 + unit / perRow * leading + column % 8 * width + column / 8 * stride;
      offset += row % 8 * 2;
    }
    // Swizzle<b, 4, 3>: bits 4 and up ^= bits 7 and up.
    int mask = width / 16 - 1;
    offset ^= (offset >> 7 & mask) << 4;
    return offset * 8 + column * bits % 8;
  }
  std::string descriptor(const std::string &base) const {
    uint64_t fixed = uint64_t(leading / 16) << 16 | uint64_t(stride / 16) << 32 |
                     uint64_t(swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0) << 62;
    return "bfe.u32 %word, " + base + ", 4, 14; cvt.u64.u32 %desc, %word; or.b64 %desc, %desc, " +
           std::to_string(static_cast<int64_t>(fixed)) + ";\n";
  }
};

std::string list(const std::string &prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}

constexpr int regionBytes = 16384;

/// Copies both regions to shared memory, multiplies twice (the first without D as input), and stores D.
std::string wgmmaKernel(const Form &f, const Layout &a, const Layout &b) {
  bool isInteger = f.d == E::S32, transposes = f.a == E::F16 || f.a == E::BF16;
  int countD = f.n / (f.d == E::F16 ? 4 : 2);
  std::string type = f.d == E::F32 ? ".f32" : ".b32";
  std::string tail = isInteger ? ";" : ", " + std::to_string(f.scaleA) + ", " + std::to_string(f.scaleB);
  if (!isInteger)
    tail += !transposes ? ";"
                        : (f.aInRegisters ? "" : std::string(", ") + (f.mMajor ? "1" : "0")) + ", " +
                              (f.nMajor ? "1" : "0") + ";";
  std::string name = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(f.n) + "k" + std::to_string(f.k) + "." +
                     f.types + " " + list("%d", countD) + ", " +
                     (f.aInRegisters ? list("%a", 4) : std::string("%descA")) + ", %descB, ";
  std::string text =
      ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"
      "  .shared .align 1024 .b8 regions[32768];\n  .reg .b32 %thread, %i, %word, %base, %at, %a<4>;\n  .reg " +
      type + " %d<128>;\n  .reg .b64 %in, %out, %from, %offset, %desc, %descA, %descB;\n  .reg .pred %p, %q;\n"
      "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %thread, %tid.x;\n  mov.u32 %base, regions;\n"
      "  mov.u32 %i, %thread;\nLOOP:\n  mul.wide.u32 %offset, %i, 4;\n  add.u64 %from, %in, %offset;\n"
      "  ld.global.u32 %word, [%from];\n  mad.lo.u32 %at, %i, 4, %base;\n  st.shared.u32 [%at], %word;\n"
      "  add.u32 %i, %i, 128;\n  setp.lt.u32 %p, %i, 8192;\n  @%p bra LOOP;\n"
      "  mad.wide.u32 %from, %thread, 16, %in;\n  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%from+32768];\n"
      "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n" +
      a.descriptor("%base") + "  mov.b64 %descA, %desc;\n  add.u32 %at, %base, " + std::to_string(regionBytes) +
      ";\n" + b.descriptor("%at") + "  mov.b64 %descB, %desc;\n  setp.ne.u32 %q, 0, 0;\n"
      "  wgmma.fence.sync.aligned;\n  " + name + "%q" + tail + "\n  " + name + "!%q" + tail +
      "\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
      "  mul.wide.u32 %offset, %thread, " + std::to_string(countD * 4) + ";\n  add.u64 %out, %out, %offset;\n";
  for (int i = 0; i < countD; ++i)
    text += "  st.global" + type + " [%out+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

MachineOptions hopper(uint64_t seed = 1, bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.checks = checks;
  return options;
}

uint64_t encoded(E type, int value) {
  switch (type) {
  case E::F16:
    return doubleToSmall(value, f16Format);
  case E::BF16:
    return doubleToSmall(value, bf16Format);
  case E::TF32:
    return bitCast<uint32_t>(static_cast<float>(value));
  case E::E4M3:
    return doubleToSmall(value, e4m3Format);
  case E::E5M2:
    return doubleToSmall(value, e5m2Format);
  case E::B1:
    return value & 1;
  default:
    return value & 0xff;
  }
}

struct Problem {
  std::vector<int> a, b;
  std::vector<uint8_t> memory;
};

Problem makeProblem(const Form &f, const Layout &a, const Layout &b) {
  std::mt19937 random(11);
  Problem problem;
  problem.memory.assign(2 * regionBytes + 128 * 16, 0);
  auto value = [&](E type) {
    int small = static_cast<int>(random() % 5) - 2;
    return type == E::B1 ? small & 1 : type == E::U8 ? small & 3 : small;
  };
  auto put = [&](int bit, int width, uint64_t bits) {
    for (int i = 0; i < width; ++i)
      problem.memory[(bit + i) / 8] |= (bits >> i & 1) << (bit + i) % 8;
  };
  for (int i = 0; i < 64 * f.k; ++i) {
    problem.a.push_back(value(f.a));
    put(a.at(i / f.k, i % f.k), elementBits(f.a), encoded(f.a, problem.a.back()));
  }
  for (int i = 0; i < f.n * f.k; ++i) {
    problem.b.push_back(value(f.b));
    put(regionBytes * 8 + b.at(i / f.k, i % f.k), elementBits(f.b), encoded(f.b, problem.b.back()));
  }
  // A in registers: "row = groupID, + 8 for odd registers; column = e per register ..., second half from register 2".
  int width = elementBits(f.a), each = 32 / width;
  for (int thread = 0; thread < 128; ++thread)
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < each; ++i) {
        int row = thread / 32 * 16 + thread % 32 / 4 + (r % 2 ? 8 : 0);
        int column = thread % 4 * each + i + (r >= 2 ? f.k / 2 : 0);
        put((2 * regionBytes + thread * 16 + r * 4) * 8 + i * width, width, encoded(f.a, problem.a[row * f.k + column]));
      }
  return problem;
}

class Wgmma : public ::testing::TestWithParam<Form> {};

TEST_P(Wgmma, MatchesTheReference) {
  const Form &f = GetParam();
  Layout a(64, elementBits(f.a), f.swizzleA, f.mMajor, f.k), b(f.n, elementBits(f.b), f.swizzleB, f.nMajor, f.k);
  ASSERT_LE(a.bytes, regionBytes);
  ASSERT_LE(b.bytes, regionBytes);
  Problem problem = makeProblem(f, a, b);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    TestDevice device(hopper(seed, seed != 3));
    ASSERT_TRUE(device.load(wgmmaKernel(f, a, b))) << device.message;
    int countD = f.n / (f.d == E::F16 ? 4 : 2);
    uint64_t in = device.upload(problem.memory), out = device.allocate(128 * countD * 4);
    ASSERT_TRUE(device.launch("k", {1}, {128}, in, out)) << device.report();
    ASSERT_TRUE(!device.options.checks || device.copyOut(out, 128 * countD * 4));
    std::vector<uint32_t> got = device.download<uint32_t>(out, 128 * countD);
    for (int thread = 0; thread < 128; ++thread)
      for (int i = 0; i < f.n / 2; ++i) {
        int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2), column = thread % 4 * 2 + i % 2 + 8 * (i / 4);
        int sum = 0;
        for (int k = 0; k < f.k; ++k)
          sum += problem.a[row * f.k + k] * problem.b[column * f.k + k];
        sum *= 2 * f.scaleA * f.scaleB;
        uint32_t word = got[thread * countD + (f.d == E::F16 ? i / 2 : i)];
        double value = f.d == E::S32   ? static_cast<int>(word)
                       : f.d == E::F32 ? bitCast<float>(word)
                                       : halfToDouble(word >> 16 * (i % 2));
        ASSERT_EQ(value, sum) << f.types << " row " << row << " column " << column;
      }
  }
}

std::string nameOf(const ::testing::TestParamInfo<Form> &info) {
  std::string name = std::to_string(info.index) + "_" + info.param.types;
  for (char &character : name)
    if (character == '.')
      character = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Forms, Wgmma, ::testing::ValuesIn(forms), nameOf);

struct Bug {
  const char *name, *from, *to;
  FindingKind expected;
};

const Bug bugs[] = {
    {"NoFence", "wgmma.fence.sync.aligned;", "", FindingKind::WgmmaMisuse},
    {"RegisterWrittenAfterTheFence", "wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned; mov.b32 %d3, 0f00000000;",
     FindingKind::WgmmaMisuse},
    {"RegisterReadAfterTheFence", "wgmma.fence.sync.aligned;",
     "wgmma.fence.sync.aligned; .reg .b32 %copy; mov.b32 %copy, %d3;", FindingKind::WgmmaMisuse},
    {"NoWait", "wgmma.wait_group.sync.aligned 0;", "", FindingKind::WgmmaMisuse},
    {"WaitForTooFew", "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;", FindingKind::WgmmaMisuse},
    {"NoCommit", "wgmma.commit_group.sync.aligned;", "", FindingKind::WgmmaMisuse},
    {"ResultReadEarly", "wgmma.commit_group.sync.aligned;",
     "wgmma.commit_group.sync.aligned; add.f32 %d0, %d1, %d1;", FindingKind::WgmmaMisuse},
    {"BarrierMissing", "bar.sync 0;", "", FindingKind::Race},
    {"ProxyFenceMissing", "fence.proxy.async.shared::cta;", "", FindingKind::ProxyOrder},
    {"ProxyFenceOfGlobalMemory", "fence.proxy.async.shared::cta;", "fence.proxy.async.global;", FindingKind::ProxyOrder},
    {"OverwrittenWhileInFlight", "wgmma.commit_group.sync.aligned;",
     "wgmma.commit_group.sync.aligned; bar.sync 0; st.shared.u32 [%base], %thread;", FindingKind::Race},
    {"OneWarpStaysAway", "wgmma.fence.sync.aligned;",
     "setp.ge.u32 %p, %thread, 96; @%p bra END; wgmma.fence.sync.aligned;", FindingKind::CollectiveMisuse},
    {"DescriptorsDiffer", "wgmma.fence.sync.aligned;",
     "wgmma.fence.sync.aligned; setp.ge.u32 %p, %thread, 96; @%p add.u64 %descB, %descB, 1;",
     FindingKind::CollectiveMisuse},
    {"DescriptorOutOfShared", "wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned; or.b64 %descB, %descB, 16383;",
     FindingKind::OutOfBounds},
    {"UndefinedDescriptor", "wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned; .reg .b64 %u; mov.b64 %descB, %u;",
     FindingKind::Undefined},
};

class WgmmaBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(WgmmaBugs, AreFound) {
  const Bug &bug = GetParam();
  const Form &f = forms[1];
  Layout a(64, 16, f.swizzleA, f.mMajor, f.k), b(f.n, 16, f.swizzleB, f.nMajor, f.k);
  Problem problem = makeProblem(f, a, b);
  std::string text = wgmmaKernel(f, a, b);
  size_t at = text.find(bug.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::strlen(bug.from), bug.to);
  text.insert(text.rfind("  ret;"), "END:\n");
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    TestDevice device(hopper(seed));
    ASSERT_TRUE(device.load(text)) << device.message;
    uint64_t in = device.upload(problem.memory), out = device.allocate(128 * 32 * 4);
    EXPECT_FALSE(device.launch("k", {1}, {128}, in, out)) << "seed " << seed;
    EXPECT_TRUE(device.found(bug.expected)) << "seed " << seed << device.report();
  }
}

void PrintTo(const Bug &bug, std::ostream *stream) { *stream << bug.name; }

INSTANTIATE_TEST_SUITE_P(Planted, WgmmaBugs, ::testing::ValuesIn(bugs),
                         [](const auto &info) { return std::string(info.param.name); });

/// A descriptor takes fourteen bits of an address. With all of it the rank of a block in its cluster would be in the leading
/// offset, which K-major operands with a swizzle ignore.
TEST(WgmmaForms, DescriptorsHaveNoRoomForTheRank) {
  constexpr int countD = 64;
  for (bool nMajor : {false, true}) {
    Form f = {"f32.f16.f16", 128, 16, E::F32, E::F16, E::F16, 128, 128, false, nMajor};
    Layout a(64, 16, f.swizzleA, f.mMajor, f.k), b(f.n, 16, f.swizzleB, f.nMajor, f.k);
    Problem problem = makeProblem(f, a, b);
    auto run = [&](const Layout &b, bool cuts, uint32_t rank, bool checks) {
      std::string text = wgmmaKernel(f, a, b);
      const std::string cut = "bfe.u32 %word, %at, 4, 14;", thread = "  mul.wide.u32 %offset, %thread, ";
      EXPECT_NE(text.find(cut), std::string::npos);
      if (!cuts)
        text.replace(text.find(cut), cut.size(), "shr.u32 %word, %at, 4;");
      text.insert(text.find(thread), "  mov.u32 %word, %ctaid.x; mad.lo.u32 %thread, %word, 128, %thread;\n");
      TestDevice device(hopper(1, checks));
      EXPECT_TRUE(device.load(text)) << device.message;
      device.cluster = {2, 1, 1};
      uint64_t in = device.upload(problem.memory), out = device.allocate(2 * 128 * countD * 4);
      EXPECT_TRUE(device.launch("k", {2}, {128}, in, out)) << device.report();
      return device.download<uint32_t>(out + rank * 128 * countD * 4, 128 * countD);
    };
    for (bool checks : {true, false}) {
      std::vector<uint32_t> right = run(b, true, 0, checks);
      EXPECT_EQ(run(b, true, 1, checks), right);
      EXPECT_EQ(run(b, false, 0, checks), right);
      Layout withRank = b;
      withRank.leading += 256;
      EXPECT_EQ(run(b, false, 1, checks), run(withRank, true, 1, checks));
      EXPECT_EQ(run(b, false, 1, checks) == right, !nMajor);
    }
  }
}

/// One warp that has waited knows that the others' shares are done too.
TEST(WgmmaForms, AWaitIsForTheWholeWarpgroup) {
  const Form &f = forms[1];
  Layout a(64, 16, f.swizzleA, f.mMajor, f.k), b(f.n, 16, f.swizzleB, f.nMajor, f.k);
  Problem problem = makeProblem(f, a, b);
  const std::string from = "wgmma.wait_group.sync.aligned 0;";
  std::vector<uint32_t> right;
  for (const char *overwrite : {"", "setp.eq.u32 %p, %thread, 64; @%p st.shared.u32 [%base], %thread;"})
    for (bool checks : {true, false})
      for (uint64_t seed = 1; seed <= 8; ++seed) {
        std::string text = wgmmaKernel(f, a, b);
        text.insert(text.find(from) + from.size(), overwrite);
        TestDevice device(hopper(seed, checks));
        ASSERT_TRUE(device.load(text)) << device.message;
        uint64_t in = device.upload(problem.memory), out = device.allocate(128 * 32 * 4);
        EXPECT_TRUE(device.launch("k", {1}, {128}, in, out)) << device.report();
        EXPECT_EQ(device.findings.size(), 0u) << device.report();
        std::vector<uint32_t> got = device.download<uint32_t>(out, 128 * 32);
        if (right.empty())
          right = got;
        EXPECT_EQ(got, right);
      }
}

/// A stage that copies fill again: right behind the wait of one warp, a race in front of it.
TEST(WgmmaForms, ARefillIsOrderedByTheWait) {
  const Form &f = forms[1];
  Layout a(64, 16, f.swizzleA, f.mMajor, f.k), b(f.n, 16, f.swizzleB, f.nMajor, f.k);
  Problem problem = makeProblem(f, a, b);
  const std::string wait = "wgmma.wait_group.sync.aligned 0;";
  const std::string refills[] = {
      "cp.async.ca.shared.global [%base], [%in+16], 16;\n  cp.async.wait_all;\n",
      "mbarrier.init.shared.b64 [bar], 1;\n  fence.mbarrier_init.release.cluster;\n"
      "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%base], [%in+16], 16, [bar];\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %q, [bar], 0; @!%q bra WAIT;\n"};
  for (const std::string &refill : refills)
    for (bool isRight : {true, false})
      for (uint64_t seed = 1; seed <= 6; ++seed) {
        std::string text = wgmmaKernel(f, a, b);
        std::string one = "setp.ne.u32 %p, %thread, 64; @%p bra OTHERS;\n  " + refill + "OTHERS:\n  ";
        text.replace(text.find(wait), wait.size(), isRight ? wait + one : one + wait);
        text.insert(text.find("  .reg .b32 %thread"), "  .shared .align 8 .b8 bar[8];\n");
        TestDevice device(hopper(seed));
        ASSERT_TRUE(device.load(text)) << device.message;
        uint64_t in = device.upload(problem.memory), out = device.allocate(128 * 32 * 4);
        EXPECT_EQ(device.launch("k", {1}, {128}, in, out), isRight) << refill << device.report();
        EXPECT_EQ(device.findings.size() == 0, isRight) << refill << device.report();
        EXPECT_EQ(device.found(FindingKind::Race), !isRight) << refill << device.report();
      }
}

/// Known kernels rely on a fence of the reading side: a warning, as long as no GPU has been asked.
TEST(WgmmaForms, AProxyFenceBehindTheBarrierIsAWarning) {
  const Form &f = forms[1];
  Layout a(64, 16, f.swizzleA, f.mMajor, f.k), b(f.n, 16, f.swizzleB, f.nMajor, f.k);
  Problem problem = makeProblem(f, a, b);
  const std::string from = "fence.proxy.async.shared::cta;\n  bar.sync 0;";
  struct Placement {
    const char *text;
    bool completes;
  };
  const Placement placements[] = {
      {"bar.sync 0; fence.proxy.async.shared::cta;", true},
      // One thread on the way.
      {"bar.sync 0; setp.eq.u32 %p, %thread, 5; @%p fence.proxy.async.shared::cta; bar.sync 0;", true},
      {"bar.sync 0; setp.eq.u32 %p, %thread, 5; @%p fence.proxy.async.shared::cta;", false},
  };
  for (const Placement &placement : placements) {
    std::string text = wgmmaKernel(f, a, b);
    text.replace(text.find(from), from.size(), placement.text);
    TestDevice device(hopper(1));
    ASSERT_TRUE(device.load(text)) << device.message;
    uint64_t in = device.upload(problem.memory), out = device.allocate(128 * 32 * 4);
    EXPECT_EQ(device.launch("k", {1}, {128}, in, out), placement.completes) << placement.text;
    EXPECT_TRUE(device.found(FindingKind::ProxyOrder)) << placement.text;
    EXPECT_NE(device.report().find(placement.completes ? "of another thread only" : "of that thread in between"),
              std::string::npos)
        << device.report();
  }
}

/// What cp.async has written, any thread that knows of it may fence. Known kernels have no fence there: a warning.
TEST(WgmmaForms, CopiesByThreadsNeedAProxyFence) {
  const Form &f = forms[1];
  Layout a(64, 16, f.swizzleA, f.mMajor, f.k), b(f.n, 16, f.swizzleB, f.nMajor, f.k);
  Problem problem = makeProblem(f, a, b);
  std::string text = wgmmaKernel(f, a, b);
  auto replace = [](std::string &text, const std::string &from, const std::string &to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  replace(text, "ld.global.u32 %word, [%from];", "");
  replace(text, "st.shared.u32 [%at], %word;", "cp.async.ca.shared.global [%at], [%from], 4;");
  replace(text, "LOOP:", "  .shared .align 8 .b8 bar[8];\n  setp.eq.u32 %p, %thread, 0;\n"
                         "  @%p mbarrier.init.shared.b64 [bar], 128;\n  bar.sync 0;\nLOOP:");
  const std::string arrival = "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
                              "WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra WAIT;";
  const struct {
    std::string text;
    bool isRight;
  } placements[] = {
      {"cp.async.wait_all; fence.proxy.async.shared::cta; bar.sync 0;", true},
      {"cp.async.wait_all; bar.sync 0; fence.proxy.async.shared::cta;", true},
      {"cp.async.wait_all; bar.sync 0; setp.eq.u32 %p, %thread, 5; @%p fence.proxy.async; bar.sync 0;", true},
      {arrival + "fence.proxy.async.shared::cta;", true},
      {"cp.async.wait_all; bar.sync 0;", false},
      {"fence.proxy.async.shared::cta; cp.async.wait_all; bar.sync 0;", false},
      {"cp.async.wait_all; bar.sync 0; fence.proxy.async.global;", false},
      {"cp.async.wait_all; bar.sync 0; setp.eq.u32 %p, %thread, 5; @%p fence.proxy.async;", false},
      {arrival, false},
      {"fence.proxy.async.shared::cta;" + arrival, false},
  };
  for (const auto &placement : placements)
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      std::string placed = text;
      replace(placed, "fence.proxy.async.shared::cta;\n  bar.sync 0;", placement.text);
      TestDevice device(hopper(seed));
      ASSERT_TRUE(device.load(placed)) << device.message;
      uint64_t in = device.upload(problem.memory), out = device.allocate(128 * 32 * 4);
      EXPECT_TRUE(device.launch("k", {1}, {128}, in, out)) << placement.text << device.report();
      EXPECT_EQ(device.findings.size() == 0, placement.isRight) << placement.text << device.report();
      EXPECT_EQ(device.report().find("memory that cp.async of thread ") == std::string::npos, placement.isRight)
          << placement.text << device.report();
    }
}

/// The wrong swizzle mode, a wrong offset or the wrong major-ness gives wrong numbers.
TEST(WgmmaForms, WrongLayoutsGiveOtherResults) {
  const Form &f = forms[1];
  Layout a(64, 16, 128, false, f.k), b(f.n, 16, 128, false, f.k);
  Problem problem = makeProblem(f, a, b);
  auto run = [&](Layout used, bool nMajor) {
    Form form = f;
    form.nMajor = nMajor;
    TestDevice device(hopper());
    EXPECT_TRUE(device.load(wgmmaKernel(form, a, used))) << device.message;
    uint64_t in = device.upload(problem.memory), out = device.allocate(128 * 32 * 4);
    EXPECT_TRUE(device.launch("k", {1}, {128}, in, out)) << device.report();
    return device.download<uint32_t>(out, 128 * 32);
  };
  std::vector<uint32_t> right = run(b, false);
  Layout otherSwizzle = b, otherStride = b;
  otherSwizzle.swizzle = 64;
  otherStride.stride = 512;
  EXPECT_NE(run(otherSwizzle, false), right);
  EXPECT_NE(run(otherStride, false), right);
  EXPECT_NE(run(b, true), right);
}

TEST(WgmmaForms, Gates) {
  const Form &f = forms[1];
  Layout a(64, 16, 128, false, 16), b(64, 16, 128, false, 16);
  std::string good = wgmmaKernel(f, a, b);
  struct Refusal {
    const char *from, *to, *message;
  };
  const Refusal refusals[] = {
      {"sm_90a", "sm_90", "needs .target sm_90a"},
      {".version 8.4", ".version 7.8", "needs PTX 8.0"},
      {"m64n64k16", "m64n60k16", "this shape with these types"},
      {"m64n64k16", "m64n64k8", "this shape with these types"},
      {"f32.f16.f16", "f32.f16.bf16", "this shape with these types"},
      {"f32.f16.f16", "bf16.bf16.bf16", "this shape with these types"},
      {"m64n64k16", "m64n72k16", "expected a vector of 36 registers"},
      {"%q, 1, 1, 0, 0;", "%q, 1, 1, 0;", "expected 8 operands"},
      {"%q, 1, 1, 0, 0;", "%q, 2, 1, 0, 0;", "must be 1 or -1"},
      {"%q, 1, 1, 0, 0;", "%q, 1, 1, 0, 2;", "must be 0 or 1"},
      {"wgmma.mma_async.sync", "wgmma.mma_async.sp.sync", "this shape with these types"},
  };
  for (const Refusal &refusal : refusals) {
    std::string text = good;
    text.replace(text.find(refusal.from), std::strlen(refusal.from), refusal.to);
    TestDevice device(hopper());
    EXPECT_FALSE(device.load(text)) << refusal.to;
    EXPECT_NE(device.message.find(refusal.message), std::string::npos) << refusal.to << "\n  " << device.message;
  }
}

} // namespace
