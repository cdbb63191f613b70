// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the layouts of an op's operands and results belong together. One place
// for both passes of this stage: assign-layouts chooses with these rules,
// distribute relies on them.

#ifndef TILEWRIGHT_LIB_DISTRIBUTE_LAYOUTRULES_H
#define TILEWRIGHT_LIB_DISTRIBUTE_LAYOUTRULES_H

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Layout/DistributedLayout.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {

using layout::DistributedLayout;

/// The threads that hold vectors: the block, or the warps of a region.
struct ThreadRange {
  int64_t lanes = 32;
  int64_t warps = 1;
  int64_t firstWarp = 0;
};

/// The vector type of a value that has a layout (rank >= 1), or null.
mlir::VectorType laidOutType(mlir::Type type);

/// The layout of a vector result, from `tilewright.layouts`, or of an iteration
/// argument of a loop (that of the loop's result).
mlir::FailureOr<DistributedLayout> getLayout(mlir::Value value);
LayoutAttr toAttr(mlir::MLIRContext *context, const DistributedLayout &layout);

/// The layout in which an access of `type` to global memory is wide and
/// coalesced. `map` is the transfer op's permutation map (memory dims to vector
/// dims).
mlir::FailureOr<DistributedLayout> accessLayout(mlir::VectorType type,
                                                mlir::AffineMap map,
                                                int64_t accessBytes,
                                                const ThreadRange &threads);

/// The same for the larger operand of a skinny product: where rows are not what
/// is summed, a thread takes up to four rows that are neighbours, so that its
/// elements of the other operand are neighbours, too.
mlir::FailureOr<DistributedLayout> operandLayout(mlir::VectorType type,
                                                mlir::AffineMap map,
                                                int64_t accessBytes,
                                                const ThreadRange &threads);

/// The layout for a value that is read through `readMap` from global memory only
/// to be written to `write`'s shared memory: of those that read whole sectors,
/// the one with the fewest wavefronts, then instructions, of the write.
mlir::FailureOr<DistributedLayout>
stagingLayout(mlir::vector::TransferWriteOp write, mlir::AffineMap readMap,
              int64_t accessBytes, const ThreadRange &threads);

/// The layout of an asynchronous copy of a tile in runs of `length`: lanes along
/// the rows of global memory. `map`: dims of the tile to those of the source.
mlir::FailureOr<DistributedLayout> copyLayout(mlir::MemRefType tile,
                                              mlir::AffineMap map, int64_t length,
                                              const ThreadRange &threads);

/// Vector dims from the fastest memory dim of a transfer's permutation map to
/// the slowest; broadcast dims last.
std::vector<int> memoryOrder(mlir::AffineMap map);

/// Layout of a vector.broadcast's source, given the result's.
DistributedLayout broadcastSource(const DistributedLayout &result,
                                  mlir::VectorType source);
/// Layout of a vector.broadcast's result in which every thread holds all of the
/// new elements, given the source's.
mlir::FailureOr<DistributedLayout>
broadcastInRegisters(const DistributedLayout &source, mlir::VectorType result);
/// Layout of the result of a vector.shape_cast, whose registers are those of its source.
/// Fails where a digit of the layout would straddle dims of the result.
mlir::FailureOr<DistributedLayout> castShape(const DistributedLayout &from,
                                             mlir::ArrayRef<int64_t> to);
/// Layout of the result of a vector.interleave, whose pairs are neighbours in
/// registers, given its operands'; and back, which fails where they are none.
mlir::FailureOr<DistributedLayout> interleaved(const DistributedLayout &half);
mlir::FailureOr<DistributedLayout> halfOf(const DistributedLayout &interleaved);
/// Layout of the result of a reduction along `dims`.
DistributedLayout reduceDims(const DistributedLayout &source,
                             mlir::ArrayRef<int64_t> dims);

/// The warps that the config gives the dims of the product's accumulator; empty where it
/// gives it none. Loops that a block runs one by one, those of a batch, are not among the
/// product's.
mlir::SmallVector<int64_t> warpsPerDim(MmaOp op);

/// Accumulator layout of a matrix product by FMA: a register tile per thread,
/// lanes and warps spread as the config says.
mlir::FailureOr<DistributedLayout> simtAccumulator(MmaOp op,
                                                   const ThreadRange &threads);

/// Accumulator layout of a matrix product by an instruction of warpgroups, which
/// lie along m.
mlir::FailureOr<DistributedLayout>
warpgroupAccumulator(MmaOp op, const ThreadRange &threads);
/// Of its operand A in registers.
mlir::FailureOr<DistributedLayout> warpgroupOperandA(MmaOp op,
                                                     const ThreadRange &threads);

/// Opaque layouts are named after what they hold: a, b or acc, and this where
/// the block vector's dims are those of the matrix in reverse.
constexpr llvm::StringLiteral kTransposedSuffix = ".t";

/// What one register of an opaque layout is in thread form.
mlir::VectorType fragmentType(const DistributedLayout &opaque,
                              mlir::Type element);

/// The type of one register: a scalar, or an opaque fragment.
inline mlir::Type registerType(const DistributedLayout &layout,
                               mlir::Type element) {
  return layout.isOpaque() ? fragmentType(layout, element) : element;
}

/// The layout that an opaque one is converted to and from; others as they are.
DistributedLayout plainLayout(const DistributedLayout &layout);

/// A constant or a broadcast scalar: it can be made in any layout.
bool isSplat(mlir::Value value);

/// Layouts of a matrix instruction's operands and accumulator over the whole
/// block tile.
struct MmaLayouts {
  DistributedLayout a, b, acc;
};
mlir::FailureOr<MmaLayouts> instructionLayouts(MmaOp op,
                                               const ThreadRange &threads);

/// The lowering config of the kernel around `op`, or null.
LoweringConfigAttr getConfig(mlir::Operation *op);

/// Bytes that neighbouring registers and lanes cover without a gap along `dim`;
/// `anyLanes`: that lanes of a warp cover, neighbours or not.
int64_t contiguousBytes(const DistributedLayout &layout, int dim,
                        int64_t elementBytes, bool anyLanes = false);

/// Bytes of one element in memory (i1 takes one byte, index eight).
int64_t elementBytes(mlir::Type type);

} // namespace tilewright

#endif
