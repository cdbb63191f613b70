// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A number as printf's %g writes it in the C locale, whatever the process has set.
// In a header, since drivers, which the core links, need it too.
#ifndef TILEWRIGHT_CORE_NUMBER_TEXT_H
#define TILEWRIGHT_CORE_NUMBER_TEXT_H

#include <locale>
#include <sstream>
#include <string>

namespace tilewright::runtime {

inline std::string numberText(double number) {
  // The constructor without arguments is of GCC 9, and the library's users may be older.
  std::ostringstream text(std::ios::out);
  text.imbue(std::locale::classic());
  text << number;
  return text.str();
}

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_NUMBER_TEXT_H
