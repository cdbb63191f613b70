// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wmma: every shape, type and layout, with strides, against dense products of small integers.

#include "Harness.h"
#include "arithmetic/Half.h"

#include <random>

using namespace tilewright::ptxsim;

namespace {

struct WmmaForm {
  int m, n, k;
  const char *a, *c, *d;
  /// Registers, as the ISA lists them.
  int countA, countB, countC, countD;
  const char *operation = "";
};

const WmmaForm forms[] = {
    {16, 16, 16, "f16", "f32", "f32", 8, 8, 8, 8},   {16, 16, 16, "f16", "f16", "f16", 8, 8, 4, 4},
    {32, 8, 16, "f16", "f32", "f16", 8, 8, 8, 4},    {8, 32, 16, "f16", "f16", "f32", 8, 8, 4, 8},
    {16, 16, 16, "bf16", "f32", "f32", 4, 4, 8, 8},  {32, 8, 16, "bf16", "f32", "f32", 8, 2, 8, 8},
    {8, 32, 16, "bf16", "f32", "f32", 2, 8, 8, 8},   {16, 16, 16, "s8", "s32", "s32", 2, 2, 8, 8},
    {32, 8, 16, "u8", "s32", "s32", 4, 1, 8, 8},     {8, 32, 16, "s8", "s32", "s32", 1, 4, 8, 8},
    {16, 16, 8, "tf32", "f32", "f32", 4, 4, 8, 8},   {8, 8, 4, "f64", "f64", "f64", 1, 1, 2, 2},
    {8, 8, 32, "s4", "s32", "s32", 1, 1, 2, 2},      {8, 8, 32, "u4", "s32", "s32", 1, 1, 2, 2},
    {8, 8, 128, "b1", "s32", "s32", 1, 1, 2, 2, "xor.popc."}, {8, 8, 128, "b1", "s32", "s32", 1, 1, 2, 2, "and.popc."},
};

int bitsOf(const std::string &type) {
  return type == "f64" ? 64 : type == "b1" ? 1 : type[1] == '4' ? 4 : type[1] == '8' ? 8 : type.find("16") != std::string::npos ? 16 : 32;
}

uint64_t encode(const std::string &type, int value) {
  if (type == "f16")
    return doubleToSmall(value, f16Format);
  if (type == "bf16")
    return bitCast<uint32_t>(static_cast<float>(value)) >> 16;
  if (type == "f64")
    return bitCast<uint64_t>(static_cast<double>(value));
  if (type == "f32" || type == "tf32")
    return bitCast<uint32_t>(static_cast<float>(value));
  return static_cast<uint64_t>(value) & (~0ull >> (64 - bitsOf(type)));
}

double decode(const std::string &type, uint64_t bits) {
  if (type == "f16")
    return halfToDouble(bits);
  if (type == "f64")
    return bitCast<double>(bits);
  return type == "f32" ? bitCast<float>(static_cast<uint32_t>(bits)) : static_cast<int32_t>(bits);
}

/// A matrix in memory, its leading dimension a little longer than it must be.
struct Matrix {
  int rows, columns;
  std::string type;
  bool isColumn;
  std::vector<int> values = {};
  std::vector<uint8_t> bytes = {};

  int stride() const { return (isColumn ? rows : columns) + 128 / bitsOf(type); }
  size_t bit(int row, int column) const {
    return size_t(isColumn ? column * stride() + row : row * stride() + column) * bitsOf(type);
  }
  void fill(std::mt19937 &random) {
    bytes.assign(size_t(stride()) * (isColumn ? columns : rows) * bitsOf(type) / 8 + 8, 0);
    for (int i = 0; i < rows * columns; ++i) {
      int value = type == "b1" ? random() % 2 : type[0] == 'u' ? random() % 8 : static_cast<int>(random() % 7) - 3;
      values.push_back(value);
      size_t at = bit(i / columns, i % columns);
      uint64_t word;
      std::memcpy(&word, &bytes[at / 8], 8);
      word |= encode(type, value) << at % 8;
      std::memcpy(&bytes[at / 8], &word, 8);
    }
  }
};

std::string registers(const char *name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
  return text + "}";
}

std::string registerType(const std::string &type) {
  return type == "f64" ? "f64" : type == "f32" ? "f32" : "b32";
}

std::string kernel(const WmmaForm &form, bool columnA, bool columnB, bool columnD, const Matrix (&matrices)[4]) {
  std::string shape = "m" + std::to_string(form.m) + "n" + std::to_string(form.n) + "k" + std::to_string(form.k);
  auto layout = [](bool column) { return std::string(column ? "col." : "row."); };
  auto load = [&](const char *name, bool column, int count, const char *type, int stride) {
    return "  wmma.load." + std::string(name) + ".sync.aligned." + layout(column) + shape + ".global." + type + " " +
           registers(name, count) + ", [%p" + name + "], " + std::to_string(stride) + ";\n";
  };
  std::string types = std::string(form.d) + "." + form.c;
  if (std::string(form.a) != "f16")
    types = std::string(form.d) + "." + form.a + "." + form.a + "." + form.c;
  if (std::string(form.a) == "f64")
    types = "rn." + types;
  std::string text = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, "
                     ".param .u64 c, .param .u64 d) {\n  .reg .b64 %pa, %pb, %pc, %pd;\n";
  const char *names[] = {"a", "b", "c", "d"}, *ofTypes[] = {form.a, form.a, form.c, form.d};
  for (int i = 0; i < 4; ++i)
    text += "  .reg ." + registerType(ofTypes[i]) + " %" + names[i] + "<8>;\n  ld.param.u64 %p" + names[i] + ", [" +
            names[i] + "];\n";
  return text + load("a", columnA, form.countA, form.a, matrices[0].stride()) +
         load("b", columnB, form.countB, form.a, matrices[1].stride()) +
         load("c", columnD, form.countC, form.c, matrices[2].stride()) + "  wmma.mma." + form.operation +
         "sync.aligned." + layout(columnA) + layout(columnB) + shape + "." + types + " " + registers("d", form.countD) +
         ", " + registers("a", form.countA) + ", " + registers("b", form.countB) + ", " + registers("c", form.countC) +
         ";\n  wmma.store.d.sync.aligned." + layout(columnD) + shape + ".global." + form.d + " [%pd], " +
         registers("d", form.countD) + ", " + std::to_string(matrices[3].stride()) + ";\n  ret;\n}\n";
}

MachineOptions hopper(bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.checks = checks;
  return options;
}

TEST(Wmma, EveryFormAndLayout) {
  std::mt19937 random(4);
  for (const WmmaForm &form : forms)
    for (int layouts = 0; layouts < 8; ++layouts) {
      bool columnA = layouts & 1, columnB = layouts & 2, columnD = layouts & 4;
      if (bitsOf(form.a) < 8 && (columnA || !columnB))
        continue;
      Matrix matrices[] = {{form.m, form.k, form.a, columnA}, {form.k, form.n, form.a, columnB},
                           {form.m, form.n, form.c, columnD}, {form.m, form.n, form.d, columnD}};
      TestDevice device(hopper(layouts != 3));
      uint64_t at[4];
      for (int i = 0; i < 4; ++i) {
        matrices[i].fill(random);
        at[i] = device.upload(matrices[i].bytes);
      }
      std::string text = kernel(form, columnA, columnB, columnD, matrices);
      ASSERT_TRUE(device.load(text)) << device.message << text;
      ASSERT_TRUE(device.launch("k", {1}, {32}, at[0], at[1], at[2], at[3])) << device.report();
      EXPECT_EQ(device.findings.size(), 0u) << device.report();
      std::vector<uint8_t> got = device.download<uint8_t>(at[3], matrices[3].bytes.size());
      for (int row = 0; row < form.m; ++row)
        for (int column = 0; column < form.n; ++column) {
          int sum = matrices[2].values[row * form.n + column];
          for (int l = 0; l < form.k; ++l) {
            int x = matrices[0].values[row * form.k + l], y = matrices[1].values[l * form.n + column];
            sum += form.operation[0] == 0 ? x * y : form.operation[0] == 'a' ? x & y : x ^ y;
          }
          uint64_t bits = 0;
          std::memcpy(&bits, &got[matrices[3].bit(row, column) / 8], bitsOf(form.d) / 8);
          ASSERT_EQ(decode(form.d, bits), sum) << form.m << "x" << form.n << " " << form.a << " layouts " << layouts
                                               << " row " << row << " column " << column;
        }
    }
}

TEST(Wmma, Refusals) {
  struct {
    const char *text, *why;
  } cases[] = {
      {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3}, [%p];", "expected 8 registers"},
      {"wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r0, %r1, %r2, %r3}, [%p];", "shape"},
      {"wmma.load.a.sync.aligned.col.m8n8k32.global.s4 %r0, [%p];", "narrow"},
      {"wmma.load.d.sync.aligned.row.m16n16k16.global.f32 {%r0}, [%p];", "needs .a, .b or .c"},
      {"wmma.load.a.sync.aligned.m16n16k16.global.f16 {%r0}, [%p];", "needs .row or .col"},
      {"wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0, %r1}, %r2, %r3, {%r4, %r5};", "popc"},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f16 {%r0}, {%r0}, {%r0}, {%r0};", "shape"},
  };
  for (const auto &one : cases) {
    TestDevice device(hopper());
    EXPECT_FALSE(device.load(std::string(".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
                                         "  .reg .b32 %r<8>; .reg .b64 %p;\n  ") + one.text + "\n  ret;\n}\n"))
        << one.text;
    EXPECT_NE(device.message.find(one.why), std::string::npos) << one.text << "\n" << device.message;
  }
}

} // namespace
