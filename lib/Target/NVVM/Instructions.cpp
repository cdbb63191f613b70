// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of matrix instructions: PTX ISA, "Matrix multiply-accumulate operation
// using mma instruction", against what ptxas 13.0 takes for each capability.

#include "Instructions.h"

#include "llvm/ADT/STLExtras.h"

using namespace tilewright::nvvm;

// clang-format off
static constexpr MmaForm kForms[] = {
    // name, first capability, PTX version, emulated from, written as PTX
    // f16: sums in f32 or f16.
    {"mma.m16n8k16.f16.f32", 80},
    {"mma.m16n8k8.f16.f32", 75},
    {"mma.m16n8k16.f16.f16", 80},
    {"mma.m16n8k8.f16.f16", 75},
    // bf16.
    {"mma.m16n8k16.bf16.f32", 80},
    {"mma.m16n8k8.bf16.f32", 80},
    // f32 rounded to tf32.
    {"mma.m16n8k8.tf32.f32", 80},
    {"mma.m16n8k4.tf32.f32", 80},
    // f64. The larger ones are Hopper's; NVVM knows the smallest only.
    {"mma.m16n8k16.f64.f64", 90, 0, 0, true},
    {"mma.m16n8k8.f64.f64", 90, 0, 0, true},
    {"mma.m16n8k4.f64.f64", 90, 0, 0, true},
    {"mma.m8n8k4.f64.f64", 80},
    // Bytes.
    {"mma.m16n8k32.s8.s32", 80},
    {"mma.m16n8k16.s8.s32", 80},
    {"mma.m8n8k16.s8.s32", 75},
    {"mma.m16n8k32.u8.s32", 80},
    {"mma.m16n8k16.u8.s32", 80},
    {"mma.m8n8k16.u8.s32", 75},
    {"mma.m16n8k32.s8.u8.s32", 80},
    {"mma.m16n8k16.s8.u8.s32", 80},
    {"mma.m8n8k16.s8.u8.s32", 75},
    {"mma.m16n8k32.u8.s8.s32", 80},
    {"mma.m16n8k16.u8.s8.s32", 80},
    {"mma.m8n8k16.u8.s8.s32", 75},
    // Nibbles, two a byte. Hopper and what came after it have no units for them: of one
    // m16n8k64, ptxas makes two products of bytes and 190 instructions that unpack
    // (ptxas 13.0, sm_90 and sm_100), so that products of bytes are faster there.
    {"mma.m16n8k64.s4.s32", 80, 0, 90},
    {"mma.m16n8k32.s4.s32", 80, 0, 90},
    {"mma.m8n8k32.s4.s32", 75, 0, 90},
    {"mma.m16n8k64.u4.s32", 80, 0, 90},
    {"mma.m16n8k32.u4.s32", 80, 0, 90},
    {"mma.m8n8k32.u4.s32", 75, 0, 90},
    {"mma.m16n8k64.s4.u4.s32", 80, 0, 90},
    {"mma.m16n8k32.s4.u4.s32", 80, 0, 90},
    {"mma.m8n8k32.s4.u4.s32", 75, 0, 90},
    {"mma.m16n8k64.u4.s4.s32", 80, 0, 90},
    {"mma.m16n8k32.u4.s4.s32", 80, 0, 90},
    {"mma.m8n8k32.u4.s4.s32", 75, 0, 90},
    // 8-bit floats. PTX 8.4 has the first of them, 8.7 the shorter ones and sums in
    // f16. Of mma.sync with these, ptxas makes products of f16 for sm_90 (two for
    // each, behind conversions), as fast as those and of half the memory.
    {"mma.m16n8k32.e4m3.f32", 89, 84, 0, true},
    {"mma.m16n8k16.e4m3.f32", 89, 87, 0, true},
    {"mma.m16n8k32.e5m2.f32", 89, 84, 0, true},
    {"mma.m16n8k16.e5m2.f32", 89, 87, 0, true},
    {"mma.m16n8k32.e4m3.e5m2.f32", 89, 84, 0, true},
    {"mma.m16n8k16.e4m3.e5m2.f32", 89, 87, 0, true},
    {"mma.m16n8k32.e5m2.e4m3.f32", 89, 84, 0, true},
    {"mma.m16n8k16.e5m2.e4m3.f32", 89, 87, 0, true},
    {"mma.m16n8k32.e4m3.f16", 89, 87, 0, true},
    {"mma.m16n8k16.e4m3.f16", 89, 87, 0, true},
    {"mma.m16n8k32.e5m2.f16", 89, 87, 0, true},
    {"mma.m16n8k16.e5m2.f16", 89, 87, 0, true},
    {"mma.m16n8k32.e4m3.e5m2.f16", 89, 87, 0, true},
    {"mma.m16n8k16.e4m3.e5m2.f16", 89, 87, 0, true},
    {"mma.m16n8k32.e5m2.e4m3.f16", 89, 87, 0, true},
    {"mma.m16n8k16.e5m2.e4m3.f16", 89, 87, 0, true},
};
// clang-format on

// PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation".
static constexpr WarpgroupForm kWarpgroupForms[] = {
    {"f16.f32", 16}, {"bf16.f32", 16}, {"tf32.f32", 8},     {"s8.s32", 32},
    {"u8.s32", 32},  {"s8.u8.s32", 32}, {"u8.s8.s32", 32},
    // 8-bit floats: sums of about 14 bits, see docs/ir.md.
    {"e4m3.f32", 32}, {"e5m2.f32", 32}, {"e4m3.e5m2.f32", 32}, {"e5m2.e4m3.f32", 32},
    // Sums in f16.
    {"f16.f16", 16}, {"e4m3.f16", 32}, {"e5m2.f16", 32}, {"e4m3.e5m2.f16", 32},
    {"e5m2.e4m3.f16", 32},
};
// Of every multiple of eight, those that tiles are tried with: between powers of two,
// what fills a chip's multiprocessors better.
static constexpr int kWarpgroupColumns[] = {256, 224, 192, 160, 128, 96,
                                            64,  32,  16,  8};

llvm::ArrayRef<WarpgroupForm> tilewright::nvvm::getWarpgroupForms() {
  return kWarpgroupForms;
}

llvm::ArrayRef<int> tilewright::nvvm::getWarpgroupColumns() {
  return kWarpgroupColumns;
}

llvm::ArrayRef<MmaForm> tilewright::nvvm::getMmaForms() {
  return kForms;
}

const MmaForm *tilewright::nvvm::lookupMmaForm(llvm::StringRef name) {
  const MmaForm *found = llvm::find_if(
      kForms, [&](const MmaForm &row) { return row.name == name; });
  return found == std::end(kForms) ? nullptr : found;
}
