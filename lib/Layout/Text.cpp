// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compact text form of a distributed layout.
//
//   layout ::= [shape=[int, ...]] regs=[mode, ...] lanes=[...] warps=[...]
//              [first_warp=int] [opaque=name atom=[int, ...]]
//   mode   ::= count ':' stride '@' dim  |  count ':' '*'
//
// Keys may come in any order, each at most once; a missing level has no digits.

#include "tilewright/Layout/DistributedLayout.h"

#include "Checked.h"
#include "TextCursor.h"

#include <algorithm>

using namespace tilewright::layout;

using Shape = DistributedLayout::Shape;
using Modes = DistributedLayout::Modes;

static std::string printModes(const Modes &modes) {
  std::string text = "[";
  for (size_t i = 0; i < modes.size(); ++i) {
    const Mode &m = modes[i];
    text += (i ? ", " : "") + std::to_string(m.count) + ":";
    text += m.isReplica()
                ? "*"
                : std::to_string(m.stride) + "@" + std::to_string(m.dim);
  }
  return text + "]";
}

std::string DistributedLayout::print(bool withShape) const {
  std::string text;
  if (withShape)
    text += "shape=" + printInts(extents) + " ";
  text += "regs=" + printModes(modes(Level::Register));
  text += " lanes=" + printModes(modes(Level::Lane));
  text += " warps=" + printModes(modes(Level::Warp));
  if (first != 0)
    text += " first_warp=" + std::to_string(first);
  if (isOpaque())
    text += " opaque=" + opaque + " atom=" + printInts(opaqueAtom);
  return text;
}

namespace {
/// What the text said, before verification.
struct Fields {
  Shape shape, atom;
  Modes levels[3];
  int64_t firstWarp = 0;
  std::string opaque;
  std::vector<std::string> seen;

  bool has(const char *key) const {
    return std::find(seen.begin(), seen.end(), key) != seen.end();
  }
};
} // namespace

static bool parseMode(TextCursor &p, Mode &m) {
  if (!p.integer(m.count) || !p.expect(':'))
    return false;
  if (p.accept('*'))
    return true;
  int64_t dim;
  if (!p.integer(m.stride) || !p.expect('@') || !p.integer(dim))
    return false;
  if (dim > 64)
    return p.fail("the dimension is too large");
  m.dim = static_cast<int>(dim);
  return true;
}

static bool parseModes(TextCursor &p, Modes &list) {
  if (!p.expect('['))
    return false;
  if (p.accept(']'))
    return true;
  do {
    if (!parseMode(p, list.emplace_back()))
      return false;
  } while (p.accept(','));
  return p.expect(']');
}

static bool parseField(TextCursor &p, Fields &f) {
  std::string key;
  if (!p.name(key))
    return false;
  if (f.has(key.c_str()))
    return p.fail("'" + key + "' is given twice");
  f.seen.push_back(key);
  if (!p.expect('='))
    return false;
  if (key == "shape")
    return p.integers(f.shape);
  if (key == "atom")
    return p.integers(f.atom);
  if (key == "regs")
    return parseModes(p, f.levels[0]);
  if (key == "lanes")
    return parseModes(p, f.levels[1]);
  if (key == "warps")
    return parseModes(p, f.levels[2]);
  if (key == "first_warp")
    return p.integer(f.firstWarp);
  if (key == "opaque")
    return p.name(f.opaque);
  return p.fail("unknown key '" + key + "'");
}

/// The product of the counts along each dimension.
static Shape inferShape(const Fields &f) {
  Shape shape = f.atom;
  for (const Modes &list : f.levels)
    for (const Mode &m : list) {
      if (m.isReplica())
        continue;
      if (size_t(m.dim) >= shape.size())
        shape.resize(m.dim + 1, 1);
      shape[m.dim] = saturatingMul(shape[m.dim], m.count);
    }
  return shape;
}

static Result<DistributedLayout> parseText(std::string_view text,
                                           const Shape *expected) {
  TextCursor p(text);
  Fields f;
  while (!p.atEnd())
    if (!parseField(p, f))
      return Error{p.error};
  if (f.has("opaque") != f.has("atom"))
    return Error{"'opaque' and 'atom' go together"};
  if (f.has("shape") && expected && f.shape != *expected)
    return Error{"the layout has shape " + printInts(f.shape) + ", expected " +
                 printInts(*expected)};
  Shape shape = f.has("shape") ? f.shape : expected ? *expected : inferShape(f);
  if (f.has("opaque"))
    return DistributedLayout::getOpaque(f.opaque, f.atom, shape, f.levels[0],
                                        f.levels[1], f.levels[2], f.firstWarp);
  return DistributedLayout::get(shape, f.levels[0], f.levels[1], f.levels[2],
                                f.firstWarp);
}

Result<DistributedLayout> DistributedLayout::parse(std::string_view text) {
  return parseText(text, nullptr);
}

Result<DistributedLayout> DistributedLayout::parse(std::string_view text,
                                                   const Shape &shape) {
  return parseText(text, &shape);
}
