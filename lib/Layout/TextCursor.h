// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lexical part of the layouts' text forms.

#ifndef TILEWRIGHT_LIB_LAYOUT_TEXTCURSOR_H
#define TILEWRIGHT_LIB_LAYOUT_TEXTCURSOR_H

#include "Checked.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilewright::layout {

inline std::string printInts(const std::vector<int64_t> &ints) {
  std::string text = "[";
  for (size_t i = 0; i < ints.size(); ++i)
    text += (i ? ", " : "") + std::to_string(ints[i]);
  return text + "]";
}

/// A cursor over the text that remembers the first error.
class TextCursor {
public:
  explicit TextCursor(std::string_view source) : text(source) {}

  std::string error;

  bool fail(const std::string &what) {
    if (error.empty())
      error = what + " at column " + std::to_string(pos + 1);
    return false;
  }
  void skipSpace() {
    while (pos < text.size() && (text[pos] == ' ' || text[pos] == '\t' ||
                                 text[pos] == '\n' || text[pos] == '\r'))
      ++pos;
  }
  bool atEnd() {
    skipSpace();
    return pos == text.size();
  }
  bool accept(char c) {
    skipSpace();
    if (pos == text.size() || text[pos] != c)
      return false;
    ++pos;
    return true;
  }
  bool expect(char c) {
    return accept(c) || fail(std::string("expected '") + c + "'");
  }
  bool integer(int64_t &value) {
    skipSpace();
    size_t start = pos;
    value = 0;
    for (; pos < text.size() && text[pos] >= '0' && text[pos] <= '9'; ++pos) {
      std::optional<int64_t> next = checkedMul(value, 10);
      if (next)
        next = checkedAdd(*next, text[pos] - '0');
      if (!next)
        return fail("the integer is too large");
      value = *next;
    }
    return pos != start || fail("expected an integer");
  }
  bool name(std::string &value) {
    skipSpace();
    size_t start = pos;
    auto isNameChar = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    while (pos < text.size() && isNameChar(text[pos]))
      ++pos;
    value = std::string(text.substr(start, pos - start));
    return !value.empty() || fail("expected a name");
  }
  bool integers(std::vector<int64_t> &list) {
    if (!expect('['))
      return false;
    if (accept(']'))
      return true;
    do {
      if (!integer(list.emplace_back()))
        return false;
    } while (accept(','));
    return expect(']');
  }

private:
  std::string_view text;
  size_t pos = 0;
};

} // namespace tilewright::layout

#endif // TILEWRIGHT_LIB_LAYOUT_TEXTCURSOR_H
