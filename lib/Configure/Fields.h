// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which fields of a lowering config each strategy carries out. Every class declares its own;
// a pinned config, or a tuning record, that sets another one is refused:
//
//   strategy = streaming, block = [8, 64], cluster = [2, 1]
//   -> strategy streaming does not carry out 'cluster' on GPUs; warp_specialized and
//      reduction do: leave it out

#ifndef TILEWRIGHT_LIB_CONFIGURE_FIELDS_H
#define TILEWRIGHT_LIB_CONFIGURE_FIELDS_H

#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Support/Refusal.h"

#include <string>

namespace tilewright {

/// Fields beside `strategy` and `block`, which every strategy has, in the order in which
/// they are printed.
enum class ConfigField {
  Warps,
  Thread,
  Stages,
  Promote,
  Mma,
  Splits,
  Raster,
  Registers,
  Persistent,
  Cluster,
  TmaStore,
  TwoLevelSums,
  StreamK,
  Producer,
  TmaCopy
};

/// Whether `config` says anything else in `field` than a config without it.
bool isSet(LoweringConfigAttr config, ConfigField field);

/// Those of the strategies whose kernels are one op (Attention/, Irregular/).
llvm::ArrayRef<ConfigField> attentionFields(bool isCpu);
llvm::ArrayRef<ConfigField> irregularFields(bool isCpu);

/// Why a field that `config` sets is not carried out on `target`, by the fields that the
/// classes of its strategy's name declare; none if all are.
Refusal whyNotCarriedOut(LoweringConfigAttr config, TargetAttr target);

/// The table of docs/configs.md, a row for each field.
std::string describeFields();

} // namespace tilewright

#endif
