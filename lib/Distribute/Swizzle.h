// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses in swizzled shared memory that a thread needs many of, which differ
// by constants. The swizzle f is linear over XOR: where the thread's part t of
// an offset and the constant c have no bit in common,
//
//   f(t + c) = f(t) ^ f(c)
//
// f(t) is computed once. Of f(c), the bits that f(t) never has are added, which
// costs nothing in an address; only the others are XORed, and few constants
// differ in those. What the stage of a ring adds is a multiple of what the swizzle
// looks at, and is added last.

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_SWIZZLE_H
#define TILEWRIGHT_LIB_DISTRIBUTE_SWIZZLE_H

#include "ThreadCode.h"

namespace tilewright {

class SharedOffsets {
public:
  /// `thread`: what the thread adds to the view's offset; `bits`: those that may
  /// be set in it, or -1 where nothing is known.
  SharedOffsets(ThreadCode &code, mlir::Location loc, const MemView &view,
                Index thread, int64_t bits);
  /// The swizzled offset of element `thread + constant` of the view.
  mlir::Value at(int64_t constant);

private:
  mlir::Value add(mlir::Value left, mlir::Value right);
  mlir::Value plain(int64_t constant);

  ThreadCode &code;
  mlir::Location loc;
  const MemView &view;
  Index thread;
  int64_t bits;
  bool splits = false; // f(t + c) may be computed in parts
  mlir::Value swizzled; // f(t)
  llvm::DenseMap<int64_t, mlir::Value> flipped; // stage + (f(t) ^ key)
};

/// The bits that threads' coordinates may set in an offset: lanes and warps (or
/// warps alone) of `layout`, coordinate d times strides[d]. -1 where digits
/// overlap or are no powers of two.
int64_t threadBits(const DistributedLayout &layout,
                   mlir::ArrayRef<int64_t> strides);
int64_t warpBits(const DistributedLayout &layout,
                 mlir::ArrayRef<int64_t> strides);

} // namespace tilewright

#endif
