// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// New layouts from old ones: the layouts of transposed, reduced, broadcast and
// reshaped vectors.

#include "tilewright/Layout/DistributedLayout.h"

#include "Checked.h"

#include <algorithm>

using namespace tilewright::layout;

DistributedLayout DistributedLayout::withFirstWarp(int64_t warp) const {
  DistributedLayout result = *this;
  result.first = warp;
  return result;
}

/// Renames dimension d to newDim[d]; -1 makes its modes replicas.
DistributedLayout
DistributedLayout::withModesMapped(Shape shape,
                                   const std::vector<int> &newDim) const {
  DistributedLayout result = *this;
  result.extents = std::move(shape);
  if (isOpaque()) {
    result.opaqueAtom.assign(result.extents.size(), 1);
    for (size_t d = 0; d < newDim.size(); ++d)
      if (newDim[d] >= 0)
        result.opaqueAtom[newDim[d]] = opaqueAtom[d];
  }
  for (Modes &list : result.levels)
    for (Mode &m : list)
      if (!m.isReplica()) {
        m.dim = newDim[m.dim];
        if (m.dim < 0)
          m.stride = 0;
      }
  return result;
}

DistributedLayout
DistributedLayout::transpose(const std::vector<int> &perm) const {
  Shape shape(rank());
  std::vector<int> newDim(rank());
  for (int i = 0; i < rank(); ++i) {
    shape[i] = extents[perm[i]];
    newDim[perm[i]] = i;
  }
  return withModesMapped(std::move(shape), newDim);
}

DistributedLayout DistributedLayout::project(int dim) const {
  Shape shape = extents;
  shape[dim] = 1;
  std::vector<int> newDim(rank());
  for (int d = 0; d < rank(); ++d)
    newDim[d] = d == dim ? -1 : d;
  return withModesMapped(std::move(shape), newDim);
}

DistributedLayout DistributedLayout::slice(int dim) const {
  DistributedLayout kept = *this;
  Modes &regs = kept.levels[0];
  for (size_t i = regs.size(); i-- > 0;)
    if (regs[i].dim == dim)
      regs.erase(regs.begin() + i);
  Shape shape = extents;
  shape.erase(shape.begin() + dim);
  std::vector<int> newDim(rank());
  for (int d = 0; d < rank(); ++d)
    newDim[d] = d == dim ? -1 : d - (d > dim);
  return kept.withModesMapped(std::move(shape), newDim);
}

std::vector<int64_t> DistributedLayout::sliceRegisters(int dim) const {
  std::vector<int64_t> table(numRegisters(), 0);
  for (int64_t r = 0; r < int64_t(table.size()); ++r) {
    int64_t rest = r, weight = 1;
    for (const Mode &m : modes(Level::Register)) {
      if (m.dim != dim) {
        table[r] += rest % m.count * weight;
        weight *= m.count;
      }
      rest /= m.count;
    }
  }
  return table;
}

DistributedLayout DistributedLayout::insertDim(int pos, int64_t size) const {
  Shape shape = extents;
  shape.insert(shape.begin() + pos, size);
  std::vector<int> newDim(rank());
  for (int d = 0; d < rank(); ++d)
    newDim[d] = d + (d >= pos);
  DistributedLayout result = withModesMapped(std::move(shape), newDim);
  if (size > 1)
    result.levels[0].push_back({size, pos, 1});
  return result;
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

static std::string checkBroadcast(const DistributedLayout &l, int dim,
                                  int64_t size) {
  if (size < 1)
    return "broadcast to extent " + std::to_string(size) +
           ", expected at least 1";
  if (dim < 0 || dim >= l.rank())
    return "broadcast dimension " + std::to_string(dim) + " of a rank-" +
           std::to_string(l.rank()) + " layout";
  if (l.shape()[dim] != 1)
    return "broadcast dimension " + std::to_string(dim) + " has extent " +
           std::to_string(l.shape()[dim]) + ", expected 1";
  if (l.isOpaque())
    return "an opaque layout cannot be broadcast";
  return "";
}

Result<DistributedLayout>
DistributedLayout::broadcastInRegisters(int dim, int64_t size) const {
  if (std::string text = checkBroadcast(*this, dim, size); !text.empty())
    return Error{text};
  DistributedLayout result = *this;
  result.extents[dim] = size;
  result.levels[0].push_back({size, dim, 1});
  if (std::string text = result.verify(); !text.empty())
    return Error{text};
  return result;
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// Splits a digit that counts in steps of `linear` elements of the row-major
/// order into digits of the dimensions of `shape`; false where it straddles.
static bool splitDigit(int64_t count, int64_t linear,
                       const std::vector<int64_t> &shape,
                       std::vector<Mode> &out) {
  int64_t inner = 1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0 && count > 1; --d) {
    int64_t outer = inner * shape[d];
    if (linear < outer) {
      if (linear % inner != 0)
        return false;
      int64_t stride = linear / inner;
      int64_t room = shape[d] / stride;
      if (shape[d] % stride != 0)
        return false;
      int64_t part = std::min(count, room);
      if (count % part != 0 || room % part != 0)
        return false;
      out.push_back({part, d, stride});
      count /= part;
      linear *= part;
    }
    inner = outer;
  }
  return count == 1;
}

Result<DistributedLayout>
DistributedLayout::reshape(const Shape &newShape) const {
  if (isOpaque())
    return Error{"an opaque layout cannot be reshaped"};
  DistributedLayout result(newShape, {}, {}, {}, first);
  std::vector<int64_t> rowMajor(rank(), 1);
  for (int d = rank() - 2; d >= 0; --d)
    rowMajor[d] = rowMajor[d + 1] * extents[d + 1];
  int64_t elements = 1, newElements = 1;
  for (int64_t e : extents)
    elements *= e;
  for (int64_t e : newShape) {
    if (e < 1)
      return Error{"reshape to extent " + std::to_string(e) +
                   ", expected at least 1"};
    newElements = saturatingMul(newElements, e);
  }
  if (elements != newElements)
    return Error{"reshape of " + std::to_string(elements) + " elements to " +
                 std::to_string(newElements)};
  for (int i = 0; i < 3; ++i)
    for (const Mode &m : levels[i]) {
      if (m.isReplica() || m.count == 1) {
        result.levels[i].push_back(Mode::replica(m.count));
        continue;
      }
      if (!splitDigit(m.count, m.stride * rowMajor[m.dim], newShape,
                      result.levels[i]))
        return Error{"digit " + std::to_string(m.count) + ":" +
                     std::to_string(m.stride) + "@" + std::to_string(m.dim) +
                     " straddles dimensions of the new shape"};
    }
  if (std::string text = result.verify(); !text.empty())
    return Error{text};
  return result;
}
