// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compact text form of a shared layout.
//
//   layout ::= shape=[int, ...] strides=[int, ...] bits=int
//              [swizzle=int:int:int[:int]]

#include "tilewright/Layout/SharedLayout.h"

#include "TextCursor.h"

#include <algorithm>

using namespace tilewright::layout;

std::string SharedLayout::print() const {
  std::string text = "shape=" + printInts(extents) +
                     " strides=" + printInts(steps) +
                     " bits=" + std::to_string(elemBits);
  if (!swiz.isNone())
    text += " swizzle=" + std::to_string(swiz.bits) + ":" +
            std::to_string(swiz.base) + ":" + std::to_string(swiz.shift);
  if (!swiz.isNone() && swiz.fold)
    text += ":" + std::to_string(swiz.fold);
  return text;
}

static bool parseSmall(TextCursor &p, int &value) {
  int64_t wide;
  if (!p.integer(wide))
    return false;
  if (wide > 1024)
    return p.fail("the integer is too large");
  value = static_cast<int>(wide);
  return true;
}

Result<SharedLayout> SharedLayout::parse(std::string_view text) {
  TextCursor p(text);
  Shape shape, strides;
  int bits = 0;
  Swizzle swizzle;
  std::vector<std::string> seen;
  auto field = [&]() {
    std::string key;
    if (!p.name(key))
      return false;
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      return p.fail("'" + key + "' is given twice");
    seen.push_back(key);
    if (!p.expect('='))
      return false;
    if (key == "shape")
      return p.integers(shape);
    if (key == "strides")
      return p.integers(strides);
    if (key == "bits")
      return parseSmall(p, bits);
    if (key == "swizzle")
      return parseSmall(p, swizzle.bits) && p.expect(':') &&
             parseSmall(p, swizzle.base) && p.expect(':') &&
             parseSmall(p, swizzle.shift) &&
             (!p.accept(':') || parseSmall(p, swizzle.fold));
    return p.fail("unknown key '" + key + "'");
  };
  while (!p.atEnd())
    if (!field())
      return Error{p.error};
  for (const char *key : {"shape", "strides", "bits"})
    if (std::find(seen.begin(), seen.end(), key) == seen.end())
      return Error{std::string("'") + key + "' is missing"};
  return get(std::move(shape), std::move(strides), bits, swizzle);
}
