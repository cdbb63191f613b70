// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tuned lowering configs: what was measured to be best for a problem, to be
// used where a kernel has the same problem and nobody pinned a config.
//
//   module attributes {tilewright.tuning = [
//       {target = "cuda:sm_80", record = 3 : i64, shape = array<i64: 512, 512, 512>,
//        problem = {op = "mulf,addf", layout = "ac,cb->ab", types = "f16,f16,f32->f32"},
//        config = #tilewright.lowering_config<…>}]}
//
// is what `tilewright-compile --tuning=FILE` reads. Once programs are cloned, a
// program has the records for its target. `problem` says what is computed and
// how it lies in memory, `shape` has the extent of each loop of the root op, -1
// for a dynamic one.

#ifndef TILEWRIGHT_CONFIGURE_TUNING_H
#define TILEWRIGHT_CONFIGURE_TUNING_H

#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Tuning.h"

namespace tilewright {

/// Attribute of a kernel: its problem and shape, with `listConfigs`.
inline constexpr llvm::StringLiteral kProblemAttr = "tilewright.problem";

/// What a tuning database knows a kernel by. Strings:
///   op      the root's body, "mulf,addf"
///   layout  the root's maps, a letter per loop: "ac,cb->ab"
///   types   element types of the kernel's operands and results
///   fused   bodies of the other ops, ";" between them
///   fp      what --fp allows
///   guard   what a variant's guard promises: "a<=16,aligned"
/// The last three are left out where there is nothing to say.
mlir::DictionaryAttr describeProblem(const KernelInfo &info);

/// The same of attention: op is "attention", layout has its maps; and
///   depth   of the keys and the values, "64,64"
///   sees    "top_left", "bottom_right,window 128,0", "softcap", as far as there is any
///   parts   the keys' number of parts
mlir::DictionaryAttr describeProblem(AttentionOp op);

/// Extents of the root's loops, -1 for dynamic ones.
llvm::SmallVector<int64_t> describeShape(const KernelInfo &info);
llvm::SmallVector<int64_t> describeShape(AttentionOp op);

/// Leaves both on the kernel, for lists of configs.
void recordProblem(mlir::func::FuncOp kernel, mlir::DictionaryAttr problem,
                   llvm::ArrayRef<int64_t> shape);

/// A record for a kernel.
struct TunedConfig {
  /// A LoweringConfigAttr, or a string: why the record has none that is
  /// understood.
  mlir::Attribute config;
  /// "record 3, of this shape", "record 3, of the nearest shape 512x512x256"
  std::string source;
};

/// The record of the kernel's shape, else that of the nearest shape: loops that
/// are dynamic, one long, or multiples of 8 are so in both, no extent is more
/// than twice the other, and the sum of |log2| of their ratios is the least; of
/// equals the first.
std::optional<TunedConfig> findTuned(mlir::func::FuncOp kernel, mlir::DictionaryAttr problem,
                                     llvm::ArrayRef<int64_t> shape);

/// Leaves in a program the records that are for it.
void resolveTuning(mlir::ModuleOp program, llvm::StringRef target);

} // namespace tilewright

#endif
