// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of compute capabilities.

#include "Chips.h"

using namespace tilewright::nvvm;

// PTX 6.3 knows sm_75, 6.5 all of its matrix instructions.
static constexpr Chip kChips[] = {
    {75, 65, 0, 0, 64},    {80, 70, 0, 0, 163},    {86, 71, 0, 0, 99},
    {87, 74, 0, 0, 163},   {88, 90, 0, 0, 99},     {89, 78, 0, 0, 99},
    {90, 78, 80, 0, 227},  {100, 86, 86, 88, 227}, {101, 86, 86, 88, 227},
    {103, 88, 88, 88, 227}, {110, 90, 90, 90, 227}, {120, 87, 87, 88, 99},
    {121, 88, 88, 88, 99},
};

llvm::ArrayRef<Chip> tilewright::nvvm::getChips() { return kChips; }

std::string ChipName::str() const {
  std::string text = "sm_" + std::to_string(chip.sm);
  if (suffix)
    text += suffix;
  return text;
}

std::optional<ChipName> tilewright::nvvm::lookupChip(llvm::StringRef text) {
  if (!text.consume_front("sm_"))
    return std::nullopt;
  ChipName name;
  if (text.consume_back("a"))
    name.suffix = 'a';
  else if (text.consume_back("f"))
    name.suffix = 'f';
  for (const Chip &chip : kChips) {
    if (text != std::to_string(chip.sm))
      continue;
    name.chip = chip;
    if (name.getPTX())
      return name;
  }
  return std::nullopt;
}
