// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage `configure`: program form -> configured form (docs/ir.md). It
// decides and never rewrites.

#ifndef TILEWRIGHT_CONFIGURE_CONFIGURE_H
#define TILEWRIGHT_CONFIGURE_CONFIGURE_H

#include "tilewright/Configure/TilePlan.h"

#include "mlir/Pass/Pass.h"

#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tilewright {

#define GEN_PASS_DECL
#include "tilewright/Configure/Passes.h.inc"

/// Attribute of a kernel: with `listConfigs` every config that fits, best first.
inline constexpr llvm::StringLiteral kConfigsAttr = "tilewright.configs";

/// Beside it, how many candidates were refused, by kinds: a dictionary of integers.
inline constexpr llvm::StringLiteral kRefusedAttr = "tilewright.refused";

/// Attribute of a configured kernel for a GPU: what its config was admitted for, a
/// dictionary of integers, `threads` of a block, `shared_bytes`, and `registers` of a
/// thread (of 32 bits).
inline constexpr llvm::StringLiteral kPlannedAttr = "tilewright.planned";

struct ConfigureOptions {
  /// Put every candidate on the kernel, best first.
  bool listConfigs = false;
};

/// A schedule that was considered.
struct Candidate {
  LoweringConfigAttr config;
  /// Estimated time in arbitrary units; smaller is better.
  double cost = 0;
  /// Why the candidate does not fit; none where it does.
  Refusal refused;
};

/// All candidates for a kernel: those that fit, best first, then the refused
/// ones in the order in which they were tried. At least one fits any target
/// with the facts that Target.h demands.
std::vector<Candidate> listConfigs(const KernelInfo &info, TargetAttr target);

/// What `kRefusedAttr` says of these refusals.
mlir::DictionaryAttr countByKind(mlir::MLIRContext *context, llvm::ArrayRef<Refusal> refusals);

/// Configures one kernel; emits an error and fails where that is impossible.
mlir::LogicalResult configureKernel(mlir::func::FuncOp kernel,
                                    bool listAll = false);

void populateConfigurePipeline(mlir::OpPassManager &pm,
                               const ConfigureOptions &options = {});

void registerConfigurePasses();

} // namespace tilewright

#endif
