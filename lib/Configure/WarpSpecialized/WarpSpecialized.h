// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose warps have roles: some copy tiles into a ring of stages in shared memory,
// others multiply what is in it. Warpgroups multiply by instructions that read shared
// memory themselves (Warpgroups), warps by those that read registers (RingedMma).
//
// Two of its techniques are in files of their own: two products in one kernel
// (ChainedWarpgroups.cpp), and blocks that share the sums of all tiles (Streams.cpp).

#ifndef TILEWRIGHT_LIB_CONFIGURE_WARPSPECIALIZED_WARPSPECIALIZED_H
#define TILEWRIGHT_LIB_CONFIGURE_WARPSPECIALIZED_WARPSPECIALIZED_H

#include "MatrixUnit/MatrixUnit.h"

namespace tilewright {

/// Threads of a block that only copy.
int64_t copyThreadsOf(LoweringConfigAttr config);

class RoleStrategy : public InstructionStrategy {
public:
  RoleStrategy() : InstructionStrategy(Strategy::WarpSpecialized) {}
  bool hasRoles() const override { return true; }
  bool readsImages() const override { return true; }
  int64_t copyThreads(LoweringConfigAttr config) const override {
    return copyThreadsOf(config);
  }
  bool isMovedByEngine(const KernelInfo &info, LoweringConfigAttr config,
                       mlir::OpOperand &operand) const override;
  Refusal checkPlan(const KernelInfo &info, LoweringConfigAttr config,
                    TargetAttr target) const override;
  int64_t operandBytes(const KernelInfo &info, LoweringConfigAttr config,
                       const TilePlan &plan, TargetAttr target) const override;
  /// The next tile's operands are on their way while results leave.
  bool takesTurns(const KernelInfo &info) const override { return false; }
  int64_t registers(const KernelInfo &info, LoweringConfigAttr config,
                    const TilePlan &plan, TargetAttr target) const override;
};

class Warpgroups : public RoleStrategy {
public:
  llvm::ArrayRef<ConfigField> fields() const override {
    static constexpr ConfigField kFields[] = {
        ConfigField::Warps, ConfigField::Stages, ConfigField::Promote,
        ConfigField::Mma, ConfigField::Splits, ConfigField::Raster,
        ConfigField::Registers, ConfigField::Persistent, ConfigField::Cluster,
        ConfigField::TmaStore, ConfigField::TwoLevelSums, ConfigField::StreamK,
        ConfigField::Producer, ConfigField::TmaCopy};
    return kFields;
  }
  mlir::linalg::LinalgOp getFirstProduct(const KernelInfo &info,
                                         LoweringConfigAttr config) const override;
  int64_t stepOfFirst(mlir::linalg::LinalgOp first) const override;
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
  /// The same config with other orders of tiles, with other numbers of registers for its
  /// roles, without a producer, and without copies by copy engines.
  llvm::SmallVector<LoweringConfigAttr>
  neighbours(LoweringConfigAttr config) const override;
  /// One block for each multiprocessor (Streams.cpp); null where that is not possible, or
  /// leaves as much to the last of them.
  LoweringConfigAttr stream(const KernelInfo &info, LoweringConfigAttr config,
                            TargetAttr target) const override;

protected:
  Refusal checkInstruction(mlir::StringAttr name, TargetAttr target) const override;
  Refusal checkTiles(const KernelInfo &info, LoweringConfigAttr config,
                     const MatrixInstruction &instruction, const MatrixLoops &loops,
                     TargetAttr target) const override;
};

class RingedMma : public RoleStrategy {
public:
  llvm::ArrayRef<ConfigField> fields() const override {
    static constexpr ConfigField kFields[] = {
        ConfigField::Warps, ConfigField::Stages, ConfigField::Promote,
        ConfigField::Mma, ConfigField::Splits, ConfigField::Raster,
        ConfigField::Persistent, ConfigField::Cluster, ConfigField::StreamK,
        ConfigField::Producer};
    return kFields;
  }
  bool match(const KernelInfo &info, TargetAttr target) const override;
  std::vector<LoweringConfigAttr> enumerate(const KernelInfo &info,
                                            TargetAttr target) const override;
  /// The model knows nothing yet of rings that warps' instructions read.
  int rank() const override { return 1; }

protected:
  Refusal checkInstruction(mlir::StringAttr name, TargetAttr target) const override;
  Refusal checkTiles(const KernelInfo &info, LoweringConfigAttr config,
                     const MatrixInstruction &instruction, const MatrixLoops &loops,
                     TargetAttr target) const override;
};

/// What a config of strategy warp_specialized copies for operand `number` of the root: that
/// operand, or, where it is computed, the one of all that it is computed from that has a
/// tile of the same rows and sums; null where several have, or none.
mlir::OpOperand *copiedOperand(const KernelInfo &info, unsigned number,
                               const Contraction &product, const MatrixLoops &loops);
/// Whether a result has the rows and columns of the product's tile.
bool hasTileShape(const KernelInfo &info, mlir::OpResult result,
                  const MatrixLoops &loops);
/// Why copy engines cannot store the results of the tile's shape; none if they can.
Refusal whyNotStoredByEngine(const KernelInfo &info, LoweringConfigAttr config,
                             const MatrixLoops &loops);
/// Bytes of shared memory through which they do.
int64_t storeBytes(const KernelInfo &info, LoweringConfigAttr config);
/// Whether copy engines bring a tile of `operand` beside the sums (LoadedTiles.cpp).
bool isLoadedTile(const KernelInfo &info, LoweringConfigAttr config,
                  mlir::OpOperand &operand, const MatrixLoops &loops);
/// Registers of a thread of `groups` warpgroups with what it holds of tiles beside the sums.
int64_t registersBesideSums(const KernelInfo &info, LoweringConfigAttr config,
                            const MatrixLoops &loops, int64_t groups);
/// Why blocks cannot be in clusters as `config` says; none if they can, or are alone.
Refusal whyNotClustered(const KernelInfo &info, LoweringConfigAttr config,
                        const MatrixLoops &loops);
/// Why blocks of a cluster cannot have parts of the sum as `config` says; none if they can,
/// or each has all of it (ClusterSums.cpp).
Refusal whyNotSummedInCluster(const KernelInfo &info, LoweringConfigAttr config,
                              const MatrixLoops &loops, TargetAttr target);
/// `config`, a plain one, with parts of the sum in clusters: where dispatch has left the sum
/// whole for that.
llvm::SmallVector<LoweringConfigAttr> withClusterSums(const KernelInfo &info,
                                                      LoweringConfigAttr config);
/// So many blocks along the rows, or else the columns, of which there is a multiple of
/// tiles; none where that is not known.
llvm::SmallVector<int64_t> sharingBlocks(const KernelInfo &info, LoweringConfigAttr config,
                                         const MatrixLoops &loops, int64_t blocks);
/// Why no tensor map, or no descriptor, is of operand `number`; none if one is.
Refusal whyNotCopied(const KernelInfo &info, LoweringConfigAttr config, unsigned number,
                     const MatrixLoops &loops, const Contraction &product);
/// Why the contraction's loops are none of one product of rows and columns, or of two of
/// them by warpgroups; none if they are.
Refusal whyNotOneProduct(const KernelInfo &info, LoweringConfigAttr config,
                         const MatrixLoops &loops, const Contraction &product);
/// Whether an operand's rows in memory run along the sum.
bool sumsAlongMemory(const KernelInfo &info, unsigned number, const MatrixLoops &loops);
/// `config` with all techniques that the kernel can have, then without stores by copy
/// engines, and, if `each`, without each of the others and without any.
llvm::SmallVector<LoweringConfigAttr> withTechniques(const KernelInfo &info,
                                                     LoweringConfigAttr config,
                                                     bool each);
/// Why the threads of `groups` consumer warpgroups, or of a producer, cannot copy what
/// the config leaves to threads; none if they can.
Refusal whyNotCopiedByThreads(const KernelInfo &info, LoweringConfigAttr config, int64_t groups);

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
/// Why two products cannot be carried out so; none if they can.
Refusal whyNotChained(const KernelInfo &info, LoweringConfigAttr config,
                      const MatrixInstruction &instruction, const MatrixLoops &loops,
                      const Contraction &product);

} // namespace tilewright

#endif
