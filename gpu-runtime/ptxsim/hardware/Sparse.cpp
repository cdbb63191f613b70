// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sp in every shape: which lane holds which metadata. The figures of the ISA say it; matrix/Sparse.h has what we read
// there. Each element of A is its row and column in small numbers, so that a swapped lane shows in the product.

#include "hardware/Client.h"

#include <cstring>
#include <vector>

namespace tilewright::ptxsim::confirm {
namespace {

struct Form {
  const char *shape, *types;
  int k, bits, selectors;
};

const Form forms[] = {
    {"m16n8k16", "f32.f16.f16.f32", 16, 16, 4},  {"m16n8k32", "f32.f16.f16.f32", 32, 16, 2},
    {"m16n8k8", "f32.tf32.tf32.f32", 8, 32, 4},  {"m16n8k16", "f32.tf32.tf32.f32", 16, 32, 2},
    {"m16n8k32", "s32.s8.s8.s32", 32, 8, 2},     {"m16n8k64", "s32.s8.s8.s32", 64, 8, 1},
    {"m16n8k64", "s32.u4.u4.s32", 64, 4, 2},     {"m16n8k128", "s32.u4.u4.s32", 128, 4, 1},
};

/// 0 to 7 in the form's type.
uint32_t encode(const Form &form, int value) {
  static constexpr uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700};
  float single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, 4);
  return form.bits == 32 ? bits : form.bits == 16 ? halves[value] : static_cast<uint32_t>(value);
}

int groupOf(const Form &form) { return form.bits == 32 ? 2 : form.bits == 4 ? 8 : 4; }

/// Which two of the four places of a group are stored.
uint32_t metadataOf(const Form &form, int row, int group) {
  static constexpr uint8_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  int choice = (5 * row + 3 * group) % 6;
  return form.bits == 32 ? (choice % 2 ? 0xe : 0x4) : pairs[choice];
}

std::vector<int> places(const Form &form, uint32_t bits) {
  int x = bits & 3, y = bits >> 2;
  if (form.bits == 32)
    return {int(bits >> 3)};
  if (form.bits == 4)
    return {2 * x, 2 * x + 1, 2 * y, 2 * y + 1};
  return {x, y};
}

int valueOfA(int row, int column) { return (3 * row + 5 * column + row * column) % 7 + 1; }
int valueOfB(int row, int column) { return (2 * row + 3 * column) % 5; }

uint32_t laneMetadata(const Form &form, int lane, int selector) {
  int count = 4 / form.selectors, index = lane % 4 - selector * count, row = lane / 4;
  uint32_t word = 0;
  if (index < 0 || index >= count)
    return 0x44444444;
  for (int i = 0; i < 8; ++i)
    word |= (form.bits <= 8 ? metadataOf(form, row + index % 2 * 8, index / 2 * 8 + i)
                            : metadataOf(form, row + i / 4 * 8, index * 4 + i % 4))
            << 4 * i;
  return word;
}

std::string list(const char *name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
  return text + "}";
}

std::string kernel(const Form &form, int countA, int countB, int selector) {
  std::string body;
  int slot = 0;
  for (auto [name, count] : {std::pair{"a", countA}, {"b", countB}, {"e", 1}})
    for (int i = 0; i < count; ++i, ++slot)
      body += "  ld.global.b32 %" + std::string(name) + std::to_string(i) + ", [%at+" + std::to_string(slot * 128) + "];\n";
  for (int i = 0; i < 4; ++i)
    body += "  mov.b32 %c" + std::to_string(i) + ", 0;\n";
  body += std::string("  mma.sp::ordered_metadata.sync.aligned.") + form.shape + ".row.col." + form.types + " " +
          list("d", 4) + ", " + list("a", countA) + ", " + list("b", countB) + ", " + list("c", 4) + ", %e0, " +
          std::to_string(selector) + ";\n";
  for (int i = 0; i < 4; ++i)
    body += "  st.global.b32 [%to+" + std::to_string(i * 128) + "], %d" + std::to_string(i) + ";\n";
  std::string sums = form.types[0] == 'f' ? ".f32" : ".b32";
  return ".version 8.5\n.target sm_80\n.address_size 64\n.visible .entry sparse(.param .u64 in, .param .u64 out) {\n"
         "  .reg .b32 %a<4>, %b<4>, %e<1>, %lane;\n  .reg " + sums + " %c<4>, %d<4>;\n  .reg .b64 %at, %to, %offset;\n"
         "  ld.param.u64 %at, [in];\n  ld.param.u64 %to, [out];\n  mov.u32 %lane, %laneid;\n"
         "  mul.wide.u32 %offset, %lane, 4;\n  add.s64 %at, %at, %offset;\n  add.s64 %to, %to, %offset;\n" +
         body + "  ret;\n}\n";
}

int wrongElements(Client &c, const Form &form, int selector) {
  int columns = 2 * 32 / form.bits, group = groupOf(form), each = 32 / form.bits;
  int countA = form.k / (4 * columns) * 2, countB = form.k * form.bits / 128;
  std::vector<uint32_t> input;
  for (int r = 0; r < countA; ++r)
    for (int lane = 0; lane < 32; ++lane) {
      int row = lane / 4 + r % 2 * 8, first = lane % 4 * columns + r / 2 * 4 * columns, shift = 0;
      uint32_t word = 0;
      for (int at = first; at < first + columns; at += group)
        for (int place : places(form, metadataOf(form, row, at / group))) {
          word |= encode(form, valueOfA(row, at + place)) << shift;
          shift += form.bits;
        }
      input.push_back(word);
    }
  for (int r = 0; r < countB; ++r)
    for (int lane = 0; lane < 32; ++lane) {
      uint32_t word = 0;
      for (int j = 0; j < each; ++j)
        word |= encode(form, valueOfB((r * 4 + lane % 4) * each + j, lane / 4)) << j * form.bits;
      input.push_back(word);
    }
  for (int lane = 0; lane < 32; ++lane)
    input.push_back(laneMetadata(form, lane, selector));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  c.must(c.cuModuleLoadData(&module, kernel(form, countA, countB, selector).c_str()), form.shape);
  c.must(c.cuModuleGetFunction(&function, module, "sparse"), "sparse");
  CUdeviceptr in = 0, out = 0;
  c.must(c.cuMemAlloc_v2(&in, input.size() * 4), "cuMemAlloc");
  c.must(c.cuMemAlloc_v2(&out, 512), "cuMemAlloc");
  c.must(c.cuMemcpyHtoD_v2(in, input.data(), input.size() * 4), "cuMemcpyHtoD");
  void *params[] = {&in, &out};
  c.must(c.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), "cuLaunchKernel");
  std::vector<uint32_t> got(128);
  c.must(c.cuMemcpyDtoH_v2(got.data(), out, 512), "cuMemcpyDtoH");
  int wrong = 0;
  for (int i = 0; i < 128; ++i) {
    int lane = i % 32, row = lane / 4 + i / 64 * 8, column = lane % 4 * 2 + i / 32 % 2, sum = 0;
    for (int at = 0; at < form.k; at += group)
      for (int place : places(form, metadataOf(form, row, at / group)))
        sum += valueOfA(row, at + place) * valueOfB(at + place, column);
    float single;
    std::memcpy(&single, &got[i], 4);
    wrong += form.types[0] == 'f' ? single != static_cast<float>(sum) : static_cast<int>(got[i]) != sum;
  }
  c.cuMemFree_v2(in);
  c.cuMemFree_v2(out);
  c.cuModuleUnload(module);
  return wrong;
}

} // namespace

void askSparse(Client &client) {
  int major = 0;
  client.must(client.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, client.device), "major");
  if (major < 8)
    return;
  for (const Form &form : forms)
    for (int selector = 0; selector < form.selectors; ++selector) {
      int wrong = wrongElements(client, form, selector);
      client.record(std::string("wrong elements of mma.sp ") + form.shape + "." + form.types + ", selector " +
                        std::to_string(selector),
                    "0", std::to_string(wrong), wrong == 0);
    }
}

} // namespace tilewright::ptxsim::confirm
