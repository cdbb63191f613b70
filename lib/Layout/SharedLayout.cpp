// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared layout itself: verification, addresses, picture.

#include "tilewright/Layout/SharedLayout.h"

#include "Checked.h"

#include <algorithm>

using namespace tilewright::layout;

Result<SharedLayout> SharedLayout::get(Shape shape, Shape strides,
                                       int elementBits, Swizzle swizzle) {
  SharedLayout l;
  l.extents = std::move(shape);
  l.steps = std::move(strides);
  l.elemBits = elementBits;
  l.swiz = swizzle;
  if (std::string text = l.verify(); !text.empty())
    return Error{text};
  return l;
}

Result<SharedLayout> SharedLayout::dense(Shape shape, int elementBits,
                                         const std::vector<int> &order,
                                         int64_t padding, Swizzle swizzle) {
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t d = 0; d < std::max(shape.size(), sorted.size()); ++d)
    if (d >= shape.size() || d >= sorted.size() || sorted[d] != int(d))
      return Error{"order is not a permutation of the dimensions"};
  if (padding < 0)
    return Error{"padding is " + std::to_string(padding) +
                 ", expected at least 0"};
  Shape strides(shape.size(), 1);
  int64_t stride = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    strides[order[i]] = stride;
    std::optional<int64_t> next = checkedMul(stride, shape[order[i]]);
    if (next && i == 0)
      next = checkedAdd(*next, padding);
    if (!next)
      return Error{"the size overflows"};
    stride = *next;
  }
  return get(std::move(shape), std::move(strides), elementBits, swizzle);
}

std::string SharedLayout::verify() const {
  if (elemBits < 1 || elemBits > 1024)
    return "the element has " + std::to_string(elemBits) +
           " bits, expected 1 to 1024";
  if (steps.size() != extents.size())
    return std::to_string(steps.size()) + " strides for a rank-" +
           std::to_string(extents.size()) + " shape";
  std::vector<int> dims;
  for (int d = 0; d < rank(); ++d) {
    if (extents[d] < 1)
      return "dimension " + std::to_string(d) + " has extent " +
             std::to_string(extents[d]) + ", expected at least 1";
    if (steps[d] < 1)
      return "dimension " + std::to_string(d) + " has stride " +
             std::to_string(steps[d]) + ", expected at least 1";
    if (extents[d] > 1)
      dims.push_back(d);
  }
  std::sort(dims.begin(), dims.end(),
            [&](int a, int b) { return steps[a] < steps[b]; });
  // `span` elements are taken by the dimensions seen so far.
  int64_t span = 1;
  for (int d : dims) {
    if (steps[d] < span)
      return "dimension " + std::to_string(d) + " has stride " +
             std::to_string(steps[d]) + ", but the elements below it take " +
             std::to_string(span);
    std::optional<int64_t> reach = checkedMul(extents[d] - 1, steps[d]);
    reach = reach ? checkedAdd(*reach, span) : reach;
    if (!reach)
      return "the size overflows";
    span = *reach;
  }
  std::optional<int64_t> bits = checkedMul(span, elemBits);
  if (!bits || *bits > std::numeric_limits<int64_t>::max() / 4)
    return "the size overflows";

  if (swiz.isNone())
    return swiz.bits == 0 ? "" : "the swizzle has negative fields";
  if (swiz.bits < 0 || swiz.base < 0 || swiz.shift < swiz.bits)
    return "swizzle " + std::to_string(swiz.bits) + ":" +
           std::to_string(swiz.base) + ":" + std::to_string(swiz.shift) +
           " needs fields of at least 0 and a shift of at least its bits";
  if (swiz.fold && swiz.fold <= swiz.shift)
    return "the swizzle's fold of " + std::to_string(swiz.fold) +
           " needs to be above its shift of " + std::to_string(swiz.shift);
  if (swiz.bits > 16 || swiz.base > 16 || swiz.shift > 32 || swiz.fold > 32)
    return "the swizzle's fields are too large";
  if (!isPowerOfTwo(elemBits) || elemBits > (8 << swiz.base))
    return "elements of " + std::to_string(elemBits) +
           " bits would be torn by a swizzle of " +
           std::to_string(1 << swiz.base) + "-byte runs";
  return "";
}

int64_t SharedLayout::affineOffset(const std::vector<int64_t> &coords) const {
  int64_t offset = 0;
  for (int d = 0; d < rank(); ++d)
    offset += coords[d] * steps[d];
  return offset;
}

std::optional<Swizzle> SharedLayout::elementSwizzle() const {
  if (swiz.isNone())
    return std::nullopt;
  // 2^base bytes are 2^(base + 3) bits.
  return Swizzle{swiz.bits, swiz.base + 3 - log2Exact(elemBits), swiz.shift,
                 swiz.fold};
}

int64_t SharedLayout::offset(const std::vector<int64_t> &coords) const {
  int64_t affine = affineOffset(coords);
  std::optional<Swizzle> s = elementSwizzle();
  return s ? (*s)(affine) : affine;
}

int64_t SharedLayout::sizeInElements() const {
  int64_t size = 1;
  for (int d = 0; d < rank(); ++d)
    size += (extents[d] - 1) * steps[d];
  if (std::optional<Swizzle> s = elementSwizzle()) {
    int64_t block = int64_t(1) << (s->base + s->bits);
    size = ceilDiv(size, block) * block;
  }
  return size;
}

int64_t SharedLayout::sizeInBytes() const {
  return ceilDiv(sizeInElements() * elemBits, 8);
}

std::string SharedLayout::picture(int64_t maxRows, int64_t maxColumns) const {
  int64_t rows = rank() >= 2 ? extents[rank() - 2] : 1;
  int64_t columns = rank() >= 1 ? extents[rank() - 1] : 1;
  size_t width = std::to_string(sizeInElements()).size();
  std::string out = print() + "\n";
  std::vector<int64_t> coords(rank(), 0);
  for (int64_t r = 0; r < std::min(rows, maxRows); ++r) {
    for (int64_t c = 0; c < std::min(columns, maxColumns); ++c) {
      if (rank() >= 2)
        coords[rank() - 2] = r;
      if (rank() >= 1)
        coords[rank() - 1] = c;
      std::string cell = std::to_string(offset(coords));
      out += std::string(c ? 1 : 0, ' ') +
             std::string(width - std::min(width, cell.size()), ' ') + cell;
    }
    out += columns > maxColumns ? " ...\n" : "\n";
  }
  return out + (rows > maxRows ? "...\n" : "");
}
