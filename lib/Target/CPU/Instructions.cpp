// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intel SDM vol. 2: VDPBF16PS, VPDPBUSD; vol. 1, chapter 18 (AMX): TDPBF16PS, TDPBSSD
// and its siblings. Bytes are summed without saturation, so that sums are exact modulo
// 2^32. Of bf16, subnormal operands count as zero and subnormal sums become zero, whatever
// MXCSR says; each addition is rounded to nearest.

#include "Instructions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

namespace {
struct Form {
  StringRef name;
  /// Features that are all needed, by LLVM's names.
  StringRef features[2];
};
} // namespace

static constexpr Form kForms[] = {
    {"amx.m16n16k32.bf16.f32", {"amx-tile", "amx-bf16"}},
    {"amx.m16n16k64.s8.s32", {"amx-tile", "amx-int8"}},
    {"amx.m16n16k64.u8.s32", {"amx-tile", "amx-int8"}},
    {"amx.m16n16k64.s8.u8.s32", {"amx-tile", "amx-int8"}},
    {"amx.m16n16k64.u8.s8.s32", {"amx-tile", "amx-int8"}},
    {"dot.m1n16k2.bf16.f32", {"avx512bf16", ""}},
    {"dot.m1n16k4.s8.s32", {"avx512vnni", ""}},
    {"dot.m1n16k4.u8.s32", {"avx512vnni", ""}},
    {"dot.m1n16k4.s8.u8.s32", {"avx512vnni", ""}},
    {"dot.m1n16k4.u8.s8.s32", {"avx512vnni", ""}},
    {"dot.m1n8k4.s8.s32", {"avxvnni", ""}},
    {"dot.m1n8k4.u8.s32", {"avxvnni", ""}},
    {"dot.m1n8k4.s8.u8.s32", {"avxvnni", ""}},
    {"dot.m1n8k4.u8.s8.s32", {"avxvnni", ""}},
};

SmallVector<StringRef> cpu::getPanelInstructions(const Chip &chip) {
  SmallVector<StringRef> names;
  auto has = [&](StringRef feature) {
    return feature.empty() || llvm::is_contained(chip.features, feature);
  };
  // Those of AVX-VNNI are shorter ones of the same.
  bool isWide = chip.hasAvx512() && has("avx512vnni");
  // On processors with tile registers VDPBF16PS does half of what VFMADD231PS does
  // (Sapphire Rapids class, measured).
  bool hasTiles = has("amx-tile") && has("amx-bf16");
  for (const Form &form : kForms)
    if (llvm::all_of(form.features, has) &&
        !(isWide && form.features[0] == "avxvnni") &&
        !(hasTiles && form.features[0] == "avx512bf16"))
      names.push_back(form.name);
  return names;
}

std::pair<PanelOperand, PanelOperand> cpu::getPanels(MmaOp op) {
  auto maps = llvm::to_vector(op.getMaps().getAsValueRange<AffineMapAttr>());
  PanelOperand panels[2];
  unsigned columns = maps[1].isFunctionOfDim(
                         cast<AffineDimExpr>(maps[2].getResults().back()).getPosition())
                         ? 1
                         : 0;
  for (unsigned number : {0, 1}) {
    PanelOperand &panel = panels[number == columns];
    panel.memory = op->getOperand(number);
    ArrayRef<int64_t> shape = panel.getType().getShape();
    bool isWords = shape.size() == 3;
    panel.outer = shape[isWords ? 1 : 0];
    panel.sum = isWords ? shape[0] * shape[2] : shape[1];
    if (auto signedness = op.getSignednessAttr())
      panel.isUnsigned =
          cast<StringAttr>(signedness[number]).getValue() == "unsigned";
  }
  return {panels[0], panels[1]};
}
