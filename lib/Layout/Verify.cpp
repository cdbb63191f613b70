// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a distributed layout well formed.

#include "tilewright/Layout/DistributedLayout.h"

#include "Checked.h"

#include <algorithm>

using namespace tilewright::layout;

static const char *levelName(Level level) {
  switch (level) {
  case Level::Register:
    return "register";
  case Level::Lane:
    return "lane";
  case Level::Warp:
    return "warp";
  }
  return "";
}

/// Checks that the digits along `dim`, sorted by stride, count from `start` to
/// `extent` without gap or overlap.
static std::string verifyDim(int dim, int64_t extent, int64_t start,
                             std::vector<Mode> digits) {
  std::string where = "dimension " + std::to_string(dim) + ": ";
  std::sort(digits.begin(), digits.end(),
            [](const Mode &a, const Mode &b) { return a.stride < b.stride; });
  int64_t covered = start;
  for (const Mode &m : digits) {
    if (m.stride > covered)
      return where + "no digit has stride " + std::to_string(covered) +
             " (the next one is " + std::to_string(m.stride) +
             "), elements would have no owner";
    if (m.stride < covered)
      return where + "digit " + std::to_string(m.count) + ":" +
             std::to_string(m.stride) + " overlaps the " +
             std::to_string(covered) + " elements below it";
    std::optional<int64_t> next = checkedMul(covered, m.count);
    if (!next)
      return where + "the digits' product overflows";
    covered = *next;
  }
  if (covered != extent)
    return where + "the digits cover " + std::to_string(covered) + " of " +
           std::to_string(extent) + " elements";
  return "";
}

/// What a name may consist of, so that its text can be read back.
static bool isNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::string DistributedLayout::verify() const {
  int64_t elements = 1;
  for (int d = 0; d < rank(); ++d) {
    if (extents[d] < 1)
      return "dimension " + std::to_string(d) + " has extent " +
             std::to_string(extents[d]) + ", expected at least 1";
    std::optional<int64_t> product = checkedMul(elements, extents[d]);
    if (!product)
      return "the number of elements overflows";
    elements = *product;
  }
  if (first < 0 || first > maxWarps)
    return "first warp is " + std::to_string(first) + ", expected 0 to " +
           std::to_string(maxWarps);
  if (isOpaque()) {
    for (char c : opaque)
      if (!isNameChar(c))
        return "the opaque name '" + opaque +
               "' has characters other than letters, digits, '_' and '.'";
    if (opaqueAtom.size() != extents.size())
      return "the atom's rank is " + std::to_string(opaqueAtom.size()) +
             ", the layout's is " + std::to_string(extents.size());
    for (int64_t e : opaqueAtom)
      if (e < 1)
        return "the atom has extent " + std::to_string(e) +
               ", expected at least 1";
  }

  std::vector<Modes> perDim(rank());
  for (Level level : allLevels) {
    std::string where = std::string(levelName(level)) + " digit ";
    int64_t limit = level == Level::Register ? maxRegisters
                    : level == Level::Lane   ? maxLanes
                                             : maxWarps;
    int64_t product = 1;
    for (size_t i = 0; i < modes(level).size(); ++i) {
      const Mode &m = modes(level)[i];
      if (m.count < 1)
        return where + std::to_string(i) + " has count " +
               std::to_string(m.count) + ", expected at least 1";
      if (m.dim < -1 || m.dim >= rank())
        return where + std::to_string(i) + " has dimension " +
               std::to_string(m.dim) + " of a rank-" + std::to_string(rank()) +
               " layout";
      if (m.isReplica() && m.stride != 0)
        return where + std::to_string(i) + " is a replica with stride " +
               std::to_string(m.stride) + ", expected 0";
      if (!m.isReplica() && m.stride < 1)
        return where + std::to_string(i) + " has stride " +
               std::to_string(m.stride) + ", expected at least 1";
      product = saturatingMul(product, m.count);
      if (product > limit)
        return std::string(levelName(level)) + " count exceeds " +
               std::to_string(limit);
      if (!m.isReplica() && m.count > 1)
        perDim[m.dim].push_back(m);
    }
  }
  Shape atom = atomShape();
  for (int d = 0; d < rank(); ++d)
    if (std::string text = verifyDim(d, extents[d], atom[d], perDim[d]);
        !text.empty())
      return text;
  return "";
}
