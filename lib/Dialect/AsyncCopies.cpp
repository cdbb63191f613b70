// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/AsyncCopies.h"

#include "tilewright/Dialect/Tilewright.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

int64_t tilewright::alignmentOfRows(const BufferDivisors &divisors, ArrayRef<int64_t> starts,
                                    ArrayRef<int64_t> extents, int64_t row) {
  int64_t aligned = divisors.offset;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    int64_t stride = divisors.strides[dim];
    aligned = std::gcd(aligned, start >= kAnyDivisor / stride ? kAnyDivisor : start * stride);
    if (int64_t(dim) != row && extents[dim] != 1)
      aligned = std::gcd(aligned, stride);
  }
  return aligned;
}

int64_t tilewright::lengthOfRuns(int64_t bytes, int64_t aligned, int64_t inside) {
  for (int64_t size : {16, 8, 4})
    if (int64_t length = size / bytes;
        length && aligned % length == 0 && inside % length == 0)
      return length;
  return 0;
}

OrRefusal<CopyRuns> tilewright::findCopyRuns(MemRefType source, const BufferDivisors &divisors,
                                             ValueRange indices, AffineMap map, MemRefType dest) {
  Type element = source.getElementType();
  SmallVector<int64_t> from, to;
  int64_t fromOffset, toOffset;
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 ||
      failed(source.getStridesAndOffset(from, fromOffset)) ||
      failed(dest.getStridesAndOffset(to, toOffset)))
    return refuse(Refused::Types, "elements have no address of their own");
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  CopyRuns runs;
  runs.dim = -1;
  for (int64_t dim = 0; dim < dest.getRank(); ++dim)
    if (to[dim] == 1 && from[map.getDimPosition(dim)] == 1)
      runs.dim = dim;
  if (runs.dim < 0)
    return refuse(Refused::Layout, "rows of shared memory are columns of the operand");

  // Where runs may begin: at multiples of `aligned` elements, in both memories.
  SmallVector<int64_t> starts, extents(from.size(), 1);
  for (Value index : indices)
    starts.push_back(knownDivisor(index));
  int64_t inside = dest.getDimSize(runs.dim);
  for (int64_t dim = 0; dim < dest.getRank(); ++dim) {
    extents[map.getDimPosition(dim)] = dest.getDimSize(dim);
    if (dim != runs.dim && dest.getDimSize(dim) != 1)
      inside = std::gcd(inside, to[dim]);
  }
  int64_t aligned =
      alignmentOfRows(divisors, starts, extents, map.getDimPosition(runs.dim));
  if (auto space = dyn_cast_or_null<SharedAttr>(dest.getMemorySpace());
      space && !space.getSwizzle().empty())
    inside = std::gcd(inside, int64_t(1) << space.getSwizzle()[1]);
  if ((runs.length = lengthOfRuns(bytes, aligned, inside)))
    return runs;
  return refuse(Refused::Alignment, "rows begin at multiples of " + Twine(aligned * bytes) +
                                        " bytes, which asynchronous copies of 4 and more cannot");
}
