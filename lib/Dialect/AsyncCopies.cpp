// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/AsyncCopies.h"

#include "tilewright/Dialect/Tilewright.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

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
  int64_t aligned = divisors.offset;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    int64_t divisor = knownDivisor(index);
    aligned = std::gcd(aligned, divisor >= kAnyDivisor / divisors.strides[dim]
                                    ? kAnyDivisor
                                    : divisor * divisors.strides[dim]);
  }
  int64_t inside = dest.getDimSize(runs.dim);
  for (int64_t dim = 0; dim < dest.getRank(); ++dim) {
    if (dim == runs.dim || dest.getDimSize(dim) == 1)
      continue;
    aligned = std::gcd(aligned, divisors.strides[map.getDimPosition(dim)]);
    inside = std::gcd(inside, to[dim]);
  }
  if (auto space = dyn_cast_or_null<SharedAttr>(dest.getMemorySpace());
      space && !space.getSwizzle().empty())
    inside = std::gcd(inside, int64_t(1) << space.getSwizzle()[1]);
  for (int64_t size : {16, 8, 4})
    if (int64_t length = size / bytes;
        length && aligned % length == 0 && inside % length == 0) {
      runs.length = length;
      return runs;
    }
  return refuse(Refused::Alignment, "rows begin at multiples of " + Twine(aligned * bytes) +
                                        " bytes, which asynchronous copies of 4 and more cannot");
}
