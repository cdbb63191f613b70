// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What strategies put tiles together from, see Enumerate.cpp.

#ifndef TILEWRIGHT_LIB_CONFIGURE_ENUMERATE_H
#define TILEWRIGHT_LIB_CONFIGURE_ENUMERATE_H

#include "tilewright/Configure/TilePlan.h"

namespace tilewright {

/// The loops of the root from the one that runs along contiguous memory
/// outwards. Of a reduction that is the memory of its largest input, else that
/// of the first result.
llvm::SmallVector<unsigned> loopsFromInnermost(const KernelInfo &info);

/// The loop along which the largest input is contiguous where that is not the
/// result's innermost loop (a transpose), else nothing.
std::optional<unsigned> transposedLoop(const KernelInfo &info);

/// Of the loops of one kind, the longest becomes the instruction's; a block runs
/// the others one by one. Of equal ones the inner.
unsigned longestLoop(const KernelInfo &info, llvm::ArrayRef<unsigned> loops);

/// Rows of tiles that blocks walk down side by side: eight where there are
/// enough of them for blocks that run at the same time to share what they read.
int64_t rasterOf(const KernelInfo &info, unsigned m, unsigned n, int64_t blockM,
                 int64_t blockN);

/// The classes of loops along which two elements of an operand lie in a byte, one for each
/// such operand.
llvm::SmallVector<unsigned> pairedLoops(const KernelInfo &info);

/// "loop 1 of linalg.matmul", of the root.
std::string describeLoop(const KernelInfo &info, unsigned loop);

/// `array[index]`, or `otherwise` where the config is silent.
inline int64_t entry(llvm::ArrayRef<int64_t> array, unsigned index, int64_t otherwise) {
  return index < array.size() ? array[index] : otherwise;
}

/// Warps of a block of the kernels that are filled along memory.
inline constexpr int64_t kWarps[] = {1, 2, 4, 8};

/// The extent of a loop of the root, rounded up to a power of two.
int64_t roundedExtent(const KernelInfo &info, unsigned loop);

/// The loops of an operand's dims, the last dim's first.
llvm::SmallVector<unsigned> loopsOf(mlir::OpOperand &operand);

/// A config being put together, one value per loop of the root.
struct Schedule {
  explicit Schedule(const KernelInfo &info)
      : block(info.getNumConfigLoops(), 1), warps(block) {}
  llvm::SmallVector<int64_t> block, warps;

  LoweringConfigAttr get(const KernelInfo &info, int64_t stages = 1,
                         llvm::ArrayRef<int64_t> promote = {}) const;
};

/// Keeps the first of equal configs.
template <typename Configs>
void addUnique(Configs &configs, LoweringConfigAttr config) {
  if (!llvm::is_contained(configs, config))
    configs.push_back(config);
}

/// Spreads `warps` over the tile, innermost first: a warp takes `lanes` times
/// `width` elements of a row, or less and more rows.
void spreadWarps(Schedule &schedule, llvm::ArrayRef<unsigned> loops, int64_t warps,
                 int64_t lanes, int64_t width);

/// As many warps as `config` has, spread over its tile as above, `loops` innermost first.
llvm::SmallVector<int64_t> spreadPinned(const KernelInfo &info, LoweringConfigAttr config,
                                        TargetAttr target, llvm::ArrayRef<unsigned> loops,
                                        int64_t width);

/// How `enumerateTiles` writes as many warps as `config` has; or all along contiguous memory.
llvm::SmallVector<llvm::SmallVector<int64_t>>
tileWarps(const KernelInfo &info, LoweringConfigAttr config, TargetAttr target);

/// Tiles of `elements`, at most `cap` of them along the innermost loop.
/// Whether `loop` of the root counts entries of a table that names matrices: a tile is of one.
bool isPicked(const KernelInfo &info, unsigned loop);

Schedule fillTile(const KernelInfo &info, llvm::ArrayRef<unsigned> loops,
                  int64_t elements, int64_t cap);

/// Elements that a lane moves at once.
int64_t accessWidth(const KernelInfo &info, TargetAttr target);

/// Tiles of all numbers of warps and of accesses of a thread, in several shapes.
std::vector<LoweringConfigAttr> enumerateTiles(const KernelInfo &info, TargetAttr target,
                                               llvm::ArrayRef<int64_t> warpCounts,
                                               llvm::ArrayRef<int64_t> perThread);

} // namespace tilewright

#endif
