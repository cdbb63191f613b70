// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Widths, kinds and spellings of PTX types, all read from Types.def.

#include "isa/Types.h"

namespace tilewright::ptxsim {
namespace {

struct TypeInfo {
  std::string_view spelling;
  unsigned bits;
  TypeKind kind;
};

constexpr TypeInfo typeInfos[] = {
    {"", 0, TypeKind::None},
#define PTXSIM_TYPE(name, spelling, bits, kind) {spelling, bits, TypeKind::kind},
#include "isa/Types.def"
};

const TypeInfo &info(ScalarType type) { return typeInfos[static_cast<unsigned>(type)]; }

} // namespace

unsigned bitWidth(ScalarType type) { return info(type).bits; }
TypeKind kindOf(ScalarType type) { return info(type).kind; }
std::string_view spelling(ScalarType type) { return info(type).spelling; }

ScalarType parseType(std::string_view name) {
  unsigned index = 0;
  for (const TypeInfo &candidate : typeInfos) {
    if (index != 0 && candidate.spelling == name)
      return static_cast<ScalarType>(index);
    ++index;
  }
  return ScalarType::None;
}

std::string_view spelling(Space space) {
  switch (space) {
  case Space::Generic:
    return "generic";
  case Space::Global:
    return "global";
  case Space::Const:
    return "const";
  case Space::Shared:
    return "shared";
  case Space::SharedCluster:
    return "shared::cluster";
  case Space::Local:
    return "local";
  case Space::Param:
    return "param";
  case Space::Reg:
    return "reg";
  }
  return "?";
}

} // namespace tilewright::ptxsim
