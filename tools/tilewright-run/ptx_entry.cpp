// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads `.entry name(.param .align 8 .b8 p[24], …)`.

#include "ptx_entry.h"

#include "host_tensor.h"

#include <algorithm>
#include <cctype>

namespace tilewright::run {

namespace {

constexpr const char *space = " \t\r\n";

/// The text with blanks in place of comments.
std::string withoutComments(std::string text) {
  auto blank = [&](size_t begin, size_t end) {
    end = std::min(end, text.size());
    std::fill(text.begin() + static_cast<ptrdiff_t>(begin),
              text.begin() + static_cast<ptrdiff_t>(end), ' ');
    return end;
  };
  for (size_t at = 0; (at = text.find('/', at)) != std::string::npos; ++at) {
    if (text.compare(at, 2, "//") == 0)
      at = blank(at, text.find('\n', at));
    else if (text.compare(at, 2, "/*") == 0)
      at = blank(at, std::min(text.find("*/", at + 2), text.size()) + 2);
  }
  return text;
}

std::vector<std::string> words(const std::string &text) {
  std::vector<std::string> result;
  size_t begin = text.find_first_not_of(space);
  while (begin != std::string::npos) {
    size_t end = text.find_first_of(space, begin);
    result.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(space, end);
  }
  return result;
}

/// Bits of "u64", "f16x2"; 0 when it is no type.
uint64_t typeBits(const std::string &type) {
  if (type.size() < 2 || !std::isalpha(static_cast<unsigned char>(type[0])))
    return 0;
  size_t digits = type.find_first_of("0123456789");
  if (digits == std::string::npos ||
      type.find_first_not_of("0123456789", digits) != std::string::npos ||
      type.size() - digits > 3)
    return 0;
  return std::stoull(type.substr(digits));
}

PtxParam parseParam(const std::string &kernel, const std::string &text) {
  PtxParam param;
  size_t bracket = text.find('[');
  std::vector<std::string> parts = words(text.substr(0, bracket));
  if (parts.size() < 3 || parts[0] != ".param")
    throw RunError("kernel " + kernel + ": cannot read the parameter '" + text +
                   "'");
  param.name = parts.back();
  uint64_t bits = 0;
  for (size_t i = 1; i + 1 < parts.size() && bits == 0; ++i)
    if (parts[i][0] == '.') {
      param.type = parts[i].substr(1);
      bits = typeBits(param.type);
    }
  param.bytes = bits / 8;
  if (bracket != std::string::npos) {
    std::string count = text.substr(bracket + 1);
    count = words(count.substr(0, count.find(']'))).empty()
                ? ""
                : words(count.substr(0, count.find(']')))[0];
    bool isNumber = !count.empty() && count.size() < 7 &&
                    count.find_first_not_of("0123456789") == std::string::npos;
    param.bytes *= isNumber ? std::stoull(count) : 0;
    param.isStruct = true;
  }
  if (param.bytes == 0)
    throw RunError("kernel " + kernel + ": cannot read the parameter '" + text +
                   "'");
  return param;
}

} // namespace

std::vector<PtxEntry> ptxEntries(const std::string &source) {
  std::string ptx = withoutComments(source);
  std::vector<PtxEntry> entries;
  for (size_t at = 0; (at = ptx.find(".entry", at)) != std::string::npos;) {
    at += 6;
    size_t begin = ptx.find_first_not_of(space, at);
    if (begin == at || begin == std::string::npos)
      continue;
    PtxEntry entry;
    size_t end = ptx.find_first_of(" \t\r\n({;", begin);
    entry.name = ptx.substr(begin, end - begin);
    size_t open = end == std::string::npos ? end : ptx.find_first_not_of(space, end);
    if (open != std::string::npos && ptx[open] == '(') {
      std::string list =
          ptx.substr(open + 1, ptx.find(')', open) - open - 1);
      for (size_t from = 0; !words(list).empty() && from != std::string::npos;) {
        size_t comma = list.find(',', from);
        entry.params.push_back(
            parseParam(entry.name, list.substr(from, comma - from)));
        from = comma == std::string::npos ? comma : comma + 1;
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

} // namespace tilewright::run
