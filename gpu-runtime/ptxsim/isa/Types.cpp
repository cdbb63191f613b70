// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Widths, kinds and spellings of PTX types, all read from Types.def.

#include "isa/Types.h"

#include <iterator>

namespace tilewright::ptxsim {
namespace {

constexpr std::string_view typeSpellings[] = {
    "",
#define PTXSIM_TYPE(name, spelling, bits, kind) spelling,
#include "isa/Types.def"
};

} // namespace

std::string_view spelling(ScalarType type) { return typeSpellings[static_cast<unsigned>(type)]; }

ScalarType parseType(std::string_view name) {
  for (size_t index = 1; index < std::size(typeSpellings); ++index)
    if (typeSpellings[index] == name)
      return static_cast<ScalarType>(index);
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
