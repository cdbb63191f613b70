// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocked and coalesced layouts, and atoms repeated over a grid.

#include "tilewright/Layout/DistributedLayout.h"

#include "Checked.h"

using namespace tilewright::layout;

using Shape = DistributedLayout::Shape;
using Modes = DistributedLayout::Modes;

static std::string checkOrder(const std::vector<int> &order, size_t rank) {
  if (order.size() != rank)
    return "order has " + std::to_string(order.size()) +
           " entries for a rank-" + std::to_string(rank) + " shape";
  std::vector<bool> seen(rank, false);
  for (int d : order) {
    if (d < 0 || size_t(d) >= rank || seen[d])
      return "order is not a permutation of the dimensions";
    seen[d] = true;
  }
  return "";
}

static std::string checkSizes(const char *what, const Shape &sizes,
                              size_t rank) {
  if (sizes.size() != rank)
    return std::string(what) + " has " + std::to_string(sizes.size()) +
           " entries for a rank-" + std::to_string(rank) + " shape";
  for (int64_t s : sizes)
    if (s < 1)
      return std::string(what) + " contains " + std::to_string(s) +
             ", expected at least 1";
  return "";
}

namespace {
/// Hands out the elements of a shape digit by digit, smallest stride first.
struct Splitter {
  explicit Splitter(const Shape &shape)
      : left(shape), stride(shape.size(), 1) {}

  /// Gives up to `count` (as far as it divides) along d; returns what it gave.
  int64_t take(Modes &modes, int d, int64_t count) {
    int64_t part = std::gcd(left[d], count);
    if (part > 1)
      modes.push_back({part, d, stride[d]});
    left[d] /= part;
    stride[d] *= part;
    return part;
  }
  /// Same, and what finds no elements becomes a replica.
  void takeAll(Modes &modes, int d, int64_t count) {
    int64_t part = take(modes, d, count);
    if (part < count)
      modes.push_back(Mode::replica(count / part));
  }

  Shape left, stride;
};
} // namespace

Result<DistributedLayout>
DistributedLayout::blocked(Shape shape, const Shape &elemsPerThread,
                           const Shape &lanes, const Shape &warps,
                           const std::vector<int> &order) {
  size_t rank = shape.size();
  for (const std::string &text :
       {checkSizes("shape", shape, rank),
        checkSizes("elements per thread", elemsPerThread, rank),
        checkSizes("lanes", lanes, rank), checkSizes("warps", warps, rank),
        checkOrder(order, rank)})
    if (!text.empty())
      return Error{text};

  Splitter split(shape);
  Modes regModes, laneModes, warpModes;
  for (int d : order)
    split.take(regModes, d, elemsPerThread[d]);
  for (int d : order)
    split.takeAll(laneModes, d, lanes[d]);
  for (int d : order)
    split.takeAll(warpModes, d, warps[d]);
  for (int d : order)
    split.take(regModes, d, split.left[d]);
  return get(std::move(shape), regModes, laneModes, warpModes);
}

Result<DistributedLayout>
DistributedLayout::coalesced(Shape shape, int64_t elems, int64_t numLanes,
                             int64_t numWarps, const std::vector<int> &order) {
  for (const std::string &text : {checkSizes("shape", shape, shape.size()),
                                  checkOrder(order, shape.size()),
                                  checkSizes("elements, lanes and warps",
                                             {elems, numLanes, numWarps}, 3)})
    if (!text.empty())
      return Error{text};

  Splitter split(shape);
  Modes regModes, laneModes, warpModes;
  if (!order.empty())
    split.take(regModes, order[0], elems);
  for (auto &[modes, count] :
       {std::pair<Modes &, int64_t>{laneModes, numLanes},
        std::pair<Modes &, int64_t>{warpModes, numWarps}}) {
    int64_t left = count;
    for (int d : order)
      left /= split.take(modes, d, left);
    if (left > 1)
      modes.push_back(Mode::replica(left));
  }
  for (int d : order)
    split.take(regModes, d, split.left[d]);
  return get(std::move(shape), regModes, laneModes, warpModes);
}

Result<DistributedLayout>
DistributedLayout::repeat(const DistributedLayout &atom,
                          const Shape &registerRepeats,
                          const std::vector<WarpDigit> &warpGrid,
                          const std::vector<int> &order) {
  size_t rank = atom.extents.size();
  for (const std::string &text :
       {checkSizes("register repeats", registerRepeats, rank),
        checkOrder(order, rank)})
    if (!text.empty())
      return Error{text};
  Shape warps(rank, 1);
  for (const WarpDigit &w : warpGrid) {
    if (w.count < 1)
      return Error{"warp grid contains " + std::to_string(w.count) +
                   ", expected at least 1"};
    if (w.dim < -1 || w.dim >= int(rank))
      return Error{"warp grid names dimension " + std::to_string(w.dim) +
                   " of a rank-" + std::to_string(rank) + " layout"};
    if (w.dim >= 0)
      warps[w.dim] = saturatingMul(warps[w.dim], w.count);
  }

  DistributedLayout result = atom;
  Shape warpStride(rank);
  for (size_t d = 0; d < rank; ++d) {
    std::optional<int64_t> perWarp =
        checkedMul(atom.extents[d], registerRepeats[d]);
    std::optional<int64_t> total =
        perWarp ? checkedMul(*perWarp, warps[d]) : std::nullopt;
    if (!total)
      return Error{"the repeated extent of dimension " + std::to_string(d) +
                   " overflows"};
    result.extents[d] = *total;
    warpStride[d] = *perWarp;
  }
  for (int d : order)
    if (registerRepeats[d] > 1)
      result.levels[0].push_back({registerRepeats[d], d, atom.extents[d]});
  for (const WarpDigit &w : warpGrid) {
    if (w.count == 1)
      continue;
    if (w.dim < 0) {
      result.levels[2].push_back(Mode::replica(w.count));
      continue;
    }
    result.levels[2].push_back({w.count, w.dim, warpStride[w.dim]});
    warpStride[w.dim] *= w.count;
  }
  if (std::string text = result.verify(); !text.empty())
    return Error{text};
  return result;
}
