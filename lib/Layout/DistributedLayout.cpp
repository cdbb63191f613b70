// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout value itself: verification, canonical form, the map and its
// inverse, register runs.

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

Result<DistributedLayout> DistributedLayout::get(Shape shape, Modes regs,
                                                 Modes lanes, Modes warps,
                                                 int64_t firstWarp) {
  DistributedLayout l(std::move(shape), std::move(regs), std::move(lanes),
                      std::move(warps), firstWarp);
  if (std::string text = l.verify(); !text.empty())
    return Error{text};
  return l;
}

Result<DistributedLayout> DistributedLayout::getOpaque(std::string name,
                                                       Shape atomShape,
                                                       Shape shape, Modes regs,
                                                       Modes lanes, Modes warps,
                                                       int64_t firstWarp) {
  if (name.empty())
    return Error{"an opaque layout needs a name"};
  DistributedLayout l(std::move(shape), std::move(regs), std::move(lanes),
                      std::move(warps), firstWarp);
  l.opaque = std::move(name);
  l.opaqueAtom = std::move(atomShape);
  if (std::string text = l.verify(); !text.empty())
    return Error{text};
  return l;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

int64_t DistributedLayout::size(Level level) const {
  int64_t product = 1;
  for (const Mode &m : modes(level))
    product = saturatingMul(product, m.count);
  return product;
}

DistributedLayout::Shape DistributedLayout::atomShape() const {
  return isOpaque() ? opaqueAtom : Shape(extents.size(), 1);
}

int64_t DistributedLayout::replication(Level level) const {
  int64_t product = 1;
  for (const Mode &m : modes(level))
    if (m.isReplica())
      product *= m.count;
  return product;
}

bool DistributedLayout::isReplicated() const {
  return std::any_of(allLevels.begin(), allLevels.end(),
                     [&](Level l) { return replication(l) > 1; });
}

DistributedLayout DistributedLayout::canonicalize() const {
  DistributedLayout result = *this;
  for (Modes &list : result.levels) {
    Modes merged;
    for (const Mode &m : list) {
      if (m.count == 1)
        continue;
      if (!merged.empty()) {
        Mode &last = merged.back();
        if (last.dim == m.dim && m.stride == last.stride * last.count) {
          last.count *= m.count;
          continue;
        }
      }
      merged.push_back(m);
    }
    list = std::move(merged);
  }
  return result;
}

bool DistributedLayout::operator==(const DistributedLayout &o) const {
  return extents == o.extents && first == o.first && opaque == o.opaque &&
         opaqueAtom == o.opaqueAtom &&
         canonicalize().levels == o.canonicalize().levels;
}

//===----------------------------------------------------------------------===//
// The map and its inverse
//===----------------------------------------------------------------------===//

std::vector<int64_t> DistributedLayout::coordinates(int64_t reg, int64_t lane,
                                                    int64_t warp) const {
  std::vector<int64_t> coords(rank(), 0);
  int64_t index[3] = {reg, lane, warp};
  for (int i = 0; i < 3; ++i)
    for (const Mode &m : levels[i]) {
      if (!m.isReplica())
        coords[m.dim] += index[i] % m.count * m.stride;
      index[i] /= m.count;
    }
  return coords;
}

std::vector<DigitTerm> DistributedLayout::forwardTerms(Level level) const {
  std::vector<DigitTerm> terms;
  int64_t weight = 1, total = size(level);
  for (const Mode &m : modes(level)) {
    if (m.count > 1 && !m.isReplica())
      terms.push_back(
          {m.dim, weight, m.count, m.stride, weight * m.count == total});
    weight *= m.count;
  }
  return terms;
}

std::vector<DigitTerm> DistributedLayout::replicaDigits(Level level) const {
  std::vector<DigitTerm> terms;
  int64_t weight = 1, total = size(level);
  for (const Mode &m : modes(level)) {
    if (m.count > 1 && m.isReplica())
      terms.push_back({-1, weight, m.count, 1, weight * m.count == total});
    weight *= m.count;
  }
  return terms;
}

std::vector<DigitTerm> DistributedLayout::inverseTerms(Level level) const {
  std::vector<DigitTerm> terms;
  int64_t weight = 1;
  for (const Mode &m : modes(level)) {
    if (m.count > 1 && !m.isReplica())
      terms.push_back({m.dim, m.stride, m.count, weight,
                       m.stride * m.count == extents[m.dim]});
    weight *= m.count;
  }
  return terms;
}

Place DistributedLayout::owner(const std::vector<int64_t> &coords) const {
  int64_t index[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    int64_t weight = 1;
    for (const Mode &m : levels[i]) {
      if (!m.isReplica())
        index[i] += coords[m.dim] / m.stride % m.count * weight;
      weight *= m.count;
    }
  }
  return {index[0], index[1], index[2]};
}

//===----------------------------------------------------------------------===//
// Register runs
//===----------------------------------------------------------------------===//

/// The register digits along `dim` that continue each other from stride 1 on,
/// each with the weight of its digit in the register index.
static std::vector<std::pair<Mode, int64_t>>
runDigits(const DistributedLayout &l, int dim) {
  std::vector<std::pair<Mode, int64_t>> result;
  int64_t length = 1;
  for (bool found = true; found;) {
    found = false;
    int64_t weight = 1;
    for (const Mode &m : l.modes(Level::Register)) {
      if (m.count > 1 && m.dim == dim && m.stride == length) {
        result.push_back({m, weight});
        length *= m.count;
        found = true;
        break;
      }
      weight *= m.count;
    }
  }
  return result;
}

int64_t DistributedLayout::contiguity(int dim) const {
  if (isOpaque())
    return 1;
  int64_t length = 1;
  for (const auto &[mode, weight] : runDigits(*this, dim))
    length *= mode.count;
  return length;
}

RegisterRuns DistributedLayout::registerRuns(int dim, int64_t maxLength) const {
  RegisterRuns runs;
  int64_t full = contiguity(dim);
  for (int64_t l = 1; l <= full && l <= maxLength; ++l)
    if (full % l == 0)
      runs.length = l;

  // The register offset of the i-th element of a full run.
  auto digits = isOpaque() ? std::vector<std::pair<Mode, int64_t>>()
                           : runDigits(*this, dim);
  std::vector<int64_t> offset(full, 0);
  for (int64_t i = 0; i < full; ++i)
    for (const auto &[mode, weight] : digits)
      offset[i] += i / mode.stride % mode.count * weight;

  int64_t total = numRegisters();
  for (int64_t base = 0; base < total; ++base) {
    bool starts = true;
    for (const auto &[mode, weight] : digits)
      starts &= base / weight % mode.count == 0;
    if (!starts)
      continue;
    for (int64_t i = 0; i < full; i += runs.length) {
      std::vector<int64_t> group;
      for (int64_t j = i; j < i + runs.length; ++j)
        group.push_back(base + offset[j]);
      for (size_t j = 1; j < group.size(); ++j)
        runs.registersAdjacent &= group[j] == group[0] + int64_t(j);
      runs.groups.push_back(std::move(group));
    }
  }
  return runs;
}
