// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates of each strategy, in an order that does not depend on anything
// but the kernel and the target.

#ifndef TILEWRIGHT_LIB_CONFIGURE_ENUMERATE_H
#define TILEWRIGHT_LIB_CONFIGURE_ENUMERATE_H

#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Configure/TilePlan.h"

namespace tilewright {

/// The loops of the root from the one that runs along contiguous memory
/// outwards. Of a reduction that is the memory of its largest input, else that
/// of the first result.
llvm::SmallVector<unsigned> loopsFromInnermost(const KernelInfo &info);

/// The loop along which the largest input is contiguous where that is not the
/// result's innermost loop (a transpose), else nothing.
std::optional<unsigned> transposedLoop(const KernelInfo &info);

std::vector<LoweringConfigAttr> enumerateContraction(const KernelInfo &info,
                                                     TargetAttr target);

/// Of the loops of one kind, the longest becomes the instruction's; a block runs
/// the others one by one. Of equal ones the inner.
unsigned longestLoop(const KernelInfo &info, llvm::ArrayRef<unsigned> loops);

/// Rows of tiles that blocks walk down side by side: eight where there are
/// enough of them for blocks that run at the same time to share what they read.
int64_t rasterOf(const KernelInfo &info, unsigned m, unsigned n, int64_t blockM,
                 int64_t blockN);

/// Contractions by matrix instruction; none where the target has no
/// instruction for the types, or the loops are not one m, n and k each.
std::vector<LoweringConfigAttr> enumerateMatrix(const KernelInfo &info,
                                                TargetAttr target);

/// Contractions by warpgroups (Warpgroups.cpp); none where the target has no
/// asynchronous instructions, or copy engines cannot read the operands.
std::vector<LoweringConfigAttr> enumerateWarpgroups(const KernelInfo &info,
                                                    TargetAttr target);
/// What a config of strategy warp_specialized copies for operand `number` of the root: that
/// operand, or, where it is computed, the one of all that it is computed from that has a
/// tile of the same rows and sums; null where several have, or none.
mlir::OpOperand *copiedOperand(const KernelInfo &info, unsigned number,
                               const Contraction &product, const MatrixLoops &loops);
/// Whether the config has A (the oriented contraction's) in registers.
bool hasAInRegisters(LoweringConfigAttr config, const Contraction &product);
/// Whether a config of strategy warp_specialized, whose instruction computes the root,
/// can be carried out; on failure `reason` says what stands against it.
mlir::LogicalResult checkWarpgroups(const KernelInfo &info,
                                    LoweringConfigAttr config,
                                    const MatrixInstruction &instruction,
                                    const MatrixLoops &loops, std::string &reason);
/// Whether a result has the rows and columns of the product's tile.
bool hasTileShape(const KernelInfo &info, mlir::OpResult result,
                  const MatrixLoops &loops);
/// Why copy engines cannot store the results of the tile's shape; empty if they can.
std::string whyNotStoredByEngine(const KernelInfo &info, LoweringConfigAttr config,
                                 const MatrixLoops &loops);
/// Bytes of shared memory through which they do.
int64_t storeBytes(const KernelInfo &info, LoweringConfigAttr config);
/// Whether copy engines bring a tile of `operand` beside the sums (LoadedTiles.cpp).
bool isLoadedTile(const KernelInfo &info, LoweringConfigAttr config,
                  mlir::OpOperand &operand, const MatrixLoops &loops);
/// Why blocks cannot be in clusters as `config` says; empty if they can, or are alone.
std::string whyNotClustered(const KernelInfo &info, LoweringConfigAttr config,
                            const MatrixLoops &loops);
/// Why no tensor map, or no descriptor, is of factor `number`; empty if one is.
std::string whyNotCopied(const KernelInfo &info, LoweringConfigAttr config, unsigned number,
                         const MatrixLoops &loops, const Contraction &product);
/// Why the contraction's loops are none of one product of rows and columns, or of two of
/// them by warpgroups; empty if they are.
std::string whyNotOneProduct(const KernelInfo &info, LoweringConfigAttr config,
                             const MatrixLoops &loops, const Contraction &product);
/// Whether an operand's rows in memory run along the sum.
bool sumsAlongMemory(const KernelInfo &info, unsigned number, const MatrixLoops &loops);
/// `config` with all techniques that the kernel can have, then without stores by copy
/// engines, and, if `each`, without each of the others and without any.
llvm::SmallVector<LoweringConfigAttr> withTechniques(const KernelInfo &info,
                                                     LoweringConfigAttr config,
                                                     bool each);
/// Why the threads of `groups` consumer warpgroups, or of a producer, cannot copy what
/// the config leaves to threads; empty if they can.
std::string whyNotCopiedByThreads(const KernelInfo &info, LoweringConfigAttr config,
                                  int64_t groups);
/// The same config by warpgroups with other orders of tiles, with other numbers of
/// registers for its roles, without a producer, and without copies by copy engines.
llvm::SmallVector<LoweringConfigAttr> neighboursOf(LoweringConfigAttr config);
/// The same config whose blocks, one for each multiprocessor, share the sums of all tiles
/// (Streams.cpp); null where that is not possible, or leaves as much to the last of them.
LoweringConfigAttr streamOf(const KernelInfo &info, LoweringConfigAttr config,
                            TargetAttr target);

/// Of two products by warpgroups in one kernel (ChainedWarpgroups.cpp) the first, whose
/// result is operand A of the root's in registers; null of all other configs.
mlir::linalg::LinalgOp chainedProduct(const KernelInfo &info, LoweringConfigAttr config);
/// Its steps along its sum.
int64_t chainedStep(mlir::linalg::LinalgOp first);
/// Registers of a thread with sums of both products and what lies between them.
int64_t chainedSums(LoweringConfigAttr config, const MatrixLoops &loops);
/// Bytes of shared memory for the operands of both.
int64_t chainedBytes(const KernelInfo &info, LoweringConfigAttr config,
                     const MatrixLoops &loops);
/// Why two products cannot be carried out so; empty if they can.
std::string whyNotChained(const KernelInfo &info, LoweringConfigAttr config,
                          const MatrixInstruction &instruction, const MatrixLoops &loops,
                          const Contraction &product);

/// Contractions by warps out of a ring (RingedMma.cpp); none where the target has no copy
/// engines.
std::vector<LoweringConfigAttr> enumerateRingedMma(const KernelInfo &info,
                                                   TargetAttr target);
/// The same as `checkWarpgroups` of an instruction of warps.
mlir::LogicalResult checkRingedMma(const KernelInfo &info, LoweringConfigAttr config,
                                   const MatrixInstruction &instruction,
                                   const MatrixLoops &loops, TargetAttr target,
                                   std::string &reason);
/// Threads of a block that only copy.
int64_t copyThreadsOf(LoweringConfigAttr config);

/// `array[index]`, or `otherwise` where the config is silent.
inline int64_t entry(llvm::ArrayRef<int64_t> array, unsigned index, int64_t otherwise) {
  return index < array.size() ? array[index] : otherwise;
}

/// The larger operand of a skinny product, of which every element is read once.
mlir::OpOperand &largerFactor(const KernelInfo &info, const Contraction &contraction);
/// Threads share each sum. `fewResults`: a tile has at most as many sums as threads; more
/// do not fit into registers once parts are added up.
std::vector<LoweringConfigAttr> enumerateSkinny(const KernelInfo &info, TargetAttr target,
                                                bool fewResults);
std::vector<LoweringConfigAttr> enumerateReduction(const KernelInfo &info,
                                                   TargetAttr target);
std::vector<LoweringConfigAttr> enumerateStreaming(const KernelInfo &info,
                                                   TargetAttr target);
std::vector<LoweringConfigAttr> enumerateCpu(const KernelInfo &info,
                                             TargetAttr target);

/// Whether later stages carry out every field of a pinned config; on failure
/// `reason` names the one that they would not.
mlir::LogicalResult isRealized(const KernelInfo &info, LoweringConfigAttr config,
                               const TilePlan &plan, TargetAttr target,
                               std::string &reason);

} // namespace tilewright

#endif
