// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of opcodes, and the opcodes that only choose between an integer and a floating-point form.

#include "arithmetic/Families.h"

#include <algorithm>

namespace tilewright::ptxsim {

const std::vector<OpcodeInfo> &allOpcodes() {
  static const std::vector<OpcodeInfo> table = {
#define PTXSIM_OPCODE(root, decode, ptx, sm, modifiers) {root, decode, ptx, sm, modifiers},
#include "isa/Opcodes.def"
  };
  return table;
}

const OpcodeInfo *findOpcode(std::string_view root) {
  const std::vector<OpcodeInfo> &table = allOpcodes();
  auto found = std::lower_bound(table.begin(), table.end(), root,
                                [](const OpcodeInfo &info, std::string_view name) { return info.root < name; });
  return found != table.end() && found->root == root ? &*found : nullptr;
}

namespace {

struct FormInfo {
  std::string_view root, modifiers;
  unsigned ptxVersion, computeCapability;
};

constexpr FormInfo forms[] = {
#define PTXSIM_FORM(root, modifiers, ptx, sm) {root, modifiers, ptx, sm},
#include "isa/Forms.def"
};

/// Whether the blank-separated `wanted` occur among the modifiers in their order.
bool occurIn(std::string_view wanted, const std::vector<std::string_view> &modifiers) {
  auto at = modifiers.begin();
  while (!wanted.empty()) {
    size_t length = std::min(wanted.find(' '), wanted.size());
    at = std::find(at, modifiers.end(), wanted.substr(0, length));
    if (at == modifiers.end())
      return false;
    ++at;
    wanted.remove_prefix(std::min(length + 1, wanted.size()));
  }
  return true;
}

} // namespace

bool checkForm(InstDecoder &d) {
  for (const FormInfo &form : forms)
    if ((form.root == d.syntax.root || form.root == "*") && occurIn(form.modifiers, d.syntax.modifiers) &&
        !d.needs(form.ptxVersion, form.computeCapability))
      return false;
  return true;
}

namespace {

bool takesFloat(InstDecoder &d) {
  d.inst.type = d.takeType();
  return isFloatLike(d.inst.type);
}

} // namespace

bool decodeAdd(InstDecoder &d) { return takesFloat(d) ? decodeFloatAddSub(d, false) : decodeIntegerAddSub(d, false); }
bool decodeSub(InstDecoder &d) { return takesFloat(d) ? decodeFloatAddSub(d, true) : decodeIntegerAddSub(d, true); }
bool decodeMul(InstDecoder &d) { return takesFloat(d) ? decodeFloatMul(d) : decodeIntegerMul(d); }
bool decodeDiv(InstDecoder &d) { return takesFloat(d) ? decodeFloatDiv(d) : decodeIntegerDiv(d); }
bool decodeAbs(InstDecoder &d) { return takesFloat(d) ? decodeFloatAbs(d) : decodeIntegerAbs(d); }
bool decodeNeg(InstDecoder &d) { return takesFloat(d) ? decodeFloatNeg(d) : decodeIntegerNeg(d); }
bool decodeMin(InstDecoder &d) { return takesFloat(d) ? decodeFloatMinMax(d, false) : decodeIntegerMinMax(d, false); }
bool decodeMax(InstDecoder &d) { return takesFloat(d) ? decodeFloatMinMax(d, true) : decodeIntegerMinMax(d, true); }

bool decodeMad(InstDecoder &d) {
  for (std::string_view modifier : d.syntax.modifiers)
    if (isFloatLike(parseType(modifier)))
      return decodeFma(d);
  d.inst.type = d.takeType();
  return decodeIntegerMad(d);
}

} // namespace tilewright::ptxsim
