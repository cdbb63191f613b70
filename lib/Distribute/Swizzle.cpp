// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Swizzle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using layout::DigitTerm;
using layout::Level;

static int64_t bitsOf(const DistributedLayout &layout, ArrayRef<Level> levels,
                      ArrayRef<int64_t> strides) {
  int64_t all = 0;
  for (Level level : levels)
    for (const DigitTerm &term : layout.forwardTerms(level)) {
      int64_t step = term.multiplier * strides[term.dim];
      if (!llvm::isPowerOf2_64(term.mod) || !llvm::isPowerOf2_64(step))
        return -1;
      int64_t bits = (term.mod - 1) * step;
      if (all & bits)
        return -1;
      all |= bits;
    }
  return all;
}

int64_t tilewright::threadBits(const DistributedLayout &layout,
                               ArrayRef<int64_t> strides) {
  return bitsOf(layout, {Level::Lane, Level::Warp}, strides);
}

int64_t tilewright::warpBits(const DistributedLayout &layout,
                             ArrayRef<int64_t> strides) {
  return bitsOf(layout, Level::Warp, strides);
}

SharedOffsets::SharedOffsets(ThreadCode &code, Location loc,
                             const MemView &view, Index thread, int64_t bits)
    : code(code), loc(loc), view(view), thread(thread), bits(bits) {
  if (!view.shared || view.shared.getSwizzle().empty())
    return;
  splits = bits >= 0 && thread.constant == 0 &&
           view.offsetDivisor % view.shared.getElementSwizzle().period() == 0;
}

Value SharedOffsets::add(Value left, Value right) {
  // Offsets in shared memory are small.
  return arith::AddIOp::create(code.b, loc, left, right,
                               arith::IntegerOverflowFlags::nsw);
}

Value SharedOffsets::plain(int64_t constant) {
  int64_t known = view.offset.constant + thread.constant + constant;
  Value sum;
  for (Value part : {view.offset.value, thread.value})
    if (part)
      sum = sum ? add(sum, part) : part;
  if (!sum)
    return code.constant(loc, known);
  return known ? add(sum, code.constant(loc, known)) : sum;
}

Value SharedOffsets::at(int64_t constant) {
  if (!view.shared || view.shared.getSwizzle().empty())
    return plain(constant);
  if (!splits || (constant & bits))
    return code.elementOffset(loc, view, Index(plain(constant)));
  layout::Swizzle swizzle = view.shared.getElementSwizzle();
  if (!swizzled) {
    // Without the view's offset: its swizzle is itself.
    MemView alone = view;
    alone.offset = Index(0);
    swizzled = code.elementOffset(loc, alone, thread);
  }
  int64_t reached = (bits >> swizzle.shift) | (swizzle.fold ? bits >> swizzle.fold : 0);
  int64_t own = bits | (reached & swizzle.mask());
  int64_t flip = swizzle(constant) & own, added = swizzle(constant) & ~own;
  Value &start = flipped[flip];
  if (!start) {
    start = swizzled;
    if (flip)
      start = arith::XOrIOp::create(code.b, loc, start, code.constant(loc, flip));
    if (view.offset.value)
      start = add(start, view.offset.value);
  }
  added += view.offset.constant;
  return added ? add(start, code.constant(loc, added)) : start;
}
