// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout value itself: canonical form, the map and its inverse, register
// runs.

#include "tilewright/Layout/DistributedLayout.h"

#include "Checked.h"

#include <algorithm>

using namespace tilewright::layout;

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
      runs.groups.push_back(std::move(group));
    }
  }
  return runs;
}
