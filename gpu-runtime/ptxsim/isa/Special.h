// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The special registers that the machine keeps as rows of a warp.

#ifndef TILEWRIGHT_PTXSIM_ISA_SPECIAL_H
#define TILEWRIGHT_PTXSIM_ISA_SPECIAL_H

#include <cstdint>
#include <string_view>

namespace tilewright::ptxsim {

enum class Special : uint32_t {
#define PTXSIM_SPECIAL(name, spelling) name,
#include "isa/Special.def"
  Count
};

/// Count where the name is unknown.
inline Special parseSpecial(std::string_view name) {
#define PTXSIM_SPECIAL(enumerator, spelling)                                                                           \
  if (name == spelling)                                                                                                \
    return Special::enumerator;
#include "isa/Special.def"
  return Special::Count;
}

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ISA_SPECIAL_H
