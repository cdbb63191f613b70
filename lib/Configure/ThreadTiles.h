// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one thread has of the tiles of a kernel whose threads lie over a tile as memory has it
// (ThreadTiles.cpp).

#ifndef TILEWRIGHT_LIB_CONFIGURE_THREADTILES_H
#define TILEWRIGHT_LIB_CONFIGURE_THREADTILES_H

#include "CostModel.h"

namespace tilewright {

class ThreadTiles {
public:
  /// Threads lie over the tile of `leading`.
  ThreadTiles(const KernelInfo &info, const TilePlan &plan, TargetAttr target,
              mlir::OpOperand &leading);

  /// Elements of a thread.
  int64_t elementsOf(llvm::ArrayRef<unsigned> classes) const {
    int64_t elements = 1;
    for (unsigned number : classes)
      elements *= own[number];
    return elements;
  }
  /// Registers of a tile as it is computed with.
  int64_t wordsOf(llvm::ArrayRef<unsigned> classes, mlir::Type type) const {
    return elementsOf(classes) * std::max<int64_t>(1, bytesPerElement(type) / 4);
  }
  /// Registers of a tile as it is loaded or stored: of narrow elements several to a word where
  /// they are neighbours.
  int64_t wordsInMemory(mlir::OpOperand &operand) const;
  /// Accesses of which each has an address, or whether it is made, of its own; of several
  /// tensors those of one, as they lie alike.
  int64_t countAtEdges(mlir::OpOperand &operand) const;
  int64_t countAtEdges(llvm::ArrayRef<mlir::OpOperand *> loads) const;

  /// Of each class, a thread's elements, and the warps that lie along it.
  llvm::SmallVector<int64_t> own, warps;

private:
  bool isOfView(mlir::OpOperand &operand) const;

  const KernelInfo &info;
  const TilePlan &plan;
  TargetAttr target;
  unsigned innermost = 0;
};

/// Accesses by which `elements` of a tile are read or written, of at most `width` elements,
/// where the tile may end beside what there is; 0 where it never does.
int64_t countAtEdges(const KernelInfo &info, const TilePlan &plan, mlir::OpOperand &operand,
                     int64_t elements, int64_t width);

/// Whether the kernel loads `operand` from memory.
bool isLoaded(mlir::OpOperand &operand);

} // namespace tilewright

#endif
