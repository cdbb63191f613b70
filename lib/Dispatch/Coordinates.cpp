// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coordinates of elements (ElementExpression.h): joined and split where reshapes join and
// split dims.

#include "ElementExpression.h"

#include <tuple>

using namespace mlir;
using namespace tilewright;

unsigned ElementExpressions::addCoordinate(const Extent &extent) {
  places.push_back({extent, {}, false});
  return places.size() - 1;
}

Extent ElementExpressions::extentOf(unsigned coordinate) const {
  return coordinate == kUnitCoordinate ? Extent() : places[coordinate].extent;
}

Coordinates ElementExpressions::atomsOf(ArrayRef<unsigned> coordinates) const {
  Coordinates atoms;
  for (unsigned coordinate : coordinates)
    if (coordinate != kUnitCoordinate && !isAtom(coordinate))
      llvm::append_range(atoms, atomsOf(places[coordinate].parts));
    else if (coordinate != kUnitCoordinate)
      atoms.push_back(coordinate);
  return atoms;
}

unsigned ElementExpressions::join(ArrayRef<unsigned> coordinates) {
  Coordinates atoms = atomsOf(coordinates);
  if (atoms.empty())
    return kUnitCoordinate;
  if (atoms.size() == 1)
    return atoms.front();
  Extent extent;
  for (unsigned atom : atoms)
    extent = multiply(extent, extentOf(atom));
  places.push_back({extent, atoms, false});
  return places.size() - 1;
}

/// Of sizes whose product is `total`, one that is not known follows from the others.
static void inferSize(SmallVectorImpl<Extent> &sizes, int64_t total) {
  int64_t others = 1;
  SmallVector<Extent *> unknown;
  for (Extent &size : sizes)
    if (ShapedType::isDynamic(size.getStatic()))
      unknown.push_back(&size);
    else
      others *= size.getStatic();
  if (unknown.size() == 1 && !ShapedType::isDynamic(total) && others > 0 &&
      total % others == 0)
    *unknown.front() = {total / others, {}, -1};
}

/// Makes `atom` two of these extents, and returns them.
std::pair<unsigned, unsigned> ElementExpressions::cut(unsigned atom, const Extent &outerExtent,
                                                      const Extent &innerExtent) {
  unsigned outer = addCoordinate(outerExtent), inner = addCoordinate(innerExtent);
  places[atom].parts = {outer, inner};
  return {outer, inner};
}

/// Takes atoms of the size `wanted`, which is not known, off the end of `left`: the last one
/// or a part of it, or all where only ones are further out.
bool ElementExpressions::takeDynamic(const Extent &wanted, bool isOutermost, Coordinates &left,
                                     Coordinates &own) {
  Extent whole = left.empty() ? Extent::unknown() : extentOf(left.back());
  if (whole == wanted) {
    own.push_back(left.pop_back_val());
    return true;
  }
  if (isOutermost) {
    std::swap(own, left);
    return true;
  }
  if (!whole.root || whole.root != wanted.root || whole.dim != wanted.dim ||
      wanted.factor <= 0 || whole.factor % wanted.factor != 0 || places[left.back()].isWhole)
    return false;
  // A known number of times a size that is not.
  auto [outer, inner] = cut(left.back(), {whole.factor / wanted.factor, {}, -1}, wanted);
  left.back() = outer;
  own.push_back(inner);
  return true;
}

/// Takes atoms of `need` elements off the end of `left`; one that is longer than what is
/// left to take is cut.
bool ElementExpressions::takeStatic(int64_t need, Coordinates &left, Coordinates &own) {
  while (need > 1) {
    if (left.empty())
      return false;
    unsigned atom = left.back();
    int64_t size = sizeOf(atom);
    if (!ShapedType::isDynamic(size) && need % size == 0) {
      left.pop_back();
      need /= size;
    } else if (!places[atom].isWhole && (ShapedType::isDynamic(size) || size % need == 0)) {
      Extent rest = extentOf(atom);
      if (rest.isKnown() && rest.factor % need == 0)
        rest.factor /= need;
      else
        rest = Extent::unknown();
      std::tie(left.back(), atom) = cut(atom, rest, {need, {}, -1});
      need = 1;
    } else {
      return false;
    }
    own.insert(own.begin(), atom);
  }
  return true;
}

bool ElementExpressions::split(unsigned coordinate, ArrayRef<Extent> given,
                               Coordinates &parts) {
  if (coordinate == kUnitCoordinate || given.size() == 1) {
    parts.assign(given.size(), kUnitCoordinate);
    if (given.size() == 1)
      parts.front() = coordinate;
    return true;
  }
  // Where there are no elements, sizes do not say how many of a part there are.
  Coordinates left = atomsOf(coordinate);
  if (llvm::any_of(left, [&](unsigned atom) { return sizeOf(atom) == 0; }) ||
      llvm::any_of(given, [](const Extent &size) { return size.getStatic() == 0; }))
    return false;
  SmallVector<Extent> sizes(given);
  inferSize(sizes, sizeOf(coordinate));
  // From the innermost outwards.
  parts.assign(sizes.size(), kUnitCoordinate);
  for (unsigned part = sizes.size(); part-- > 0;) {
    Coordinates own;
    int64_t wanted = sizes[part].getStatic();
    if (part == 0) {
      own = left;
      int64_t size = sizeOf(join(own));
      if (!ShapedType::isDynamic(wanted) && !ShapedType::isDynamic(size) && size != wanted)
        return false;
    } else if (ShapedType::isDynamic(wanted)) {
      bool isOutermost = llvm::all_of(ArrayRef(sizes).take_front(part), [](const Extent &s) {
        return s.getStatic() == 1;
      });
      if (!takeDynamic(sizes[part], isOutermost, left, own))
        return false;
    } else if (!takeStatic(wanted, left, own)) {
      return false;
    }
    parts[part] = join(own);
  }
  return true;
}
