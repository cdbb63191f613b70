// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sp and wgmma.mma_async.sp: random sparse matrices of small integers, laid out here by the columns that the ISA gives
// each register, against dense products.

#include "Harness.h"
#include "arithmetic/Half.h"

#include <random>

using namespace tilewright::ptxsim;

namespace {

struct SparseForm {
  const char *shape, *types;
  int k, bits;
  /// 'f', 'b', 't', '8' (e4m3) for floats; 's', 'u' for integers.
  char kind;
  int selectors;
};

const SparseForm forms[] = {
    {"m16n8k16", "f32.f16.f16.f32", 16, 16, 'f', 4},   {"m16n8k32", "f32.f16.f16.f32", 32, 16, 'f', 2},
    {"m16n8k16", "f32.bf16.bf16.f32", 16, 16, 'b', 4}, {"m16n8k32", "f32.bf16.bf16.f32", 32, 16, 'b', 2},
    {"m16n8k8", "f32.tf32.tf32.f32", 8, 32, 't', 4},   {"m16n8k16", "f32.tf32.tf32.f32", 16, 32, 't', 2},
    {"m16n8k32", "s32.s8.s8.s32", 32, 8, 's', 2},      {"m16n8k64", "s32.u8.u8.s32", 64, 8, 'u', 1},
    {"m16n8k64", "f32.e4m3.e4m3.f32", 64, 8, '8', 1},  {"m16n8k64", "s32.s4.s4.s32", 64, 4, 's', 2},
    {"m16n8k128", "s32.u4.u4.s32", 128, 4, 'u', 1},
};

uint64_t bitsOf(const SparseForm &form, int value) {
  switch (form.kind) {
  case 'f':
    return doubleToSmall(value, f16Format);
  case 'b':
    return bitCast<uint32_t>(static_cast<float>(value)) >> 16;
  case 't':
    return bitCast<uint32_t>(static_cast<float>(value));
  case '8':
    return doubleToSmall(value, e4m3Format);
  default:
    return static_cast<uint64_t>(value) & ((1ull << form.bits) - 1);
  }
}

/// A sparse matrix of 16 rows: which places of each group are stored.
struct Sparse {
  const SparseForm &form;
  std::vector<int> dense;
  std::vector<uint8_t> metadata;
  int group() const { return form.bits == 32 ? 2 : form.bits == 4 ? 8 : 4; }
  int &at(int row, int column) { return dense[row * form.k + column]; }

  Sparse(const SparseForm &form, std::mt19937 &random, bool ordered) : form(form), dense(16 * form.k) {
    for (int row = 0; row < 16; ++row)
      for (int first = 0; first < form.k; first += group()) {
        int x = random() % 4, y = (x + 1 + random() % 3) % 4;
        if (ordered && x > y)
          std::swap(x, y);
        uint8_t bits = static_cast<uint8_t>(x | y << 2);
        if (form.bits == 32)
          bits = random() % 2 ? 0b1110 : 0b0100;
        metadata.push_back(bits);
        for (int column : places(bits))
          at(row, first + column) = form.kind == 'u' ? random() % 8 : static_cast<int>(random() % 7) - 3;
      }
  }
  /// Columns within a group of the stored elements, in the order in which they are stored.
  std::vector<int> places(uint8_t bits) const {
    if (form.bits == 32)
      return {bits >> 3};
    int x = bits & 3, y = bits >> 2;
    if (form.bits == 4)
      return {2 * x, 2 * x + 1, 2 * y, 2 * y + 1};
    return {x, y};
  }
  uint8_t bitsAt(int row, int column) const { return metadata[row * (form.k / group()) + column / group()]; }
  /// What a register holds: half of the elements of some consecutive columns of a row.
  uint32_t packed(int row, int firstColumn, int columns) {
    uint32_t word = 0;
    int shift = 0;
    for (int first = firstColumn; first < firstColumn + columns; first += group())
      for (int place : places(bitsAt(row, first))) {
        word |= static_cast<uint32_t>(bitsOf(form, at(row, first + place))) << shift;
        shift += form.bits;
      }
    return word;
  }
  /// The metadata of some consecutive columns of a row.
  uint32_t packedMetadata(int row, int firstColumn, int columns) const {
    uint32_t word = 0;
    for (int i = 0; i < columns / group(); ++i)
      word |= uint32_t(bitsAt(row, firstColumn + i * group())) << 4 * i;
    return word;
  }
  /// The ISA's figures: lanes T0 to T3 of a quad hold rows g and g + 8.
  uint32_t metadataOf(int lane, int selector) const {
    int group = this->group(), row = lane / 4, count = 4 / form.selectors, index = lane % 4 - selector * count;
    if (index < 0 || index >= count)
      return 0x12345678;
    if (form.bits <= 8)
      return packedMetadata(row + index % 2 * 8, index / 2 * 8 * group, 8 * group);
    return packedMetadata(row, index * 4 * group, 4 * group) | packedMetadata(row + 8, index * 4 * group, 4 * group) << 16;
  }
};

MachineOptions hopper() {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  return options;
}

std::string list(const char *name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
  return text + "}";
}

/// Runs a warp: registers of A, then B, then the metadata come from memory; C is 0.
std::vector<uint32_t> multiply(TestDevice &device, const SparseForm &form, const std::string &kind, int selector,
                               const std::vector<uint32_t> &input, int countA, int countB, bool &completed) {
  std::string body;
  int slot = 0;
  auto load = [&](const char *name, int count) {
    for (int i = 0; i < count; ++i, ++slot)
      body += "  ld.global.b32 %" + std::string(name) + std::to_string(i) + ", [%at+" + std::to_string(slot * 128) + "];\n";
  };
  load("a", countA);
  load("b", countB);
  load("e", 1);
  for (int i = 0; i < 4; ++i)
    body += "  mov.b32 %c" + std::to_string(i) + ", 0;\n";
  body += "  mma." + kind + ".sync.aligned." + form.shape + ".row.col." + form.types + " " + list("d", 4) + ", " +
          list("a", countA) + ", " + list("b", countB) + ", " + list("c", 4) + ", %e0, " + std::to_string(selector) + ";\n";
  for (int i = 0; i < 4; ++i)
    body += "  st.global.b32 [%to+" + std::to_string(i * 128) + "], %d" + std::to_string(i) + ";\n";
  EXPECT_TRUE(device.load(
      ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"
      "  .reg .b32 %a<4>, %b<4>, %c<4>, %d<4>, %e<1>, %lane;\n  .reg .b64 %at, %to, %offset;\n"
      "  ld.param.u64 %at, [in];\n  ld.param.u64 %to, [out];\n  mov.u32 %lane, %laneid;\n"
      "  mul.wide.u32 %offset, %lane, 4;\n  add.s64 %at, %at, %offset;\n  add.s64 %to, %to, %offset;\n" +
      body + "  ret;\n}\n"))
      << device.message;
  uint64_t in = device.upload(input), out = device.allocate(4 * 128);
  completed = device.launch("k", {1}, {32}, in, out);
  return device.download<uint32_t>(out, 128);
}

/// B (k x 8), and the registers of a dense B.
std::vector<int> fillB(const SparseForm &form, std::mt19937 &random, std::vector<uint32_t> &input, int countB) {
  std::vector<int> b(form.k * 8);
  for (int &value : b)
    value = form.kind == 'u' ? random() % 8 : static_cast<int>(random() % 7) - 3;
  int each = 32 / form.bits;
  for (int r = 0; r < countB; ++r)
    for (int lane = 0; lane < 32; ++lane) {
      uint32_t word = 0;
      for (int j = 0; j < each; ++j)
        word |= static_cast<uint32_t>(bitsOf(form, b[(r * 4 * each + lane % 4 * each + j) * 8 + lane / 4])) << j * form.bits;
      input.push_back(word);
    }
  return b;
}

TEST(Sparse, EveryFormAndSelector) {
  std::mt19937 random(11);
  for (const SparseForm &form : forms)
    for (int selector = 0; selector < form.selectors; ++selector)
      for (bool ordered : {false, true}) {
        Sparse a(form, random, ordered);
        int columns = 2 * 32 / form.bits, countA = form.k / (4 * columns) * 2, countB = form.k * form.bits / 128;
        std::vector<uint32_t> input;
        for (int r = 0; r < countA; ++r)
          for (int lane = 0; lane < 32; ++lane)
            input.push_back(a.packed(lane / 4 + r % 2 * 8, lane % 4 * columns + r / 2 * 4 * columns, columns));
        std::vector<int> b = fillB(form, random, input, countB);
        for (int lane = 0; lane < 32; ++lane)
          input.push_back(a.metadataOf(lane, selector));
        TestDevice device(hopper());
        bool completed = false;
        std::vector<uint32_t> d = multiply(device, form, ordered ? "sp::ordered_metadata" : "sp", selector, input, countA,
                                           countB, completed);
        ASSERT_TRUE(completed) << form.shape << form.types << device.report();
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 4; ++i) {
            int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2, sum = 0;
            for (int l = 0; l < form.k; ++l)
              sum += a.at(row, l) * b[l * 8 + column];
            uint32_t got = d[i * 32 + lane];
            float asFloat = bitCast<float>(got);
            ASSERT_EQ(form.types[0] == 'f' ? asFloat : static_cast<float>(static_cast<int32_t>(got)),
                      static_cast<float>(sum))
                << form.shape << " " << form.types << " selector " << selector << " lane " << lane << " element " << i;
          }
      }
}

TEST(Sparse, BadMetadataIsFound) {
  const SparseForm &form = forms[0];
  for (auto [kind, bits, isRight] : {std::tuple{"sp", 0x4444u, true}, {"sp", 0x1111u, true}, {"sp", 0x4454u, false},
                                     {"sp::ordered_metadata", 0x4444u, true}, {"sp::ordered_metadata", 0x1111u, false}}) {
    std::vector<uint32_t> input(4 * 32, 0);
    input.insert(input.end(), 32, bits | bits << 16);
    TestDevice device(hopper());
    bool completed = false;
    multiply(device, form, kind, 0, input, 2, 2, completed);
    EXPECT_EQ(completed, isRight) << kind << " " << bits << device.report();
  }
}

TEST(Sparse, SelectorsThatDoNotExist) {
  for (const SparseForm &form : forms) {
    int columns = 2 * 32 / form.bits;
    std::string text = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k() {\n  .reg .b32 %a<4>, %b<4>, "
                       "%c<4>, %d<4>, %e<1>;\n  mma.sp.sync.aligned." +
                       std::string(form.shape) + ".row.col." + form.types + " " + list("d", 4) + ", " +
                       list("a", form.k / (4 * columns) * 2) + ", " + list("b", form.k * form.bits / 128) + ", " +
                       list("c", 4) + ", %e0, " + std::to_string(form.selectors) + ";\n  ret;\n}\n";
    TestDevice device(hopper());
    EXPECT_FALSE(device.load(text)) << form.shape;
    EXPECT_NE(device.message.find("selector"), std::string::npos) << device.message;
  }
}

/// Four warps of sixteen rows each; A in registers or in shared memory, B (8 columns) in shared memory, not swizzled.
void checkWgmma(const SparseForm &form, const char *shape, const char *types, bool inRegisters, int selector, uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed) + 7);
  std::vector<Sparse> a;
  for (int warp = 0; warp < 4; ++warp)
    a.emplace_back(form, random, false);
  std::vector<uint32_t> input, none;
  int columns = 2 * 32 / form.bits;
  for (int r = 0; r < 4; ++r)
    for (int thread = 0; thread < 128; ++thread)
      input.push_back(a[thread / 32].packed(thread % 32 / 4 + r % 2 * 8, thread % 4 * columns + r / 2 * 4 * columns, columns));
  for (int thread = 0; thread < 128; ++thread)
    input.push_back(a[thread / 32].metadataOf(thread % 32, selector));
  std::vector<int> b = fillB(form, random, none, 1);
  // Both matrices as core matrices of 8 rows of 16 bytes: those along k 128 bytes apart, those along m 256.
  int perUnit = 128 / form.bits;
  std::vector<uint8_t> bytes(2048 + form.k * 8 * form.bits / 8);
  auto put = [&](size_t at, int index, uint64_t bits) {
    for (int i = 0; i < form.bits / 8; ++i)
      bytes[at + index * form.bits / 8 + i] = static_cast<uint8_t>(bits >> 8 * i);
  };
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < form.k / 2; ++column) {
      uint32_t word = a[row / 16].packed(row % 16, column / (32 / form.bits) * columns, columns);
      put(row / 8 * 256 + column / perUnit * 128 + row % 8 * 16, column % perUnit,
          word >> column % (32 / form.bits) * form.bits & ((1ull << form.bits) - 1));
    }
  for (int row = 0; row < form.k; ++row)
    for (int column = 0; column < 8; ++column)
      put(2048 + row / perUnit * 128 + column * 16, row % perUnit, bitsOf(form, b[row * 8 + column]));
  std::string body;
  for (int i = 0; i < 4; ++i)
    body += "  ld.global.b32 %a" + std::to_string(i) + ", [%at+" + std::to_string(i * 512) + "]; mov.b32 %d" +
            std::to_string(i) + ", 0;\n";
  auto descriptor = [](int leading, int stride) { return uint64_t(leading / 16) << 16 | uint64_t(stride / 16) << 32; };
  bool isInteger = types[0] == 's';
  std::string rest = isInteger ? "" : form.bits == 16 ? (inRegisters ? ", 1, 1, 0" : ", 1, 1, 0, 0") : ", 1, 1";
  body += "  ld.global.b32 %e0, [%at+2048];\n"
          "COPY: cvt.u64.u32 %y, %x; add.u64 %y, %y, %data; ld.global.b32 %c0, [%y]; add.u32 %c1, %x, tile;\n"
          "  st.shared.b32 [%c1], %c0; add.u32 %x, %x, 512; setp.lt.u32 %p, %x, " + std::to_string(bytes.size()) +
          "; @%p bra COPY;\n  fence.proxy.async.shared::cta; bar.sync 0;\n"
          "  mov.u32 %c0, tile; shr.u32 %c0, %c0, 4; cvt.u64.u32 %y, %c0;\n"
          "  add.u64 %descA, %y, " + std::to_string(descriptor(128, 256)) + ";\n"
          "  add.u64 %descB, %y, " + std::to_string(descriptor(128, 256) + 128) + ";\n"
          "  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sp.sync.aligned." + std::string(shape) + "." + types + " " +
          list("d", 4) + ", " + (inRegisters ? list("a", 4) : "%descA") + ", %descB, %e0, " + std::to_string(selector) +
          ", 1" + rest + ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (int i = 0; i < 4; ++i)
    body += "  st.global.b32 [%to+" + std::to_string(i * 512) + "], %d" + std::to_string(i) + ";\n";
  MachineOptions options = hopper();
  options.seed = seed;
  TestDevice device(options);
  ASSERT_TRUE(device.load(
      ".version 8.7\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 data, .param .u64 out) {\n  .shared .align 1024 .b8 tile[8192];\n"
      "  .reg .b32 %a<4>, %c<4>, %d<4>, %e<1>, %x;\n  .reg .b64 %at, %to, %data, %y, %descA, %descB;\n  .reg .pred %p;\n"
      "  ld.param.u64 %at, [in]; ld.param.u64 %to, [out]; ld.param.u64 %data, [data];\n  mov.u32 %x, %tid.x;\n"
      "  mul.wide.u32 %y, %x, 4;\n  add.s64 %at, %at, %y;\n  add.s64 %to, %to, %y;\n  shl.b32 %x, %x, 2;\n" +
      body + "  ret;\n}\n"))
      << device.message;
  uint64_t in = device.upload(input), data = device.upload(bytes), out = device.allocate(4 * 512);
  ASSERT_TRUE(device.launch("k", {1}, {128}, in, data, out)) << device.report();
  std::vector<uint32_t> d = device.download<uint32_t>(out, 512);
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < 4; ++i) {
      int row = thread % 32 / 4 + i / 2 * 8, column = thread % 4 * 2 + i % 2, sum = 0;
      for (int l = 0; l < form.k; ++l)
        sum += a[thread / 32].at(row, l) * b[l * 8 + column];
      uint32_t got = d[i * 128 + thread];
      ASSERT_EQ(isInteger ? static_cast<float>(static_cast<int32_t>(got)) : bitCast<float>(got), static_cast<float>(sum))
          << shape << " " << types << " thread " << thread << " element " << i;
    }
}

TEST(Sparse, Warpgroups) {
  for (uint64_t seed : {1, 2})
    for (bool inRegisters : {true, false}) {
      for (int selector : {0, 1}) {
        checkWgmma(forms[1], "m64n8k32", "f32.f16.f16", inRegisters, selector, seed);
        checkWgmma(forms[3], "m64n8k32", "f32.bf16.bf16", inRegisters, selector, seed);
        checkWgmma(forms[5], "m64n8k16", "f32.tf32.tf32", inRegisters, selector, seed);
      }
      checkWgmma(forms[7], "m64n8k64", "s32.u8.u8", inRegisters, 0, seed);
      checkWgmma(forms[8], "m64n8k64", "f32.e4m3.e4m3", inRegisters, 0, seed);
    }
}

} // namespace
